/* SPDX-License-Identifier: BSD-3-Clause
 * cells.c: see cells.h.
 */
#include "cells.h"

#include <stdlib.h>

void lucid_cells_clear(struct lucid_cells *cells)
{
    free(cells->cell);
    *cells = (struct lucid_cells){0};
}

static int reserve(struct lucid_cells *cells, size_t n)
{
    if (n <= cells->capacity) return 0;
    struct lucid_cell *cell = realloc(cells->cell, n * sizeof *cell);
    if (!cell) return -1;
    cells->cell = cell;
    cells->capacity = n;
    return 0;
}

int lucid_cells_append(struct lucid_cells *cells, struct lucid_cell cell)
{
    if (cells->n == cells->capacity && reserve(cells, cells->capacity ? cells->capacity * 2 : 16) != 0) return -1;
    cells->cell[cells->n++] = cell;
    return 0;
}

static int compare(const struct lucid_cell *a, const struct lucid_cell *b)
{
    if (a->peer != b->peer) return a->peer < b->peer ? -1 : 1;
    return a->kind < b->kind ? -1 : a->kind > b->kind;
}

static int compare_void(const void *a, const void *b)
{
    return compare(a, b);
}

/** Gives back what is not used. */
static void fit(struct lucid_cells *cells)
{
    if (cells->n == 0) {
        lucid_cells_clear(cells);
    } else if (cells->n < cells->capacity) {
        struct lucid_cell *cell = realloc(cells->cell, cells->n * sizeof *cell);
        if (!cell) return;
        cells->cell = cell;
        cells->capacity = cells->n;
    }
}

void lucid_cells_normalize(struct lucid_cells *cells)
{
    if (cells->n > 1) {
        qsort(cells->cell, cells->n, sizeof *cells->cell, compare_void);
        size_t last = 0;
        for (size_t i = 1; i < cells->n; i++) {
            if (compare(&cells->cell[last], &cells->cell[i]) != 0) {
                cells->cell[++last] = cells->cell[i];
            } else {
                cells->cell[last].count += cells->cell[i].count;
                cells->cell[last].bytes += cells->cell[i].bytes;
            }
        }
        cells->n = last + 1;
    }
    fit(cells);
}

/** Appends later - earlier where it is not zero; the capacity must be there. */
static void append_difference(struct lucid_cells *to, const struct lucid_cells *later, const struct lucid_cells *earlier)
{
    size_t e = 0;
    for (size_t i = 0; i < later->n; i++) {
        struct lucid_cell cell = later->cell[i];
        while (earlier && e < earlier->n && compare(&earlier->cell[e], &cell) < 0) e++;
        if (earlier && e < earlier->n && compare(&earlier->cell[e], &cell) == 0) {
            cell.count -= earlier->cell[e].count;
            cell.bytes -= earlier->cell[e].bytes;
        }
        if (cell.count || cell.bytes) to->cell[to->n++] = cell;
    }
}

int lucid_cells_sum(const struct lucid_cells *sum, const struct lucid_cells *later, const struct lucid_cells *earlier,
                    struct lucid_cells *result)
{
    *result = (struct lucid_cells){0};
    if (reserve(result, sum->n + later->n) != 0) return -1;
    append_difference(result, sum, NULL);
    append_difference(result, later, earlier);
    lucid_cells_normalize(result);
    return 0;
}

int lucid_cells_add_difference(struct lucid_cells *sum, const struct lucid_cells *later, const struct lucid_cells *earlier)
{
    struct lucid_cells merged;
    if (lucid_cells_sum(sum, later, earlier, &merged) != 0) return -1;
    lucid_cells_clear(sum);
    *sum = merged;
    return 0;
}

size_t lucid_cells_memory(const struct lucid_cells *cells)
{
    return cells->capacity * sizeof *cells->cell;
}
