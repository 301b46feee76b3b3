/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce where everyone fills its own share: rank r has zeros everywhere but in the elements from r n/p to (r+1) n/p. Then a share's result
 * follows from its own rank's elements, which joins them with the others' zeros, in rank order as the ring does, and writes them where
 * they belong; and what is left is to gather results, straight from one output into the other: no vector is encoded, kept or read
 * again. From each to each of a few ranks, at once; of more by doubling, the nearest ranks first, whose shares lie next to each other, for a power of two and a
 * vector in one slice; else around a ring. A slice is a piece of every share. On a node they need not be sent (sparse_shares_windows.c).
 *
 * Whether a rank has zeros elsewhere it looks up in every call, slice by slice. Who has not sends a few bytes that say so in the place of all that it would
 * have sent, and so does who has received them: each has heard of all others at the end of a slice, from themselves or from who had, so that all ranks know, or none, and
 * all slices take place. Then inputs that results have been written over become what they were, which is zeros but for the own share, and the
 * ring (sparse_allreduce_ring.c) takes the call, which gives the same bits. An own share that is not what it was when zeros have been joined with it (-0.0 in
 * a sum) could be restored from memory only: of that there is enough for one slice, else the rank strays.
 *
 * Bytes of another length than expected are damage. What a rank has found damaged it cannot hand on; those that hear nothing of that and leave it to the
 * ring wait for it, as for one whose transport has failed.
 *
 * Only for shares of some length and elements without padding, which lies in the output and is not ours.
 * Cost: alpha + beta n, n read, 2 n/p written; by doubling log2 p alpha, around a ring (p-1) alpha, for each slice; through leaders of m ranks
 * m alpha + beta (m n/p + n) within a node, alpha + beta (n - m n/p) between nodes.
 * Source: direct, recursive doubling, ring and hierarchical allgather; knowing whose part is whose is what programs gain by MPI_Allgatherv. */
#include "sparse_format.h"
#include "sparse_shares.h"
#include "sparse_step.h"
#include "sparse_types.h"
#include "sparse_words.h"

#include <string.h>

static const uint64_t spread = UINT64_C(0x4445524148534e55); /* "UNSHARED": a vector is not zeros where it should be */

/* Without a product that could overflow. */
static size_t before(size_t elements, size_t rank, size_t ranks)
{
    const size_t each = elements / ranks, more = elements - each * ranks;
    return each * rank + (more > 0 ? more * rank / ranks : 0);
}

/* Of `count` nodes of `members`. */
static struct ranks nodes_at(const struct sparse_slice *s, int node, int count, int members)
{
    const int end = (node + count) * members, p = s->transport->size;
    return (struct ranks){node * members, end < p ? end : p};
}

static int count_nodes(const struct sparse_slice *s, int members)
{
    return (s->transport->size + members - 1) / members;
}

bool sparse_may_share(const struct sparse_operator *operator, size_t elements, int ranks)
{
    return ranks > 1 && elements / (size_t)ranks * operator->size > 8 * sizeof spread && !sparse_padded(operator);
}

struct sparse_share sparse_share_of(size_t elements, int rank, int ranks)
{
    const size_t r = (size_t)rank, p = (size_t)ranks;
    return (struct sparse_share){before(elements, r, p), before(elements, r + 1, p), true};
}

/* By memcmp(), which libraries have for each processor. */
static bool is_zero(const char *at, size_t bytes)
{
    enum { PIECE = 4096 };
    static const char zeros[PIECE];
    for (; bytes >= PIECE; bytes -= PIECE, at += PIECE)
        if (memcmp(at, zeros, PIECE) != 0) return false;
    return memcmp(at, zeros, bytes) == 0;
}

static bool fills_its_share(const struct sparse_slice *s)
{
    for (int r = 0; r < s->transport->size; r++)
        if (r != s->transport->rank && !is_zero(s->input + s->from[r] * s->operator->size, share_bytes(s, alone(r)))) return false;
    return true;
}

/* Zeros of a share, encoded. Returns the bytes. */
static size_t encode_zeros(const struct sparse_layout *layout, char *message)
{
    size_t bytes = 0;
    for (size_t i = 0; i < layout->blocks; i++) {
        const size_t size = layout->operator->size;
        struct sparse_view view = sparse_view_begin(SPARSE_CONSTANT, sparse_block_elements(layout, i), 0, size, message + bytes);
        memset(message + bytes + SPARSE_HEADER, 0, size);
        bytes += view.bytes;
    }
    return bytes;
}

