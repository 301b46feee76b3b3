/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce where everyone fills its own share: rank r has zeros everywhere but in the elements from r n/p to (r+1) n/p. Then a share's result
 * follows from its own rank's elements, which joins them with the others' zeros, in rank order as the ring does, and writes them where
 * they belong; and what is left is to gather results, straight from one output into the other: no vector is encoded, kept or read
 * again. From each to each of a few ranks, at once; of more by doubling, the nearest ranks first, whose shares lie next to each other, for a power of two and a
 * vector in one slice; else around a ring. A slice is a piece of every share.
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
 * Cost: alpha + beta n, n read, 2 n/p written; by doubling log2 p alpha, around a ring (p-1) alpha, for each slice.
 * Source: direct, recursive doubling and ring allgather; knowing whose part is whose is what programs gain by MPI_Allgatherv. */
#include "sparse_format.h"
#include "sparse_slice.h"
#include "sparse_step.h"
#include "sparse_types.h"

static const uint64_t spread = UINT64_C(0x4445524148534e55); /* "UNSHARED": a vector is not zeros where it should be */

/* Without a product that could overflow. */
static size_t before(size_t elements, size_t rank, size_t ranks)
{
    const size_t each = elements / ranks, more = elements - each * ranks;
    return each * rank + (more > 0 ? more * rank / ranks : 0);
}

static char *output_of(const struct sparse_slice *s, int rank)
{
    return s->output + s->from[rank] * s->operator->size;
}

/* Of what ranks up to before `end` are to fill. */
static size_t bytes_of(const struct sparse_slice *s, int rank, int end)
{
    size_t elements = 0;
    for (; rank < end; rank++) elements += s->count[rank];
    return elements * s->operator->size;
}

static bool in_place(const struct sparse_slice *s)
{
    return s->input == s->output;
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
        if (r != s->transport->rank && !is_zero(s->input + s->from[r] * s->operator->size, bytes_of(s, r, r + 1))) return false;
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
    sparse_pile(layout, all->base, all->at, (size_t)s->transport->size, false, output_of(s, rank));
}

/* Mostly it is what it was. False: it is not, and what it was could not be kept. */
static bool write_own(struct sparse_slice *s)
{
    static const char zero[SPARSE_MAX_SIZE];
    const int rank = s->transport->rank;
    const char *input = s->input + s->from[rank] * s->operator->size;
    const size_t before = (size_t)rank, behind = (size_t)(s->transport->size - rank - 1);
    struct sparse_tally *tally = &s->record->input;
    for (int r = 0; r < s->transport->size; r++) tally->elements += s->count[r];
    tally->exceptions += s->count[rank];
    s->own = 0;
    if (sparse_pile_alone(s->operator, zero, before, behind, input, s->count[rank], output_of(s, rank))) return true;
    if (in_place(s) && !s->whole) return false;
    join_own(s);
    return true;
}

static void begin(struct sparse_slice *s)
{
    s->all = sparse_run_begin(s, 0);
    if (s->record->spread || !fills_its_share(s) || !write_own(s)) s->record->spread = true;
    if (s->record->spread && s->index < s->astray) s->astray = s->index;
}

/* Where shares are received: not over an input that is needed. */
static char *room_for(struct sparse_slice *s, int rank)
{
    return s->index >= s->astray && in_place(s) ? s->area[1] : output_of(s, rank);
}

/* The same where all are, at once. */
static char *room_of(struct sparse_slice *s, int rank)
{
    char *room = room_for(s, rank);
    return room == s->area[1] ? room + bytes_of(s, 0, rank) : room;
}

static void take(struct sparse_slice *s, int slot, const char *memory, size_t expected)
{
    const size_t bytes = sparse_received_bytes(s, slot);
    uint64_t word = 0;
    if (bytes == expected || sparse_failed(s)) return;
    if (bytes == sizeof word) memcpy(&word, memory, sizeof word);
    if (bytes > 0 && bytes <= sizeof word) s->record->spread = true;
    if (word != spread) sparse_damaged(s, slot);
}

