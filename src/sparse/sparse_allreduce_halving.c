/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce by recursive halving and an allgather: Rabenseifner's algorithm. Every part is computed once, by one rank, and
 * handed to all the others encoded, so that all have the same bits.
 *
 * When: long vectors, unless the inputs are disjoint. On one node ranks may read each other's memory instead (sparse_allreduce_boards.c).
 * Cost: that of halving (sparse_halving.c), and sum over k < s of (alpha + beta n/2^(k+1) e(u(p))), n written, and for the ranks
 * that stood aside alpha + beta n e(u(p)). Dense: 2 s alpha + 2 (p-1)/p beta n + (p-1)/p gamma n.
 * Source: Rabenseifner, ICCS 2004; Rabenseifner and Traeff, EuroPVM/MPI 2004. */
#include "sparse_slice.h"
#include "sparse_step.h"

enum sparse_status sparse_collect(struct sparse_slice *s, bool writes)
{
    const struct sparse_fold *fold = &s->fold;
    const size_t position = sparse_collected(s).base;
    STEP_BEGIN(s->inner);
    s->extent = 1;
    for (s->k = fold->steps - 1; s->k >= 0; s->k--) {
        struct sparse_span mine = {position, s->extent}, theirs = {position ^ s->extent, s->extent};
        int peer = sparse_fold_rank(fold, fold->self ^ 1 << s->k);
        sparse_swap(s, fold->steps - s->k, s->all, mine, s->all->base + s->all->used, theirs, peer);
        if (writes && s->extent == 1) sparse_slice_result(s, mine, s->all);
        STEP_AWAIT(sparse_wait_received(s));
        s->all->used += sparse_received(s, 0, s->all, s->all->used, (struct sparse_span){position ^ s->extent, s->extent});
        if (writes) sparse_slice_result(s, (struct sparse_span){position ^ s->extent, s->extent}, s->all);
        s->extent *= 2;
    }
    STEP_END;
}

enum sparse_status sparse_allreduce_halving(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->fold;
    STEP_BEGIN(s->resume);
    if (s->group > 0) {
        STEP_AWAIT(sparse_allreduce_boards(s));
        STEP_RETURN;
    }
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_fold_in(s));
    if (fold->self < 0) {
        s->all = sparse_run_begin(s, 3);
        sparse_receive(s, 0, s->all->base, sparse_collected(s), fold->partner);
        STEP_AWAIT(sparse_wait(s));
        sparse_received(s, 0, s->all, 0, sparse_collected(s));
        sparse_slice_result(s, sparse_collected(s), s->all);
        STEP_RETURN;
    }
    STEP_AWAIT(sparse_halve(s));
    STEP_AWAIT(sparse_collect(s, true));
    if (fold->partner >= 0) sparse_send(s, SPARSE_SLOTS - 1, s->all, sparse_collected(s), fold->partner);
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
