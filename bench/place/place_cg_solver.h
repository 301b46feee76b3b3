/* SPDX-License-Identifier: BSD-3-Clause
 * place_cg_solver.h: conjugate gradients on a 2-D grid of processes with NAS CG's messages.
 */
#ifndef PLACE_CG_SOLVER_H
#define PLACE_CG_SOLVER_H

#include <mpi.h>

#include "place_cg_matrix.h"

/** One process's part in one communicator. */
struct cg_solver {
    const struct cg_class *kind;
    MPI_Comm comm;
    int rank, columns, rows; /* of the grid of processes, columns = rows or twice as many */
    struct cg_block block;
    int steps;               /* log2(columns) */
    int partner[16];         /* in the sum over a row of processes */
    int transposed;          /* who has the result for this process's columns */
    int piece_start, piece;  /* what this process sends there */
    double *x, *z, *p, *q, *r, *w, *in;
    int only_messages;       /* leave out the arithmetic */
    double communicating;    /* seconds in MPI calls */
    double zeta, residual;
};

/** comm: a power of two of processes that divides the class's order. Says so, and ends the job, where it does not. */
void cg_solver_make(struct cg_solver *solver, const struct cg_class *kind, MPI_Comm comm);
/** One outer iteration of the benchmark. Collective over the solver's communicator. */
void cg_solver_step(struct cg_solver *solver, const struct cg_matrix *matrix);
/** x = 1, as at the beginning. */
void cg_solver_reset(struct cg_solver *solver);
void cg_solver_free(struct cg_solver *solver);

#endif
