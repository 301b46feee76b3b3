/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce over a binomial tree. In step k the ranks whose place differs from the root's in bit k, and in no lower one, send all
 * they hold to the neighbour in bit k and are done. With bit 0 first, groups of consecutive ranks are joined: the operands'
 * order is kept for every root.
 *
 * When: short vectors (s messages one after the other, half of those of halving and gathering), few ranks, and very sparse ones.
 * Cost: sum over k < s of (alpha + beta n e(u(2^k)) + gamma n (2 e(u(2^k)) + e(u(2^(k+1))))), and the fold; dense s (alpha +
 * beta n).
 * Source: folklore; Thakur, Rabenseifner and Gropp, IJHPCA 2005. */
#include "sparse_slice.h"
#include "sparse_step.h"

static int neighbour(const struct sparse_slice *s)
{
    return sparse_fold_rank(&s->fold, s->fold.self ^ 1 << s->k);
}

enum sparse_status sparse_reduce_binomial(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->fold;
    int apart = fold->self ^ sparse_fold_place(fold, s->root);
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_fold_in(s));
    if (fold->self < 0) STEP_RETURN;
    for (s->k = 0; s->k < fold->steps; s->k++) {
        if (apart >> s->k & 1) {
            sparse_send(s, 1, s->acc, sparse_all(s), neighbour(s));
            STEP_AWAIT(sparse_wait(s));
            STEP_RETURN;
        }
        s->in = sparse_run_begin(s, 1);
        sparse_receive(s, 0, s->in->base, sparse_all(s), neighbour(s));
        STEP_AWAIT(sparse_wait(s));
        if (s->k + 1 < fold->steps) sparse_join(s, sparse_all(s), sparse_ranks_after(s, s->k + 1), sparse_free_area(s));
    }
    sparse_finish(s, sparse_all(s));
    STEP_END;
}
