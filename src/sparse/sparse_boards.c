/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_boards.h. In a slot: where each position begins, and where the last one ends, and what is added to them; the positions, one behind the other, and that. */
#include "sparse_boards.h"

#include <string.h>

enum { TABLE = SPARSE_WINDOW_HEAD, ROOM = SPARSE_WINDOW_SLOT - TABLE, ENTRIES = SPARSE_WINDOWS + 2 };
_Static_assert(ENTRIES * sizeof(uint64_t) <= TABLE, "a position for each rank, and what is added");

enum { LONGEST = 1 << 19, PART = 192 }; /* parts are as long as their elements, and so much, at most, but for headers of blocks */
_Static_assert(LONGEST + LONGEST / 256 + (SPARSE_WINDOWS + 1) * PART <= ROOM, "so that they fit");

bool sparse_boards_near(const struct sparse_call *call)
{
    const int size = call->transport->size;
    return sparse_near(&call->parameters->rates, size) && sparse_may_have_words(call, size);
}

bool sparse_boards_fit(const struct sparse_call *call, size_t elements)
{
    return sparse_boards_near(call) && elements <= LONGEST / call->operator.size;
}

size_t sparse_boards_slices(size_t bytes, size_t parts)
{
    const size_t each = LONGEST / (parts + 1) * parts;
    return (bytes + each - 1) / each;
}

static size_t position_bytes(const struct sparse_slice *s, const struct sparse_run *run, size_t position)
{
    size_t bytes = 0;
    for (size_t part = s->first[position]; part < s->first[position + 1]; part++)
        if (s->count[part] > 0) bytes += run->length[part];
    return bytes;
}

static void write_vector(struct sparse_slice *s, const struct sparse_run *run)
{
    uint64_t at[SPARSE_WINDOWS + 1] = {0};
    char *slot = sparse_words_slot(s);
    for (size_t i = 0; i < s->positions; i++) at[i + 1] = at[i] + position_bytes(s, run, i);
    memcpy(slot, at, (s->positions + 1) * sizeof *at);
    memcpy(slot + TABLE, run->base, run->used);
}

static uint64_t entry_of(const char *slot, size_t entry)
{
    uint64_t at;
    memcpy(&at, slot + entry * sizeof at, sizeof at);
    return at;
}

/* From entry to entry. */
static size_t bytes_of(const char *slot, size_t entry, size_t end_entry)
{
    return (size_t)(entry_of(slot, end_entry) - entry_of(slot, entry));
}

static void tell_readers(const struct sparse_slice *s, bool own)
{
    const char *slot = sparse_words_slot(s);
    for (uint32_t left = sparse_words_readers(s); left != 0; left &= left - 1) {
        const int place = __builtin_ctz(left);
        const size_t base = own ? (size_t)sparse_rank_at(s, place) : 0, end = own ? base + 1 : s->positions;
        sparse_words_tell(s, place, bytes_of(slot, base, end));
    }
}

void sparse_boards_show(struct sparse_slice *s, const struct sparse_run *run, bool own)
{
    if (sparse_words_readers(s) != 0 && !sparse_failed(s)) {
        write_vector(s, run);
        tell_readers(s, own);
    }
    sparse_words_write(s, SPARSE_WORD_SHOWN, sparse_span_bound(s, sparse_all(s)));
}

void sparse_boards_begin(struct sparse_slice *s)
{
    memset(sparse_words_slot(s), 0, TABLE);
}

bool sparse_boards_encode(struct sparse_slice *s, struct sparse_run *run)
{
    uint64_t at[ENTRIES] = {0};
    char *slot = sparse_words_slot(s);
    run->base = slot + TABLE;
    for (size_t i = 0; i < s->positions; i++) {
        const struct sparse_span one = {i, 1};
        if (run->used + sparse_span_bound(s, one) > ROOM) return false;
        sparse_slice_encode(s, one, run);
        at[i + 1] = run->used;
    }
    at[s->positions + 1] = run->used;
    memcpy(slot, at, sizeof at);
    return true;
}

