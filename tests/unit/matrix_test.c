/* SPDX-License-Identifier: BSD-3-Clause
 * matrix_test.c: from rows of cells to the sparse matrix, the dense ones and the files.
 */
#include <limits.h>

#include "allocations.h"
#include "matrix.h"
#include "unit.h"

/* Three ranks: 0 sends to 0 and 2, 1 sends nothing, 2 sends to 1. */
static const struct lucid_cell cells[] = {{0, 0, 1, 0},  {0, 3, 2, 20}, {2, 0, 4, 400}, {2, 1, 8, 800},
                                          {1, 1, 16, 5}, {1, 2, 32, 7}};
static const size_t start[] = {0, 4, 4, 6};

static void assert_matrix(const struct lucid_matrix *matrix, size_t entries, const size_t *rows, const int *column,
                          const uint64_t *count, const uint64_t *bytes)
{
    assert_int_equal(matrix->size, 3);
    assert_int_equal(matrix->entries, entries);
    assert_memory_equal(matrix->row_start, rows, 4 * sizeof *rows);
    if (entries == 0) return;
    assert_memory_equal(matrix->column, column, entries * sizeof *column);
    assert_memory_equal(matrix->count, count, entries * sizeof *count);
    assert_memory_equal(matrix->bytes, bytes, entries * sizeof *bytes);
}

static void test_from_rows(void **state)
{
    struct lucid_matrix matrix;
    assert_int_equal(lucid_matrix_from_rows(&matrix, 3, cells, start, LUCID_KINDS_ALL), 0);
    assert_matrix(&matrix, 3, (size_t[]){0, 2, 2, 3}, (int[]){0, 2, 1}, (uint64_t[]){3, 12, 48}, (uint64_t[]){20, 1200, 12});
    lucid_matrix_free(&matrix);
    assert_int_equal(lucid_matrix_from_rows(&matrix, 3, cells, start, LUCID_KIND_BIT(1)), 0);
    assert_matrix(&matrix, 2, (size_t[]){0, 1, 1, 2}, (int[]){2, 1}, (uint64_t[]){8, 16}, (uint64_t[]){800, 5});
    lucid_matrix_free(&matrix);
    assert_int_equal(lucid_matrix_from_rows(&matrix, 3, cells, start, LUCID_KIND_BIT(0) | LUCID_KIND_BIT(2)), 0);
    assert_matrix(&matrix, 3, (size_t[]){0, 2, 2, 3}, (int[]){0, 2, 1}, (uint64_t[]){1, 4, 32}, (uint64_t[]){0, 400, 7});
    lucid_matrix_free(&matrix);
    assert_int_equal(lucid_matrix_from_rows(&matrix, 3, cells, start, LUCID_KIND_BIT(9)), 0);
    assert_matrix(&matrix, 0, (size_t[]){0, 0, 0, 0}, NULL, NULL, NULL);
    lucid_matrix_free(&matrix);
    assert_null(matrix.row_start);
    lucid_matrix_free(&matrix); /* again, and nothing, are no harm */
    lucid_matrix_free(NULL);
}

static void test_no_rows(void **state)
{
    struct lucid_matrix matrix;
    assert_int_equal(lucid_matrix_from_rows(&matrix, 0, NULL, (size_t[]){0}, LUCID_KINDS_ALL), 0);
    assert_int_equal(matrix.size, 0);
    lucid_matrix_to_dense(&matrix, NULL, NULL);
    lucid_matrix_free(&matrix);
}

/** A peer that is no column is refused, unless its kind is not wanted. */
static void test_no_column(void **state)
{
    static const uint32_t bad[] = {3, 0x3ffffff, UINT32_MAX};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct lucid_matrix matrix;
        struct lucid_cell wrong[COUNT_OF(cells)];
        memcpy(wrong, cells, sizeof cells);
        wrong[5].peer = bad[i];
        assert_int_equal(lucid_matrix_from_rows(&matrix, 3, wrong, start, LUCID_KINDS_ALL), -1);
        assert_null(matrix.row_start);
        assert_int_equal(matrix.size, 0);
        assert_int_equal(lucid_matrix_from_rows(&matrix, 3, wrong, start, LUCID_KIND_BIT(0)), 0);
        assert_int_equal(matrix.entries, 2);
        lucid_matrix_free(&matrix);
    }
}

/** Kinds that no set can hold are in none. */
static void test_no_kind(void **state)
{
    static const struct lucid_cell odd[] = {{0, 64, 1, 1}, {0, 66, 1, 1}, {0, UINT32_MAX, 1, 1}};
    struct lucid_matrix matrix;
    assert_int_equal(lucid_matrix_from_rows(&matrix, 1, odd, (size_t[]){0, 3}, UINT64_MAX), 0);
    assert_int_equal(matrix.entries, 0);
    lucid_matrix_free(&matrix);
    assert_int_equal(lucid_matrix_from_rows(&matrix, 1, NULL, (size_t[]){0, 0}, UINT64_MAX), 0);
    assert_int_equal(matrix.entries, 0);
    lucid_matrix_free(&matrix);
}

