/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_words.h. */
#include "sparse_words.h"

enum { KINDS = 2 }; /* bits of a word for its kind; the others are the number of the call */

bool sparse_may_have_words(const struct sparse_call *call, int per_node)
{
    const struct sparse_parameters *parameters = call->parameters;
    const bool keeps = parameters->keep >= SPARSE_WINDOW_BYTES && !parameters->wordless;
    return keeps && call->blocking && call->order == SPARSE_IN_ORDER && per_node > 1 && per_node <= SPARSE_WINDOWS;
}

bool sparse_has_words(const struct sparse_slice *s)
{
    return s->words && s->windows->agreed && s->windows->per_node == s->nodes.per_node;
}

_Static_assert(SPARSE_WINDOW_SLOTS >= 4, "what is read in the turn behind the next one is not written over");

static size_t slot_of(uint64_t turn)
{
    return turn % SPARSE_WINDOW_SLOTS;
}

static uint64_t word_of(const struct sparse_slice *s, int place, uint64_t turn)
{
    return atomic_load_explicit(sparse_windows_word_of(s->windows, place, slot_of(turn)), memory_order_acquire);
}

enum sparse_status sparse_words_begin(struct sparse_slice *s, uint32_t readers)
{
    struct sparse_windows *w = s->windows;
    uint32_t *last = &w->readers[slot_of(w->turn + 1)];
    while (*last != 0) {
        if (word_of(s, __builtin_ctz(*last), w->turn - 1) >> KINDS < w->turn - 1) return sparse_words_idle(s, *last);
        *last &= *last - 1;
    }
    *last = readers;
    w->turn++;
    return SPARSE_DONE;
}

char *sparse_words_slot(const struct sparse_slice *s)
{
    return s->windows->own + slot_of(s->windows->turn) * SPARSE_WINDOW_SLOT;
}

const char *sparse_words_slot_of(const struct sparse_slice *s, int place, unsigned before)
{
    const char *window = place == s->nodes.local ? s->windows->own : s->windows->other[place];
    return window + slot_of(s->windows->turn - before) * SPARSE_WINDOW_SLOT;
}

uint32_t sparse_words_readers(const struct sparse_slice *s)
{
    return s->windows->readers[slot_of(s->windows->turn)];
}

void sparse_words_write(struct sparse_slice *s, enum sparse_word word, size_t bound)
{
    const uint64_t turn = s->windows->turn, kind = sparse_failed(s) ? SPARSE_WORD_LOST : word;
    atomic_store_explicit(sparse_windows_word(s->windows, slot_of(turn)), turn << KINDS | kind, memory_order_release);
    s->record->sent_dense += (uint64_t)__builtin_popcount(sparse_words_readers(s)) * bound;
}

void sparse_words_tell(const struct sparse_slice *s, int place, size_t bytes)
{
    if (sparse_failed(s)) return;
    s->record->sent += bytes;
    sparse_shown(s->transport, bytes, sparse_rank_at(s, place), s->tag);
}

enum sparse_word sparse_words_read(struct sparse_slice *s, int place, unsigned before)
{
    const uint64_t expected = s->windows->turn - before, word = word_of(s, place, expected), turn = word >> KINDS, kind = word & ((1 << KINDS) - 1);
    if (turn < expected) return SPARSE_WORD_NONE;
    if (turn > expected || kind == SPARSE_WORD_NONE) sparse_fail(s, SPARSE_CORRUPT, sparse_rank_at(s, place));
    if (kind == SPARSE_WORD_LOST) sparse_fail(s, SPARSE_PEER_FAILED, sparse_rank_at(s, place));
    return turn > expected || kind == SPARSE_WORD_NONE ? SPARSE_WORD_LOST : (enum sparse_word)kind;
}

enum sparse_status sparse_words_idle(struct sparse_slice *s, uint32_t places)
{
    const int code = sparse_idle(s->transport);
    if (code) sparse_broken(s, code, sparse_rank_at(s, __builtin_ctz(places)));
    return code ? SPARSE_FAILED : SPARSE_PENDING;
}
