/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_matrix.c: lucid_matrix_from_rows() and what is made of the matrix, from rows of any cells that are sorted by (peer,
 * kind); peers outside the columns included. The dense sums of the cells are the reference.
 *
 * Input: size, set of kinds (4 bytes), then cells of 6 bytes, dealt to the rows.
 */
#include "fuzz.h"
#include "matrix.h"

#define MOST 12

struct rows {
    struct lucid_cells all;
    size_t start[MOST + 1];
};

static void read_rows(struct fuzz_input *input, int size, struct rows *rows)
{
    struct lucid_cells row[MOST] = {{0}};
    while (input->left > 0 && size > 0) {
        unsigned where = fuzz_byte(input), what = fuzz_byte(input);
        uint32_t peer = what == 255 ? UINT32_MAX : what == 254 ? 0x3ffffff : what == 253 ? (uint32_t)size : what % (uint32_t)size;
        struct lucid_cell cell = {peer, where % 67, fuzz_number(input, 2), fuzz_number(input, 2)};
        FUZZ_CHECK(lucid_cells_append(&row[where / 16 % (unsigned)size], cell) == 0);
    }
    for (int i = 0; i < size; i++) {
        lucid_cells_normalize(&row[i]);
        rows->start[i] = rows->all.n;
        for (size_t c = 0; c < row[i].n; c++) FUZZ_CHECK(lucid_cells_append(&rows->all, row[i].cell[c]) == 0);
        lucid_cells_clear(&row[i]);
    }
    rows->start[size] = rows->all.n;
}

/** The dense sums; whether every wanted cell is in a column. */
static int reference(const struct rows *rows, int size, uint64_t kinds, unsigned long *counts, unsigned long *bytes)
{
    int inside = 1;
    memset(counts, 0, MOST * MOST * sizeof *counts);
    memset(bytes, 0, MOST * MOST * sizeof *bytes);
    for (int row = 0; row < size; row++)
        for (size_t i = rows->start[row]; i < rows->start[row + 1]; i++) {
            const struct lucid_cell *cell = &rows->all.cell[i];
            if (cell->kind >= 64 || !(kinds >> cell->kind & 1)) continue;
            if (cell->peer >= (uint32_t)size) {
                inside = 0;
                continue;
            }
            counts[(size_t)row * (size_t)size + cell->peer] += cell->count;
            bytes[(size_t)row * (size_t)size + cell->peer] += cell->bytes;
        }
    return inside;
}

static void check_shape(const struct lucid_matrix *matrix, int size)
{
    FUZZ_CHECK(matrix->size == size && matrix->row_start[0] == 0 && matrix->row_start[size] == matrix->entries);
    for (int row = 0; row < size; row++) {
        FUZZ_CHECK(matrix->row_start[row] <= matrix->row_start[row + 1]);
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
            FUZZ_CHECK(matrix->column[i] >= 0 && matrix->column[i] < size);
            FUZZ_CHECK(i == matrix->row_start[row] || matrix->column[i] > matrix->column[i - 1]);
        }
    }
}

/** Reads the dense text back. */
static void check_text(const struct lucid_matrix *matrix, int bytes, const unsigned long *expected)
{
    char *text = NULL, *p, *end;
    size_t length = 0, n = (size_t)matrix->size * (size_t)matrix->size;
    FILE *stream = open_memstream(&text, &length);
    FUZZ_CHECK(stream != NULL);
    lucid_matrix_write_dense(matrix, bytes, stream);
    FUZZ_CHECK(fclose(stream) == 0);
    p = text;
    for (size_t i = 0; i < n; i++, p = end + 1) {
        FUZZ_CHECK(strtoul(p, &end, 10) == expected[i] && end > p);
        FUZZ_CHECK(*end == ((i + 1) % (size_t)matrix->size == 0 ? '\n' : ' '));
    }
    FUZZ_CHECK(p == text + length);
    free(text);
}

static void check_matrix(const struct lucid_matrix *matrix, int size, const unsigned long *counts, const unsigned long *bytes)
{
    size_t n = (size_t)size * (size_t)size;
    unsigned long *dense = malloc((2 * n + 1) * sizeof *dense);
    FUZZ_CHECK(dense != NULL);
    memset(dense, 0x55, 2 * n * sizeof *dense);
    check_shape(matrix, size);
    lucid_matrix_to_dense(matrix, dense, dense + n);
    FUZZ_CHECK(memcmp(dense, counts, n * sizeof *dense) == 0 && memcmp(dense + n, bytes, n * sizeof *dense) == 0);
    free(dense);
    check_text(matrix, 0, counts);
    check_text(matrix, 1, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned long counts[MOST * MOST], bytes[MOST * MOST];
    struct fuzz_input input = {data, size};
    struct rows rows = {.all = {0}};
    struct lucid_matrix matrix;
    int ranks = (int)(fuzz_byte(&input) % (MOST + 1));
    uint64_t kinds = fuzz_number(&input, 4) * UINT64_C(0x100000001); /* the upper kinds, too */
    read_rows(&input, ranks, &rows);
    int inside = reference(&rows, ranks, kinds, counts, bytes);
    int rc = lucid_matrix_from_rows(&matrix, ranks, rows.all.cell, rows.start, kinds);
    FUZZ_CHECK(rc == (inside ? 0 : -1));
    if (rc == 0) check_matrix(&matrix, ranks, counts, bytes);
    else FUZZ_CHECK(matrix.size == 0 && !matrix.row_start);
    lucid_matrix_free(&matrix);
    lucid_cells_clear(&rows.all);
    return 0;
}
