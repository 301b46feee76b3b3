/* SPDX-License-Identifier: BSD-3-Clause */
/* What the algorithms on a hypercube share: the fold for numbers of ranks that are no power of two, and recursive halving.
 *
 * Recursive halving: s steps; in step k the ranks whose places differ in bit k exchange halves of what they hold and join them.
 * The nearest ranks come first: groups of consecutive ranks are joined with their neighbours, so that the order of the operands
 * is kept, the largest messages stay close, and with sparse vectors the unions fill up only after the messages have become
 * short.
 *
 * Cost with p = 2^s, n elements, e(d) bytes per element of density d, u(k) the union's density of k ranks:
 *     sum over k < s of (alpha + beta n/2^(k+1) e(u(2^k)) + gamma n/2^(k+1) (2 e(u(2^k)) + e(u(2^(k+1)))))
 * Fold: alpha + beta n e(d) + gamma n (2 e(d) + e(u(2))) more.
 * Source: Rabenseifner, ICCS 2004; Rabenseifner and Traeff, EuroPVM/MPI 2004; the order of the bits: van de Geijn's
 * bidirectional exchange. */
#include "sparse_slice.h"
#include "sparse_step.h"

double sparse_ranks_after(const struct sparse_slice *s, int steps)
{
    return (double)(1 << steps) * s->transport->size / s->fold.cube;
}

enum sparse_status sparse_fold_in(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->fold;
    STEP_BEGIN(s->inner);
    if (fold->partner < 0) STEP_RETURN;
    s->in = sparse_run_begin(s, 1);
    if (fold->self < 0) sparse_send(s, 1, s->acc, sparse_all(s), fold->partner);
    else sparse_receive(s, 0, s->in->base, sparse_all(s), fold->partner);
    STEP_AWAIT(sparse_wait(s));
    if (fold->self >= 0) sparse_join(s, sparse_all(s), 2 * fold->stride, sparse_free_area(s));
    STEP_END;
}

struct sparse_span sparse_collected(const struct sparse_slice *s)
{
    const int place = sparse_fold_place(&s->fold, s->transport->rank);
    return (struct sparse_span){(size_t)sparse_fold_position(&s->fold, place), s->positions};
}

enum sparse_status sparse_halve(struct sparse_slice *s)
{
    const struct sparse_fold *fold = &s->fold;
    size_t position = (size_t)sparse_fold_position(fold, fold->self);
    struct sparse_span keep, give;
    STEP_BEGIN(s->inner);
    s->extent = s->positions;
    for (s->k = 0; s->k < fold->steps; s->k++) {
        s->extent /= 2;
        s->base = position & ~(s->extent - 1);
        keep = (struct sparse_span){s->base, s->extent};
        give = (struct sparse_span){s->base ^ s->extent, s->extent};
        sparse_exchange(s, give, keep, sparse_fold_rank(fold, fold->self ^ 1 << s->k));
        STEP_AWAIT(sparse_wait_slot(s, 0));
        keep = (struct sparse_span){s->base, s->extent};
        sparse_join(s, keep, sparse_ranks_after(s, s->k + 1), s->k + 1 < fold->steps ? sparse_free_area(s) : 3);
        STEP_AWAIT(sparse_wait_slot(s, 1));
    }
    s->all = s->acc;
    STEP_END;
}