bool sparse_boards_add(struct sparse_slice *s, const char *part, size_t bytes)
{
    uint64_t at;
    char *slot = sparse_words_slot(s), *entry = slot + s->positions * sizeof at;
    if (sparse_failed(s)) return true;
    memcpy(&at, entry, sizeof at);
    if (at + bytes > ROOM) return false;
    memcpy(slot + TABLE + at, part, bytes);
    at += bytes;
    memcpy(entry + sizeof at, &at, sizeof at);
    return true;
}

/* From entry to entry of a slot. Returns the bytes; some that cannot be right where they are not. */
static size_t copy(const char *slot, size_t entry, size_t end_entry, size_t bound, char *to)
{
    const uint64_t from = entry_of(slot, entry), end = entry_of(slot, end_entry);
    const bool inside = from <= end && end <= ROOM && end - from <= bound;
    if (inside) memcpy(to, slot + TABLE + from, end - from);
    return inside ? end - from : 1;
}

/* What is at these entries, as a message that slot 0 has received. Returns its bytes. */
static size_t take(struct sparse_slice *s, int rank, const char *slot, size_t entry, size_t end_entry, struct sparse_span span, struct sparse_run *run,
                   size_t offset)
{
    s->slot[0] = (struct sparse_slot){.peer = rank, .receives = true};
    if (!sparse_failed(s)) s->slot[0].bytes = copy(slot, entry, end_entry, sparse_span_bound(s, span), run->base + offset);
    return sparse_received(s, 0, run, offset, span);
}

size_t sparse_boards_read(struct sparse_slice *s, int rank, struct sparse_span span, struct sparse_run *run, size_t offset)
{
    const char *slot = sparse_words_slot_of(s, sparse_place_of(s, rank), 1);
    return take(s, rank, slot, span.base, span.base + span.extent, span, run, offset);
}

size_t sparse_boards_read_added(struct sparse_slice *s, int rank, struct sparse_span span, struct sparse_run *run)
{
    const char *slot = sparse_words_slot_of(s, sparse_place_of(s, rank), 1);
    return take(s, rank, slot, s->positions, s->positions + 1, span, run, 0);
}

void sparse_boards_tell(const struct sparse_slice *s, int rank, struct sparse_span span)
{
    const char *slot = sparse_words_slot_of(s, s->nodes.local, 1);
    sparse_words_tell(s, sparse_place_of(s, rank), bytes_of(slot, span.base, span.base + span.extent));
}

void sparse_boards_tell_added(const struct sparse_slice *s)
{
    const size_t bytes = bytes_of(sparse_words_slot_of(s, s->nodes.local, 1), s->positions, s->positions + 1);
    for (uint32_t left = sparse_node_others(&s->nodes); left != 0; left &= left - 1) sparse_words_tell(s, __builtin_ctz(left), bytes);
}

enum sparse_status sparse_boards_await(struct sparse_slice *s)
{
    for (uint32_t left = s->left; left != 0; left &= left - 1) {
        const int place = __builtin_ctz(left);
        const enum sparse_word word = sparse_words_read(s, place, 1);
        if (word == SPARSE_WORD_NONE) continue;
        if (word == SPARSE_WORD_ASTRAY && s->group == 1) sparse_fail(s, SPARSE_CORRUPT, sparse_rank_at(s, place)); /* there is room for one */
        else if (word == SPARSE_WORD_ASTRAY) s->voided = true;
        s->left &= ~(UINT32_C(1) << place);
    }
    return s->left == 0 ? SPARSE_DONE : sparse_words_idle(s, s->left);
}

enum sparse_status sparse_boards_take(struct sparse_slice *s, int rank, struct sparse_run *run, size_t offset, struct sparse_span span)
{
    const int place = sparse_place_of(s, rank);
    const enum sparse_word word = sparse_words_read(s, place, 0);
    if (word == SPARSE_WORD_NONE) return sparse_words_idle(s, UINT32_C(1) << place);
    if (word == SPARSE_WORD_ASTRAY) sparse_fail(s, SPARSE_CORRUPT, rank); /* of no such call */
    (void)take(s, rank, sparse_words_slot_of(s, place, 0), span.base, span.base + span.extent, span, run, offset);
    return SPARSE_DONE;
}
