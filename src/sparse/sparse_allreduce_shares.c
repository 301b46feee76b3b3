/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce where everyone fills its own share: rank r has zeros everywhere but in the elements from r n/p to (r+1) n/p. Then a share's result
 * follows from its own rank's elements, which joins them with the others' zeros, in rank order as the ring does, and writes them where
 * they belong; and what is left is to gather results, straight from one output into the other: no vector is encoded, kept or read
 * again. By doubling for a power of two, the nearest ranks first, whose shares lie next to each other; else around a ring.
 *
 * Whether a rank has zeros elsewhere it looks up in every call. Who has not sends a few bytes that say so in the place of all that it would have sent, and
 * so does who has received them: every share's message depends on those before, so that in the end all ranks know, or none. Then they leave
 * it to the ring (sparse_collective.c), which gives the same bits. Bytes of another length than expected are damage. What a
 * rank has found damaged it cannot hand on; those that hear nothing of that and leave it to the ring wait for it, as for one whose transport has failed.
 *
 * Only for shares of some length, one slice, and elements without padding, which lies in the output and is not ours.
 * Cost: log2 p alpha + beta n, n read, 2 n/p written; around a ring (p-1) alpha.
 * Source: recursive doubling and ring allgather; knowing whose part is whose is what programs gain by MPI_Allgatherv. */
#include "sparse_format.h"
#include "sparse_slice.h"
#include "sparse_step.h"
#include "sparse_types.h"

static const uint64_t spread = UINT64_C(0x4445524148534e55); /* "UNSHARED": a vector is not zeros where it should be */

/* Without a product that could overflow. */
static size_t before(size_t elements, size_t rank, size_t ranks)
{
    return elements / ranks * rank + elements % ranks * rank / ranks;
}

static size_t start_of(const struct sparse_slice *s, int rank)
{
    return before(s->elements, (size_t)rank, (size_t)s->transport->size) * s->operator->size;
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

static bool is_zero(const char *at, size_t bytes)
{
    enum { WORDS = 8, PIECE = 4096 };
    while (bytes >= WORDS * sizeof(uint64_t)) {
        uint64_t some = 0;
        size_t piece = bytes < PIECE ? bytes / (WORDS * sizeof some) * (WORDS * sizeof some) : PIECE;
        bytes -= piece;
        for (; piece > 0; piece -= WORDS * sizeof some, at += WORDS * sizeof some) {
            uint64_t words[WORDS];
            __builtin_prefetch((const void *)((uintptr_t)at + PIECE));
            memcpy(words, at, sizeof words);
            for (int i = 0; i < WORDS; i++) some |= words[i];
        }
        if (some) return false;
    }
    while (bytes > 0)
        if (at[--bytes]) return false;
    return true;
}

static bool fills_its_share(const struct sparse_slice *s)
{
    const size_t from = start_of(s, s->transport->rank), to = start_of(s, s->transport->rank + 1);
    return is_zero(s->input, from) && is_zero(s->input + to, start_of(s, s->transport->size) - to);
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

/* This share's result. Its elements stay in s->all: the output may be the input. */
static void write_own(struct sparse_slice *s)
{
    const int rank = s->transport->rank;
    const size_t from = start_of(s, rank), size = s->operator->size, count = (start_of(s, rank + 1) - from) / size;
    struct sparse_run *all = s->all;
    sparse_layout_init(&s->layout[0], s->operator, count, 1);
    all->used = encode_zeros(&s->layout[0], all->base);
    for (int r = 0; r < s->transport->size; r++) all->at[r] = 0;
    s->own = all->at[rank] = all->used;
    all->used += sparse_encode(&s->layout[0], 0, s->layout[0].blocks, s->input + from, true, all->base + all->used, &s->record->input);
    s->record->input.elements += s->elements - count;
    sparse_pile(&s->layout[0], all->base, all->at, (size_t)s->transport->size, false, s->output + from);
}

static void begin(struct sparse_slice *s)
{
    s->all = sparse_run_begin(s, 0);
    s->started = fills_its_share(s);
    s->shared = s->started;
    if (s->started) write_own(s);
}

/* Where shares are received: not over an input that is needed. */
static char *room_for(struct sparse_slice *s, size_t at)
{
    return !s->started && s->input == s->output ? s->area[1] : s->output + at;
}

static void take(struct sparse_slice *s, const char *memory, size_t expected)
{
    const size_t bytes = sparse_received_bytes(s, 0);
    uint64_t word = 0;
    if (bytes == expected || sparse_failed(s)) return;
    if (bytes == sizeof word) memcpy(&word, memory, sizeof word);
    if (bytes > 0 && bytes <= sizeof word) s->shared = false;
    if (word != spread) sparse_damaged(s, 0);
}

/* The shares from `give` to `give_end` go to one rank, those from `want` to `want_end` come from another. */
static void exchange(struct sparse_slice *s, int slot, int give, int give_end, int to, int want, int want_end, int from)
{
    const size_t first = start_of(s, want), length = start_of(s, give_end) - start_of(s, give), all = start_of(s, s->transport->size);
    sparse_receive_bytes(s, 0, room_for(s, first), start_of(s, want_end) - first, from);
    if (s->shared) sparse_send_bytes(s, slot, s->output + start_of(s, give), sparse_failed(s) ? 0 : length, (size_t)(give_end - give) * all, to);
    else sparse_send_bytes(s, slot, (const char *)&spread, sizeof spread, (size_t)(give_end - give) * all, to);
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
        take(s, room_for(s, start_of(s, other)), start_of(s, other + s->k) - start_of(s, other));
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
        take(s, room_for(s, start_of(s, want)), start_of(s, want + 1) - start_of(s, want));
    }
    STEP_END;
}

/* The input as it was, which others' shares and this one's result have been written over. */
static void restore(struct sparse_slice *s)
{
    const size_t from = start_of(s, s->transport->rank), to = start_of(s, s->transport->rank + 1);
    if (s->input != s->output || !s->started) return;
    memset(s->output, 0, from);
    memset(s->output + to, 0, start_of(s, s->transport->size) - to);
    sparse_decode(&s->layout[0], 0, s->layout[0].blocks, s->all->base + s->own, s->output + from);
}

enum sparse_status sparse_allreduce_shares(struct sparse_slice *s)
{
    STEP_BEGIN(s->resume);
    begin(s);
    STEP_AWAIT(sparse_ring_doubles(s->transport->size) ? by_doubling(s) : around(s));
    STEP_AWAIT(sparse_wait(s));
    if (!s->shared) restore(s);
    STEP_END;
}
