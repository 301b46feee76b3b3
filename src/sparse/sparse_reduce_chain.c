/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce along a chain: every rank joins what comes from its neighbour on the side away from the root with its own, and passes
 * it on, many short slices one behind the other. The root is where two chains meet, or the end of one.
 *
 * When: long dense vectors between nodes. Each link carries the vector once, where halving and gathering carry it one and a half
 * times, and a binomial tree log2(nodes) times.
 * Cost, with m slices: (m + p - 2) (alpha + max(beta n e(u(p)), gamma n 3 e(u(p))) / m); dense, with m large, beta n.
 * Source: the linear pipeline; Traeff's circulant graphs (doi 10.1145/3735139) fill it in log2(p) steps. */
#include "sparse_slice.h"
#include "sparse_step.h"

/* Whom to listen to; -1: nobody. The root may have two. */
static int source(const struct sparse_slice *s, int i)
{
    int rank = s->transport->rank, above = rank + 1 < s->transport->size ? rank + 1 : -1;
    if (rank < s->root) return i == 0 ? rank - 1 : -1;
    if (rank > s->root || rank == 0) return i == 0 ? above : -1;
    return i == 0 ? rank - 1 : above;
}

static int target(const struct sparse_slice *s)
{
    return s->transport->rank < s->root ? s->transport->rank + 1 : s->transport->rank - 1;
}

/* Ranks whose sum leaves here. */
static int behind(const struct sparse_slice *s)
{
    int rank = s->transport->rank;
    return rank < s->root ? rank + 1 : s->transport->size - rank;
}

/* Of the root, which has its own vector in s->acc. */
static void finish(struct sparse_slice *s)
{
    struct sparse_span all = sparse_all(s);
    s->in = sparse_run_begin(s, 1);
    sparse_finish(s, all);
    if (source(s, 1) < 0) return;
    s->in = sparse_run_begin(s, 2);
    sparse_received(s, 1, s->in, 0, all);
    sparse_slice_into(s, all, s->in, true);
}

enum sparse_status sparse_reduce_chain(struct sparse_slice *s)
{
    int rank = s->transport->rank;
    STEP_BEGIN(s->resume);
    for (int i = 0; i < 2; i++)
        if (source(s, i) >= 0) sparse_receive(s, i, s->area[1 + i], sparse_all(s), source(s, i));
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_wait(s));
    for (int i = 0; i < 2; i++)
        if (source(s, i) >= 0) sparse_confirm(s, 2 + i, source(s, i));
    if (rank == s->root) {
        finish(s);
        STEP_AWAIT(sparse_wait(s));
        STEP_RETURN;
    }
    if (source(s, 0) >= 0) {
        s->in = sparse_run_begin(s, 1);
        sparse_join(s, sparse_all(s), behind(s), 2);
    }
    sparse_send(s, 1, s->acc, sparse_all(s), target(s));
    sparse_await_confirmation(s, 4, target(s));
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
