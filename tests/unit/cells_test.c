/* SPDX-License-Identifier: BSD-3-Clause
 * cells_test.c: sparse rows of traffic, by hand and against a dense model.
 */
#include "allocations.h"
#include "cells.h"
#include "unit.h"

#define PEERS 7
#define KINDS 3

struct dense {
    uint64_t count[PEERS][KINDS], bytes[PEERS][KINDS];
};

static void append(struct lucid_cells *cells, uint32_t peer, uint32_t kind, uint64_t count, uint64_t bytes)
{
    assert_int_equal(lucid_cells_append(cells, (struct lucid_cell){peer, kind, count, bytes}), 0);
}

static void assert_cell(const struct lucid_cells *cells, size_t i, uint32_t peer, uint32_t kind, uint64_t count, uint64_t bytes)
{
    assert_true(i < cells->n);
    assert_int_equal(cells->cell[i].peer, peer);
    assert_int_equal(cells->cell[i].kind, kind);
    assert_int_equal(cells->cell[i].count, count);
    assert_int_equal(cells->cell[i].bytes, bytes);
}

static void test_empty(void **state)
{
    struct lucid_cells cells = {0}, sum = {0};
    lucid_cells_normalize(&cells);
    assert_int_equal(cells.n, 0);
    assert_int_equal(lucid_cells_add_difference(&sum, &cells, &cells), 0);
    assert_int_equal(lucid_cells_add_difference(&sum, &cells, NULL), 0);
    assert_int_equal(sum.n, 0);
    assert_int_equal(lucid_cells_memory(&sum), 0);
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sum);
}

static void test_normalize(void **state)
{
    struct lucid_cells cells = {0};
    append(&cells, 0x3ffffff, 1, 1, 10);
    append(&cells, 5, 2, 1, 100);
    append(&cells, 5, 1, 3, 0);
    append(&cells, 5, 2, 2, 200);
    append(&cells, 0, 31, UINT64_C(1) << 63, UINT64_MAX);
    lucid_cells_normalize(&cells);
    assert_int_equal(cells.n, 4);
    assert_cell(&cells, 0, 0, 31, UINT64_C(1) << 63, UINT64_MAX);
    assert_cell(&cells, 1, 5, 1, 3, 0);
    assert_cell(&cells, 2, 5, 2, 3, 300);
    assert_cell(&cells, 3, 0x3ffffff, 1, 1, 10);
    assert_int_equal(lucid_cells_memory(&cells), 4 * sizeof(struct lucid_cell));
    append(&cells, 5, 1, 1, 1); /* still usable where no room is left */
    assert_int_equal(cells.n, 5);
    lucid_cells_clear(&cells);
    assert_null(cells.cell);
    assert_int_equal(lucid_cells_memory(&cells), 0);
}

static void test_difference(void **state)
{
    struct lucid_cells sum = {0}, later = {0}, earlier = {0};
    append(&sum, 1, 0, 1, 1);
    append(&sum, 9, 0, 5, 50);
    append(&earlier, 1, 0, 10, 100);
    append(&earlier, 2, 0, 7, 70);
    append(&later, 1, 0, 12, 130);
    append(&later, 1, 1, 1, 0);
    append(&later, 2, 0, 7, 70);
    append(&later, 3, 0, 1, 8);
    assert_int_equal(lucid_cells_add_difference(&sum, &later, &earlier), 0);
    assert_int_equal(sum.n, 4); /* peer 2 got nothing new: no cell */
    assert_cell(&sum, 0, 1, 0, 3, 31);
    assert_cell(&sum, 1, 1, 1, 1, 0);
    assert_cell(&sum, 2, 3, 0, 1, 8);
    assert_cell(&sum, 3, 9, 0, 5, 50);
    assert_int_equal(lucid_cells_memory(&sum), 4 * sizeof(struct lucid_cell));
    lucid_cells_clear(&sum);
    lucid_cells_clear(&later);
    lucid_cells_clear(&earlier);
}

/** A quiet spell leaves nothing, not even memory. */
static void test_no_difference(void **state)
{
    struct lucid_cells sum = {0}, later = {0};
    for (uint32_t peer = 0; peer < 100; peer++) append(&later, peer, 0, 1, peer);
    assert_int_equal(lucid_cells_add_difference(&sum, &later, &later), 0);
    assert_int_equal(sum.n, 0);
    assert_int_equal(lucid_cells_memory(&sum), 0);
    lucid_cells_clear(&later);
}

