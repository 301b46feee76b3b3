/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_pending.h: a nonblocking or persistent reduction on its way: what reduce_request.c steps and reduce_persistent.c starts.
 */
#ifndef LUCID_REDUCE_PENDING_H
#define LUCID_REDUCE_PENDING_H

#include "reduce.h"

/* Tags on a private duplicate, below 2^15, which every library has. A blocking call has those from 0 on. */
enum {
    LUCID_REDUCE_CALLS = 4000,        /* nonblocking calls under way whose tags differ; persistent ones of a communicator */
    LUCID_REDUCE_FIRST = SPARSE_TAGS, /* of nonblocking ones */
    LUCID_REDUCE_FIRST_PERSISTENT = LUCID_REDUCE_FIRST + LUCID_REDUCE_CALLS * SPARSE_TAGS
};

struct lucid_pending {
    struct lucid_reduction reduction;
    struct lucid_reduce_comm *own;
    struct sparse_operator operator;
    struct lucid_reduce_user user;
    size_t *counts; /* of a Reduce_scatter, as the core and as the library have them */
    int *plain;
    unsigned turn; /* the how manieth of its kind on the communicator */
    enum { LUCID_WAITING, LUCID_AGREEING, LUCID_RUNNING, LUCID_BELOW } stage;
    struct sparse_collective *run;
    MPI_Request below;   /* the library's; of a persistent call as long as the call */
    unsigned ticket;     /* ... of which the core is to know the end; 0: it is not */
    MPI_Request request; /* the program's */
    int rc;
    struct lucid_pending *next;
    /* Persistent ones. */
    bool persistent;
    struct sparse_series *series; /* NULL: it is not persistent */
    const struct sparse_parameters *parameters; /* as all processes had them when the call was made */
    MPI_Comm home;  /* of `request`: of this process alone */
    int completion; /* tag of the message that completes it */
    struct lucid_pending *other;
};

/* Makes one for a call of which the core knows the operator, and its counts; NULL: no memory. */
LUCID_INTERNAL struct lucid_pending *lucid_pending_make(const struct lucid_reduction *reduction, struct lucid_reduce_comm *own,
                                                        const struct sparse_operator *operator);
LUCID_INTERNAL void lucid_pending_release(struct lucid_pending *p);

/* It is under way from here on, and may be complete already. */
LUCID_INTERNAL void lucid_pending_begin(struct lucid_pending *p);

/* A persistent call is complete: from here on it may be started again, or gone. */
LUCID_INTERNAL void lucid_persistent_complete(struct lucid_pending *p);

/* A call that is ours at the others: the error for this process, without memory, alone. Always true. */
LUCID_INTERNAL bool lucid_reduce_out_of_memory(const struct lucid_reduction *reduction, int *rc);

/* An operator of the program's own, or a derived datatype, may be freed before the call is complete: only the library can keep them. */
LUCID_INTERNAL bool lucid_reduce_lasts(const struct lucid_reduce_user *user, size_t elements);

/* The communicator has one more, or one less, that needs it. */
LUCID_INTERNAL void lucid_reduce_use(struct lucid_reduce_comm *own, int more);

#endif
