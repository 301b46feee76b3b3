/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: what every rank knows, added up, on all ranks. By recursive doubling, with the fold of sparse_fold.c; where messages between
 * nodes take long, among the nodes' leaders, and up and down a tree within each node: one message in each step for all of its ranks. Where
 * ranks have agreed to read each other's windows, without messages within a node, each in a cell of its own, as shares are (sparse_shares_windows.c).
 *
 * A damaged message shows by its checksum. The rank that finds it goes on to the end, so that nobody waits for it here, and what it sends
 * from then on is void, as is what depends on that.
 *
 * Cost: (log2 p + 2) alpha, or 2 log2 m of those in a node of m ranks and log2 (p/m) + 2 of those between nodes; 64 bytes a message. */
#include "sparse_agree.h"

#include "sparse_step.h"

#include <string.h>

_Static_assert(sizeof(struct sparse_terms) == 64, "as the cost of asking says");
_Static_assert(sizeof(struct sparse_terms) == SPARSE_WINDOW_CELL, "they fit in a cell");
#define MAGIC UINT64_C(0x4c53503353504c33) /* "LSP3", twice */

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Products with odd numbers, which do not wait for each other; a changed bit changes the upper half of its own one, whichever it is. */
uint32_t sparse_terms_seal(const struct sparse_terms *t)
{
    uint64_t sum = MAGIC + pair(t->ranks, t->flags) * UINT64_C(0x9e3779b97f4a7c15) +
                   pair(t->observed, t->dear) * UINT64_C(0xbf58476d1ce4e5b9) + pair(t->took, t->asked) * UINT64_C(0x94d049bb133111eb) +
                   t->again * UINT64_C(0x8ebc6af09c88c6e3) + t->density * UINT64_C(0xd6e8feb86659fd93) +
                   t->repeated * UINT64_C(0xc2b2ae3d27d4eb4f) + t->growth * UINT64_C(0xa0761d6478bd642f) +
                   t->per_exception * UINT64_C(0xe7037ed1a0b428db);
    return (uint32_t)(sum >> 32);
}

void sparse_agree_init(struct sparse_agreement *a, const struct sparse_transport *transport, int per_node, struct sparse_windows *windows,
                       int tag, struct sparse_record *record, uint32_t flags, uint32_t dear, struct sparse_times last, double density,
                       const struct sparse_learned *learned)
{
    *a = (struct sparse_agreement){.transport = transport, .windows = windows, .tag = tag, .record = record};
    a->terms = (struct sparse_terms){.ranks = 1, .flags = flags, .dear = dear, .took = last.took, .asked = last.asked,
                                    .again = last.again, .density = (uint64_t)(density * 0x1p32),
                                    .repeated = (uint64_t)(last.density * 0x1p32)};
    if (learned) {
        a->terms.observed = 1;
        a->terms.growth = (uint64_t)(learned->growth * 0x1p20);
        a->terms.per_exception = (uint64_t)(learned->per_exception * 0x1p20);
    }
    sparse_nodes_init(&a->nodes, transport->rank, transport->size, windows ? windows->per_node : per_node);
}

static enum sparse_status end(struct sparse_agreement *a, enum sparse_error error, int code, int peer)
{
    a->record->error = error;
    a->record->code = code;
    a->record->peer = peer;
    return SPARSE_FAILED;
}

static enum sparse_status listen_to(struct sparse_agreement *a, int peer)
{
    int code = a->transport->irecv(a->transport->context, &a->received, sizeof a->received, peer, a->tag, &a->slot[0].request);
    a->slot[0].active = code == 0;
    return code ? end(a, SPARSE_TRANSPORT, code, peer) : SPARSE_DONE;
}

static enum sparse_status tell(struct sparse_agreement *a, int peer)
{
    a->terms.seal = sparse_terms_seal(&a->terms);
    int code = a->transport->isend(a->transport->context, &a->terms, sizeof a->terms, peer, a->tag, &a->slot[1].request);
    a->slot[1].active = code == 0;
    a->record->messages++;
    a->record->sent += sizeof a->terms;
    a->record->sent_dense += sizeof a->terms;
    return code ? end(a, SPARSE_TRANSPORT, code, peer) : SPARSE_DONE;
}

