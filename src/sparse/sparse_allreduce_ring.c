/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce without a reduction on the way: every encoded vector reaches every rank, which adds all of them in rank order; that makes
 * the bits the same everywhere. Up to 32 ranks, a power of two, the vectors are gathered by doubling, the farthest ranks first:
 * what goes between nodes does so while it is little, and the rest stays within them. Else they go around a ring; or, on one node, each rank may read
 * all of them instead (sparse_boards.h).
 *
 * When: disjoint inputs ("everyone fills its part"): the vectors together are about as long as their union, which every rank has
 * to receive anyway, for any number of ranks. The messages of a slice are kept until all are there; slices are cut so that they
 * fit, and have a piece of every rank's share of the vector: where one fills its part, all have something to send in each slice.
 * Cost: (p-1) (alpha + beta n e(d) + gamma n e(d)), and n written; alpha once per slice. Dense: (p-1) (alpha + beta n). By
 * doubling log2 p alpha: all that a rank holds is one message.
 * Source: ring and recursive doubling allgather; on sparse vectors SparCML's split allgather (Renggli et al., SC 2019). */
#include "sparse_boards.h"
#include "sparse_step.h"

/* Which rank's vector passes after `k` steps. */
static int passing(const struct sparse_slice *s, int k)
{
    int p = s->transport->size;
    return (s->transport->rank - k + p) % p;
}

/* `all` has the vectors by rank, one behind the other; `in` is for the verbs that know parts. */
static void keep(struct sparse_slice *s, int rank, size_t at, size_t bytes)
{
    s->all->at[rank] = at;
    s->all->length[rank] = bytes;
    s->all->used = at + bytes;
}

static void begin(struct sparse_slice *s)
{
    s->all = sparse_run_begin(s, 0);
    s->in = sparse_run_begin(s, 1);
    s->in->base = s->all->base;
    sparse_slice_encode(s, sparse_all(s), s->in);
    keep(s, s->transport->rank, 0, s->in->used);
}

/* By doubling, ranks hold their own vector, behind it the one from p/2 away, then the two from p/4 away, and so on. Whose is number `i` of
 * a rank. */
static int holds(const struct sparse_slice *s, int rank, int i)
{
    for (int far = s->transport->size / 2; i > 0; i /= 2, far /= 2) rank ^= i % 2 * far;
    return rank;
}

static void take_vectors(struct sparse_slice *s, int peer, int vectors)
{
    size_t at[SPARSE_RING_DOUBLES / 2];
    size_t bytes = sparse_received_vectors(s, 0, s->in, s->all->used, vectors, at);
    if (sparse_failed(s)) return;
    for (int i = 0; i < vectors; i++) s->all->at[holds(s, peer, i)] = at[i];
    s->all->used += bytes;
}

/* All that a rank holds is one message. */
static enum sparse_status gather(struct sparse_slice *s)
{
    int p = s->transport->size, rank = s->transport->rank;
    STEP_BEGIN(s->inner);
    for (s->k = p / 2; s->k > 0; s->k /= 2) {
        int vectors = p / (2 * s->k), slot = 1 + __builtin_ctz((unsigned)vectors);
        sparse_swap_vectors(s, slot, s->all->base, s->all->used, s->all->base + s->all->used, vectors, rank ^ s->k);
        STEP_AWAIT(sparse_wait_received(s));
        take_vectors(s, rank ^ s->k, p / (2 * s->k));
    }
    STEP_END;
}

static void swap_with_neighbours(struct sparse_slice *s, int k)
{
    int p = s->transport->size, given = passing(s, k - 1);
    sparse_receive_vectors(s, 0, s->all->base + s->all->used, 1, passing(s, 1));
    sparse_send_vectors(s, 1 + k % 2, s->all->base + s->all->at[given], s->all->length[given], 1, (s->transport->rank + 1) % p);
}

static void take_next(struct sparse_slice *s, int k)
{
    size_t at = s->all->used, bytes = sparse_received_vectors(s, 0, s->in, at, 1, &at);
    keep(s, passing(s, k), at, sparse_failed(s) ? 0 : bytes);
}

/* From one rank's neighbour to the next. */
static enum sparse_status go_around(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < s->transport->size; s->k++) {
        STEP_AWAIT(sparse_wait_slot(s, 1 + s->k % 2));
        swap_with_neighbours(s, s->k);
        STEP_AWAIT(sparse_wait_received(s));
        take_next(s, s->k);
    }
    STEP_END;
}

/* All of them from where they are shown. */
static enum sparse_status read_all(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    STEP_AWAIT(sparse_words_begin(s, sparse_node_others(&s->nodes)));
    sparse_boards_show(s, s->in, false);
    for (s->k = 1; s->k < s->transport->size; s->k++) {
        STEP_AWAIT(sparse_boards_take(s, passing(s, s->k), s->in, s->all->used, sparse_all(s)));
        keep(s, passing(s, s->k), s->all->used, sparse_received_bytes(s, 0));
    }
    STEP_END;
}

static enum sparse_status collect(struct sparse_slice *s)
{
    if (sparse_has_words(s)) return read_all(s);
    return sparse_ring_doubles(s->transport->size) ? gather(s) : go_around(s);
}

enum sparse_status sparse_allreduce_ring(struct sparse_slice *s)
{
    STEP_BEGIN(s->resume);
    begin(s);
    STEP_AWAIT(collect(s));
    sparse_slice_pile(s, sparse_all(s), s->all);
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
