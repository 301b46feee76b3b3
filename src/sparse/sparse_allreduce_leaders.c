/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce over the first rank of each node, its leader: up a binomial tree within the node, by recursive doubling among the leaders,
 * and down the tree again, encoded all the way. Between nodes there is one message for all of a node's ranks, where doubling has one
 * for each of them, with the same in it.
 *
 * Nodes are so many consecutive ranks (sparse_rates.ranks_per_node); where they are not, the result is the same and the way is longer.
 * The operands' order is kept: a node's ranks are joined with their neighbours, then nodes with theirs.
 *
 * When: several ranks on each of several nodes; short vectors and few nodes, and disjoint inputs, of which doubling moves no more than
 * there is. On one node it is a binomial Reduce and a broadcast, with one rank per node doubling.
 * Cost, m ranks on each of q nodes: sum over k < log2 m of (alpha + beta n e(u(2^k)) + gamma n (2 e(u(2^k)) + e(u(2^(k+1))))) within,
 * sum over k < log2 q of the same with u(m 2^k) between nodes, log2 m (alpha + beta n e(u(p))) within, and n written.
 * Source: the hierarchical collectives of MagPIe (Kielmann et al., PPoPP 1999) and MPI's for clusters of SMPs since; doubling as in
 * sparse_allreduce_doubling.c. */
#include "sparse_slice.h"
#include "sparse_step.h"

static int local(const struct sparse_slice *s)
{
    return s->transport->rank % s->per_node;
}

/* The ranks of this rank's node. */
static int members(const struct sparse_slice *s)
{
    int left = s->transport->size - (s->transport->rank - local(s));
    return left < s->per_node ? left : s->per_node;
}

/* A rank of the tree stands for those from its own up to, but without, this far from it; the leader for all. */
static int reach(const struct sparse_slice *s)
{
    int distance = 1;
    while (distance < members(s) && !(local(s) & distance)) distance *= 2;
    return distance;
}

static int leader_of(const struct sparse_slice *s, int node)
{
    return node * s->per_node;
}

/* What comes from `peer` is joined with what this rank has. */
static void take(struct sparse_slice *s, int peer)
{
    s->in = sparse_run_begin(s, 1);
    sparse_receive(s, 0, s->in->base, sparse_all(s), peer);
}

static enum sparse_status climb(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < reach(s); s->k *= 2) {
        if (local(s) + s->k >= members(s)) continue;
        take(s, s->transport->rank + s->k);
        STEP_AWAIT(sparse_wait(s));
        sparse_join(s, sparse_all(s), 2 * s->k, sparse_free_area(s));
    }
    STEP_END;
}

/* Ranks behind what a leader has after `steps` steps, on average. */
static double ranks_after(const struct sparse_slice *s, int steps)
{
    return (double)(1 << steps) * s->transport->size / s->leaders.cube;
}

/* The result of all nodes in s->acc. */
static enum sparse_status meet(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->leaders;
    STEP_BEGIN(s->inner);
    if (fold->partner >= 0 && fold->self >= 0) {
        take(s, leader_of(s, fold->partner));
        STEP_AWAIT(sparse_wait(s));
        sparse_join(s, sparse_all(s), 2 * s->per_node, sparse_free_area(s));
    }
    if (fold->self < 0) {
        sparse_send(s, 1, s->acc, sparse_all(s), leader_of(s, fold->partner));
        take(s, leader_of(s, fold->partner));
        STEP_AWAIT(sparse_wait(s));
        sparse_received(s, 0, s->in, 0, sparse_all(s));
        s->acc = s->in;
        STEP_RETURN;
    }
    for (s->k = 0; s->k < fold->steps; s->k++) {
        sparse_exchange(s, sparse_all(s), sparse_all(s), leader_of(s, sparse_fold_rank(fold, fold->self ^ 1 << s->k)));
        STEP_AWAIT(sparse_wait_slot(s, 0));
        sparse_join(s, sparse_all(s), ranks_after(s, s->k + 1), sparse_free_area(s));
        STEP_AWAIT(sparse_wait_slot(s, 1));
    }
    if (fold->partner >= 0) sparse_send(s, SPARSE_SLOTS - 1, s->acc, sparse_all(s), leader_of(s, fold->partner));
    STEP_END;
}

/* To the ranks that this one stands for, the farthest first: it has the most to pass on. */
static void hand_down(struct sparse_slice *s)
{
    int slot = 1;
    for (int distance = reach(s) / 2; distance > 0; distance /= 2)
        if (local(s) + distance < members(s)) sparse_send(s, slot++, s->acc, sparse_all(s), s->transport->rank + distance);
}

enum sparse_status sparse_allreduce_leaders(struct sparse_slice *s)
{
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(climb(s));
    if (local(s) > 0) {
        sparse_send(s, 1, s->acc, sparse_all(s), s->transport->rank - reach(s));
        take(s, s->transport->rank - reach(s));
        STEP_AWAIT(sparse_wait(s));
        sparse_received(s, 0, s->in, 0, sparse_all(s));
        s->acc = s->in;
    } else {
        STEP_AWAIT(meet(s));
    }
    hand_down(s);
    sparse_slice_result(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
