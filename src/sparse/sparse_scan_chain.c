/* SPDX-License-Identifier: BSD-3-Clause */
/* Scan and Exscan along a chain: every rank puts what comes from the one below it in front of its own, and passes it on, many short
 * slices one behind the other. The operands are added from left to right, as in a plain loop over the ranks.
 *
 * When: long vectors that are not very sparse. Every rank sends and receives the vector once, where doubling has it do so log2 p times,
 * and a chain of whole vectors, as Open MPI's routine is one, p - 1 times one after the other.
 * Cost, with m slices: (m + p - 2) (alpha + max(beta n e(u(p)), gamma n 3 e(u(p))) / m), and n written; dense, with m large, beta n.
 * Source: the linear pipeline. */
#include "sparse_slice.h"
#include "sparse_step.h"

static bool last(const struct sparse_slice *s)
{
    return s->transport->rank == s->transport->size - 1;
}

/* s->acc = what is to be passed on. Of the last rank of a Scan the result, for nobody asks for it. */
static void take(struct sparse_slice *s)
{
    if (s->transport->rank == 0) return;
    s->in = sparse_run_begin(s, 1);
    if (!last(s)) sparse_join(s, sparse_all(s), s->transport->rank + 1, 2);
    else if (s->exclusive) sparse_received(s, 0, s->in, 0, sparse_all(s));
    else sparse_finish(s, sparse_all(s));
}

static void write_result(struct sparse_slice *s)
{
    const bool first = s->transport->rank == 0;
    if (s->exclusive) {
        if (!first) sparse_slice_result(s, sparse_all(s), s->in);
    } else if (first ? s->input != s->output : !last(s)) {
        sparse_slice_result(s, sparse_all(s), s->acc);
    }
}

enum sparse_status sparse_scan_chain(struct sparse_slice *s)
{
    const int rank = s->transport->rank;
    STEP_BEGIN(s->resume);
    if (rank > 0) sparse_receive(s, 0, s->area[1], sparse_all(s), rank - 1);
    s->acc = sparse_run_begin(s, 0);
    sparse_slice_encode(s, sparse_all(s), s->acc);
    STEP_AWAIT(sparse_wait(s));
    if (rank > 0) sparse_confirm(s, 2, rank - 1);
    take(s);
    if (!last(s)) {
        sparse_send(s, 1, s->acc, sparse_all(s), rank + 1);
        sparse_await_confirmation(s, 4, rank + 1);
    }
    write_result(s);
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
