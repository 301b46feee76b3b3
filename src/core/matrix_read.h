/* SPDX-License-Identifier: BSD-3-Clause
 * matrix_read.h: reads Matrix Market coordinate files. Knows no MPI.
 */
#ifndef LUCID_MATRIX_READ_H
#define LUCID_MATRIX_READ_H

#include <stdint.h>
#include <stdio.h>

/**
 * Reads "matrix coordinate integer|real|pattern general|symmetric" and calls entry(row, column, value, arg), numbered from 0,
 * for each entry (both ways where symmetric; value 1 for patterns, reals rounded). size: what the file says.
 * 0, or -1 with one line in `why`: what is wrong and in which line. Entries before a bad line have been passed on then.
 */
int lucid_matrix_read_mtx(FILE *stream, int *size, void (*entry)(int row, int column, uint64_t value, void *arg), void *arg,
                          char *why, size_t why_size);

#endif