/* This share's result, by the way of all messages: its elements stay in s->all, for the output may be the input. */
static void join_own(struct sparse_slice *s)
{
    const int rank = s->transport->rank;
    const struct sparse_layout *layout = &s->layout[rank];
    struct sparse_run *all = s->all;
    all->used = encode_zeros(layout, all->base);
    for (int r = 0; r < s->transport->size; r++) all->at[r] = 0;
    s->own = all->at[rank] = all->used;
    all->used += sparse_encode(layout, 0, layout->blocks, s->input + s->from[rank] * s->operator->size, true, all->base + all->used, NULL);
    sparse_pile(layout, all->base, all->at, (size_t)s->transport->size, SPARSE_CACHED, output_of(s, rank));
}

/* Mostly it is what it was. False: it is not, and what it was could not be kept. */
static bool write_own(struct sparse_slice *s)
{
    static const char zero[SPARSE_MAX_SIZE];
    const int rank = s->transport->rank;
    const char *input = s->input + s->from[rank] * s->operator->size;
    const size_t before = (size_t)rank, behind = (size_t)(s->transport->size - rank - 1), bytes = share_bytes(s, alone(rank));
    struct sparse_tally *tally = &s->record->input;
    char *output = output_of(s, rank), *window = s->window, *to = window ? window : output;
    for (int r = 0; r < s->transport->size; r++) tally->elements += s->count[r];
    tally->exceptions += s->count[rank];
    s->own = 0;
    const bool same = sparse_pile_alone(s->operator, zero, before, behind, input, s->count[rank], to);
    if (same && window && !in_place(s)) sparse_window_copy(s, output, window, bytes);
    if (same) return true;
    if (in_place(s) && !s->whole) return false;
    join_own(s);
    if (window) memcpy(window, output, bytes);
    return true;
}

static void begin(struct sparse_slice *s)
{
    s->all = sparse_run_begin(s, 0);
    sparse_window_take(s);
    if (s->record->spread || !fills_its_share(s) || !write_own(s)) s->record->spread = true;
    if (s->record->spread && s->index < s->astray) s->astray = s->index;
    sparse_window_show(s);
}

/* Where shares are received: not over an input that is needed. */
static char *room_of(struct sparse_slice *s, struct ranks ranks)
{
    if (s->index >= s->astray && in_place(s)) return s->area[1] + share_bytes(s, (struct ranks){0, ranks.first});
    return output_of(s, ranks.first);
}

void sparse_shares_await(struct sparse_slice *s, int slot, struct ranks want, int from)
{
    sparse_receive_bytes(s, slot, room_of(s, want), share_bytes(s, want), from);
}

void sparse_shares_take(struct sparse_slice *s, int slot, struct ranks want)
{
    const size_t bytes = sparse_received_bytes(s, slot);
    uint64_t word = 0;
    if (bytes == share_bytes(s, want) || sparse_failed(s)) return;
    if (bytes <= sizeof word) memcpy(&word, room_of(s, want), bytes);
    if (sparse_window_read(s, want.first, word)) return;
    if (bytes > 0 && bytes <= sizeof word && !sparse_window_word(s, &word, bytes)) s->record->spread = true;
    if (word != spread) sparse_damaged(s, slot);
}

/* Shares, which lie at `memory`, or word of it that there are none. A dense form would send `vectors` in their place. */
static void send_from(struct sparse_slice *s, int slot, const char *memory, struct ranks give, int vectors, int to)
{
    const size_t bound = (size_t)vectors * share_bytes(s, everyone(s));
    if (s->record->spread) sparse_send_bytes(s, slot, (const char *)&spread, sizeof spread, bound, to);
    else sparse_send_bytes(s, slot, memory, sparse_failed(s) ? 0 : share_bytes(s, give), bound, to);
}

void sparse_shares_send(struct sparse_slice *s, int slot, struct ranks give, int vectors, int to)
{
    send_from(s, slot, output_of(s, give.first), give, vectors, to);
}

/* From each node's first rank to each other's, at once. Nobody waits for another one's turn; of more than a few, messages take more than that.
 * Slots: those received, then those sent. */
static enum sparse_status directly(struct sparse_slice *s, int members)
{
    const int own = s->transport->rank / members, n = count_nodes(s, members);
    STEP_BEGIN(s->inner);
    for (int k = 1; k < n; k++) {
        const int from = (own + n - k) % n;
        sparse_shares_await(s, k - 1, nodes_at(s, from, 1, members), from * members);
    }
    for (int k = 1; k < n; k++) sparse_shares_send(s, n - 2 + k, nodes_at(s, own, 1, members), 1, (own + k) % n * members);
    STEP_AWAIT(sparse_wait(s));
    for (int k = 1; k < n; k++) sparse_shares_take(s, k - 1, nodes_at(s, (own + n - k) % n, 1, members));
    STEP_END;
}

