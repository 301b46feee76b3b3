/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce by recursive halving and a gather: Rabenseifner's algorithm. After the halving every place of the cube has the result
 * of one part; the parts run to the root over a binomial tree, encoded as they are, never decoded on the way.
 *
 * When: long vectors; sparse ones whose union is still sparse gain in both halves, others in the first.
 * Cost: that of halving (sparse_halving.c), and sum over k < s of (alpha + beta n/2^(k+1) e(u(p))), and n written at the root;
 * dense 2 s alpha + 2 (p-1)/p beta n + (p-1)/p gamma n.
 * Source: Rabenseifner, ICCS 2004; Rabenseifner and Traeff, EuroPVM/MPI 2004. */
#include "sparse_slice.h"
#include "sparse_step.h"

enum sparse_status sparse_reduce_halving(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->fold;
    int apart = fold->self ^ sparse_fold_place(fold, s->root), peer;
    size_t position = (size_t)sparse_fold_position(fold, fold->self);
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_fold_in(s));
    if (fold->self < 0) STEP_RETURN;
    STEP_AWAIT(sparse_halve(s));
    s->extent = 1;
    for (s->k = fold->steps - 1; s->k >= 0; s->k--) {
        peer = sparse_fold_rank(fold, fold->self ^ 1 << s->k);
        if (apart >> s->k & 1) {
            sparse_send(s, 1, s->all, (struct sparse_span){position, s->extent}, peer);
            STEP_AWAIT(sparse_wait(s));
            STEP_RETURN;
        }
        sparse_receive(s, 0, s->all->base + s->all->used, (struct sparse_span){position ^ s->extent, s->extent}, peer);
        if (apart == 0 && s->extent == 1) sparse_slice_result(s, (struct sparse_span){position, 1}, s->all);
        STEP_AWAIT(sparse_wait(s));
        s->all->used += sparse_received(s, 0, s->all, s->all->used, (struct sparse_span){position ^ s->extent, s->extent});
        if (apart == 0) sparse_slice_result(s, (struct sparse_span){position ^ s->extent, s->extent}, s->all);
        s->extent *= 2;
    }
    STEP_END;
}
