/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce over the first rank of each node, its leader: up a binomial tree within the node, and along a chain of the leaders
 * (sparse_reduce_chain.c) to that of the root's node, which hands the result to the root if that is another rank. In short slices, one behind
 * the other, as a chain's.
 *
 * When: several ranks on each of several nodes, and vectors that are too short for a chain of all ranks, which has a step for each of them.
 * The order of the operands is kept. Brackets: a node's ranks as in sparse_allreduce_leaders.c, the nodes as the ranks of a chain.
 * Cost, m ranks on each of q nodes: sum over k < log2 m of (alpha + beta n e(u(2^k)) + gamma n (2 e(u(2^k)) + e(u(2^(k+1))))) within, that of a
 * chain of q ranks between nodes, and n written at the root.
 * Source: the hierarchical collectives of MagPIe (Kielmann et al., PPoPP 1999); the linear pipeline. */
#include "sparse_slice.h"
#include "sparse_step.h"

enum sparse_status sparse_climb(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < s->nodes.reach; s->k *= 2) {
        if (!sparse_node_has(&s->nodes, s->k)) continue;
        s->in = sparse_run_begin(s, 1);
        sparse_receive(s, 0, s->in->base, sparse_all(s), s->transport->rank + s->k);
        STEP_AWAIT(sparse_wait(s));
        sparse_join(s, sparse_all(s), 2 * s->k, sparse_free_area(s));
    }
    STEP_END;
}

enum sparse_status sparse_reduce_leaders(struct sparse_slice *s)
{
    const int rank = s->transport->rank, leader = s->root - s->root % s->nodes.per_node;
    const bool over = leader != s->root;
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_climb(s));
    if (s->nodes.local > 0) {
        sparse_send(s, 1, s->acc, sparse_all(s), rank - s->nodes.reach);
    } else {
        sparse_chain_listen(s);
        STEP_AWAIT(sparse_chain_pass(s));
    }
    if (over && rank == leader) sparse_send(s, 1, s->acc, sparse_all(s), s->root);
    if (over && rank == s->root) sparse_receive(s, 0, s->area[1], sparse_all(s), leader);
    STEP_AWAIT(sparse_wait(s));
    if (!over || rank != s->root) STEP_RETURN;
    s->in = sparse_run_begin(s, 1);
    sparse_received(s, 0, s->in, 0, sparse_all(s));
    sparse_slice_result(s, sparse_all(s), s->in);
    STEP_END;
}
