/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_slice.h: parts encoded, merged and written. */
#include "sparse_slice.h"

#include "sparse_kernels.h"

#include <string.h>

struct mark {
    uint32_t part, bytes; /* part: with s->way; bytes: with the mark */
};
_Static_assert(sizeof(struct mark) == SPARSE_MARK, "a mark on the wire");

bool sparse_failed(const struct sparse_slice *s)
{
    return s->record->error != SPARSE_NO_ERROR;
}

/* for_parts(s, span, part) goes through the parts that have elements, in the order of a message. */
static size_t part_begin(const struct sparse_slice *s, struct sparse_span span, size_t i)
{
    return s->first[span.base ^ i];
}

static size_t part_end(const struct sparse_slice *s, struct sparse_span span, size_t i)
{
    return s->first[(span.base ^ i) + 1];
}

#define for_parts(s, span, part)                                                                                                   \
    for (size_t i_ = 0; i_ < (span).extent; i_++)                                                                                  \
        for (size_t part = part_begin(s, span, i_); part < part_end(s, span, i_); part++)                                          \
            if ((s)->count[part] > 0)

struct sparse_run *sparse_run_begin(struct sparse_slice *s, int index)
{
    struct sparse_run *run = &s->runs[index];
    run->base = s->area[index];
    run->used = 0;
    return run;
}

size_t sparse_span_bound(const struct sparse_slice *s, struct sparse_span span)
{
    size_t bytes = 0;
    for_parts(s, span, part) {
        const struct sparse_layout *layout = &s->layout[part];
        bytes += SPARSE_MARK + sparse_bound(layout, 0, layout->blocks);
    }
    return bytes;
}

static void note(struct sparse_run *run, size_t part, size_t at, size_t length)
{
    run->at[part] = at;
    run->length[part] = length;
}

/* What was written behind the mark becomes the part. */
static void append(const struct sparse_slice *s, struct sparse_run *run, size_t part, size_t bytes)
{
    struct mark mark = {s->way + (uint32_t)part, (uint32_t)(SPARSE_MARK + bytes)};
    memcpy(run->base + run->used, &mark, sizeof mark);
    note(run, part, run->used, mark.bytes);
    run->used += mark.bytes;
}

static void *behind_mark(const struct sparse_run *run, size_t at)
{
    return run->base + at + SPARSE_MARK;
}

static size_t offset_in(const struct sparse_slice *s, size_t part)
{
    return s->from[part] * s->operator->size;
}

static void *output_of(const struct sparse_slice *s, size_t part)
{
    return s->output + (s->from[part] - s->shift) * s->operator->size;
}

/* The part behind this one lies elsewhere in the vector: its first pages are asked for before this one is read. */
static void read_ahead(const struct sparse_slice *s, size_t part)
{
    const size_t next = part + 1;
    if (next >= s->first[s->positions]) return;
    const size_t bytes = s->count[next] * s->operator->size;
    const char *at = s->input + offset_in(s, next);
    for (size_t i = 0; i < bytes && i < SPARSE_PAGES_AHEAD * SPARSE_PAGE; i += SPARSE_PAGE) sparse_touch_page(at + i);
}

void sparse_slice_encode(struct sparse_slice *s, struct sparse_span span, struct sparse_run *run)
{
    if (sparse_failed(s)) return;
    for_parts(s, span, part) {
        read_ahead(s, part);
        const struct sparse_layout *layout = &s->layout[part];
        size_t bytes = sparse_encode(layout, 0, layout->blocks, s->input + offset_in(s, part), s->dense,
                                     behind_mark(run, run->used), &s->record->input);
        append(s, run, part, bytes);
        s->record->input_bytes += bytes - 16;
    }
}

/* The record of merges of about so many ranks, if there are none of more. */
static struct sparse_tally *joined_by(struct sparse_slice *s, double ranks)
{
    struct sparse_record *record = s->record;
    if (record->joined_ranks < ranks) record->joined = (struct sparse_tally){0};
    if (record->joined_ranks > ranks) return NULL;
    record->joined_ranks = ranks;
    return &record->joined;
}

void sparse_slice_merge(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *left,
                        const struct sparse_run *right, double ranks, struct sparse_run *out)
{
    if (sparse_failed(s)) return;
    struct sparse_tally *tally = joined_by(s, ranks);
    for_parts(s, span, part) {
        const struct sparse_layout *layout = &s->layout[part];
        const void *a = behind_mark(left, left->at[part]), *b = behind_mark(right, right->at[part]);
        append(s, out, part, sparse_merge(layout, 0, layout->blocks, a, b, s->dense, behind_mark(out, out->used), tally));
    }
}