static void test_dense(void **state)
{
    struct lucid_matrix matrix;
    unsigned long counts[9], bytes[9];
    memset(counts, 0x55, sizeof counts);
    memset(bytes, 0x55, sizeof bytes);
    assert_int_equal(lucid_matrix_from_rows(&matrix, 3, cells, start, LUCID_KINDS_ALL), 0);
    lucid_matrix_to_dense(&matrix, counts, NULL);
    assert_memory_equal(counts, ((unsigned long[]){3, 0, 12, 0, 0, 0, 0, 48, 0}), sizeof counts);
    lucid_matrix_to_dense(&matrix, NULL, bytes);
    assert_memory_equal(bytes, ((unsigned long[]){20, 0, 1200, 0, 0, 0, 0, 12, 0}), sizeof bytes);
    memset(counts, 0x55, sizeof counts);
    lucid_matrix_to_dense(&matrix, counts, bytes);
    assert_int_equal(counts[7], 48);
    assert_int_equal(counts[8], 0);
    lucid_matrix_free(&matrix);
}

static void test_dense_fits(void **state)
{
    assert_int_equal(lucid_dense_fits(-1, 8, SIZE_MAX), -1);
    assert_int_equal(lucid_dense_fits(0, 8, 0), 0);
    assert_int_equal(lucid_dense_fits(1, 8, 7), -1);
    assert_int_equal(lucid_dense_fits(1, 8, 8), 0);
    assert_int_equal(lucid_dense_fits(1024, 8, (size_t)8 << 20), 0);
    assert_int_equal(lucid_dense_fits(1024, 8, ((size_t)8 << 20) - 1), -1);
    assert_int_equal(lucid_dense_fits(32768, 8, (size_t)8 << 30), 0);
    assert_int_equal(lucid_dense_fits(32769, 8, (size_t)8 << 30), -1);
    assert_int_equal(lucid_dense_fits(65536, 8, (size_t)8 << 30), -1);
    assert_int_equal(lucid_dense_fits(INT_MAX, 8, SIZE_MAX), -1); /* 2^65 bytes */
    assert_int_equal(lucid_dense_fits(INT_MAX, 1, SIZE_MAX), 0);
    assert_int_equal(lucid_dense_fits(INT_MAX, SIZE_MAX, SIZE_MAX), -1);
}

static void assert_text(void (*write)(const struct lucid_matrix *, FILE *), const struct lucid_matrix *matrix, const char *expected)
{
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    write(matrix, stream);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void write_counts(const struct lucid_matrix *matrix, FILE *stream)
{
    lucid_matrix_write_dense(matrix, 0, stream);
}

static void write_bytes(const struct lucid_matrix *matrix, FILE *stream)
{
    lucid_matrix_write_dense(matrix, 1, stream);
}

static void test_files(void **state)
{
    struct lucid_matrix matrix;
    assert_int_equal(lucid_matrix_from_rows(&matrix, 3, cells, start, LUCID_KINDS_ALL), 0);
    assert_text(lucid_matrix_write_mtx, &matrix,
                "%%MatrixMarket matrix coordinate integer general\n"
                "% Lucid: bytes sent; row = sender, column = receiver; ranks are counted from 1\n"
                "3 3 3\n1 1 20\n1 3 1200\n3 2 12\n");
    assert_text(lucid_matrix_write_prof, &matrix,
                "E\t0\t0\t20 bytes\t3 msgs sent\nE\t0\t2\t1200 bytes\t12 msgs sent\nE\t2\t1\t12 bytes\t48 msgs sent\n");
    assert_text(write_counts, &matrix, "3 0 12\n0 0 0\n0 48 0\n");
    assert_text(write_bytes, &matrix, "20 0 1200\n0 0 0\n0 12 0\n");
    lucid_matrix_free(&matrix);
}

static void test_without_memory(void **state)
{
    struct lucid_matrix matrix;
    for (long n = 0; n < 4; n++) {
        long before = allocations_live();
        allocations_fail_after(n);
        int rc = lucid_matrix_from_rows(&matrix, 3, cells, start, LUCID_KINDS_ALL);
        allocations_fail_never();
        assert_int_equal(rc, -1);
        assert_null(matrix.row_start);
        assert_int_equal(allocations_live(), before);
    }
    assert_int_equal(lucid_matrix_make(&matrix, -1, 0), -1);
    assert_int_equal(lucid_matrix_make(&matrix, 3, SIZE_MAX), -1);
    assert_int_equal(lucid_matrix_make(&matrix, 3, SIZE_MAX / 8), -1);
    assert_null(matrix.row_start);
    lucid_matrix_free(&matrix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_rows), cmocka_unit_test(test_no_rows), cmocka_unit_test(test_no_column),
        cmocka_unit_test(test_dense),     cmocka_unit_test(test_dense_fits), cmocka_unit_test(test_files),
        cmocka_unit_test(test_no_kind),   cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
