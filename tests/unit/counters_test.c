/* SPDX-License-Identifier: BSD-3-Clause
 * counters_test.c: what one thread books is read back to the message, growth and lack of memory included.
 */
#include <pthread.h>

#include "allocations.h"
#include "counters.h"
#include "unit.h"

struct reading {
    struct lucid_cells cells, sizes;
};

static struct reading read_counters(void)
{
    struct reading reading = {0};
    assert_int_equal(lucid_counters_read(&reading.cells, &reading.sizes), 0);
    return reading;
}

static void forget(struct reading *reading)
{
    lucid_cells_clear(&reading->cells);
    lucid_cells_clear(&reading->sizes);
}

/** What was booked since `earlier`, which is forgotten. */
static struct reading since(struct reading *earlier)
{
    struct reading now = read_counters(), difference = {0};
    assert_int_equal(lucid_cells_sum(&(struct lucid_cells){0}, &now.cells, &earlier->cells, &difference.cells), 0);
    assert_int_equal(lucid_cells_sum(&(struct lucid_cells){0}, &now.sizes, &earlier->sizes, &difference.sizes), 0);
    forget(&now);
    forget(earlier);
    return difference;
}

static void assert_cell(const struct lucid_cells *cells, size_t i, uint32_t peer, uint32_t kind, uint64_t count, uint64_t bytes)
{
    assert_true(i < cells->n);
    assert_int_equal(cells->cell[i].peer, peer);
    assert_int_equal(cells->cell[i].kind, kind);
    assert_int_equal(cells->cell[i].count, count);
    assert_int_equal(cells->cell[i].bytes, bytes);
}

static void test_by_hand(void **state)
{
    struct reading before = read_counters();
    lucid_count_one(3, 2, 100);
    lucid_count_one(3, 2, 0);
    lucid_count(0, 0, 4, 40);
    lucid_count_one(LUCID_PEER_OUTSIDE, LUCID_KIND_LIMIT - 1, 1);
    lucid_count_sum(3, 1, 5, 12345);
    struct reading booked = since(&before);
    assert_int_equal(booked.cells.n, 4);
    assert_cell(&booked.cells, 0, 0, 0, 4, 40);
    assert_cell(&booked.cells, 1, 3, 1, 5, 12345);
    assert_cell(&booked.cells, 2, 3, 2, 2, 100);
    assert_cell(&booked.cells, 3, LUCID_PEER_OUTSIDE, LUCID_KIND_LIMIT - 1, 1, 1);
    assert_int_equal(booked.sizes.n, 4); /* by bin, then kind; the sum of unknown sizes is in none */
    assert_cell(&booked.sizes, 0, 0, 2, 1, 0);
    assert_cell(&booked.sizes, 1, 1, LUCID_KIND_LIMIT - 1, 1, 0);
    assert_cell(&booked.sizes, 2, 4, 0, 4, 0);
    assert_cell(&booked.sizes, 3, 7, 2, 1, 0);
    forget(&booked);
}

/** A single message right after a sum to the same peer of the same kind takes the short way, and has its place there. */
static void test_one_after_sum(void **state)
{
    const unsigned kind = 17;
    struct reading before = read_counters();
    lucid_count_sum(1, kind, 2, 64);
    lucid_count_one(1, kind, 64);
    lucid_count_one(1, kind, 64);
    struct reading booked = since(&before);
    assert_cell(&booked.cells, 0, 1, kind, 4, 192);
    assert_int_equal(booked.sizes.n, 1);
    assert_cell(&booked.sizes, 0, 7, kind, 2, 0);
    forget(&booked);
}

static void assert_bin(uint64_t size, unsigned bin)
{
    struct reading before = read_counters();
    lucid_count_one(8, 5, size);
    struct reading booked = since(&before);
    assert_int_equal(booked.sizes.n, 1);
    assert_cell(&booked.sizes, 0, bin, 5, 1, 0);
    forget(&booked);
}

static void test_bins(void **state)
{
    assert_bin(0, 0);
    assert_bin(1, 1);
    for (unsigned k = 1; k < 64; k++) {
        assert_bin((UINT64_C(1) << k) - 1, k);
        assert_bin(UINT64_C(1) << k, k + 1);
    }
    assert_bin(UINT64_MAX, LUCID_SIZE_BINS - 1);
}

/** Several messages of one size share its bin. */
static void test_equal_messages(void **state)
{
    struct reading before = read_counters();
    lucid_count(2, 9, 1000, 1000 * 4096);
    lucid_count(2, 9, 0, 0);
    struct reading booked = since(&before);
    assert_int_equal(booked.cells.n, 1);
    assert_cell(&booked.cells, 0, 2, 9, 1000, 4096000);
    assert_int_equal(booked.sizes.n, 1);
    assert_cell(&booked.sizes, 0, 13, 9, 1000, 0);
    forget(&booked);
}

#define PEERS 3000
#define KINDS 4

struct expected {
    uint64_t count[PEERS][KINDS], bytes[PEERS][KINDS], bin[LUCID_SIZE_BINS][KINDS];
};

static void book_random(struct expected *expected, uint64_t *seed)
{
    uint32_t peer = (uint32_t)(unit_random(seed) % PEERS);
    unsigned kind = (unsigned)(unit_random(seed) % KINDS);
    for (uint64_t again = unit_random(seed) % 4; again < 4; again++) {
        uint64_t size = unit_random(seed) >> (unit_random(seed) % 64) >> 12;
        uint64_t messages = again == 1 ? 3 : 1;
        if (again == 2) lucid_count_sum(peer, kind, messages, size);
        else if (again == 1) lucid_count(peer, kind, messages, messages * size);
        else lucid_count_one(peer, kind, size);
        expected->count[peer][kind] += messages;
        expected->bytes[peer][kind] += messages * size;
        if (again != 2) expected->bin[lucid_size_bin(size)][kind] += messages;
    }
}