/* The same in log2 n steps, of a power of two. */
static enum sparse_status by_doubling(struct sparse_slice *s, int members)
{
    const int own = s->transport->rank / members;
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < count_nodes(s, members); s->k *= 2) {
        const int peer = (own ^ s->k) * members;
        sparse_shares_await(s, 0, nodes_at(s, (own & -s->k) ^ s->k, s->k, members), peer);
        sparse_shares_send(s, 1 + __builtin_ctz((unsigned)s->k), nodes_at(s, own & -s->k, s->k, members), s->k * members, peer);
        STEP_AWAIT(sparse_wait_slot(s, 0));
        sparse_shares_take(s, 0, nodes_at(s, (own & -s->k) ^ s->k, s->k, members));
    }
    STEP_END;
}

static enum sparse_status around(struct sparse_slice *s)
{
    const int rank = s->transport->rank, p = s->transport->size;
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < p; s->k++) {
        STEP_AWAIT(sparse_wait_slot(s, 1 + s->k % 2));
        sparse_shares_await(s, 0, alone((rank - s->k + p) % p), (rank + p - 1) % p);
        sparse_shares_send(s, 1 + s->k % 2, alone((rank - s->k + 1 + p) % p), 1, (rank + 1) % p);
        STEP_AWAIT(sparse_wait_slot(s, 0));
        sparse_shares_take(s, 0, alone((rank - s->k + p) % p));
    }
    STEP_END;
}

/* All comes back over what is sent, which lies elsewhere meanwhile. */
static void hand_up(struct sparse_slice *s, int leader)
{
    const int rank = s->transport->rank;
    if (!s->record->spread) memcpy(s->area[1], output_of(s, rank), share_bytes(s, alone(rank)));
    sparse_shares_await(s, 0, everyone(s), leader);
    send_from(s, 1, s->area[1], alone(rank), 1, leader);
}

static enum sparse_status among_leaders(struct sparse_slice *s)
{
    const int members = s->nodes.per_node;
    const bool doubles = sparse_leaders_double(count_nodes(s, members), share_bytes(s, everyone(s)));
    return doubles ? by_doubling(s, members) : directly(s, members);
}

/* A node's shares go to its leader, from there to the other leaders, and all of them back. */
static enum sparse_status through_leaders(struct sparse_slice *s)
{
    const int rank = s->transport->rank, end = rank - s->nodes.local + s->nodes.members;
    STEP_BEGIN(s->middle);
    if (s->nodes.local > 0) {
        hand_up(s, rank - s->nodes.local);
        STEP_AWAIT(sparse_wait(s));
        sparse_shares_take(s, 0, everyone(s));
        STEP_RETURN;
    }
    for (int r = rank + 1; r < end; r++) sparse_shares_await(s, r - rank - 1, alone(r), r);
    STEP_AWAIT(sparse_wait(s));
    for (int r = rank + 1; r < end; r++) sparse_shares_take(s, r - rank - 1, alone(r));
    STEP_AWAIT(among_leaders(s));
    STEP_AWAIT(sparse_wait(s));
    for (int r = rank + 1; r < end; r++) sparse_shares_send(s, r - rank - 1, everyone(s), 1, r);
    STEP_END;
}

/* The input as it was, which others' shares and this one's result have been written over. */
void sparse_shares_restore(struct sparse_slice *s)
{
    const int rank = s->transport->rank;
    const struct sparse_layout *layout = &s->layout[rank];
    if (!in_place(s) || s->index >= s->astray) return;
    for (int r = 0; r < s->transport->size; r++)
        if (r != rank) memset(output_of(s, r), 0, share_bytes(s, alone(r)));
    if (s->own > 0) sparse_decode(layout, 0, layout->blocks, s->all->base + s->own, output_of(s, rank));
}

static enum sparse_status gather(struct sparse_slice *s)
{
    if (sparse_has_words(s)) return sparse_shares_by_words(s, among_leaders);
    switch (s->gathering) {
    case SPARSE_GATHER_DIRECTLY: return s->windows && !s->words ? sparse_shares_through_windows(s) : directly(s, 1);
    case SPARSE_GATHER_LEADERS: return through_leaders(s);
    case SPARSE_GATHER_DOUBLING: return by_doubling(s, 1);
    default: return around(s);
    }
}

enum sparse_status sparse_allreduce_shares(struct sparse_slice *s)
{
    STEP_BEGIN(s->resume);
    STEP_AWAIT(sparse_window_begin(s));
    begin(s);
    STEP_AWAIT(gather(s));
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
