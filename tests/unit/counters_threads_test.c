/* SPDX-License-Identifier: BSD-3-Clause
 * counters_threads_test.c: many threads book while others read; memory follows the threads alive. Run it under the thread
 * sanitizer.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "counters.h"
#include "unit.h"

#define WRITERS 4
#define READERS 2
#define MESSAGES 40000
#define PEERS 500
#define KINDS 5

static atomic_int writing;
static atomic_int faults;

/** Every message has 8 bytes, so that a reader can tell what belongs together. */
static void *write_messages(void *argument)
{
    uint64_t seed = (uintptr_t)argument + 1;
    for (int i = 0; i < MESSAGES; i++) {
        uint32_t peer = (uint32_t)(unit_random(&seed) % PEERS);
        unsigned kind = (unsigned)(unit_random(&seed) % KINDS);
        lucid_count_one(peer, kind, 8);
        lucid_count_one(peer, kind, 8);
    }
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static uint64_t messages_in(const struct lucid_cells *cells)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < cells->n; i++) sum += cells->cell[i].count;
    return sum;
}

/** No figure of a later reading is below that of an earlier one. */
static bool never_less(const struct lucid_cells *earlier, const struct lucid_cells *later)
{
    size_t at = 0;
    for (size_t i = 0; i < earlier->n; i++) {
        const struct lucid_cell *old = &earlier->cell[i];
        while (at < later->n && (later->cell[at].peer != old->peer || later->cell[at].kind != old->kind)) at++;
        if (at == later->n || later->cell[at].count < old->count || later->cell[at].bytes < old->bytes) return false;
    }
    return true;
}

static void *read_messages(void *argument)
{
    struct lucid_cells cells = {0}, sizes = {0};
    bool last;
    do {
        struct lucid_cells new_cells = {0}, new_sizes = {0};
        last = atomic_load(&writing) == 0;
        if (lucid_counters_read(&new_cells, &new_sizes) != 0) atomic_fetch_add(&faults, 1);
        if (!never_less(&cells, &new_cells) || !never_less(&sizes, &new_sizes)) atomic_fetch_add(&faults, 1);
        if (lucid_counters_memory() == 0 && new_cells.n > 0) atomic_fetch_add(&faults, 1);
        lucid_cells_clear(&cells);
        lucid_cells_clear(&sizes);
        cells = new_cells;
        sizes = new_sizes;
    } while (!last);
    if (messages_in(&cells) != WRITERS * MESSAGES * UINT64_C(2)) atomic_fetch_add(&faults, 1);
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sizes);
    return NULL;
}

/** First of the tests: the counters are empty before it. */
static void test_sums(void **state)
{
    pthread_t threads[WRITERS + READERS];
    struct lucid_cells cells = {0}, sizes = {0};
    atomic_store(&writing, WRITERS);
    for (int i = 0; i < WRITERS + READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < WRITERS ? write_messages : read_messages, (void *)(uintptr_t)i), 0);
    for (int i = 0; i < WRITERS + READERS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&faults), 0);
    assert_int_equal(lucid_counters_read(&cells, &sizes), 0);
    assert_int_equal(messages_in(&cells), WRITERS * MESSAGES * 2);
    assert_int_equal(messages_in(&sizes), WRITERS * MESSAGES * 2);
    for (size_t i = 0; i < cells.n; i++) assert_int_equal(cells.cell[i].bytes, cells.cell[i].count * 8);
    for (size_t i = 0; i < sizes.n; i++) assert_int_equal(sizes.cell[i].peer, 4);
    assert_int_equal(lucid_counters_lost(), 0);
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sizes);
}

static uint64_t booked_to(uint32_t peer)
{
    struct lucid_cells cells = {0}, sizes = {0};
    uint64_t sum = 0;
    assert_int_equal(lucid_counters_read(&cells, &sizes), 0);
    for (size_t i = 0; i < cells.n; i++)
        if (cells.cell[i].peer == peer) sum += cells.cell[i].count;
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sizes);
    return sum;
}

static void *one_message(void *argument)
{
    lucid_count_one(PEERS + 1, 0, 8);
    return NULL;
}

/** A thousand threads, one after the other, share one shard. */
static void test_one_after_the_other(void **state)
{
    pthread_t thread;
    size_t memory = 0;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(pthread_create(&thread, NULL, one_message, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (i == 0) memory = lucid_counters_memory();
    }
    assert_int_equal(lucid_counters_memory(), memory);
    assert_int_equal(booked_to(PEERS + 1), 1000);
}

#define CROWD 100

static pthread_barrier_t gate;

static void *one_message_together(void *argument)
{
    lucid_count_one(PEERS + 2, 0, 8);
    (void)pthread_barrier_wait(&gate); /* all of the crowd have their shards now */
    lucid_count_one(PEERS + 2, 0, 8);
    return NULL;
}

/** Crowds that come and go share the shards of the first one, whatever its size. */
static void test_crowds(void **state)
{
    pthread_t threads[CROWD];
    size_t memory = 0;
    assert_int_equal(pthread_barrier_init(&gate, NULL, CROWD), 0);
    for (int crowd = 0; crowd < 5; crowd++) {
        for (int i = 0; i < CROWD; i++) assert_int_equal(pthread_create(&threads[i], NULL, one_message_together, NULL), 0);
        for (int i = 0; i < CROWD; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (crowd == 0) memory = lucid_counters_memory();
    }
    assert_int_equal(lucid_counters_memory(), memory);
    assert_int_equal(booked_to(PEERS + 2), 5 * CROWD * 2);
    assert_int_equal(booked_to(PEERS + 1), 1000); /* and still has what those before them left */
    (void)pthread_barrier_destroy(&gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_crowds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