static enum sparse_status exchange(struct sparse_agreement *a, int peer)
{
    enum sparse_status status = listen_to(a, peer);
    return status == SPARSE_DONE ? tell(a, peer) : status;
}

static enum sparse_status wait_for(struct sparse_agreement *a, int peer)
{
    for (int i = 0; i < 2; i++) {
        bool done = false;
        if (!a->slot[i].active) continue;
        int code = a->transport->test(a->transport->context, &a->slot[i].request, &done, &a->slot[i].bytes);
        if (code || done) a->slot[i].active = false;
        if (done && i == 0) a->record->received += a->slot[0].bytes;
        if (code) return end(a, SPARSE_TRANSPORT, code, peer);
        if (!done) a->record->awaited = &a->slot[i].request;
    }
    return a->slot[0].active || a->slot[1].active ? SPARSE_PENDING : SPARSE_DONE;
}

/* `replace`: what all ranks know, from who knows it. */
static bool valid(const struct sparse_agreement *a, bool replace)
{
    const struct sparse_terms *other = &a->received;
    const uint32_t all = (uint32_t)a->transport->size, others = replace ? all : all - a->terms.ranks;
    if (a->slot[0].bytes != sizeof *other || other->seal != sparse_terms_seal(other)) return false;
    if (other->flags & SPARSE_VOID) return true; /* of whoever was left */
    return other->ranks <= others && (other->ranks == others || !replace) && other->observed <= other->ranks;
}

/* The messages go on, so that those who wait for them hear of it. */
static void fail(struct sparse_agreement *a, enum sparse_error error, int peer)
{
    if (a->record->error == SPARSE_NO_ERROR) (void)end(a, error, 0, peer);
    a->terms.flags |= SPARSE_VOID;
}

static void take(struct sparse_agreement *a, bool replace, int peer)
{
    const struct sparse_terms *other = &a->received;
    const bool fits = valid(a, replace);
    a->heard = peer;
    if (!fits || other->flags & SPARSE_VOID) {
        fail(a, fits ? SPARSE_PEER_FAILED : SPARSE_CORRUPT, peer);
        return;
    }
    if (replace) {
        a->terms = *other;
        return;
    }
    a->terms.ranks += other->ranks;
    a->terms.flags |= other->flags;
    if (other->dear < a->terms.dear) a->terms.dear = other->dear;
    if (other->took > a->terms.took) a->terms.took = other->took;
    if (other->asked > a->terms.asked) a->terms.asked = other->asked;
    if (other->again > a->terms.again) a->terms.again = other->again;
    a->terms.observed += other->observed;
    a->terms.density += other->density;
    a->terms.repeated += other->repeated;
    a->terms.growth += other->growth;
    a->terms.per_exception += other->per_exception;
}

static enum sparse_status climb(struct sparse_agreement *a)
{
    int rank = a->transport->rank;
    STEP_BEGIN(a->inner);
    for (a->k = 1; a->k < a->nodes.reach; a->k *= 2) {
        if (!sparse_node_has(&a->nodes, a->k)) continue;
        if (listen_to(a, rank + a->k) != SPARSE_DONE) return SPARSE_FAILED;
        STEP_AWAIT(wait_for(a, rank + a->k));
        take(a, false, rank + a->k);
    }
    STEP_END;
}

static int next(const struct sparse_agreement *a)
{
    const struct sparse_fold *fold = &a->nodes.leaders;
    return sparse_fold_rank(fold, fold->self ^ 1 << a->k);
}

static enum sparse_status meet(struct sparse_agreement *a)
{
    const struct sparse_fold *fold = &a->nodes.leaders;
    const int peer = fold->partner;
    STEP_BEGIN(a->inner);
    if (fold->partner >= 0) {
        STEP_AWAIT(fold->self < 0 ? tell(a, peer) : listen_to(a, peer));
        STEP_AWAIT(wait_for(a, peer));
        if (fold->self >= 0) take(a, false, peer);
    }
    for (a->k = 0; fold->self >= 0 && a->k < fold->steps; a->k++) {
        if (exchange(a, next(a)) != SPARSE_DONE) return SPARSE_FAILED;
        STEP_AWAIT(wait_for(a, next(a)));
        take(a, false, next(a));
    }
    if (fold->partner >= 0) {
        STEP_AWAIT(fold->self < 0 ? listen_to(a, peer) : tell(a, peer));
        STEP_AWAIT(wait_for(a, peer));
        if (fold->self < 0) take(a, true, peer);
    }
    STEP_END;
}

