/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce by recursive doubling: in step k the ranks whose places differ in bit k exchange all they hold and join it, the
 * lower rank's on the left on both sides, so that all ranks compute the same bits.
 *
 * When: short vectors; and long ones whose inputs are disjoint: what is exchanged then doubles in each step and adds up to the
 * union, n (p-1)/p, half of what halving and an allgather move ("everyone fills its part" of a zero-padded vector). For those
 * and numbers of ranks that are no power of two there is sparse_allreduce_ring.c.
 * Cost: sum over k < s of (alpha + beta n e(u(2^k)) + gamma n (2 e(u(2^k)) + e(u(2^(k+1))))), the fold, and alpha + beta n
 * e(u(p)) to hand the result back to the ranks that stood aside. Dense: s (alpha + beta n + gamma n).
 * Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005; on sparse vectors SparCML (Renggli et al., SC 2019). */
#include "sparse_slice.h"
#include "sparse_step.h"

enum sparse_status sparse_allreduce_doubling(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->fold;
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_fold_in(s));
    if (fold->self < 0) {
        sparse_receive(s, 0, s->area[1], sparse_all(s), fold->partner);
        STEP_AWAIT(sparse_wait(s));
        s->in = sparse_run_begin(s, 1);
        sparse_received(s, 0, s->in, 0, sparse_all(s));
        sparse_slice_result(s, sparse_all(s), s->in);
        STEP_RETURN;
    }
    for (s->k = 0; s->k < fold->steps; s->k++) {
        sparse_exchange(s, sparse_all(s), sparse_all(s), sparse_fold_rank(fold, fold->self ^ 1 << s->k));
        STEP_AWAIT(sparse_wait_slot(s, 0));
        if (s->k + 1 < fold->steps || fold->partner >= 0)
            sparse_join(s, sparse_all(s), sparse_ranks_after(s, s->k + 1), sparse_free_area(s));
        else sparse_finish(s, sparse_all(s));
        STEP_AWAIT(sparse_wait_slot(s, 1));
    }
    if (fold->partner < 0) STEP_RETURN;
    sparse_send(s, 1, s->acc, sparse_all(s), fold->partner);
    sparse_slice_result(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