/* The shares from `give` to `give_end`, or word of it that there are none. */
static void send(struct sparse_slice *s, int slot, int give, int give_end, int to)
{
    const size_t bytes = bytes_of(s, give, give_end), bound = (size_t)(give_end - give) * bytes_of(s, 0, s->transport->size);
    if (s->record->spread) sparse_send_bytes(s, slot, (const char *)&spread, sizeof spread, bound, to);
    else sparse_send_bytes(s, slot, output_of(s, give), sparse_failed(s) ? 0 : bytes, bound, to);
}

/* Those from `give` go to one rank, those from `want` come from another. */
static void exchange(struct sparse_slice *s, int slot, int give, int give_end, int to, int want, int want_end, int from)
{
    sparse_receive_bytes(s, 0, room_for(s, want), bytes_of(s, want, want_end), from);
    send(s, slot, give, give_end, to);
}

/* Nobody waits for another one's turn; of more ranks than a few, messages take more than that. Slots: those received, then those sent. */
static enum sparse_status directly(struct sparse_slice *s)
{
    const int rank = s->transport->rank, p = s->transport->size;
    STEP_BEGIN(s->inner);
    for (int k = 1; k < p; k++) {
        const int from = (rank + p - k) % p;
        sparse_receive_bytes(s, k - 1, room_of(s, from), bytes_of(s, from, from + 1), from);
    }
    for (int k = 1; k < p; k++) send(s, p - 2 + k, rank, rank + 1, (rank + k) % p);
    STEP_AWAIT(sparse_wait(s));
    for (int k = 1; k < p; k++) {
        const int from = (rank + p - k) % p;
        take(s, k - 1, room_of(s, from), bytes_of(s, from, from + 1));
    }
    STEP_END;
}

static enum sparse_status by_doubling(struct sparse_slice *s)
{
    const int rank = s->transport->rank;
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < s->transport->size; s->k *= 2) {
        int own = rank & -s->k, other = own ^ s->k;
        exchange(s, 1 + __builtin_ctz((unsigned)s->k), own, own + s->k, rank ^ s->k, other, other + s->k, rank ^ s->k);
        STEP_AWAIT(sparse_wait_slot(s, 0));
        other = (rank & -s->k) ^ s->k;
        take(s, 0, room_for(s, other), bytes_of(s, other, other + s->k));
    }
    STEP_END;
}

static enum sparse_status around(struct sparse_slice *s)
{
    const int rank = s->transport->rank, p = s->transport->size;
    STEP_BEGIN(s->inner);
    for (s->k = 1; s->k < p; s->k++) {
        STEP_AWAIT(sparse_wait_slot(s, 1 + s->k % 2));
        int give = (rank - s->k + 1 + p) % p, want = (rank - s->k + p) % p;
        exchange(s, 1 + s->k % 2, give, give + 1, (rank + 1) % p, want, want + 1, (rank + p - 1) % p);
        STEP_AWAIT(sparse_wait_slot(s, 0));
        want = (rank - s->k + p) % p;
        take(s, 0, room_for(s, want), bytes_of(s, want, want + 1));
    }
    STEP_END;
}

/* The input as it was, which others' shares and this one's result have been written over. */
void sparse_shares_restore(struct sparse_slice *s)
{
    const int rank = s->transport->rank;
    const struct sparse_layout *layout = &s->layout[rank];
    if (!in_place(s) || s->index >= s->astray) return;
    for (int r = 0; r < s->transport->size; r++)
        if (r != rank) memset(output_of(s, r), 0, bytes_of(s, r, r + 1));
    if (s->own > 0) sparse_decode(layout, 0, layout->blocks, s->all->base + s->own, output_of(s, rank));
}

enum sparse_status sparse_allreduce_shares(struct sparse_slice *s)
{
    STEP_BEGIN(s->resume);
    begin(s);
    STEP_AWAIT(s->transport->size <= SPARSE_SHARES_DIRECT                     ? directly(s)
               : s->whole && sparse_ring_doubles(s->transport->size) ? by_doubling(s)
                                                                     : around(s));
    STEP_AWAIT(sparse_wait(s));
    STEP_END;
}