/** A random row and what it adds up to. */
static void random_row(uint64_t *seed, struct lucid_cells *cells, struct dense *dense)
{
    size_t n = unit_random(seed) % 60;
    for (size_t i = 0; i < n; i++) {
        uint32_t peer = (uint32_t)(unit_random(seed) % PEERS), kind = (uint32_t)(unit_random(seed) % KINDS);
        uint64_t count = unit_random(seed) % 3, bytes = count ? unit_random(seed) % 1000 : 0;
        append(cells, peer, kind, count, bytes);
        dense->count[peer][kind] += count;
        dense->bytes[peer][kind] += bytes;
    }
    lucid_cells_normalize(cells);
}

static void assert_equals_dense(const struct lucid_cells *cells, const struct dense *dense, bool zeros)
{
    size_t n = 0;
    for (uint32_t peer = 0; peer < PEERS; peer++)
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            bool here = n < cells->n && cells->cell[n].peer == peer && cells->cell[n].kind == kind;
            uint64_t count = dense->count[peer][kind], bytes = dense->bytes[peer][kind];
            assert_int_equal(here ? cells->cell[n].count : 0, count);
            assert_int_equal(here ? cells->cell[n].bytes : 0, bytes);
            if (here && !zeros) assert_true(count || bytes);
            n += here;
        }
    assert_int_equal(n, cells->n); /* all were met in order, none twice */
}

static void test_random(void **state)
{
    uint64_t seed = 42;
    for (int round = 0; round < 2000; round++) {
        struct dense first = {0}, second, total;
        struct lucid_cells earlier = {0}, later = {0}, sum = {0};
        random_row(&seed, &earlier, &first);
        assert_equals_dense(&earlier, &first, true);
        second = first;
        for (size_t i = 0; i < earlier.n; i++)
            append(&later, earlier.cell[i].peer, earlier.cell[i].kind, earlier.cell[i].count, earlier.cell[i].bytes);
        random_row(&seed, &later, &second);
        memset(&total, 0, sizeof total);
        random_row(&seed, &sum, &total);
        for (int i = 0; i < PEERS * KINDS; i++) {
            total.count[i / KINDS][i % KINDS] += second.count[i / KINDS][i % KINDS] - first.count[i / KINDS][i % KINDS];
            total.bytes[i / KINDS][i % KINDS] += second.bytes[i / KINDS][i % KINDS] - first.bytes[i / KINDS][i % KINDS];
        }
        assert_int_equal(lucid_cells_add_difference(&sum, &later, &earlier), 0);
        assert_equals_dense(&sum, &total, false);
        lucid_cells_clear(&earlier);
        lucid_cells_clear(&later);
        lucid_cells_clear(&sum);
    }
}

static void test_without_memory(void **state)
{
    struct lucid_cells cells = {0}, sum = {0}, result;
    allocations_fail_after(0);
    assert_int_equal(lucid_cells_append(&cells, (struct lucid_cell){1, 1, 1, 1}), -1);
    allocations_fail_never();
    for (uint32_t i = 0; i < 40; i++) append(&cells, i % 20, 0, 1, 2);
    append(&sum, 3, 0, 1, 1);
    allocations_fail_after(0);
    assert_int_equal(lucid_cells_add_difference(&sum, &cells, NULL), -1);
    assert_int_equal(lucid_cells_sum(&sum, &cells, NULL, &result), -1);
    lucid_cells_normalize(&cells); /* cannot give anything back, and does its work */
    allocations_fail_never();
    assert_int_equal(result.n, 0);
    assert_int_equal(sum.n, 1);
    assert_cell(&sum, 0, 3, 0, 1, 1);
    assert_int_equal(cells.n, 20);
    assert_cell(&cells, 19, 19, 0, 2, 4);
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sum);
    assert_int_equal(allocations_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),         cmocka_unit_test(test_normalize), cmocka_unit_test(test_difference),
        cmocka_unit_test(test_no_difference), cmocka_unit_test(test_random),    cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
