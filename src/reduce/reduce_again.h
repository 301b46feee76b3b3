/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_again.h: a blocking call that is as one of the thread's last ones, told from it in a few steps: what is left to the library
 * should not take longer for having been looked at. Between a program's other work what is read for that has left the caches: it is a line or
 * two of the thread's, one of the process's, and one of the communicator's.
 *
 * Nothing is remembered of operators and datatypes that a program makes, whose handles may be other ones' the next time; of a
 * communicator, until any of those that are known here is freed.
 */
#ifndef LUCID_REDUCE_AGAIN_H
#define LUCID_REDUCE_AGAIN_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/visibility.h"
#include "../sparse/sparse_collective.h"

enum lucid_reduce_mode { LUCID_REDUCE_UNKNOWN, LUCID_REDUCE_OFF, LUCID_REDUCE_ON, LUCID_REDUCE_MEASURE };

/* The process's. */
struct lucid_reduce_process {
    _Atomic int mode;
    _Atomic unsigned age;     /* how many communicators have been forgotten */
    _Atomic size_t tiny;      /* fewer elements are short whatever their type, and not even counted */
    _Atomic uint64_t passed;  /* calls that were left to the library */
};
extern LUCID_INTERNAL struct lucid_reduce_process lucid_reduce_process;

/* Of blocking calls on a communicator: how many the core has been asked about, and how many that are as the last of these it has counted ahead. */
struct lucid_reduce_ahead {
    unsigned asked, left;
};

struct lucid_reduce_last {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Count count;
    enum sparse_kind kind;
    unsigned age, number;             /* what age and ahead->asked were */
    struct lucid_reduce_ahead *ahead; /* NULL: there is none */
};

struct lucid_reduce_thread {
    bool nested;                        /* inside of a call that Fortran's wrapper has handed over */
    struct lucid_reduce_last unseen;    /* the last one that the core has left without a look */
    struct lucid_reduce_last brief;     /* the last one that was too short, whatever else */
    struct lucid_reduce_ahead plenty;   /* of those */
};
extern LUCID_INTERNAL_TLS _Thread_local struct lucid_reduce_thread lucid_reduce_thread;

LUCID_INTERNAL int lucid_reduce_find_mode(void);

static inline int lucid_reduce_mode(void)
{
    const int found = atomic_load_explicit(&lucid_reduce_process.mode, memory_order_relaxed);
    return LUCID_LIKELY(found != LUCID_REDUCE_UNKNOWN) ? found : lucid_reduce_find_mode();
}

/* Whether the wrappers hand reductions over at all; not those of this thread while it is inside of one that Fortran's wrapper has handed
 * over. */
static inline bool lucid_reduce_wanted(void)
{
    return lucid_reduce_mode() != LUCID_REDUCE_OFF && !lucid_reduce_thread.nested;
}

static inline void lucid_reduce_nest(bool inside)
{
    lucid_reduce_thread.nested = inside;
}

static inline void lucid_reduce_passed(void)
{
    atomic_fetch_add_explicit(&lucid_reduce_process.passed, 1, memory_order_relaxed);
}

static inline bool lucid_reduce_is(const struct lucid_reduce_last *last, enum sparse_kind kind, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm)
{
    return comm == last->comm && count == last->count && type == last->type && op == last->op && kind == last->kind && last->ahead &&
           last->age == atomic_load_explicit(&lucid_reduce_process.age, memory_order_relaxed);
}

/* Whether a blocking call is the library's, as those before it were. Then it counts as if the core had been asked, and lucid_reduce_run()
 * and lucid_reduce_left() are not for it. `count`: as MPI has it; not of Reduce_scatter with several. */
static inline bool lucid_reduce_again(enum sparse_kind kind, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct lucid_reduce_thread *own = &lucid_reduce_thread;
    const size_t tiny = atomic_load_explicit(&lucid_reduce_process.tiny, memory_order_relaxed);
    if (kind != SPARSE_REDUCE_SCATTER && (size_t)count < tiny) return true;
    struct lucid_reduce_last *last = lucid_reduce_is(&own->unseen, kind, count, type, op, comm)  ? &own->unseen
                                     : lucid_reduce_is(&own->brief, kind, count, type, op, comm) ? &own->brief : NULL;
    if (!last || last->ahead->asked != last->number || last->ahead->left == 0) return false;
    last->ahead->left--;
    lucid_reduce_passed();
    return true;
}

#endif
