/* SPDX-License-Identifier: BSD-3-Clause */
/* One slice of one reduction on its way through an algorithm, and the verbs that algorithms are written in.
 *
 * A large vector is cut into slices that go through the algorithm independently, two at a time, so that one is encoded or
 * merged while the other is on the wire: pipelining without a word of it in the algorithms.
 *
 * A slice is cut into parts, each encoded by itself (sparse_block.h) behind a mark of eight bytes: the algorithm, its number and length.
 * Parts are grouped into positions, one per rank that takes part. A message carries the positions base ^ 0, base ^ 1, ...,
 * base ^ (n - 1), n a power of two: a plain range where n divides base, and the order in which a hypercube collects its parts
 * anywhere else. Positions without elements are not sent; a message from a rank that failed has 0 bytes.
 *
 * Nothing here allocates. After a failure the verbs do nothing but keep the messages flowing (sparse_collective.h). */
#ifndef LUCID_SPARSE_SLICE_H
#define LUCID_SPARSE_SLICE_H

#include "sparse_block.h"
#include "sparse_collective.h"
#include "sparse_nodes.h"
#include "sparse_windows.h"

enum { SPARSE_SLOTS = 32, SPARSE_AREAS = 4, SPARSE_RUNS = 4, SPARSE_MARK = 8 };

/* Encoded parts in one buffer: where each begins (its mark) and how long it is. */
struct sparse_run {
    char *base;
    size_t used;
    size_t *at, *length;
};

/* A message under way, or the last one. */
struct sparse_slot {
    union sparse_request request;
    bool receives;
    int peer;
    size_t bytes;
};

/* Shared by the slices of a collective. */
struct sparse_record {
    enum sparse_error error;
    int code, peer;
    uint64_t messages, sent, sent_dense, received;
    struct sparse_tally input;  /* what was encoded from the vector */
    uint64_t input_bytes;       /* into how many bytes, without the first header of a part */
    struct sparse_tally joined; /* the last merges, of about `joined_ranks` ranks */
    double joined_ranks;
    const union sparse_request *awaited; /* what is under way, and was not done when a step looked last */
    bool spread;                /* this rank, or one that is known of, has something outside of its share (sparse_allreduce_shares.c) */
};

struct sparse_plan;

struct sparse_slice {
    /* Set once (sparse_plan.c). */
    const struct sparse_transport *transport;
    const struct sparse_operator *operator;
    struct sparse_record *record;
    const char *input;
    char *output;
    int root, tag;
    const struct sparse_plan *plan;
    size_t slices, group;             /* where an algorithm takes all slices itself: how many there are, and how many at a time; group 0: it does not */
    bool dense, exclusive;
    uint32_t way;                     /* algorithm and form, in the upper eight bits: of ranks that chose differently nothing is taken */
    enum sparse_gathering gathering;  /* of shares */
    struct sparse_windows *windows;   /* ... by which they are read; NULL: they are sent */
    bool words;                       /* ... without a message, if all of a node are */
    bool opens;                       /* ... of which ranks tell each other first */
    char *window;                     /* where this slice's own share is to be read; NULL: nowhere */
    enum sparse_past past;            /* SPARSE_CACHED: the result is not longer than the caches */
    struct sparse_fold fold;
    struct sparse_nodes nodes;
    size_t room;                      /* bytes of an area: the whole slice, dense, with its marks */
    char *area[SPARSE_AREAS];         /* consecutive */
    struct sparse_run runs[SPARSE_RUNS]; /* their tables */
    /* Set for every slice. */
    bool final;                       /* the last one of its lane, of a call in which that is confirmed */
    size_t positions;
    size_t *first;                    /* positions + 1: their parts */
    size_t *from, *count;             /* elements before a part in the vector, and in it */
    struct sparse_layout *layout;     /* of a part */
    size_t own;                       /* this rank's part of a Reduce_scatter; where its share lies in s->all (sparse_allreduce_shares.c) */
    size_t shift;                     /* elements by which the output lies before the input (Reduce_scatter) */
    /* The algorithm's. */
    int resume, middle, inner, k;
    size_t base, extent;              /* positions held */
    struct sparse_run *acc, *in, *out, *all;
    bool started;
    bool crowded, voided;             /* by groups: there was no room for what was to be shown in this turn; at some rank in the one before */
    size_t begin, end;                /* ... the first one of those that follow without a break, and how many there are */
    bool whole;                       /* ... of shares: the slice is the vector */
    size_t index, astray;             /* number of the slice; of the first in which this rank knew that there are no shares */
    uint32_t left;                    /* places of the node whose words are yet to be read, by bit */
    uint32_t active;                  /* slots with something under way, by bit */
    struct sparse_slot slot[SPARSE_SLOTS];
};
_Static_assert(SPARSE_SLOTS <= 32, "slots by bit");

