/* SPDX-License-Identifier: BSD-3-Clause
 * matrix.c: see matrix.h.
 */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

int lucid_matrix_make(struct lucid_matrix *matrix, int size, size_t entries)
{
    *matrix = (struct lucid_matrix){0};
    if (size < 0 || entries > SIZE_MAX / sizeof(uint64_t) / 4) return -1;
    matrix->size = size;
    matrix->entries = entries;
    size_t some = entries ? entries : 1;
    matrix->row_start = calloc((size_t)size + 1, sizeof *matrix->row_start);
    matrix->column = malloc(some * sizeof *matrix->column);
    matrix->count = malloc(some * sizeof *matrix->count);
    matrix->bytes = malloc(some * sizeof *matrix->bytes);
    if (matrix->row_start && matrix->column && matrix->count && matrix->bytes) return 0;
    lucid_matrix_free(matrix);
    return -1;
}

void lucid_matrix_free(struct lucid_matrix *matrix)
{
    if (!matrix) return;
    free(matrix->row_start);
    free(matrix->column);
    free(matrix->count);
    free(matrix->bytes);
    *matrix = (struct lucid_matrix){0};
}

static int in_set(uint64_t kinds, const struct lucid_cell *cell)
{
    return cell->kind < 64 && (kinds >> cell->kind & 1);
}

/** Whether every cell of the set is in a column. */
static int in_columns(const struct lucid_cell *from, const struct lucid_cell *to, int size, uint64_t kinds)
{
    for (const struct lucid_cell *cell = from; cell < to; cell++)
        if (in_set(kinds, cell) && cell->peer >= (uint32_t)size) return 0;
    return 1;
}

/** Adds one row's cells behind the entries so far, or, without arrays, counts them only. */
static size_t add_row(struct lucid_matrix *matrix, size_t n, const struct lucid_cell *from, const struct lucid_cell *to,
                      uint64_t kinds)
{
    const struct lucid_cell *last = NULL;
    for (const struct lucid_cell *cell = from; cell < to; cell++) {
        if (!in_set(kinds, cell)) continue;
        int fresh = !last || last->peer != cell->peer;
        last = cell;
        n += (size_t)fresh;
        if (!matrix->column) continue;
        if (fresh) {
            matrix->column[n - 1] = (int)cell->peer;
            matrix->count[n - 1] = matrix->bytes[n - 1] = 0;
        }
        matrix->count[n - 1] += cell->count;
        matrix->bytes[n - 1] += cell->bytes;
    }
    return n;
}

int lucid_matrix_from_rows(struct lucid_matrix *matrix, int size, const struct lucid_cell *cells, const size_t *start,
                           uint64_t kinds)
{
    static const struct lucid_cell no_cell;
    struct lucid_matrix none = {0};
    size_t n = 0;
    *matrix = none;
    if (!cells) cells = &no_cell; /* C knows no offsets to NULL, not even 0 */
    if (size > 0 && !in_columns(cells + start[0], cells + start[size], size, kinds)) return -1;
    for (int row = 0; row < size; row++) n = add_row(&none, n, cells + start[row], cells + start[row + 1], kinds);
    if (lucid_matrix_make(matrix, size, n) != 0) return -1;
    n = 0;
    for (int row = 0; row < size; row++) {
        n = add_row(matrix, n, cells + start[row], cells + start[row + 1], kinds);
        matrix->row_start[row + 1] = n;
    }
    return 0;
}

void lucid_matrix_to_dense(const struct lucid_matrix *matrix, unsigned long *counts, unsigned long *bytes)
{
    size_t n = (size_t)matrix->size;
    if (counts) memset(counts, 0, n * n * sizeof *counts);
    if (bytes) memset(bytes, 0, n * n * sizeof *bytes);
    for (size_t row = 0; row < n; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
            size_t at = row * n + (size_t)matrix->column[i];
            if (counts) counts[at] = (unsigned long)matrix->count[i];
            if (bytes) bytes[at] = (unsigned long)matrix->bytes[i];
        }
}

int lucid_dense_fits(int size, size_t element, size_t limit)
{
    size_t n = (size_t)size;
    if (size < 0) return -1;
    if (n == 0) return 0;
    return n <= SIZE_MAX / n && n * n <= SIZE_MAX / element && n * n * element <= limit ? 0 : -1;
}
