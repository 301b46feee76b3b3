/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_boards.h. In a slot: where each position begins, and where the last one ends; the positions, one behind the other. */
#include "sparse_boards.h"

#include <string.h>

enum { TABLE = SPARSE_WINDOW_HEAD };
_Static_assert((SPARSE_WINDOWS + 1) * sizeof(uint64_t) <= TABLE, "a position for each rank");

bool sparse_boards_fit(const struct sparse_call *call, size_t elements)
{
    enum { LONGEST = 1 << 19, PART = 192 }; /* parts are as long as their elements, and so much, at most, but for headers of blocks */
    const int size = call->transport->size;
    const bool near = sparse_near(&call->parameters->rates, size) && sparse_may_have_words(call, size);
    _Static_assert(TABLE + LONGEST + LONGEST / 256 + SPARSE_WINDOWS * PART <= SPARSE_WINDOW_SLOT, "so that they fit");
    return near && elements <= LONGEST / call->operator.size;
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

void sparse_boards_show(struct sparse_slice *s, const struct sparse_run *run)
{
    if (sparse_words_readers(s) != 0 && !sparse_failed(s)) write_vector(s, run);
    sparse_words_write(s, SPARSE_WORD_SHOWN, sparse_span_bound(s, sparse_all(s)));
}

/* Returns the bytes; some that cannot be right where they are not. */
static size_t copy_positions(const struct sparse_slice *s, int place, char *to, struct sparse_span span)
{
    const char *slot = sparse_words_slot_of(s, place);
    uint64_t from, end;
    memcpy(&from, slot + span.base * sizeof from, sizeof from);
    memcpy(&end, slot + (span.base + span.extent) * sizeof end, sizeof end);
    const bool inside = from <= end && end <= SPARSE_WINDOW_SLOT - TABLE && end - from <= sparse_span_bound(s, span);
    if (inside) memcpy(to, slot + TABLE + from, end - from);
    return inside ? end - from : 1;
}

enum sparse_status sparse_boards_take(struct sparse_slice *s, int rank, struct sparse_run *run, size_t offset, struct sparse_span span)
{
    const int place = rank - (s->transport->rank - s->nodes.local);
    const enum sparse_word word = sparse_words_read(s, place);
    if (word == SPARSE_WORD_NONE) return sparse_words_idle(s, UINT32_C(1) << place);
    if (word == SPARSE_WORD_ASTRAY) sparse_fail(s, SPARSE_CORRUPT, rank); /* of no such call */
    s->slot[0] = (struct sparse_slot){.peer = rank, .receives = true};
    if (!sparse_failed(s)) s->slot[0].bytes = copy_positions(s, place, run->base + offset, span);
    sparse_received(s, 0, run, offset, span);
    return SPARSE_DONE;
}
