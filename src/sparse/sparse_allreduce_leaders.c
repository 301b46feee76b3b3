/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce over the first rank of each node, its leader: up a binomial tree within the node, by recursive doubling among the leaders,
 * and down the tree again, encoded all the way. Between nodes there is one message for all of a node's ranks, where doubling has one
 * for each of them, with the same in it.
 *
 * Nodes are so many consecutive ranks (sparse_rates.ranks_per_node); where they are not, the result is the same and the way is longer.
 * The operands' order is kept: a node's ranks are joined with their neighbours, then nodes with theirs.
 *
 * When: several ranks on each of several nodes; short vectors and few nodes, and disjoint inputs, of which doubling moves no more than
 * there is. On one node it is a binomial Reduce and a broadcast, which is good where ranks share processors: no other way has as few messages;
 * with one rank per node it is doubling.
 * How inputs overlap is seen in the result, which all ranks get encoded: of the first merges, of few ranks, it would be a matter of chance.
 * Cost, m ranks on each of q nodes: sum over k < log2 m of (alpha + beta n e(u(2^k)) + gamma n (2 e(u(2^k)) + e(u(2^(k+1))))) within,
 * sum over k < log2 q of the same with u(m 2^k) between nodes, log2 m (alpha + beta n e(u(p))) within, and n written.
 * Where ranks share processors steps within a node take the less the fewer ranks are in them.
 * Source: the hierarchical collectives of MagPIe (Kielmann et al., PPoPP 1999) and MPI's for clusters of SMPs since; doubling as in
 * sparse_allreduce_doubling.c. */
#include "sparse_slice.h"
#include "sparse_step.h"

static void take(struct sparse_slice *s, int peer)
{
    s->in = sparse_run_begin(s, 1);
    sparse_receive(s, 0, s->in->base, sparse_all(s), peer);
}

static enum sparse_status climb(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < s->nodes.reach; s->k *= 2) {
        if (!sparse_node_has(&s->nodes, s->k)) continue;
        take(s, s->transport->rank + s->k);
        STEP_AWAIT(sparse_wait(s));
        sparse_join(s, sparse_all(s), 1, sparse_free_area(s));
    }
    STEP_END;
}

/* The result of all nodes in s->acc. */
static enum sparse_status meet(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->nodes.leaders;
    STEP_BEGIN(s->inner);
    if (fold->partner >= 0 && fold->self >= 0) {
        take(s, sparse_leader(&s->nodes, fold->partner));
        STEP_AWAIT(sparse_wait(s));
        sparse_join(s, sparse_all(s), 1, sparse_free_area(s));
    }
    if (fold->self < 0) {
        sparse_send(s, 1, s->acc, sparse_all(s), sparse_leader(&s->nodes, fold->partner));
        take(s, sparse_leader(&s->nodes, fold->partner));
        STEP_AWAIT(sparse_wait(s));
        sparse_received(s, 0, s->in, 0, sparse_all(s));
        s->acc = s->in;
        STEP_RETURN;
    }
    for (s->k = 0; s->k < fold->steps; s->k++) {
        sparse_exchange(s, sparse_all(s), sparse_all(s), sparse_leader(&s->nodes, sparse_fold_rank(fold, fold->self ^ 1 << s->k)));
        STEP_AWAIT(sparse_wait_slot(s, 0));
        sparse_join(s, sparse_all(s), 1, sparse_free_area(s));
        STEP_AWAIT(sparse_wait_slot(s, 1));
    }
    if (fold->partner >= 0) sparse_send(s, SPARSE_SLOTS - 1, s->acc, sparse_all(s), sparse_leader(&s->nodes, fold->partner));
    STEP_END;
}

/* To the ranks that this one stands for, the farthest first: it has the most to pass on. */
static void hand_down(struct sparse_slice *s)
{
    int slot = 1;
    for (int distance = s->nodes.reach / 2; distance > 0; distance /= 2)
        if (sparse_node_has(&s->nodes, distance)) sparse_send(s, slot++, s->acc, sparse_all(s), s->transport->rank + distance);
}

enum sparse_status sparse_allreduce_leaders(struct sparse_slice *s)
{
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(climb(s));
    if (s->nodes.local > 0) {
        sparse_send(s, 1, s->acc, sparse_all(s), s->transport->rank - s->nodes.reach);
        take(s, s->transport->rank - s->nodes.reach);
        STEP_AWAIT(sparse_wait(s));
        sparse_received(s, 0, s->in, 0, sparse_all(s));
        s->acc = s->in;
    } else {
        STEP_AWAIT(meet(s));
    }
    hand_down(s);
    sparse_slice_note(s, sparse_all(s), s->acc, s->transport->size);
    sparse_slice_result(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
