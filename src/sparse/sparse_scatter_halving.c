/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce_scatter and Reduce_scatter_block by recursive halving. The parts are the ranks' shares, of any length, in the order in
 * which the cube halves them (by the bits of the places reversed), so that nearest neighbours go first and the operands' order
 * is kept. A place that stands for two ranks ends with the shares of both and hands one over.
 *
 * When: nearly always; it keeps almost all that sparsity offers, because nothing has to be gathered.
 * Cost: that of halving (sparse_halving.c), and alpha + beta n/p e(u(p)) for a pair's second share. Dense: s alpha + (p-1)/p
 * (beta + gamma) n.
 * Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005; Bernaschi, Iannello and Lauria, J. Syst. Arch. 2003 (any counts). */
#include "sparse_slice.h"
#include "sparse_step.h"

enum sparse_status sparse_scatter_halving(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->fold;
    /* The plan has the pair's two shares behind the positions. */
    struct sparse_span lower = {s->positions + 1, 1}, upper = {s->positions + 2, 1};
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_fold_in(s));
    if (fold->self < 0) {
        sparse_receive(s, 0, s->area[1], upper, fold->partner);
        STEP_AWAIT(sparse_wait(s));
        s->in = sparse_run_begin(s, 1);
        sparse_received(s, 0, s->in, 0, upper);
        sparse_slice_decode(s, upper, s->in);
        STEP_RETURN;
    }
    STEP_AWAIT(sparse_halve(s));
    if (fold->partner < 0) {
        sparse_slice_decode(s, (struct sparse_span){s->base, 1}, s->all);
        STEP_RETURN;
    }
    sparse_send(s, 1, s->all, upper, fold->partner);
    sparse_slice_decode(s, lower, s->all);
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
