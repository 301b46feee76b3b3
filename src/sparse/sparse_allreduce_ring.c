/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce without a reduction on the way: every encoded vector reaches every rank, which adds all of them in rank order; that makes
 * the bits the same everywhere. Up to 32 ranks, a power of two, the vectors are gathered by doubling, the farthest ranks first:
 * what goes between nodes does so while it is little, and the rest stays within them. Else they go around a ring.
 *
 * When: disjoint inputs ("everyone fills its part"): the vectors together are about as long as their union, which every rank has
 * to receive anyway, for any number of ranks. The messages of a slice are kept until all are there; slices are cut so that they
 * fit, and have a piece of every rank's share of the vector: where one fills its part, all have something to send in each slice.
 * Cost: (p-1) (alpha + beta n e(d) + gamma n e(d)), and n written; alpha once per slice. Dense: (p-1) (alpha + beta n). By
 * doubling only log2 p of these messages come one after the other, but each has to be handled.
 * Source: ring and recursive doubling allgather; on sparse vectors SparCML's split allgather (Renggli et al., SC 2019). */
#include "sparse_slice.h"
#include "sparse_step.h"

/* Which rank's vector passes after `k` steps. */
static int passing(const struct sparse_slice *s, int k)
{
    int p = s->transport->size;
    return (s->transport->rank - k + p) % p;
}

/* `all` has the vectors by rank; `in` is a view of one of them, for the verbs that know parts only: its first part (the longest, which
 * is empty if all are) stands for the whole message. */
static struct sparse_run *view(struct sparse_slice *s, int rank)
{
    for (size_t part = 1; part < s->positions; part++) s->in->length[part] = 0;
    s->in->at[0] = s->all->at[rank];
    s->in->length[0] = s->all->length[rank];
    return s->in;
}

static void keep(struct sparse_slice *s, int rank, size_t bytes)
{
    s->all->at[rank] = s->in->at[0];
    s->all->length[rank] = bytes;
}

/* Every rank's vector has a place of its own. */
static size_t place_of(const struct sparse_slice *s, int rank)
{
    return (size_t)rank * sparse_span_bound(s, sparse_all(s));
}

static void begin(struct sparse_slice *s)
{
    s->all = sparse_run_begin(s, 0);
    s->in = sparse_run_begin(s, 1);
    s->in->base = s->all->base;
    size_t start = sparse_ring_doubles(s->transport->size) ? place_of(s, s->transport->rank) : 0;
    s->in->used = start;
    sparse_slice_encode(s, sparse_all(s), s->in);
    s->all->used = s->in->used;
    if (!sparse_failed(s)) keep(s, s->transport->rank, s->in->used - start);
}

enum { HALF = SPARSE_SLOTS / 2 };
_Static_assert((int)SPARSE_RING_DOUBLES <= (int)SPARSE_SLOTS, "half of the vectors come, and half go, at once");

/* A partner s->k ranks away has the vectors of those that differ from it in the bits above s->k only; `i` counts them. */
static int held(const struct sparse_slice *s, int by, int i)
{
    return by ^ i * 2 * s->k;
}

static void swap_vectors(struct sparse_slice *s)
{
    int rank = s->transport->rank, peer = rank ^ s->k, vectors = s->transport->size / (2 * s->k);
    for (int i = 0; i < vectors; i++)
        sparse_receive(s, i, s->all->base + place_of(s, held(s, peer, i)), sparse_all(s), peer);
    for (int i = 0; i < vectors; i++)
        sparse_send(s, HALF + i, sparse_failed(s) ? s->in : view(s, held(s, rank, i)), sparse_all(s), peer);
}

static void take_vectors(struct sparse_slice *s)
{
    int peer = s->transport->rank ^ s->k, vectors = s->transport->size / (2 * s->k);
    for (int i = 0; i < vectors; i++) {
        int other = held(s, peer, i);
        size_t bytes = sparse_received(s, i, s->in, place_of(s, other), sparse_all(s));
        if (!sparse_failed(s)) keep(s, other, bytes);
    }
}

static enum sparse_status gather(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    for (s->k = s->transport->size / 2; s->k > 0; s->k /= 2) {
        swap_vectors(s);
        STEP_AWAIT(sparse_wait(s));
        take_vectors(s);
    }
    STEP_END;
}

enum sparse_status sparse_allreduce_ring(struct sparse_slice *s)
{
    int p = s->transport->size, rank = s->transport->rank;
    STEP_BEGIN(s->resume);
    begin(s);
    if (sparse_ring_doubles(p)) {
        STEP_AWAIT(gather(s));
        sparse_slice_pile(s, sparse_all(s), s->all);
        STEP_RETURN;
    }
    for (s->k = 1; s->k < p; s->k++) {
        sparse_receive(s, 0, s->all->base + s->all->used, sparse_all(s), passing(s, 1));
        sparse_send(s, 1, sparse_failed(s) ? s->in : view(s, passing(s, s->k - 1)), sparse_all(s), (rank + 1) % p);
        STEP_AWAIT(sparse_wait(s));
        size_t bytes = sparse_received(s, 0, s->in, s->all->used, sparse_all(s));
        s->all->used += bytes;
        if (!sparse_failed(s)) keep(s, passing(s, s->k), bytes);
    }
    sparse_slice_pile(s, sparse_all(s), s->all);
    STEP_END;
}
