/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The Lucid authors
 *
 * lucid_sparse.h: what a program may say about its reductions. Nothing here is needed for them to become faster: predefined
 * operators are known. Reductions with an operator of the program's own go to the MPI library untouched unless it is declared.
 */
#ifndef LUCID_SPARSE_H
#define LUCID_SPARSE_H

#include <mpi.h>

#include "lucid_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Declares that the function of `op` (MPI_Op_create) works element by element: it combines element i of its two vectors into
 * element i, by their values alone, and may be called with any number of elements, in any order of calls. Elements that have
 * the same two values at many places are then combined once. Right away for predefined operators, which need no declaration.
 *
 * Local; every process of a reduction must have made the same declaration, or none. Thread-safe. Ends with MPI_Op_free.
 * Returns LUCID_SUCCESS, LUCID_ERR_ARG for MPI_OP_NULL, or LUCID_ERR_INTERNAL (out of memory).
 */
LUCID_PUBLIC int lucid_op_set_elementwise(MPI_Op op);

/** What became of the reductions of this process that liblucid was asked to look after (LUCID_SPARSE=on). */
typedef struct lucid_sparse_figures {
    uint64_t taken;  /**< ran here */
    uint64_t passed; /**< left to the MPI library: dense, short (but not those of a few elements), with an unknown operator */
    uint64_t sent;   /**< bytes that those which ran here have sent, or shown in memory to others of their node */
    uint64_t saved;  /**< bytes that their dense forms would have sent more */
} lucid_sparse_figures_t;

/** Local, thread-safe; before MPI_Init and after MPI_Finalize, too. With coll/sparse in Open MPI, which runs below liblucid,
 *  MPI_T's performance variables coll_sparse_* tell instead, and all figures here stay 0. */
LUCID_PUBLIC void lucid_sparse_get_figures(lucid_sparse_figures_t *figures);

#ifdef __cplusplus
}
#endif

#endif
