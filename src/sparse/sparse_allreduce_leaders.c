/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce over the first rank of each node, its leader: up a binomial tree within the node, by recursive doubling among the leaders, and
 * down the tree again, encoded all the way. Dense vectors of some length are halved among the leaders, and the parts collected, where they are more
 * than two. Between nodes there is one message for all of a node's ranks, where doubling has one for each of them, with the same in it.
 *
 * Nodes are so many consecutive ranks (sparse_rates.ranks_per_node); where they are not, the result is the same and the way is longer.
 * The operands' order is kept: a node's ranks are joined with their neighbours, then nodes with theirs.
 *
 * When: several ranks on each of several nodes; short vectors and few nodes, disjoint inputs, of which doubling moves no more than
 * there is, and dense ones, of which it moves no more between nodes than halving among all ranks, in a fraction of the messages. On one node it is
 * a binomial Reduce and a broadcast, which is good where ranks share processors: no other way has as few messages; with one rank per node it
 * is doubling or halving.
 * How inputs overlap is seen in the result, which all ranks get encoded: of the first merges, of few ranks, it would be a matter of chance.
 * Cost, m ranks on each of q nodes: sum over k < log2 m of (alpha + beta n e(u(2^k)) + gamma n (2 e(u(2^k)) + e(u(2^(k+1))))) within,
 * sum over k < log2 q of the same with u(m 2^k) between nodes, log2 m (alpha + beta n e(u(p))) within, and n written; dense, between nodes
 * 2 log2 q alpha + (q-1)/q n (2 beta + gamma).
 * Where ranks share processors steps within a node take the less the fewer ranks are in them.
 * Source: the hierarchical collectives of MagPIe (Kielmann et al., PPoPP 1999) and MPI's for clusters of SMPs since; doubling as in
 * sparse_allreduce_doubling.c, halving as in sparse_allreduce_halving.c. */
#include "sparse_slice.h"
#include "sparse_step.h"

/* Between more than two nodes dense vectors are halved, and collected, unless they are short: doubling sends all of them in each step, in half
 * as many steps. */
static bool halves(const struct sparse_slice *s)
{
    return s->dense && s->fold.steps > 1 && s->room >= SPARSE_LEADERS_HALVE;
}

/* As it lies in s->acc. */
static struct sparse_span result_of(const struct sparse_slice *s)
{
    return halves(s) ? sparse_collected(s) : sparse_all(s);
}

static void await_result(struct sparse_slice *s, int peer)
{
    s->in = sparse_run_begin(s, 1);
    sparse_receive(s, 0, s->in->base, result_of(s), peer);
}

static void take_result(struct sparse_slice *s)
{
    sparse_received(s, 0, s->in, 0, result_of(s));
    s->acc = s->in;
}

static enum sparse_status twofold(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    for (s->k = 0; s->k < s->fold.steps; s->k++) {
        sparse_exchange(s, sparse_all(s), sparse_all(s), sparse_fold_rank(&s->fold, s->fold.self ^ 1 << s->k));
        STEP_AWAIT(sparse_wait_slot(s, 0));
        sparse_join(s, sparse_all(s), 1, sparse_free_area(s));
        STEP_AWAIT(sparse_wait_slot(s, 1));
    }
    STEP_END;
}

/* The result of all nodes in s->acc. */
static enum sparse_status meet(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->fold;
    STEP_BEGIN(s->middle);
    STEP_AWAIT(sparse_fold_in(s));
    if (fold->self < 0) {
        await_result(s, fold->partner);
        STEP_AWAIT(sparse_wait(s));
        take_result(s);
        STEP_RETURN;
    }
    if (halves(s)) {
        STEP_AWAIT(sparse_halve(s));
        STEP_AWAIT(sparse_collect(s, false));
        s->acc = s->all;
    } else {
        STEP_AWAIT(twofold(s));
    }
    if (fold->partner >= 0) sparse_send(s, SPARSE_SLOTS - 1, s->acc, result_of(s), fold->partner);
    STEP_END;
}

/* To the ranks that this one stands for, the farthest first: it has the most to pass on. Slots before these may be those of a halving. */
static void hand_down(struct sparse_slice *s)
{
    int slot = 1 + s->fold.steps;
    for (int distance = s->nodes.reach / 2; distance > 0; distance /= 2)
        if (sparse_node_has(&s->nodes, distance)) sparse_send(s, slot++, s->acc, result_of(s), s->transport->rank + distance);
}

enum sparse_status sparse_allreduce_leaders(struct sparse_slice *s)
{
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_climb(s));
    if (s->nodes.local > 0) {
        sparse_send(s, 1, s->acc, sparse_all(s), s->transport->rank - s->nodes.reach);
        await_result(s, s->transport->rank - s->nodes.reach);
        STEP_AWAIT(sparse_wait(s));
        take_result(s);
    } else {
        STEP_AWAIT(meet(s));
    }
    hand_down(s);
    sparse_slice_note(s, result_of(s), s->acc, s->transport->size);
    sparse_slice_result(s, result_of(s), s->acc);
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
