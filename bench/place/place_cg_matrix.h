/* SPDX-License-Identifier: BSD-3-Clause
 * place_cg_matrix.h: the sparse matrix of the NAS CG benchmark, a block of it per process.
 */
#ifndef PLACE_CG_MATRIX_H
#define PLACE_CG_MATRIX_H

/** A problem class of NAS CG, with the value that its result must have. */
struct cg_class {
    char name;
    int na, nonzer, niter;
    double shift, zeta;
};

/** Rows row0 <= i < row1 and columns col0 <= j < col1 of the whole, indices counted from 0. */
struct cg_block {
    int row0, row1, col0, col1;
};

/** Compressed rows; columns are counted from the block's first. */
struct cg_matrix {
    int rows, entries;
    int *start, *column;
    double *value;
};

/** Makes a block as makea of the specification does: every process walks through all outer products and keeps its part. */
void cg_matrix_make(const struct cg_class *kind, const struct cg_block *block, struct cg_matrix *matrix);
void cg_matrix_free(struct cg_matrix *matrix);

#endif