static uint64_t cell_of(const struct lucid_cells *cells, uint32_t peer, uint32_t kind, size_t *at, uint64_t *bytes)
{
    bool here = *at < cells->n && cells->cell[*at].peer == peer && cells->cell[*at].kind == kind;
    *bytes = here ? cells->cell[*at].bytes : 0;
    return here ? cells->cell[(*at)++].count : 0;
}

/** Thousands of pairs, so that the table grows several times. */
static void test_random(void **state)
{
    struct expected *expected = calloc(1, sizeof *expected);
    uint64_t seed = 7, bytes;
    size_t at = 0;
    struct reading before = read_counters();
    for (int i = 0; i < 60000; i++) book_random(expected, &seed);
    struct reading booked = since(&before);
    for (uint32_t peer = 0; peer < PEERS; peer++)
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            assert_int_equal(cell_of(&booked.cells, peer, kind, &at, &bytes), expected->count[peer][kind]);
            assert_int_equal(bytes, expected->bytes[peer][kind]);
        }
    assert_int_equal(at, booked.cells.n);
    at = 0;
    for (uint32_t bin = 0; bin < LUCID_SIZE_BINS; bin++)
        for (uint32_t kind = 0; kind < KINDS; kind++)
            assert_int_equal(cell_of(&booked.sizes, bin, kind, &at, &bytes), expected->bin[bin][kind]);
    assert_int_equal(at, booked.sizes.n);
    assert_int_equal(lucid_counters_lost(), 0);
    forget(&booked);
    free(expected);
}

static uint64_t booked_to(uint32_t first, uint32_t end)
{
    struct lucid_cells cells = {0}, sizes = {0};
    uint64_t sum = 0;
    if (lucid_counters_read(&cells, &sizes) != 0) return UINT64_MAX;
    for (size_t i = 0; i < cells.n; i++)
        if (cells.cell[i].peer >= first && cells.cell[i].peer < end) sum += cells.cell[i].count;
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sizes);
    return sum;
}

/** In a child that has no counters yet. */
static int run_out_of_memory(void *argument)
{
    allocations_fail_after(0);
    lucid_count(1, 0, 3, 3);
    CHILD_CHECK(lucid_counters_lost() == 3 && lucid_counters_memory() == 0);
    allocations_fail_after(1); /* the shard, but not its table */
    lucid_count_one(1, 0, 1);
    CHILD_CHECK(lucid_counters_lost() == 4 && lucid_counters_memory() == 0);
    allocations_fail_after(2); /* both, but no histogram: the message counts all the same */
    lucid_count_one(1, 0, 1);
    lucid_count_one(1, 0, 1);
    CHILD_CHECK(lucid_counters_lost() == 4);
    for (uint32_t peer = 2; peer < 100; peer++) lucid_count_one(peer, 0, 1); /* cannot grow */
    allocations_fail_never();
    CHILD_CHECK(booked_to(1, 2) == 2);
    CHILD_CHECK(booked_to(0, 100) + lucid_counters_lost() == 2 + 98 + 4);
    CHILD_CHECK(booked_to(0, 64) == 2 + 62); /* every slot but one served */
    uint64_t lost = lucid_counters_lost();
    for (uint32_t peer = 2; peer < 100; peer++) lucid_count_one(peer, 0, 1);
    CHILD_CHECK(lucid_counters_lost() == lost && booked_to(0, 100) == 2 + 62 + 98);
    allocations_fail_after(1);
    struct lucid_cells cells = {0}, sizes = {0};
    CHILD_CHECK(lucid_counters_read(&cells, &sizes) == -1);
    allocations_fail_never();
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sizes);
    return 0;
}

static void *count_once(void *argument)
{
    lucid_count_one(1, 0, 1);
    return NULL;
}

/** Where other libraries have taken all keys of the process, theirs are left alone. */
static int run_without_keys(void *argument)
{
    pthread_key_t taken;
    pthread_t thread;
    int n = 0, first = -1, mine;
    while (pthread_key_create(&taken, NULL) == 0)
        if (n++ == 0) first = (int)taken;
    CHILD_CHECK(first == 0 && pthread_setspecific(0, &mine) == 0);
    lucid_count_one(1, 0, 1);
    CHILD_CHECK(pthread_getspecific(0) == &mine);
    CHILD_CHECK(pthread_create(&thread, NULL, count_once, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHILD_CHECK(booked_to(0, 2) == 2);
    return 0;
}

static void test_without_memory(void **state)
{
    struct caught caught;
    unit_catch(&caught, run_out_of_memory, NULL);
    unit_assert_silent(&caught);
}

static void test_without_keys(void **state)
{
    struct caught caught;
    unit_catch(&caught, run_without_keys, NULL);
    if (strstr(caught.err, "first == 0")) skip(); /* a sanitizer has key 0 */
    unit_assert_silent(&caught);
}

/** What is said to be held is what the heap has given, but for the allocator's rounding. */
static void test_memory(void **state)
{
    long live = allocations_live();
    size_t memory = lucid_counters_memory();
    assert_true(memory > 0 && (long)memory <= live);
    assert_true((long)memory > live - 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_memory), /* these two want children without counters, so they are the first */
        cmocka_unit_test(test_without_keys),
        cmocka_unit_test(test_by_hand),        cmocka_unit_test(test_one_after_sum), cmocka_unit_test(test_bins),
        cmocka_unit_test(test_equal_messages), cmocka_unit_test(test_random),        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
