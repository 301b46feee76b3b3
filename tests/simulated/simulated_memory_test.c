/* SPDX-License-Identifier: BSD-3-Clause
 * simulated_memory_test.c: what one rank of 65,536 holds for its counters and a session: at most 64 KiB, whatever P.
 *
 * The rank has 26 peers (its neighbors on a 3D stencil), spread over all of MPI_COMM_WORLD, to which it sends point-to-point
 * messages; collectives of four kinds take messages to the 16 peers of a recursive doubling and a few of a tree. All figures
 * are held against what the heap has really given.
 */
#include "allocations.h"
#include "counters.h"
#include "session_table.h"
#include "unit.h"

#define BUDGET 65536

static int read_counters(struct lucid_cells *cells, struct lucid_cells *sizes)
{
    return lucid_counters_read(cells, sizes);
}

static int activate(void)
{
    return 0;
}

static void deactivate(void) {}

static double seconds(void)
{
    return 1;
}

static void release(void *attachment) {}

static const struct lucid_table_ops ops = {read_counters, activate, deactivate, seconds, release};

/** The 26 neighbors of a rank in the middle of 64 x 64 x 16. */
static int stencil(uint32_t peer[26])
{
    int n = 0;
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                if (x || y || z) peer[n++] = (uint32_t)((8 + z) * 4096 + (32 + y) * 64 + 32 + x);
    return n;
}

/** Sizes of which every bin gets some. */
static uint64_t size_of(unsigned bin)
{
    return bin == 0 ? 0 : UINT64_C(1) << (bin - 1);
}

static void send_all(unsigned kind, int peers, const uint32_t *peer)
{
    for (unsigned bin = 0; bin < LUCID_SIZE_BINS; bin++)
        for (int i = 0; i < peers; i++) lucid_count_one(peer[i], kind, size_of(bin));
}

/** One step of the program; returns how many pairs of peer and kind it uses. */
static size_t one_step(void)
{
    const uint32_t me = 8 * 4096 + 32 * 64 + 32;
    uint32_t peer[26], doubling[16];
    for (int i = 0; i < 16; i++) doubling[i] = me ^ (UINT32_C(1) << i);
    assert_int_equal(stencil(peer), 26);
    send_all(LUCID_KIND_P2P, 26, peer);
    send_all(LUCID_KIND_ALLREDUCE, 16, doubling);
    send_all(LUCID_KIND_BARRIER, 16, doubling);
    send_all(LUCID_KIND_BCAST, 11, doubling);   /* a binomial tree's inner node */
    send_all(LUCID_KIND_ALLGATHER, 16, doubling);
    return 26 + 16 + 16 + 11 + 16;
}

/** The worst that the bound's words allow: every kind to every one of the 26 peers. */
static size_t one_dense_step(void)
{
    static const unsigned kinds[] = {LUCID_KIND_P2P, LUCID_KIND_ALLREDUCE, LUCID_KIND_BARRIER, LUCID_KIND_BCAST,
                                     LUCID_KIND_ALLGATHER};
    uint32_t peer[26];
    for (size_t i = 0; i < COUNT_OF(kinds); i++) send_all(kinds[i], stencil(peer), peer);
    return 26 * COUNT_OF(kinds);
}

static int check(const char *when, size_t *most)
{
    size_t counters = lucid_counters_memory(), table = lucid_table_memory();
    long heap = allocations_live();
    fprintf(stdout, "%-28s counters %6zu, session %6zu, together %6zu bytes; from the heap %6ld\n", when, counters, table,
            counters + table, heap);
    CHILD_CHECK(counters + table <= BUDGET && heap <= BUDGET);
    CHILD_CHECK(heap >= (long)(counters + table) && heap - (long)(counters + table) < 2048); /* nothing is left out */
    if (counters + table > *most) *most = counters + table;
    return 0;
}

/** A rank's life, in a child without counters so far. */
static int live(void *argument)
{
    size_t (*const step)(void) = *(size_t (*const *)(void))argument, pairs, most = 0;
    struct lucid_session_data data;
    int id, wrong;
    lucid_table_setup(&ops);
    (void)step(); /* before the session: it has to remember these */
    CHILD_CHECK(lucid_table_start("run", false, 1024, NULL, &id) == LUCID_SUCCESS);
    if ((wrong = check("active, first spell", &most))) return wrong;
    pairs = step();
    allocations_restart();
    CHILD_CHECK(lucid_table_suspend(id) == LUCID_SUCCESS);
    long peak = allocations_peak();
    if ((wrong = check("suspended", &most))) return wrong;
    CHILD_CHECK(lucid_table_continue(id) == LUCID_SUCCESS);
    if ((wrong = check("active, with earlier data", &most))) return wrong;
    (void)step();
    allocations_restart();
    CHILD_CHECK(lucid_table_suspend(id) == LUCID_SUCCESS);
    if (allocations_peak() > peak) peak = allocations_peak();
    if ((wrong = check("suspended again", &most))) return wrong;
    CHILD_CHECK(lucid_table_copy(id, &data) == LUCID_SUCCESS);
    CHILD_CHECK(data.cells.n == pairs && data.sizes.n == 5 * LUCID_SIZE_BINS && data.cells.cell[0].count == 2 * LUCID_SIZE_BINS);
    lucid_session_data_clear(&data);
    fprintf(stdout, "%zu pairs, %d peers of 65536 ranks: at most %zu bytes held, of %d; for a moment %ld from the heap\n", pairs,
            26, most, BUDGET, peak);
    CHILD_CHECK(lucid_counters_lost() == 0 && peak <= BUDGET);
    return 0;
}

static void assert_life(size_t (*step)(void))
{
    struct caught caught;
    unit_catch(&caught, live, &step);
    printf("%s", caught.out);
    assert_string_equal(caught.err, "");
    assert_int_equal(caught.status, 0);
}

static void test_stencil(void **state)
{
    assert_life(one_step);
}

static void test_all_kinds_to_all_peers(void **state)
{
    assert_life(one_dense_step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stencil), cmocka_unit_test(test_all_kinds_to_all_peers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
