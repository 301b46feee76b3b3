/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_again.c: see reduce_again.h.
 */
#include "reduce.h"

#include <limits.h>

struct lucid_reduce_process lucid_reduce_process;
_Thread_local struct lucid_reduce_thread lucid_reduce_thread;

static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    MPI_Datatype type; /* predefined, and for the core; MPI_DATATYPE_NULL: none yet */
    MPI_Op op;
    size_t size;       /* of its elements */
    bool some;
    struct lucid_reduce_comm *own;   /* of the thread's `unseen` */
    struct lucid_reduce_last begun;  /* the last call that was not blocking, if it was too short */
} known;

void lucid_reduce_again_forget(void)
{
    atomic_fetch_add_explicit(&lucid_reduce_process.age, 1, memory_order_relaxed);
}

void lucid_reduce_again_pair(const struct lucid_reduction *reduction, const struct sparse_operator *operator)
{
    if (operator->op == SPARSE_USER) return;
    known.type = reduction->type;
    known.op = reduction->op;
    known.size = operator->size;
    known.some = true;
}

static void remember(struct lucid_reduce_last *last, const struct lucid_reduction *reduction, bool lasts, struct lucid_reduce_ahead *ahead)
{
    *last = (struct lucid_reduce_last){
        .comm = reduction->comm, .type = reduction->type, .op = reduction->op, .count = reduction->count, .kind = reduction->kind,
        .age = atomic_load_explicit(&lucid_reduce_process.age, memory_order_relaxed), .number = ahead->asked,
        .ahead = lasts && !reduction->counts && !reduction->counts_c ? ahead : NULL};
}

void lucid_reduce_again_unseen(const struct lucid_reduction *reduction, const struct sparse_operator *operator,
                               struct lucid_reduce_comm *own)
{
    remember(&lucid_reduce_thread.unseen, reduction, operator->op != SPARSE_USER, &own->ahead);
    known.own = own;
}

static void remember_short(const struct lucid_reduction *reduction, bool lasts)
{
    lucid_reduce_thread.plenty.left = UINT_MAX;
    remember(&lucid_reduce_thread.brief, reduction, lasts, &lucid_reduce_thread.plenty);
}

void lucid_reduce_again_short(const struct lucid_reduction *reduction, const struct sparse_operator *operator)
{
    remember_short(reduction, operator->op != SPARSE_USER);
}

void lucid_reduce_again_begun(const struct lucid_reduction *reduction, const struct sparse_operator *operator)
{
    remember(&known.begun, reduction, operator->op != SPARSE_USER, &lucid_reduce_thread.plenty);
}

static bool is_short(const struct lucid_reduction *reduction)
{
    const size_t most = lucid_params()->sparse_always ? 0 : sparse_short_least(lucid_params()), count = (size_t)reduction->count;
    if (!known.some || reduction->type != known.type || reduction->op != known.op || reduction->kind == SPARSE_REDUCE_SCATTER) return false;
    return reduction->count >= 0 && count < most && count * known.size < most;
}

static bool same(const struct lucid_reduce_last *last, const struct lucid_reduction *r)
{
    return lucid_reduce_is(last, r->kind, r->count, r->type, r->op, r->comm) && !r->counts && !r->counts_c;
}

/* Those that were counted and have not come are taken back. Under the communicator's lock. */
static void take_back(struct lucid_reduce_comm *own)
{
    sparse_state_take_back(own->state, SPARSE_IN_ORDER, own->ahead.left);
    own->ahead.left = 0;
}

void lucid_reduce_again_asked(struct lucid_reduce_comm *own)
{
    take_back(own);
    own->ahead.asked++;
}

/* Unless another thread has come in between the core is asked for more. */
static bool passes(struct lucid_reduce_comm *own)
{
    pthread_mutex_lock(&own->lock);
    take_back(own);
    const bool last = own->ahead.asked == lucid_reduce_thread.unseen.number;
    const unsigned calls = last ? sparse_state_passes(own->state, SPARSE_IN_ORDER, UINT_MAX, &own->parameters) : 0;
    if (calls > 0) own->ahead.left = calls - 1;
    pthread_mutex_unlock(&own->lock);
    return calls > 0;
}

bool lucid_reduce_left_again(const struct lucid_reduction *reduction)
{
    const bool brief = is_short(reduction) || same(&lucid_reduce_thread.brief, reduction);
    if (brief) remember_short(reduction, true);
    return brief || (same(&lucid_reduce_thread.unseen, reduction) && passes(known.own));
}

bool lucid_reduce_begun_again(const struct lucid_reduction *reduction)
{
    return is_short(reduction) || same(&known.begun, reduction);
}