static enum sparse_status by_messages(struct sparse_agreement *a)
{
    int rank = a->transport->rank, above = rank - a->nodes.reach;
    STEP_BEGIN(a->resume);
    STEP_AWAIT(climb(a));
    if (a->nodes.local > 0) {
        if (exchange(a, above) != SPARSE_DONE) return SPARSE_FAILED;
        STEP_AWAIT(wait_for(a, above));
        take(a, true, above);
    } else {
        STEP_AWAIT(meet(a));
    }
    for (a->k = a->nodes.reach / 2; a->k > 0; a->k /= 2) {
        if (!sparse_node_has(&a->nodes, a->k)) continue;
        if (tell(a, rank + a->k) != SPARSE_DONE) return SPARSE_FAILED;
        STEP_AWAIT(wait_for(a, rank + a->k));
    }
    STEP_END;
}

/* To these places of the node. */
static void show_terms(struct sparse_agreement *a, uint32_t readers)
{
    const int first = a->transport->rank - a->nodes.local;
    struct sparse_window_cell *cell = sparse_windows_cell(a->windows, a->windows->asks);
    if (a->nodes.members == 1) return;
    a->terms.seal = sparse_terms_seal(&a->terms);
    memcpy(cell->terms, &a->terms, sizeof a->terms);
    atomic_store_explicit(&cell->word, a->windows->asks, memory_order_release);
    for (; readers != 0; readers &= readers - 1) {
        a->record->sent += sizeof a->terms;
        a->record->sent_dense += sizeof a->terms;
        sparse_shown(a->transport, sizeof a->terms, first + __builtin_ctz(readers), a->tag);
    }
}

/* Of the places in a->left, as they come. */
static enum sparse_status read_terms(struct sparse_agreement *a, bool replace)
{
    const int first = a->transport->rank - a->nodes.local;
    for (uint32_t left = a->left; left != 0; left &= left - 1) {
        const int place = __builtin_ctz(left);
        const struct sparse_window_cell *cell = sparse_windows_cell_of(a->windows, place, a->windows->asks);
        const uint64_t word = atomic_load_explicit(&cell->word, memory_order_acquire);
        if (word < a->windows->asks) continue;
        memcpy(&a->received, cell->terms, sizeof a->received);
        a->slot[0].bytes = word == a->windows->asks ? sizeof a->received : 1; /* of another agreement: damage */
        a->left &= ~(UINT32_C(1) << place);
        take(a, replace, first + place);
    }
    if (a->left == 0) return SPARSE_DONE;
    const int code = sparse_idle(a->transport);
    return code ? end(a, SPARSE_TRANSPORT, code, first + __builtin_ctz(a->left)) : SPARSE_PENDING;
}

/* All of a node read those of all; or its first rank does, and all others what that has agreed on with the other nodes' first ones. */
static enum sparse_status by_words(struct sparse_agreement *a)
{
    const bool near = a->nodes.members == a->transport->size, leads = !near && a->nodes.local == 0;
    const uint32_t others = near || leads ? sparse_node_others(&a->nodes) : 1;
    STEP_BEGIN(a->resume);
    a->windows->asks++;
    if (!leads) show_terms(a, others);
    a->left = others;
    STEP_AWAIT(read_terms(a, !near && !leads));
    if (!leads) STEP_RETURN;
    STEP_AWAIT(meet(a));
    show_terms(a, others);
    STEP_END;
}

enum sparse_status sparse_agree(struct sparse_agreement *a)
{
    const enum sparse_status status = a->windows ? by_words(a) : by_messages(a);
    if (status != SPARSE_DONE) return status;
    if (a->terms.ranks != (uint32_t)a->transport->size) fail(a, SPARSE_CORRUPT, a->heard);
    return a->terms.flags & SPARSE_VOID ? SPARSE_FAILED : SPARSE_DONE;
}

void sparse_agree_cancel(struct sparse_agreement *a)
{
    for (int i = 0; i < 2; i++)
        if (a->slot[i].active) {
            a->slot[i].active = false;
            a->transport->cancel(a->transport->context, &a->slot[i].request);
        }
}