void sparse_slice_note(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run, double ranks)
{
    if (sparse_failed(s)) return;
    struct sparse_tally *tally = joined_by(s, ranks);
    if (tally == NULL) return;
    for_parts(s, span, part) {
        const struct sparse_layout *layout = &s->layout[part];
        sparse_tally_message(layout, 0, layout->blocks, behind_mark(run, run->at[part]), tally);
    }
}

static void write_parts(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run, bool past)
{
    if (sparse_failed(s)) return;
    for_parts(s, span, part) {
        const struct sparse_layout *layout = &s->layout[part];
        (past ? sparse_decode_past : sparse_decode)(layout, 0, layout->blocks, behind_mark(run, run->at[part]), output_of(s, part));
    }
}

void sparse_slice_decode(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run)
{
    write_parts(s, span, run, false);
}

void sparse_slice_result(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run)
{
    write_parts(s, span, run, s->past);
}

void sparse_slice_into(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run, bool run_is_right)
{
    if (sparse_failed(s)) return;
    for_parts(s, span, part) {
        const struct sparse_layout *layout = &s->layout[part];
        sparse_merge_dense(layout, 0, layout->blocks, behind_mark(run, run->at[part]), run_is_right, output_of(s, part), NULL);
    }
}

void sparse_slice_pile(struct sparse_slice *s, struct sparse_span span, struct sparse_run *all)
{
    size_t ranks = (size_t)s->transport->size;
    if (sparse_failed(s)) return;
    for_parts(s, span, part) {
        const struct sparse_layout *layout = &s->layout[part];
        for (size_t rank = 0; rank < ranks; rank++) all->at[rank] += SPARSE_MARK;
        sparse_pile(layout, all->base, all->at, ranks, s->past, output_of(s, part)); /* leaves them at the next part */
    }
}

/* One part of a message that was received. */
static size_t check_part(const struct sparse_slice *s, size_t part, const char *at, size_t left)
{
    struct mark mark;
    const struct sparse_layout *layout = &s->layout[part];
    if (left < SPARSE_MARK) return 0;
    memcpy(&mark, at, sizeof mark);
    if (mark.part != s->way + (uint32_t)part || mark.bytes < SPARSE_MARK || mark.bytes > left) return 0;
    return sparse_check(layout, 0, layout->blocks, at + SPARSE_MARK, mark.bytes - SPARSE_MARK) ? mark.bytes : 0;
}

void sparse_fail(struct sparse_slice *s, enum sparse_error error, int peer)
{
    if (sparse_failed(s)) return;
    s->record->error = error;
    s->record->peer = peer;
}

/* The positions at `at`, of a message that ends at `end`. Returns where what follows them begins. */
static size_t check_vector(struct sparse_slice *s, const struct sparse_slot *slot, struct sparse_run *run, size_t at, size_t end,
                           struct sparse_span span)
{
    for_parts(s, span, part) {
        size_t length = slot->bytes > 0 ? check_part(s, part, run->base + at, end - at) : 0;
        if (length == 0) {
            sparse_fail(s, slot->bytes > 0 ? SPARSE_CORRUPT : SPARSE_PEER_FAILED, slot->peer);
            return at;
        }
        note(run, part, at, length);
        at += length;
    }
    return at;
}

size_t sparse_received(struct sparse_slice *s, int index, struct sparse_run *run, size_t offset, struct sparse_span span)
{
    const struct sparse_slot *slot = &s->slot[index];
    size_t end = offset + slot->bytes;
    if (sparse_failed(s) || sparse_span_bound(s, span) == 0) return slot->bytes;
    size_t at = check_vector(s, slot, run, offset, end, span);
    if (at != end) sparse_fail(s, SPARSE_CORRUPT, slot->peer);
    return slot->bytes;
}

size_t sparse_received_vectors(struct sparse_slice *s, int index, struct sparse_run *run, size_t offset, int vectors, size_t *at)
{
    const struct sparse_slot *slot = &s->slot[index];
    size_t next = offset, end = offset + slot->bytes;
    for (int i = 0; i < vectors && !sparse_failed(s); i++) {
        at[i] = next;
        next = check_vector(s, slot, run, next, end, sparse_all(s));
    }
    if (!sparse_failed(s) && next != end) sparse_fail(s, SPARSE_CORRUPT, slot->peer);
    return slot->bytes;
}

/* Where a message begins in a run, and its bytes. */
static size_t message_of(const struct sparse_slice *s, const struct sparse_run *run, struct sparse_span span, size_t *bytes)
{
    size_t at = SIZE_MAX;
    *bytes = 0;
    for_parts(s, span, part) {
        if (at == SIZE_MAX) at = run->at[part];
        *bytes += run->length[part];
    }
    return at;
}

