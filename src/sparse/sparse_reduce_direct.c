/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce by sending every encoded vector to the root, which adds them to its result in rank order as they arrive; on one node it may read them
 * instead (sparse_boards.h).
 *
 * When: the inputs together are hardly larger than their union (disjoint inputs, or very sparse ones): then the root receives no
 * more than it must, each message travels once, and nobody but the root works.
 * Cost: (p-1) (alpha + beta n e(d) + gamma n e(d)) at the root, and n written. Dense: (p-1) (alpha + beta n). Between nodes alpha is a node's
 * own for each message, and the network's once for each other node: messages of one node do not wait for each other.
 * Source: linear gather; for sparse vectors the split of SparCML (Renggli et al., SC 2019) with one owner. */
#include "sparse_boards.h"
#include "sparse_step.h"

static int source(const struct sparse_slice *s, int i)
{
    return i < s->root ? i : i + 1;
}

static void listen_to(struct sparse_slice *s, int i)
{
    if (i < s->transport->size - 1 && !sparse_has_words(s)) sparse_receive(s, i % 2, s->area[1 + i % 2], sparse_all(s), source(s, i));
}

static enum sparse_status receive(struct sparse_slice *s, int i)
{
    s->in = sparse_run_begin(s, 1 + i % 2);
    if (sparse_has_words(s)) return sparse_boards_take(s, source(s, i), s->in, 0, sparse_all(s));
    const enum sparse_status status = sparse_wait_slot(s, i % 2);
    if (status == SPARSE_DONE) sparse_received(s, i % 2, s->in, 0, sparse_all(s));
    return status;
}

static void add(struct sparse_slice *s, const struct sparse_run *run)
{
    if (s->started) sparse_slice_into(s, sparse_all(s), run, true);
    else sparse_slice_decode(s, sparse_all(s), run);
    s->started = true;
}

/* To the root. */
static enum sparse_status hand_over(struct sparse_slice *s)
{
    STEP_BEGIN(s->inner);
    if (sparse_has_words(s)) {
        STEP_AWAIT(sparse_words_begin(s, s->transport->rank == s->root ? 0 : UINT32_C(1) << s->root));
        sparse_boards_show(s, s->acc, false);
    } else if (s->transport->rank != s->root) {
        sparse_send(s, 0, s->acc, sparse_all(s), s->root);
        STEP_AWAIT(sparse_wait(s));
    }
    STEP_END;
}

enum sparse_status sparse_reduce_direct(struct sparse_slice *s)
{
    const bool at_root = s->transport->rank == s->root;
    STEP_BEGIN(s->resume);
    s->started = false;
    s->acc = sparse_run_begin(s, 0);
    for (int i = 0; i < 2 && at_root; i++) listen_to(s, i);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(hand_over(s));
    if (!at_root) STEP_RETURN;
    for (s->k = 0; s->k < s->transport->size - 1; s->k++) {
        if (s->k == s->root) add(s, s->acc);
        STEP_AWAIT(receive(s, s->k));
        add(s, s->in);
        listen_to(s, s->k + 2);
    }
    if (s->root == s->transport->size - 1) add(s, s->acc);
    STEP_END;
}
