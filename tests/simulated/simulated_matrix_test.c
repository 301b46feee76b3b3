/* SPDX-License-Identifier: BSD-3-Clause
 * simulated_matrix_test.c: the rows of 65,536 ranks with 26 peers each become one matrix, in memory that follows its
 * entries; the dense one is refused.
 */
#include "allocations.h"
#include "matrix.h"
#include "unit.h"

#define X 64
#define Y 64
#define Z 16
#define RANKS (X * Y * Z)
#define PEERS 26

static int compare(const void *a, const void *b)
{
    const struct lucid_cell *x = a, *y = b;
    return x->peer < y->peer ? -1 : x->peer > y->peer;
}

/** A rank's row: its neighbors on the torus; rank and peer give the size of the message. */
static void make_row(int rank, struct lucid_cell *cell)
{
    int x = rank % X, y = rank / X % Y, z = rank / (X * Y), n = 0;
    for (int d = 0; d < 27; d++) {
        if (d == 13) continue;
        int px = (x + d % 3 - 1 + X) % X, py = (y + d / 3 % 3 - 1 + Y) % Y, pz = (z + d / 9 - 1 + Z) % Z;
        uint32_t peer = (uint32_t)((pz * Y + py) * X + px);
        cell[n++] = (struct lucid_cell){peer, LUCID_KIND_P2P, 2, (uint64_t)rank * 3 + peer};
    }
    qsort(cell, PEERS, sizeof *cell, compare);
}

static void test_memory_follows_entries(void **state)
{
    const size_t entries = (size_t)RANKS * PEERS;
    struct lucid_cell *cells = malloc(entries * sizeof *cells);
    size_t *start = malloc((RANKS + 1) * sizeof *start);
    struct lucid_matrix matrix;
    for (int rank = 0; rank < RANKS; rank++) make_row(rank, cells + (start[rank] = (size_t)rank * PEERS));
    start[RANKS] = entries;
    long before = allocations_live();
    allocations_restart();
    assert_int_equal(lucid_matrix_from_rows(&matrix, RANKS, cells, start, LUCID_KINDS_ALL), 0);
    long held = allocations_live() - before, peak = allocations_peak() - before;
    long needed = (long)(entries * (sizeof(int) + 2 * sizeof(uint64_t)) + (RANKS + 1) * sizeof(size_t));
    printf("%d ranks, %zu entries: %ld bytes held, %ld for a moment; dense: %zu\n", RANKS, entries, held, peak,
           (size_t)RANKS * RANKS * sizeof(uint64_t));
    assert_int_equal(matrix.entries, entries);
    assert_true(held >= needed && held < needed + 4 * 8192); /* four arrays, rounded up to pages */
    assert_int_equal(peak, held);
    for (int rank = 0; rank < RANKS; rank += 997)
        for (size_t i = matrix.row_start[rank]; i < matrix.row_start[rank + 1]; i++) {
            assert_int_equal(matrix.count[i], 2);
            assert_int_equal(matrix.bytes[i], (uint64_t)rank * 3 + (uint64_t)matrix.column[i]);
            if (i > matrix.row_start[rank]) assert_true(matrix.column[i] > matrix.column[i - 1]);
        }
    lucid_matrix_free(&matrix);
    free(cells);
    free(start);
    assert_int_equal(allocations_live(), 0);
}

/** 32 GiB of unsigned long: beyond the usual limit, and what is just within it is not refused. */
static void test_dense_is_refused(void **state)
{
    const size_t limit = (size_t)8 << 30;
    assert_int_equal(lucid_dense_fits(RANKS, sizeof(unsigned long), limit), -1);
    assert_int_equal(lucid_dense_fits(RANKS, sizeof(unsigned long), (size_t)32 << 30), 0);
    assert_int_equal(lucid_dense_fits(RANKS / 2, sizeof(unsigned long), limit), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_follows_entries), cmocka_unit_test(test_dense_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