void sparse_broken(struct sparse_slice *s, int code, int peer)
{
    s->record->error = SPARSE_TRANSPORT;
    s->record->code = code;
    s->record->peer = peer;
}

static uint32_t bit(int index)
{
    return UINT32_C(1) << index;
}

/* `bound`: the most bytes that the message may have; 0: it is not sent. */
void sparse_send_bytes(struct sparse_slice *s, int index, const char *memory, size_t bytes, size_t bound, int peer)
{
    struct sparse_slot *slot = &s->slot[index];
    *slot = (struct sparse_slot){.peer = peer};
    s->active &= ~bit(index);
    if (bound == 0 || s->record->error == SPARSE_TRANSPORT) return;
    int code = s->transport->isend(s->transport->context, memory, bytes, peer, s->tag, &slot->request);
    if (code) {
        sparse_broken(s, code, peer);
        return;
    }
    s->active |= bit(index);
    s->record->messages++;
    s->record->sent += bytes;
    s->record->sent_dense += bound;
}

void sparse_send(struct sparse_slice *s, int index, const struct sparse_run *run, struct sparse_span span, int peer)
{
    size_t bytes = 0, at = 0;
    if (!sparse_failed(s)) at = message_of(s, run, span, &bytes);
    sparse_send_bytes(s, index, bytes > 0 ? run->base + at : run->base, bytes, sparse_span_bound(s, span), peer);
}

void sparse_send_vectors(struct sparse_slice *s, int index, const char *memory, size_t bytes, int vectors, int peer)
{
    sparse_send_bytes(s, index, memory, sparse_failed(s) ? 0 : bytes, (size_t)vectors * sparse_span_bound(s, sparse_all(s)), peer);
}

void sparse_receive_bytes(struct sparse_slice *s, int index, char *memory, size_t bound, int peer)
{
    struct sparse_slot *slot = &s->slot[index];
    *slot = (struct sparse_slot){.peer = peer, .receives = true};
    s->active &= ~bit(index);
    if (bound == 0 || s->record->error == SPARSE_TRANSPORT) return;
    int code = s->transport->irecv(s->transport->context, memory, bound, peer, s->tag, &slot->request);
    if (code) sparse_broken(s, code, peer);
    else s->active |= bit(index);
}

void sparse_receive(struct sparse_slice *s, int index, char *memory, struct sparse_span span, int peer)
{
    sparse_receive_bytes(s, index, memory, sparse_span_bound(s, span), peer);
}

void sparse_receive_vectors(struct sparse_slice *s, int index, char *memory, int vectors, int peer)
{
    sparse_receive_bytes(s, index, memory, (size_t)vectors * sparse_span_bound(s, sparse_all(s)), peer);
}

size_t sparse_received_bytes(const struct sparse_slice *s, int index)
{
    return s->slot[index].bytes;
}

void sparse_damaged(struct sparse_slice *s, int index)
{
    sparse_fail(s, s->slot[index].bytes > 0 ? SPARSE_CORRUPT : SPARSE_PEER_FAILED, s->slot[index].peer);
}

enum sparse_status sparse_wait_slot(struct sparse_slice *s, int index)
{
    struct sparse_slot *slot = &s->slot[index];
    bool done = false;
    size_t bytes = 0;
    if (s->record->error == SPARSE_TRANSPORT) return SPARSE_FAILED;
    if ((s->active & bit(index)) == 0) return SPARSE_DONE;
    int code = s->transport->test(s->transport->context, &slot->request, &done, &bytes);
    if (!code && !done) {
        s->record->awaited = &slot->request;
        return SPARSE_PENDING;
    }
    s->active &= ~bit(index);
    if (code) {
        sparse_broken(s, code, slot->peer);
        return SPARSE_FAILED;
    }
    if (slot->receives) {
        slot->bytes = bytes;
        s->record->received += bytes;
    }
    return SPARSE_DONE;
}

enum sparse_status sparse_wait(struct sparse_slice *s)
{
    enum sparse_status all = s->record->error == SPARSE_TRANSPORT ? SPARSE_FAILED : SPARSE_DONE;
    for (uint32_t left = s->active; left != 0 && all != SPARSE_FAILED; left &= left - 1) {
        enum sparse_status one = sparse_wait_slot(s, __builtin_ctz(left));
        if (one != SPARSE_DONE) all = one;
    }
    return all;
}

enum sparse_status sparse_wait_received(struct sparse_slice *s)
{
    enum { FEW = 1 << 18 };
    return s->room < FEW ? sparse_wait_slot(s, 0) : sparse_wait(s);
}

