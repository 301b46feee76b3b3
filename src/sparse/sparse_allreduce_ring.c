/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce without a reduction on the way: every encoded vector goes once around a ring, and every rank adds all of them in
 * rank order, which makes the bits the same everywhere.
 *
 * When: disjoint inputs ("everyone fills its part"): the vectors together are about as long as their union, which every rank has
 * to receive anyway, for any number of ranks. The messages of a slice are kept until all are there; slices are cut so that they
 * fit.
 * Cost: (p-1) (alpha + beta n e(d) + gamma n e(d)), and n written; alpha once per slice. Dense: (p-1) (alpha + beta n).
 * Source: ring allgather; on sparse vectors SparCML's split allgather (Renggli et al., SC 2019). */
#include "sparse_slice.h"
#include "sparse_step.h"

/* Which rank's vector passes after `k` steps. */
static int passing(const struct sparse_slice *s, int k)
{
    int p = s->transport->size;
    return (s->transport->rank - k + p) % p;
}

/* `all` has the vectors by rank; `in` is a view of one of them, for the verbs that know parts only. */
static struct sparse_run *view(struct sparse_slice *s, int rank)
{
    s->in->at[0] = s->all->at[rank];
    s->in->length[0] = s->all->length[rank];
    return s->in;
}

static void keep(struct sparse_slice *s, int rank)
{
    s->all->at[rank] = s->in->at[0];
    s->all->length[rank] = s->in->length[0];
}

static void begin(struct sparse_slice *s)
{
    s->all = sparse_run_begin(s, 0);
    s->in = sparse_run_begin(s, 1);
    s->in->base = s->all->base;
    sparse_slice_encode(s, sparse_all(s), s->in);
    s->all->used = s->in->used;
    if (!sparse_failed(s)) keep(s, s->transport->rank);
}

static void add_all(struct sparse_slice *s)
{
    for (int rank = 0; rank < s->transport->size && !sparse_failed(s); rank++) {
        if (rank == 0) sparse_slice_decode(s, sparse_all(s), view(s, rank));
        else sparse_slice_into(s, sparse_all(s), view(s, rank), true);
    }
}

enum sparse_status sparse_allreduce_ring(struct sparse_slice *s)
{
    int p = s->transport->size, rank = s->transport->rank;
    STEP_BEGIN(s->resume);
    begin(s);
    for (s->k = 1; s->k < p; s->k++) {
        sparse_receive(s, 0, s->all->base + s->all->used, sparse_all(s), passing(s, 1));
        sparse_send(s, 1, sparse_failed(s) ? s->in : view(s, passing(s, s->k - 1)), sparse_all(s), (rank + 1) % p);
        STEP_AWAIT(sparse_wait(s));
        s->all->used += sparse_received(s, 0, s->in, s->all->used, sparse_all(s));
        if (!sparse_failed(s)) keep(s, passing(s, s->k));
    }
    add_all(s);
    STEP_END;
}
