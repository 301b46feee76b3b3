/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce_scatter and Reduce_scatter_block by pairwise exchange: in step k every rank sends its part of the share of rank + k and
 * receives from rank - k, sixteen steps at a time; the contributions are added in rank order when all are there. On one node ranks may read each
 * other's instead (sparse_boards.h).
 *
 * When: few ranks, and disjoint or clustered inputs, of which most messages are a few bytes; every element moves once, directly,
 * and nothing is merged twice.
 * Cost: (p-1) (alpha + beta n/p e(d) + gamma n/p e(d)), and n/p written. Dense: (p-1) alpha + (p-1)/p (beta + gamma) n.
 * Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005. */
#include "sparse_boards.h"
#include "sparse_step.h"

enum { WINDOW = SPARSE_SLOTS / 2 };

static struct sparse_span share(int rank)
{
    return (struct sparse_span){(size_t)rank, 1};
}

static int before(const struct sparse_slice *s, int k)
{
    return (s->transport->rank - k + s->transport->size) % s->transport->size;
}

/* The contribution received in step k, in area 1 and beyond. */
static size_t place(const struct sparse_slice *s, int k)
{
    return (size_t)(k - 1) * sparse_span_bound(s, share(s->transport->rank));
}

static void start(struct sparse_slice *s, int k)
{
    int to = (s->transport->rank + k) % s->transport->size;
    sparse_receive(s, k % WINDOW, s->in->base + place(s, k), share(s->transport->rank), before(s, k));
    sparse_send(s, WINDOW + k % WINDOW, s->acc, share(to), to);
}

/* `all` has the contributions by rank, from area 0 on. */
static void keep(struct sparse_slice *s, int k)
{
    s->all->at[before(s, k)] = (size_t)(s->in->base - s->acc->base) + place(s, k);
}

static void collect(struct sparse_slice *s, int k)
{
    if (k < 1) return;
    sparse_received(s, k % WINDOW, s->in, place(s, k), share(s->transport->rank));
    keep(s, k);
}

static enum sparse_status exchange(struct sparse_slice *s)
{
    const int p = s->transport->size;
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < p + WINDOW; s->k++) {
        STEP_AWAIT(sparse_wait_slot(s, s->k % WINDOW));
        STEP_AWAIT(sparse_wait_slot(s, WINDOW + s->k % WINDOW));
        collect(s, s->k - WINDOW);
        if (s->k < p) start(s, s->k);
    }
    STEP_END;
}

/* Each rank's part of this one's share from where it is shown. */
static enum sparse_status read_all(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    STEP_AWAIT(sparse_words_begin(s, sparse_node_others(&s->nodes)));
    sparse_boards_show(s, s->acc, true);
    for (s->k = 1; s->k < s->transport->size; s->k++) {
        STEP_AWAIT(sparse_boards_take(s, before(s, s->k), s->in, place(s, s->k), share(s->transport->rank)));
        keep(s, s->k);
    }
    STEP_END;
}

enum sparse_status sparse_scatter_pairwise(struct sparse_slice *s)
{
    const size_t own = (size_t)s->transport->rank;
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    s->in = sparse_run_begin(s, 1);
    s->all = sparse_run_begin(s, 2);
    s->all->base = s->acc->base;
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_has_words(s) ? read_all(s) : exchange(s));
    if (s->count[own] > 0) s->all->at[own] = s->acc->at[own];
    sparse_slice_pile(s, share((int)own), s->all);
    STEP_END;
}
