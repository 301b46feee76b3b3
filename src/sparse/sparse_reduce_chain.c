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

/* Ranks are numbered along the chain: all of them, or the nodes' first. */
static int number(const struct sparse_slice *s, int rank)
{
    return rank / s->fold.stride;
}

static int rank_of(const struct sparse_slice *s, int number)
{
    return number * s->fold.stride;
}

/* Whom to listen to; -1: nobody. The root may have two. */
static int source(const struct sparse_slice *s, int i)
{
    const int self = number(s, s->transport->rank), root = number(s, s->root), last = number(s, s->transport->size - 1);
    const int above = self < last ? rank_of(s, self + 1) : -1;
    if (self < root) return i == 0 && self > 0 ? rank_of(s, self - 1) : -1;
    if (self > root || self == 0) return i == 0 ? above : -1;
    return i == 0 ? rank_of(s, self - 1) : above;
}

static int target(const struct sparse_slice *s)
{
    const int self = number(s, s->transport->rank);
    return rank_of(s, self < number(s, s->root) ? self + 1 : self - 1);
}

/* Ranks whose sum leaves here. */
static int behind(const struct sparse_slice *s)
{
    const int rank = s->transport->rank;
    return rank < s->root ? rank + s->fold.stride : s->transport->size - rank;
}

/* Of the root, which has its own vector in s->acc. */
static void finish(struct sparse_slice *s)
{
    const struct sparse_span all = sparse_all(s);
    const int second = sparse_free_area(s);
    if (source(s, 0) < 0) {
        sparse_slice_result(s, all, s->acc);
        return;
    }
    s->in = sparse_run_begin(s, 1);
    sparse_finish(s, all);
    if (source(s, 1) < 0) return;
    s->in = sparse_run_begin(s, second);
    sparse_received(s, 1, s->in, 0, all);
    sparse_slice_into(s, all, s->in, true);
}

/* Of the first rank of the root's node, which passes it on. */
static void join_both(struct sparse_slice *s)
{
    const struct sparse_span all = sparse_all(s);
    const int second = sparse_free_area(s);
    if (source(s, 0) < 0) return;
    s->in = sparse_run_begin(s, 1);
    sparse_join(s, all, behind(s), 3);
    if (source(s, 1) < 0) return;
    s->in = sparse_run_begin(s, second);
    s->out = sparse_run_begin(s, 1);
    sparse_received(s, 1, s->in, 0, all);
    sparse_slice_merge(s, all, s->acc, s->in, s->transport->size, s->out);
    s->acc = s->out;
}

void sparse_chain_listen(struct sparse_slice *s)
{
    if (source(s, 0) >= 0) sparse_receive(s, 0, s->area[1], sparse_all(s), source(s, 0));
    if (source(s, 1) >= 0) sparse_receive(s, 1, s->area[sparse_free_area(s)], sparse_all(s), source(s, 1));
}

enum sparse_status sparse_chain_pass(struct sparse_slice *s)
{
    const int rank = s->transport->rank;
    STEP_BEGIN(s->middle);
    STEP_AWAIT(sparse_wait(s));
    for (int i = 0; i < 2; i++)
        if (source(s, i) >= 0) sparse_confirm(s, 2 + i, source(s, i));
    if (rank == s->root) {
        finish(s);
    } else if (number(s, rank) == number(s, s->root)) {
        join_both(s);
    } else {
        if (source(s, 0) >= 0) {
            s->in = sparse_run_begin(s, 1);
            sparse_join(s, sparse_all(s), behind(s), sparse_free_area(s));
        }
        sparse_send(s, 1, s->acc, sparse_all(s), target(s));
        sparse_await_confirmation(s, 4, target(s));
    }
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}

enum sparse_status sparse_reduce_chain(struct sparse_slice *s)
{
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_chain_listen(s);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_chain_pass(s));
    STEP_END;
}
