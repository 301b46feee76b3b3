/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_again.c: a call that is as the thread's last one was, told from it in a few steps: what is left to the library should
 * not take longer for having been looked at.
 *
 * Nothing is remembered of operators and datatypes that a program makes, whose handles may be other ones' the next time; of a
 * communicator, until any of those that are known here is freed.
 */
#include "reduce.h"

#include <stdatomic.h>

static _Thread_local struct {
    MPI_Datatype type; /* predefined, and for the core; MPI_DATATYPE_NULL: none yet */
    MPI_Op op;
    size_t size;       /* of its elements */
    bool some;
} pair;

/* The last blocking one; the last other one, if it was too short. */
static _Thread_local struct last {
    bool some, brief;              /* brief: too short for that communicator, whatever else */
    struct lucid_reduce_comm *own;
    unsigned age, number;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Count count;
    enum sparse_kind kind;
} unseen, begun;

static _Atomic unsigned age; /* how many communicators have been forgotten */

void lucid_reduce_again_forget(void)
{
    atomic_fetch_add_explicit(&age, 1, memory_order_relaxed);
}

void lucid_reduce_again_pair(const struct lucid_reduction *reduction, const struct sparse_operator *operator)
{
    if (operator->op == SPARSE_USER) return;
    pair.type = reduction->type;
    pair.op = reduction->op;
    pair.size = operator->size;
    pair.some = true;
}

static void remember(struct last *last, const struct lucid_reduction *reduction, const struct sparse_operator *operator)
{
    *last = (struct last){
        .some = operator->op != SPARSE_USER && !reduction->counts && !reduction->counts_c,
        .age = atomic_load_explicit(&age, memory_order_relaxed), .comm = reduction->comm, .type = reduction->type, .op = reduction->op,
        .count = reduction->count, .kind = reduction->kind};
}

void lucid_reduce_again_unseen(const struct lucid_reduction *reduction, const struct sparse_operator *operator,
                               struct lucid_reduce_comm *own)
{
    remember(&unseen, reduction, operator);
    unseen.own = own;
    unseen.number = own->asked;
}

void lucid_reduce_again_short(const struct lucid_reduction *reduction, const struct sparse_operator *operator)
{
    remember(&unseen, reduction, operator);
    unseen.brief = true;
}

void lucid_reduce_again_begun(const struct lucid_reduction *reduction, const struct sparse_operator *operator)
{
    remember(&begun, reduction, operator);
}

static bool is_short(const struct lucid_reduction *reduction)
{
    const size_t most = lucid_params()->sparse_always ? 0 : sparse_short_least(lucid_params()), count = (size_t)reduction->count;
    if (!pair.some || reduction->type != pair.type || reduction->op != pair.op || reduction->kind == SPARSE_REDUCE_SCATTER) return false;
    return reduction->count >= 0 && count < most && count * pair.size < most;
}

static bool same(const struct last *last, const struct lucid_reduction *reduction)
{
    return last->some && reduction->comm == last->comm && reduction->count == last->count && reduction->type == last->type &&
           reduction->op == last->op && reduction->kind == last->kind && !reduction->counts && !reduction->counts_c &&
           last->age == atomic_load_explicit(&age, memory_order_relaxed);
}

/* Nonblocking calls before it have their turn first, and no other thread has come in between. */
static bool passes(struct lucid_reduce_comm *own)
{
    pthread_mutex_lock(&own->lock);
    bool found = own->turn == own->issued && own->asked == unseen.number && sparse_state_passes(own->state, SPARSE_IN_ORDER, 1, &own->parameters) > 0;
    pthread_mutex_unlock(&own->lock);
    return found;
}

bool lucid_reduce_again(const struct lucid_reduction *reduction)
{
    return is_short(reduction) || (same(&unseen, reduction) && (unseen.brief || passes(unseen.own)));
}

bool lucid_reduce_begun_again(const struct lucid_reduction *reduction)
{
    return is_short(reduction) || same(&begun, reduction);
}