struct sparse_span {
    size_t base, extent;
};

/* The rank at a place of this one's node, numbered from the first one there on, and the place of a rank. */
static inline int sparse_rank_at(const struct sparse_slice *s, int place)
{
    return s->transport->rank - s->nodes.local + place;
}

static inline int sparse_place_of(const struct sparse_slice *s, int rank)
{
    return rank - sparse_rank_at(s, 0);
}

bool sparse_failed(const struct sparse_slice *s);

/* An empty run in area `index`, with the tables `index`. */
struct sparse_run *sparse_run_begin(struct sparse_slice *s, int index);

/* The most bytes that the positions take in a message. */
size_t sparse_span_bound(const struct sparse_slice *s, struct sparse_span span);

/* Appends the positions of the vector to `run`. */
void sparse_slice_encode(struct sparse_slice *s, struct sparse_span span, struct sparse_run *run);

/* Appends left op right to `out`; `ranks`: about how many take part in it, for the record. */
void sparse_slice_merge(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *left,
                        const struct sparse_run *right, double ranks, struct sparse_run *out);

/* Takes `run`, a merge of `ranks` ranks that was made elsewhere, for the record. */
void sparse_slice_note(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run, double ranks);

/* Writes into the output: the positions; the positions for good, past the caches if s->past; the run op the output; the output op the
 * run. */
void sparse_slice_decode(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run);
void sparse_slice_result(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run);
void sparse_slice_into(struct sparse_slice *s, struct sparse_span span, const struct sparse_run *run, bool run_is_right);

/* Writes positions into the output: every rank's contribution to them, in rank order. `all` has the messages by rank, with these
 * positions and no others, and is used up. */
void sparse_slice_pile(struct sparse_slice *s, struct sparse_span span, struct sparse_run *all);

/* Begin to send positions that lie next to each other in `run`; to receive them at `memory`. At most one message per slot. */
void sparse_send(struct sparse_slice *s, int slot, const struct sparse_run *run, struct sparse_span span, int peer);
void sparse_receive(struct sparse_slice *s, int slot, char *memory, struct sparse_span span, int peer);

/* The same of several vectors in one message, one behind the other, each with all of its positions: `bytes` of them at `memory`. */
void sparse_send_vectors(struct sparse_slice *s, int slot, const char *memory, size_t bytes, int vectors, int peer);
void sparse_receive_vectors(struct sparse_slice *s, int slot, char *memory, int vectors, int peer);

/* Sends `give` of `run`, in `slot`, and receives `take` at `memory`, slot 0, from the same rank; the same of several vectors. What is long
 * and goes to another node is sent before the receive is posted. Open MPI's btl/tcp sends the header of a long message, and the rest when
 * the receiver has answered. Where a receive is there before, its answer may go out before the header, and the peer, who has it first,
 * begins to send all of its message; its own answer lies behind that in the same connection, and one message comes after the other. With
 * the header first, both answers come before what they ask for, and both messages at once (docs/dev/sparse-algorithms.md). */
enum { SPARSE_SEND_FIRST = 32768 };
void sparse_swap(struct sparse_slice *s, int slot, const struct sparse_run *run, struct sparse_span give, char *memory,
                 struct sparse_span take, int peer);
void sparse_swap_vectors(struct sparse_slice *s, int slot, const char *memory, size_t bytes, char *into, int vectors, int peer);

/* The same of bytes that are no vectors; `bound`: what counts as sent by a dense form. */
void sparse_send_bytes(struct sparse_slice *s, int slot, const char *memory, size_t bytes, size_t bound, int peer);
void sparse_receive_bytes(struct sparse_slice *s, int slot, char *memory, size_t bytes, int peer);
size_t sparse_received_bytes(const struct sparse_slice *s, int slot);
/* The first error of a collective; the transport's, which ends it. */
void sparse_fail(struct sparse_slice *s, enum sparse_error error, int peer);
void sparse_broken(struct sparse_slice *s, int code, int peer);
/* What the slot received is not to be used. */
void sparse_damaged(struct sparse_slice *s, int slot);

/* Where all messages go one way, a rank that need not wait for others could be any number of calls ahead of them, and what it has sent would
 * fill their memory, if it goes at once. So, unless they have agreed in this call, now and then (sparse_state_runs_ahead) who takes the last
 * slice of a lane says so to its sender on another node, who waits for that. */
void sparse_confirm(struct sparse_slice *s, int slot, int peer);
void sparse_await_confirmation(struct sparse_slice *s, int slot, int peer);