void sparse_slice_cancel(struct sparse_slice *s)
{
    for (uint32_t left = s->active; left != 0; left &= left - 1)
        s->transport->cancel(s->transport->context, &s->slot[__builtin_ctz(left)].request);
    s->active = 0;
}

static void swap_bytes(struct sparse_slice *s, int slot, const char *given, size_t bytes, size_t given_bound, char *taken, size_t taken_bound,
                       int peer)
{
    const bool first = bytes >= SPARSE_SEND_FIRST && !sparse_same_node(&s->nodes, s->transport->rank, peer);
    if (first) sparse_send_bytes(s, slot, given, bytes, given_bound, peer);
    sparse_receive_bytes(s, 0, taken, taken_bound, peer);
    if (!first) sparse_send_bytes(s, slot, given, bytes, given_bound, peer);
}

void sparse_swap(struct sparse_slice *s, int slot, const struct sparse_run *run, struct sparse_span give, char *memory,
                 struct sparse_span take, int peer)
{
    size_t bytes = 0, at = 0;
    if (!sparse_failed(s)) at = message_of(s, run, give, &bytes);
    const char *given = bytes > 0 ? run->base + at : run->base;
    swap_bytes(s, slot, given, bytes, sparse_span_bound(s, give), memory, sparse_span_bound(s, take), peer);
}

void sparse_swap_vectors(struct sparse_slice *s, int slot, const char *memory, size_t bytes, char *into, int vectors, int peer)
{
    const size_t bound = (size_t)vectors * sparse_span_bound(s, sparse_all(s));
    swap_bytes(s, slot, memory, sparse_failed(s) ? 0 : bytes, bound, into, bound, peer);
}

static bool confirmed(const struct sparse_slice *s, int peer)
{
    return s->final && !sparse_same_node(&s->nodes, s->transport->rank, peer);
}

void sparse_confirm(struct sparse_slice *s, int index, int peer)
{
    if (confirmed(s, peer)) sparse_send_bytes(s, index, s->area[3], 0, 1, peer);
}

void sparse_await_confirmation(struct sparse_slice *s, int index, int peer)
{
    if (confirmed(s, peer)) sparse_receive_bytes(s, index, s->area[3], 1, peer);
}

void sparse_exchange(struct sparse_slice *s, struct sparse_span give, struct sparse_span take, int peer)
{
    s->in = sparse_run_begin(s, 1);
    sparse_swap(s, 1, s->acc, give, s->in->base, take, peer);
}

void sparse_join(struct sparse_slice *s, struct sparse_span span, double ranks, int into)
{
    bool peer_left = s->slot[0].peer < s->transport->rank;
    s->out = sparse_run_begin(s, into);
    sparse_received(s, 0, s->in, 0, span);
    sparse_slice_merge(s, span, peer_left ? s->in : s->acc, peer_left ? s->acc : s->in, ranks, s->out);
    s->acc = s->out;
}

int sparse_free_area(const struct sparse_slice *s)
{
    return s->acc == &s->runs[0] ? 2 : 0;
}

/* Short ones, of a result that is longer than the caches, are joined first: what is then written past the caches is not read. */
static bool join_first(const struct sparse_slice *s, size_t part)
{
    return s->past && 6 * (s->acc->length[part] + s->in->length[part]) < s->count[part] * s->operator->size;
}

static void finish_part(struct sparse_slice *s, size_t part, const struct sparse_run *left, const struct sparse_run *right)
{
    const struct sparse_layout *layout = &s->layout[part];
    const char *a = behind_mark(left, left->at[part]), *b = behind_mark(right, right->at[part]), *base = s->area[0];
    if (join_first(s, part)) {
        char *joined = s->area[3]; /* a chain has its second source's message in area 2 */
        sparse_merge(layout, 0, layout->blocks, a, b, s->dense, joined, NULL);
        sparse_decode_past(layout, 0, layout->blocks, joined, output_of(s, part));
    } else {
        sparse_pile(layout, base, (size_t[]){(size_t)(a - base), (size_t)(b - base)}, 2, s->past, output_of(s, part));
    }
}

void sparse_finish(struct sparse_slice *s, struct sparse_span span)
{
    const bool in_is_right = s->slot[0].peer > s->transport->rank;
    sparse_received(s, 0, s->in, 0, span);
    if (sparse_failed(s)) return;
    for_parts(s, span, part) finish_part(s, part, in_is_right ? s->acc : s->in, in_is_right ? s->in : s->acc);
}

struct sparse_span sparse_all(const struct sparse_slice *s)
{
    return (struct sparse_span){0, s->positions};
}
