/* SPDX-License-Identifier: BSD-3-Clause */
/* Scan and Exscan by recursive doubling: in step k ranks that differ in bit k exchange what their groups of 2^k ranks add up to;
 * the upper one puts it in front of its result, both in front of or behind their group's. Any number of ranks; the order of the
 * operands is kept.
 *
 * When: short vectors, and very sparse ones. The group's sum stays encoded, the result is dense from the start.
 * Cost: sum over k < log2 p of (alpha + beta n e(u(2^k)) + gamma n (3 e(u(2^k)) + e(u(2^(k+1))))), and n written. Dense: log2 p
 * (alpha + beta n + 2 gamma n).
 * Source: Hillis and Steele, CACM 1986; as in MPICH. */
#include "sparse_slice.h"
#include "sparse_step.h"

/* Whether this rank exchanges again after step k. */
static bool goes_on(const struct sparse_slice *s)
{
    for (int mask = 2 << s->k; mask > 0 && mask < s->transport->size; mask *= 2)
        if ((s->transport->rank ^ mask) < s->transport->size) return true;
    return false;
}

static void put_in_front(struct sparse_slice *s)
{
    if (s->slot[0].peer > s->transport->rank) return;
    if (s->started) sparse_slice_into(s, sparse_all(s), s->in, false);
    else sparse_slice_decode(s, sparse_all(s), s->in);
    s->started = true;
}

enum sparse_status sparse_scan_doubling(struct sparse_slice *s)
{
    int peer;
    STEP_BEGIN(s->resume);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    s->started = !s->exclusive;
    if (s->started && s->input != s->output) sparse_slice_decode(s, sparse_all(s), s->acc);
    for (s->k = 0; 1 << s->k < s->transport->size; s->k++) {
        peer = s->transport->rank ^ 1 << s->k;
        if (peer >= s->transport->size) continue;
        sparse_exchange(s, sparse_all(s), sparse_all(s), peer);
        STEP_AWAIT(sparse_wait_slot(s, 0));
        sparse_received(s, 0, s->in, 0, sparse_all(s));
        put_in_front(s);
        if (goes_on(s)) sparse_join(s, sparse_all(s), (double)(2 << s->k), sparse_free_area(s));
        STEP_AWAIT(sparse_wait_slot(s, 1));
    }
    STEP_END;
}