/* SPARSE_DONE when a slot, or all of them, have nothing under way; SPARSE_FAILED for the transport's errors. */
enum sparse_status sparse_wait_slot(struct sparse_slice *s, int slot);
enum sparse_status sparse_wait(struct sparse_slice *s);
/* Slot 0, where what is sent lies until the end: short messages are not waited for, which on one node would be for turns of other ranks. */
enum sparse_status sparse_wait_received(struct sparse_slice *s);

/* Checks what a slot received at run->base + offset and makes its parts known in `run`. Returns the bytes received. */
size_t sparse_received(struct sparse_slice *s, int slot, struct sparse_run *run, size_t offset, struct sparse_span span);
/* The same of several vectors, of which the parts of the last one become known: at[i] is where number i begins. */
size_t sparse_received_vectors(struct sparse_slice *s, int slot, struct sparse_run *run, size_t offset, int vectors, size_t *at);

/* Ends everything under way. */
void sparse_slice_cancel(struct sparse_slice *s);

/* Sends `give` of s->acc and receives `take` at area 1. */
void sparse_exchange(struct sparse_slice *s, struct sparse_span give, struct sparse_span take, int peer);

/* s->acc = what slot 0 received at area 1 and s->acc, in rank order, joined in area `into` (any but 1 and that of s->acc). */
void sparse_join(struct sparse_slice *s, struct sparse_span span, double ranks, int into);

/* The area of 0 and 2 that s->acc is not in. */
int sparse_free_area(const struct sparse_slice *s);

/* Into the output: what slot 0 received at area 1 and s->acc, joined. Area 3 is written over. */
void sparse_finish(struct sparse_slice *s, struct sparse_span span);

/* All positions. */
struct sparse_span sparse_all(const struct sparse_slice *s);

/* Resumable, in s->inner (sparse_halving.c). Fold: ranks that stand aside hand over s->acc, the others' becomes the pair's.
 * Halving: from all positions in s->acc to the result of one, sparse_fold_position(self), in s->all, area 3 (on one place: s->acc).
 * Collecting: from there to all places, in s->all (sparse_allreduce_halving.c); what was sent may be under way still, in any slot but
 * 0 and the last. Climbing: from all ranks of a node to its first, s->acc
 * (sparse_reduce_leaders.c). A chain (sparse_reduce_chain.c), of all ranks or the nodes' first (fold.stride): after sparse_chain_listen from all
 * of them to the root, or, in s->acc, to the first rank of its node. */
enum sparse_status sparse_fold_in(struct sparse_slice *s);
enum sparse_status sparse_halve(struct sparse_slice *s);
enum sparse_status sparse_collect(struct sparse_slice *s, bool writes);
enum sparse_status sparse_climb(struct sparse_slice *s);
void sparse_chain_listen(struct sparse_slice *s);
enum sparse_status sparse_chain_pass(struct sparse_slice *s);

/* As far as is known it is alone. */
struct sparse_share sparse_share_of(size_t elements, int rank, int ranks);
/* Whether there can be shares. */
bool sparse_may_share(const struct sparse_operator *operator, size_t elements, int ranks);

/* All positions in the order in which this rank's place collects them. */
struct sparse_span sparse_collected(const struct sparse_slice *s);

/* Ranks behind the result of `steps` of the cube's steps, on average. */
double sparse_ranks_after(const struct sparse_slice *s, int steps);

/* The algorithms, resumable in s->resume. */
enum sparse_status sparse_reduce_binomial(struct sparse_slice *s);
enum sparse_status sparse_reduce_halving(struct sparse_slice *s);
enum sparse_status sparse_reduce_direct(struct sparse_slice *s);
enum sparse_status sparse_reduce_chain(struct sparse_slice *s);
enum sparse_status sparse_reduce_leaders(struct sparse_slice *s);
enum sparse_status sparse_allreduce_doubling(struct sparse_slice *s);
enum sparse_status sparse_allreduce_halving(struct sparse_slice *s);
enum sparse_status sparse_allreduce_boards(struct sparse_slice *s);
enum sparse_status sparse_allreduce_ring(struct sparse_slice *s);
enum sparse_status sparse_allreduce_leaders(struct sparse_slice *s);
/* If s->record->spread in the end, the input is to be restored slice by slice, and the ring to follow. */
enum sparse_status sparse_allreduce_shares(struct sparse_slice *s);
void sparse_shares_restore(struct sparse_slice *s);
enum sparse_status sparse_scatter_halving(struct sparse_slice *s);
enum sparse_status sparse_scatter_pairwise(struct sparse_slice *s);
enum sparse_status sparse_scan_doubling(struct sparse_slice *s);
enum sparse_status sparse_scan_chain(struct sparse_slice *s);

#endif
