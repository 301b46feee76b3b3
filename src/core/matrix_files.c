/* SPDX-License-Identifier: BSD-3-Clause
 * matrix_files.c: the text formats of a matrix; see matrix.h.
 */
#include <inttypes.h>

#include "matrix.h"

void lucid_matrix_write_mtx(const struct lucid_matrix *matrix, FILE *stream)
{
    fprintf(stream, "%%%%MatrixMarket matrix coordinate integer general\n");
    fprintf(stream, "%% Lucid: bytes sent; row = sender, column = receiver; ranks are counted from 1\n");
    fprintf(stream, "%d %d %zu\n", matrix->size, matrix->size, matrix->entries);
    for (int row = 0; row < matrix->size; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
            fprintf(stream, "%d %d %" PRIu64 "\n", row + 1, matrix->column[i] + 1, matrix->bytes[i]);
}

void lucid_matrix_write_prof(const struct lucid_matrix *matrix, FILE *stream)
{
    for (int row = 0; row < matrix->size; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
            fprintf(stream, "E\t%d\t%d\t%" PRIu64 " bytes\t%" PRIu64 " msgs sent\n", row, matrix->column[i],
                    matrix->bytes[i], matrix->count[i]);
}

void lucid_matrix_write_dense(const struct lucid_matrix *matrix, int bytes, FILE *stream)
{
    const uint64_t *values = bytes ? matrix->bytes : matrix->count;
    for (int row = 0; row < matrix->size; row++) {
        size_t i = matrix->row_start[row], end = matrix->row_start[row + 1];
        for (int column = 0; column < matrix->size; column++) {
            uint64_t value = i < end && matrix->column[i] == column ? values[i++] : 0;
            fprintf(stream, column ? " %" PRIu64 : "%" PRIu64, value);
        }
        fputc('\n', stream);
    }
}
