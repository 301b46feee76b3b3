/* SPDX-License-Identifier: BSD-3-Clause
 * reduce.h: sparse reductions by public MPI: what the wrappers of MPI_Reduce and its kin hand over (LUCID_SPARSE).
 */
#ifndef LUCID_REDUCE_H
#define LUCID_REDUCE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "../core/params.h"
#include "../core/visibility.h"
#include "../sparse/sparse_collective.h"

/* A blocking call as MPI has it. */
struct lucid_reduction {
    enum sparse_kind kind;
    const void *input;
    void *output;
    bool in_place;             /* input is MPI_IN_PLACE */
    MPI_Count count;
    const int *counts;         /* Reduce_scatter: one of these two */
    const MPI_Count *counts_c;
    MPI_Datatype type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    const char *name;          /* "MPI_Allreduce" */
    const void *site;          /* where it was called from */
};

/* Whether the wrappers hand reductions over at all. */
LUCID_INTERNAL bool lucid_reduce_wanted(void);

/* Runs the call, or leaves it alone (false; nothing was touched). *rc: MPI_SUCCESS or an MPI error code, for which the
 * communicator's error handler has been called. Collective where the core takes part. */
LUCID_INTERNAL bool lucid_reduce_run(const struct lucid_reduction *reduction, int *rc);

/* The operator is about to be freed, and its handle may be another one's next. */
LUCID_INTERNAL void lucid_op_forget(MPI_Op op);

/* Whether the program has declared the operator element-wise. */
LUCID_INTERNAL bool lucid_op_declared(MPI_Op op);

struct lucid_reduce_user {
    MPI_Op op;
    MPI_Datatype type;
    size_t size;
};
/* Whether the core knows this pair; `user` must live as long as `operator`. */
LUCID_INTERNAL bool lucid_reduce_operator(MPI_Op op, MPI_Datatype type, struct lucid_reduce_user *user,
                                          struct sparse_operator *operator);

/* What belongs to a communicator: a private duplicate, the core's state, the parameters. */
struct lucid_reduce_comm {
    MPI_Comm owner; /* the program's */
    MPI_Comm comm;  /* the duplicate */
    struct sparse_transport transport;
    struct sparse_state *state;
    struct sparse_parameters parameters; /* the same at all processes */
    int *nodes;                          /* the lowest rank on every rank's node */
    struct lucid_reduce_comm *next;
};
/* Made at the first call that is long enough (collective, blocking); NULL where that failed, at all processes alike. */
LUCID_INTERNAL struct lucid_reduce_comm *lucid_reduce_comm(MPI_Comm comm);
/* At MPI_Finalize. */
LUCID_INTERNAL void lucid_reduce_close(void);

LUCID_INTERNAL void lucid_reduce_transport(struct lucid_reduce_comm *own);

/* --sparse=measure: looks at the call's input and books it under its call site. */
LUCID_INTERNAL void lucid_reduce_look(const struct lucid_reduction *reduction, size_t count, const struct sparse_operator *operator);

#endif
