/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares that are read in their ranks' windows (sparse_windows.h), where sparse_allreduce_shares.c would send them.
 *
 * Long ones, of up to four ranks of one node, slice by slice: messages say that a share is there and that it has been read. Between two ranks by which
 * it cannot be it is sent.
 *
 * Those of a vector in one slice by words (sparse_words.h), without any message. Between nodes the first rank of each reads its node's shares, and shows the whole
 * result in the same way.
 *
 * Cost: n read and n written in the caches, and one turn of the processor for each rank that shares it. */
#include "sparse_shares.h"

#include "sparse_kernels.h"
#include "sparse_step.h"
#include "sparse_words.h"

#include <string.h>

static const uint64_t shown = UINT64_C(0x574f444e49574e49);  /* "INWINDOW": a share is to be read */

static bool on_one_node(const struct sparse_slice *s)
{
    return s->nodes.members == s->transport->size;
}

/* Ranks of the node around this one, by how far behind or before it they are. */
static int behind(const struct sparse_slice *s, int distance)
{
    return sparse_rank_at(s, (s->nodes.local + s->nodes.members - distance) % s->nodes.members);
}

static int beyond(const struct sparse_slice *s, int distance)
{
    return sparse_rank_at(s, (s->nodes.local + distance) % s->nodes.members);
}

/* Where a slice's share lies in a window, if messages say so. */
static size_t slot_of(const struct sparse_slice *s)
{
    return s->index % SPARSE_WINDOW_SLOTS * SPARSE_WINDOW_SLOT;
}

static bool fits(const struct sparse_slice *s, int rank)
{
    return s->windows && !s->words && share_bytes(s, alone(rank)) <= SPARSE_WINDOW_SLOT;
}

static bool reads(const struct sparse_slice *s, int rank)
{
    return fits(s, rank) && s->windows->other[sparse_place_of(s, rank)];
}

static bool is_read(const struct sparse_slice *s, int rank)
{
    return s->window && s->windows->read_by[sparse_place_of(s, rank)];
}

/* Collects its node's shares, and shows them with all others. */
static bool leads(const struct sparse_slice *s)
{
    return !on_one_node(s) && s->nodes.local == 0;
}

static bool *slot_taken(const struct sparse_slice *s)
{
    return &s->windows->taken[s->index % SPARSE_WINDOW_SLOTS];
}

void sparse_window_take(struct sparse_slice *s)
{
    s->window = NULL;
    if (sparse_has_words(s)) {
        if (!leads(s)) s->window = sparse_words_slot(s);
    } else if (fits(s, s->transport->rank) && s->windows->own && !*slot_taken(s)) {
        *slot_taken(s) = true;
        s->window = s->windows->own + slot_of(s);
    }
}

static void give_window(struct sparse_slice *s)
{
    if (s->window) *slot_taken(s) = false;
    s->window = NULL;
}

void sparse_window_copy(const struct sparse_slice *s, char *to, const char *from, size_t bytes)
{
    sparse_stream_fn *stream = s->past ? sparse_kernels()->stream : NULL;
    if (!stream) {
        memcpy(to, from, bytes);
        return;
    }
    stream(to, from, bytes);
    sparse_fence();
}

/* Out of a window. */
static void fetch(struct sparse_slice *s, const char *from, struct ranks want)
{
    const bool needed = s->index < s->astray || !in_place(s);
    if (needed) sparse_window_copy(s, output_of(s, want.first), from, share_bytes(s, want));
}

/* What each rank of the node tells each other one, once and for all: where its window is, then whether it has found the other's. */
static void tell_all(struct sparse_slice *s, bool names)
{
    struct sparse_windows *w = s->windows;
    const int n = s->nodes.members;
    const size_t bytes = names ? sizeof w->name[0] : sizeof w->answer[0][0];
    for (int k = 1; k < n; k++) {
        const int from = behind(s, k), place = sparse_place_of(s, from);
        sparse_receive_bytes(s, k - 1, names ? (char *)&w->name[place] : (char *)&w->answer[place][1], bytes, from);
    }
    for (int k = 1; k < n; k++) {
        const int to = beyond(s, k), place = sparse_place_of(s, to);
        sparse_send_bytes(s, n - 2 + k, names ? (char *)&w->name[s->nodes.local] : (char *)&w->answer[place][0], bytes, bytes, to);
    }
}

static bool told(struct sparse_slice *s, int slot, size_t bytes)
{
    if (sparse_received_bytes(s, slot) != bytes && !sparse_failed(s)) sparse_damaged(s, slot);
    return !sparse_failed(s);
}

static void find_all(struct sparse_slice *s)
{
    struct sparse_windows *w = s->windows;
    w->all = w->own != NULL;
    for (int k = 1; k < s->nodes.members; k++) {
        const int place = sparse_place_of(s, behind(s, k));
        const bool found = told(s, k - 1, sizeof w->name[0]) && sparse_windows_find(w, place);
        w->answer[place][0] = found;
        w->all &= found;
    }
}

static void hear_who_found(struct sparse_slice *s)
{
    struct sparse_windows *w = s->windows;
    for (int k = 1; k < s->nodes.members; k++) {
        const int place = sparse_place_of(s, behind(s, k));
        w->read_by[place] = told(s, k - 1, sizeof w->answer[0][1]) && w->answer[place][1] == 1;
    }
}

