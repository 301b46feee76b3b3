/* SPDX-License-Identifier: BSD-3-Clause
 * reduce.h: sparse reductions by public MPI: what the wrappers of MPI_Reduce and its kin hand over (LUCID_SPARSE).
 */
#ifndef LUCID_REDUCE_H
#define LUCID_REDUCE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../core/params.h"
#include "../core/visibility.h"
#include "../sparse/sparse_collective.h"
#include "../sparse/sparse_settings.h"
#include "../sparse/sparse_short.h"
#include "reduce_again.h"

/* A call as MPI has it. */
struct lucid_reduction {
    enum sparse_kind kind;
    const void *input;
    void *output;
    bool in_place;             /* input is MPI_IN_PLACE */
    bool output_in_place;      /* so is output, which is an error where it is significant */
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

/* Is told that a process of a communicator reads so many bytes in this one's memory, in place of a message with that tag. */
typedef void lucid_reduce_shown_fn(MPI_Comm comm, int peer, int tag, uint64_t bytes);

/* After MPI_Init (collective): whether nonblocking calls can be taken. `shown` counts what goes from process to process. May come twice. */
LUCID_INTERNAL void lucid_reduce_open(lucid_reduce_shown_fn *shown);

/* Runs the call, or leaves it alone (false; nothing was touched). *rc: MPI_SUCCESS or an MPI error code, for which the
 * communicator's error handler has been called. Collective where the core takes part. */
LUCID_INTERNAL bool lucid_reduce_run(const struct lucid_reduction *reduction, int *rc);

/* The library has run a call that lucid_reduce_run() has left alone. */
LUCID_INTERNAL void lucid_reduce_left(void);

/* The same for a nonblocking call: begins it and makes its request, or leaves it alone. */
LUCID_INTERNAL bool lucid_reduce_begin(const struct lucid_reduction *reduction, MPI_Request *request, int *rc);

/* The library has made a persistent request: puts ours in its place, which runs the call as a nonblocking one, by the core or by the
 * library's request; or leaves it alone (false). *rc as above. */
LUCID_INTERNAL bool lucid_reduce_persist(const struct lucid_reduction *reduction, MPI_Request *request, int *rc);
/* The library has started these requests, of whatever kind they are. */
LUCID_INTERNAL void lucid_reduce_started(int n, const MPI_Request *requests);
/* The program is about to free the request. */
LUCID_INTERNAL void lucid_reduce_request_freed(MPI_Request request);

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
/* Whether it is an operator of MPI's own. */
LUCID_INTERNAL bool lucid_reduce_predefined(MPI_Op op);

/* What belongs to a communicator: a private duplicate, the core's state, the parameters. */
struct lucid_reduce_comm {
    MPI_Comm owner; /* the program's */
    MPI_Comm comm;  /* the duplicate */
    MPI_Request duplicating;             /* while it is being made for a nonblocking call */
    _Atomic bool ready;                  /* it is there */
    unsigned pass;                       /* in which it has been asked for last (the lock of reduce_comm.c) */
    bool measured;                       /* parameters.rates are this machine's; at all processes or at none */
    bool stepped;                        /* nonblocking calls can be taken */
    struct sparse_transport transport;
    struct sparse_state *state;
    struct sparse_parameters parameters; /* the same at all processes */
    struct sparse_parameters plain;      /* as they were before the rates were measured */
    int *nodes;                          /* the lowest rank on every rank's node */
    pthread_mutex_t lock;                /* of the state and what follows; held while the core steps */
    unsigned issued, turn;               /* nonblocking calls: made; known who runs them, which is settled in their order */
    unsigned persistent;                 /* calls made */
    struct lucid_reduce_ahead ahead;     /* of blocking calls, which come one behind the other */
    atomic_size_t users;                 /* nonblocking calls not complete, persistent ones not freed, who asks for the duplicate (the lock
                                          * of reduce_request.c, but for who only looks whether there are some) */
    struct lucid_reduce_comm *next;
};
/* An attribute of communicators, which MPI_Comm_dup does not copy, made when it is first asked for; MPI_KEYVAL_INVALID: it cannot be made. */
struct lucid_reduce_key {
    MPI_Comm_delete_attr_function *forget;
    int value;
    bool made;
};
LUCID_INTERNAL int lucid_reduce_key(struct lucid_reduce_key *key);

/* What a blocking call finds: made at the first one that is long enough (collective, blocking); NULL where that failed, and
 * with processes of another MPI_COMM_WORLD; at all processes alike. */
LUCID_INTERNAL struct lucid_reduce_comm *lucid_reduce_comm(MPI_Comm comm);
/* A communicator of the same processes that has none of the program's attributes, which MPI_Comm_dup would copy. False at all processes where
 * it fails at one of them or one is not `able`, and no error handler is called. Collective, blocking. */
LUCID_INTERNAL bool lucid_reduce_twin(MPI_Comm comm, bool able, MPI_Comm *twin);
/* What a nonblocking call finds, without waiting for anybody. *broken: this process alone cannot, which is an error. */
LUCID_INTERNAL struct lucid_reduce_comm *lucid_reduce_comm_nonblocking(MPI_Comm comm, bool *broken);
/* Whether the duplicate is there; finishes it if it can be. Under its lock. */
LUCID_INTERNAL bool lucid_reduce_comm_ready(struct lucid_reduce_comm *own);
/* No call is under way, and no persistent one is left: nobody but its owner has it. */
LUCID_INTERNAL bool lucid_reduce_unused(struct lucid_reduce_comm *own);
/* Frees what could not be freed with its communicator, and now can be. Does nothing inside the library's progress. */
LUCID_INTERNAL void lucid_reduce_reap(void);
/* At MPI_Finalize. */
LUCID_INTERNAL void lucid_reduce_close(void);

LUCID_INTERNAL void lucid_reduce_shown_to(lucid_reduce_shown_fn *shown);
LUCID_INTERNAL void lucid_reduce_transport(struct lucid_reduce_comm *own);
/* Whether a request is done (and gone). Makes no progress inside the library's own progress. */
LUCID_INTERNAL int lucid_reduce_test(MPI_Request *request, bool *done, MPI_Status *status);

/* Whether a blocking call that lucid_reduce_again() does not know is the library's all the same, as the thread's last one was; it counts likewise. */
LUCID_INTERNAL bool lucid_reduce_left_again(const struct lucid_reduction *reduction);
/* The core is about to be asked about a blocking one. Under the communicator's lock. */
LUCID_INTERNAL void lucid_reduce_again_asked(struct lucid_reduce_comm *own);
/* What is remembered for that: that the core knows the call's operator and datatype; that it has left the call to the library without a
 * message. And that a communicator is gone. */
LUCID_INTERNAL void lucid_reduce_again_pair(const struct lucid_reduction *reduction, const struct sparse_operator *operator);
LUCID_INTERNAL void lucid_reduce_again_unseen(const struct lucid_reduction *reduction, const struct sparse_operator *operator,
                                              struct lucid_reduce_comm *own);
LUCID_INTERNAL void lucid_reduce_again_forget(void);
/* That a call is too short for its communicator, whatever its vectors are. */
LUCID_INTERNAL void lucid_reduce_again_short(const struct lucid_reduction *reduction, const struct sparse_operator *operator);
/* The same of a call that is not blocking, and whether one is too short as the last one was. */
LUCID_INTERNAL void lucid_reduce_again_begun(const struct lucid_reduction *reduction, const struct sparse_operator *operator);
LUCID_INTERNAL bool lucid_reduce_begun_again(const struct lucid_reduction *reduction);

/* What becomes of a blocking call of so many bytes, by its length (reduce_short.c): it is the library's; and timed, so that
 * lucid_reduce_short_left() is to follow; it is to be looked at. Collective in some calls, which are the same at all processes. */
enum lucid_reduce_brief { LUCID_REDUCE_SHORT, LUCID_REDUCE_TIMED, LUCID_REDUCE_LONG, LUCID_REDUCE_NO_MEMORY };
LUCID_INTERNAL enum lucid_reduce_brief lucid_reduce_short(MPI_Comm comm, size_t bytes);
LUCID_INTERNAL void lucid_reduce_short_left(void);
/* A call of so many bytes has been looked at. */
LUCID_INTERNAL void lucid_reduce_short_seen(MPI_Comm comm, size_t bytes, double density, enum sparse_worth worth);
/* Whether another call of so many bytes is to be looked at, as far as it is known when it is made. */
LUCID_INTERNAL bool lucid_reduce_long(MPI_Comm comm, size_t bytes);
LUCID_INTERNAL void lucid_reduce_short_close(void);

/* The core's description of a call, with the parameters as they are now. */
LUCID_INTERNAL void lucid_reduce_describe(const struct lucid_reduction *reduction, struct lucid_reduce_comm *own,
                                          const size_t *counts, const struct sparse_operator *operator, int tag,
                                          struct sparse_call *call);
/* Asks the core about a blocking call, and runs what it has taken (SPARSE_PENDING) to its end. */
LUCID_INTERNAL enum sparse_status lucid_reduce_create(const struct sparse_call *call, struct lucid_reduce_comm *own,
                                                      struct sparse_collective **run);
LUCID_INTERNAL enum sparse_status lucid_reduce_go_on(struct lucid_reduce_comm *own, struct sparse_collective *run,
                                                     struct sparse_outcome *outcome);
/* Whether a call is one for the core: by its communicator, operator, datatype and size, which of a blocking one lucid_reduce_short() has
 * to be asked about. *elements: of the whole vector. */
LUCID_INTERNAL bool lucid_reduce_is_ours(const struct lucid_reduction *reduction, struct lucid_reduce_user *user,
                                         struct sparse_operator *operator, size_t *elements, bool blocking);
/* Whether the library will have nothing to say against the call, and there is something to reduce. */
LUCID_INTERNAL bool lucid_reduce_is_valid(const struct lucid_reduction *reduction, int rank, int size, size_t *elements);
/* Elements of the whole vector; for a Reduce_scatter also every rank's, into `counts`, or NULL. */
LUCID_INTERNAL size_t lucid_reduce_elements(const struct lucid_reduction *reduction, int size, size_t *counts);
/* Every rank's elements of a Reduce_scatter, of one that has a list of them; false without memory. Else NULL. */
LUCID_INTERNAL bool lucid_reduce_counts(const struct lucid_reduction *reduction, int size, size_t **counts);
/* Books what has run; MPI's error code, said on standard error. */
LUCID_INTERNAL int lucid_reduce_account(const struct lucid_reduction *reduction, const struct sparse_outcome *outcome, int rank);

/* Who steps nonblocking calls while the program does something else (reduce_engine.c). */
enum lucid_reduce_engine { LUCID_REDUCE_NO_ENGINE, LUCID_REDUCE_HOOK, LUCID_REDUCE_THREAD };
LUCID_INTERNAL enum lucid_reduce_engine lucid_reduce_engine(void);
LUCID_INTERNAL void lucid_reduce_wake(void);      /* there is a call to step */
LUCID_INTERNAL void lucid_reduce_poke(unsigned before); /* lets them go on, from a call that waits and has done so as often */
LUCID_INTERNAL void lucid_reduce_engine_stop(void);
/* What a call waits for: all of these requests, or one of them. */
struct lucid_reduce_wait {
    int number;
    const MPI_Request *requests; /* one of these two */
    const MPI_Fint *fortran;
    bool all;
};
/* Where a thread of ours steps the calls (reduce_help.c): does so in its place until what is waited for is complete, or nothing is under way;
 * or once. Errors are left to the call that waits. */
LUCID_INTERNAL void lucid_reduce_help(const struct lucid_reduce_wait *wait);
LUCID_INTERNAL void lucid_reduce_help_once(void);
LUCID_INTERNAL bool lucid_reduce_helped(void); /* somebody does */
/* Steps all calls under way; how many were completed. *left: those that are not. */
LUCID_INTERNAL size_t lucid_reduce_step(size_t *left);
LUCID_INTERNAL size_t lucid_reduce_active(void);
/* At MPI_Finalize (reduce_persistent.c). */
LUCID_INTERNAL void lucid_persistent_close(void);

/* MPICH's progress hooks (reduce_hook.c). */
LUCID_INTERNAL bool lucid_reduce_hook_there(void);
LUCID_INTERNAL bool lucid_reduce_hook_start(void);
LUCID_INTERNAL void lucid_reduce_hook_progress(void);
LUCID_INTERNAL bool lucid_reduce_hook_running(void); /* this thread is in the hook: nothing may make progress */
LUCID_INTERNAL bool lucid_reduce_hook_complete(MPI_Request request);

/* --sparse=measure: looks at the call's input and books it under its call site. A blocking call begins with _anew(); once the library has
 * run it, _done() books what it took. */
LUCID_INTERNAL void lucid_reduce_look(const struct lucid_reduction *reduction, size_t count, const struct sparse_operator *operator);
LUCID_INTERNAL void lucid_reduce_look_anew(void);
LUCID_INTERNAL void lucid_reduce_look_done(void);
/* A call with an operator of the program's own that it has not declared element-wise. */
LUCID_INTERNAL void lucid_reduce_not_declared(void);

#endif
