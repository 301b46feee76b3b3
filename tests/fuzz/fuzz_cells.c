/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_cells.c: rows of any cells: lucid_cells_normalize() and lucid_cells_sum() against sums found by searching.
 *
 * Input: cells of 8 bytes each, the first of which says to which of three rows the cell goes.
 */
#include "cells.h"
#include "fuzz.h"

static void total(const struct lucid_cells *cells, uint32_t peer, uint32_t kind, uint64_t *count, uint64_t *bytes)
{
    *count = *bytes = 0;
    for (size_t i = 0; i < cells->n; i++) {
        if (cells->cell[i].peer != peer || cells->cell[i].kind != kind) continue;
        *count += cells->cell[i].count;
        *bytes += cells->cell[i].bytes;
    }
}

static void check_sorted(const struct lucid_cells *cells)
{
    for (size_t i = 1; i < cells->n; i++) {
        const struct lucid_cell *a = &cells->cell[i - 1], *b = &cells->cell[i];
        FUZZ_CHECK(a->peer < b->peer || (a->peer == b->peer && a->kind < b->kind));
    }
    FUZZ_CHECK(cells->n <= cells->capacity && lucid_cells_memory(cells) == cells->n * sizeof *cells->cell);
}

static struct lucid_cells normalized(const struct lucid_cells *raw)
{
    struct lucid_cells cells = {0};
    uint64_t a[2], b[2];
    for (size_t i = 0; i < raw->n; i++) FUZZ_CHECK(lucid_cells_append(&cells, raw->cell[i]) == 0);
    lucid_cells_normalize(&cells);
    check_sorted(&cells);
    for (size_t i = 0; i < raw->n; i++) {
        total(raw, raw->cell[i].peer, raw->cell[i].kind, &a[0], &a[1]);
        total(&cells, raw->cell[i].peer, raw->cell[i].kind, &b[0], &b[1]);
        FUZZ_CHECK(a[0] == b[0] && a[1] == b[1]);
    }
    return cells;
}

/** For each pair of `row`: result = sum + later - earlier, in the arithmetic of 64 bits. */
static void check_sum(const struct lucid_cells *row, const struct lucid_cells *sum, const struct lucid_cells *later,
                      const struct lucid_cells *earlier, const struct lucid_cells *result)
{
    uint64_t s[2], l[2], e[2], r[2];
    for (size_t i = 0; i < row->n; i++) {
        total(sum, row->cell[i].peer, row->cell[i].kind, &s[0], &s[1]);
        total(later, row->cell[i].peer, row->cell[i].kind, &l[0], &l[1]);
        total(earlier, row->cell[i].peer, row->cell[i].kind, &e[0], &e[1]);
        total(result, row->cell[i].peer, row->cell[i].kind, &r[0], &r[1]);
        FUZZ_CHECK(r[0] == s[0] + l[0] - e[0] && r[1] == s[1] + l[1] - e[1]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size < 1600 ? size : 1600};
    struct lucid_cells raw[3] = {{0}}, row[3], result;
    while (input.left > 0) {
        unsigned to = fuzz_byte(&input) % 3, where = fuzz_byte(&input);
        struct lucid_cell cell = {where & 15 ? where & 7 : UINT32_MAX, where >> 6, fuzz_number(&input, 3), fuzz_number(&input, 3)};
        FUZZ_CHECK(lucid_cells_append(&raw[to], cell) == 0);
        if (to == 1) FUZZ_CHECK(lucid_cells_append(&raw[2], cell) == 0); /* earlier: 1; later has all of it and more */
    }
    for (int i = 0; i < 3; i++) row[i] = normalized(&raw[i]);
    FUZZ_CHECK(lucid_cells_sum(&row[0], &row[2], &row[1], &result) == 0);
    check_sorted(&result);
    for (int i = 0; i < 3; i++) check_sum(&row[i], &row[0], &row[2], &row[1], &result);
    for (size_t i = 0; i < result.n; i++) FUZZ_CHECK(result.cell[i].count || result.cell[i].bytes);
    FUZZ_CHECK(lucid_cells_add_difference(&row[0], &row[2], &row[1]) == 0);
    FUZZ_CHECK(row[0].n == result.n && (result.n == 0 || memcmp(row[0].cell, result.cell, result.n * sizeof *result.cell) == 0));
    for (int i = 0; i < 3; i++) {
        lucid_cells_clear(&raw[i]);
        lucid_cells_clear(&row[i]);
    }
    lucid_cells_clear(&result);
    return 0;
}