enum sparse_status sparse_windows_begin(struct sparse_slice *s)
{
    STEP_BEGIN(s->middle);
    sparse_windows_open(s->windows, s->nodes.local);
    s->windows->per_node = s->nodes.per_node;
    tell_all(s, true);
    STEP_AWAIT(sparse_wait(s)); /* what is under way besides is sent */
    find_all(s);
    tell_all(s, false);
    STEP_AWAIT(sparse_wait(s));
    hear_who_found(s);
    sparse_windows_hide(s->windows);
    s->opens = false;
    STEP_END;
}

static void send_word(struct sparse_slice *s, int slot, int to)
{
    const int rank = s->transport->rank;
    const size_t bound = share_bytes(s, everyone(s));
    const bool there = is_read(s, to) && !s->record->spread && !sparse_failed(s);
    atomic_thread_fence(memory_order_release);
    if (there) sparse_words_tell(s, sparse_place_of(s, to), share_bytes(s, alone(rank)));
    if (there) sparse_send_bytes(s, slot, (const char *)&shown, sizeof shown, bound, to);
    else sparse_shares_send(s, slot, alone(rank), 1, to);
}

bool sparse_window_read(struct sparse_slice *s, int rank, uint64_t word)
{
    if (word != shown || !reads(s, rank)) return false;
    atomic_thread_fence(memory_order_acquire);
    fetch(s, s->windows->other[sparse_place_of(s, rank)] + slot_of(s), alone(rank));
    return true;
}

bool sparse_window_word(const struct sparse_slice *s, const void *message, size_t bytes)
{
    return s->windows && !s->words && memcmp(message, &shown, bytes) == 0;
}

/* Messages have their own fences, but the core does not know whose they are. Whoever may have read a window says when that is done: always, for its owner waits for that, who may know less of who does. */
static void have_read(struct sparse_slice *s)
{
    const int p = s->transport->size;
    atomic_thread_fence(memory_order_release);
    for (int k = 1; k < p && fits(s, s->transport->rank); k++) sparse_receive_bytes(s, k - 1, s->area[1], 1, behind(s, k));
    for (int k = 1; k < p; k++)
        if (fits(s, beyond(s, k))) sparse_send_bytes(s, p - 2 + k, s->area[1], 0, 1, beyond(s, k));
}

enum sparse_status sparse_shares_through_windows(struct sparse_slice *s)
{
    const int p = s->transport->size;
    STEP_BEGIN(s->inner);
    for (int k = 1; k < p; k++) sparse_shares_await(s, k - 1, alone(behind(s, k)), behind(s, k));
    for (int k = 1; k < p; k++) send_word(s, p - 2 + k, beyond(s, k));
    STEP_AWAIT(sparse_wait(s));
    for (int k = 1; k < p; k++) sparse_shares_take(s, k - 1, alone(behind(s, k)));
    have_read(s);
    STEP_AWAIT(sparse_wait(s));
    atomic_thread_fence(memory_order_acquire);
    give_window(s);
    STEP_END;
}

/* Who reads what this rank shows. */
static uint32_t readers_of(const struct sparse_slice *s)
{
    return on_one_node(s) || leads(s) ? sparse_node_others(&s->nodes) : 1;
}

static void write_word(struct sparse_slice *s)
{
    const enum sparse_word word = s->record->spread ? SPARSE_WORD_ASTRAY : SPARSE_WORD_SHOWN;
    const size_t bytes = word == SPARSE_WORD_SHOWN ? share_bytes(s, leads(s) ? everyone(s) : alone(s->transport->rank)) : 0;
    for (uint32_t left = readers_of(s); left != 0; left &= left - 1) sparse_words_tell(s, __builtin_ctz(left), bytes);
    sparse_words_write(s, word, share_bytes(s, everyone(s)));
}

enum sparse_status sparse_window_begin(struct sparse_slice *s)
{
    return sparse_has_words(s) ? sparse_words_begin(s, readers_of(s)) : SPARSE_DONE;
}

void sparse_window_show(struct sparse_slice *s)
{
    if (sparse_has_words(s) && !leads(s)) write_word(s);
}

/* The words of the places in s->left, each in its turn: `all` shares by one of them, or its own by each. */
static enum sparse_status read_words(struct sparse_slice *s, bool all)
{
    for (uint32_t left = s->left; left != 0; left &= left - 1) {
        const int place = __builtin_ctz(left), rank = sparse_rank_at(s, place);
        const enum sparse_word word = sparse_words_read(s, place, 0);
        if (word == SPARSE_WORD_NONE) continue;
        if (word == SPARSE_WORD_ASTRAY) s->record->spread = true;
        s->left &= ~(UINT32_C(1) << place);
        if (!s->record->spread && !sparse_failed(s)) fetch(s, sparse_words_slot_of(s, place, 0), all ? everyone(s) : alone(rank));
    }
    return s->left == 0 ? SPARSE_DONE : sparse_words_idle(s, s->left);
}

/* The result, or word that there is none. */
static void show_all(struct sparse_slice *s)
{
    if (s->nodes.members == 1) return;
    if (!s->record->spread && !sparse_failed(s)) memcpy(sparse_words_slot(s), output_of(s, 0), share_bytes(s, everyone(s)));
    write_word(s);
}

enum sparse_status sparse_shares_by_words(struct sparse_slice *s, enum sparse_status (*between)(struct sparse_slice *s))
{
    const bool from_all = on_one_node(s) || leads(s);
    STEP_BEGIN(s->middle);
    s->left = from_all ? sparse_node_others(&s->nodes) : 1;
    STEP_AWAIT(read_words(s, !from_all));
    if (!leads(s)) STEP_RETURN;
    STEP_AWAIT(between(s));
    STEP_AWAIT(sparse_wait(s));
    show_all(s);
    STEP_END;
}
