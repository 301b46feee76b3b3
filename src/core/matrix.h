/* SPDX-License-Identifier: BSD-3-Clause
 * matrix.h: the sparse matrix of lucid_types.h: building, expanding, writing. Knows no MPI.
 */
#ifndef LUCID_MATRIX_H
#define LUCID_MATRIX_H

#include <lucid_types.h>
#include <stdio.h>

#include "cells.h"

/** Allocates the arrays for `size` rows and `entries` entries. 0, or -1 without memory (or when sizes overflow). */
int lucid_matrix_make(struct lucid_matrix *matrix, int size, size_t entries);

/**
 * Builds the matrix from rows of cells one behind the other: row r is cells[start[r]] ... cells[start[r + 1] - 1], sorted by
 * (peer, kind), peers being columns; NULL where there are none at all. Cells of kinds outside the set are left out, kinds of one peer added up. 0, or -1
 * without memory or when a peer that is wanted is no column (then the matrix is empty).
 */
int lucid_matrix_from_rows(struct lucid_matrix *matrix, int size, const struct lucid_cell *cells, const size_t *start,
                           uint64_t kinds);

/** Fills row-major dense matrices (NULL: not wanted). The caller has checked their size. */
void lucid_matrix_to_dense(const struct lucid_matrix *matrix, unsigned long *counts, unsigned long *bytes);

/** 0 if size x size elements of `element` bytes stay within `limit`, else -1; never overflows. */
int lucid_dense_fits(int size, size_t element, size_t limit);

/** Writes Matrix Market coordinates (1-based; row = sender; bytes). Errors stay in the stream. */
void lucid_matrix_write_mtx(const struct lucid_matrix *matrix, FILE *stream);
/** Writes "E <src> <dst> <bytes> bytes <n> msgs sent", tab-separated, a line per pair. */
void lucid_matrix_write_prof(const struct lucid_matrix *matrix, FILE *stream);
/** Writes all rows in full, elements separated by a space; `bytes`: bytes, else messages. */
void lucid_matrix_write_dense(const struct lucid_matrix *matrix, int bytes, FILE *stream);

#endif
