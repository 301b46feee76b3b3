/* SPDX-License-Identifier: BSD-3-Clause */
/* One reduction, from its description to its result: the only header that an adapter (coll/sparse, the preload library, the
 * simulator) needs beside sparse_operator.h and sparse_transport.h.
 *
 *     struct sparse_collective *c;
 *     switch (sparse_collective_create(&call, &c)) {
 *     case SPARSE_NOT_OURS: return the library's own routine;          // decided without a message, the same on all ranks
 *     case SPARSE_FAILED:   return out of memory;                       // see "memory"
 *     default: break;                                                   // SPARSE_PENDING
 *     }
 *     while ((status = sparse_collective_step(c)) == SPARSE_PENDING) progress();
 *     // SPARSE_DONE, SPARSE_NOT_OURS (run the library's own routine) or SPARSE_FAILED
 *     sparse_collective_outcome(c, &outcome);
 *     sparse_collective_destroy(c);
 *
 * Collective: every rank of the transport makes the same calls in the same order (as MPI demands), with the same kind,
 * count(s), operator, root, parameters and flags. The step never blocks; a nonblocking operation calls it from the library's
 * progress until it is not SPARSE_PENDING.
 *
 * Threads: collectives of different states know nothing of each other. All functions on one state, and on collectives of it, come from
 * one thread at a time: the caller holds a lock of that state over each. Only sparse_state_passed(), and
 * sparse_state_passes() and sparse_state_take_back() of blocking calls, may run without it beside functions on collectives that are not SPARSE_IN_ORDER, with
 * which they share nothing.
 * sparse_outcome_text() is thread-safe.
 *
 * What is promised: nothing is written to `output` before all ranks have agreed to run the reduction here, so that after
 * SPARSE_NOT_OURS both buffers are as they were. `output` of a rank that gets no result (not the root of a Reduce; rank 0 of
 * an Exscan) is never touched and may be NULL. `input` is never written unless it is `output`. Every element is combined in
 * rank order, x0 op x1 op ..., with a bracketing that depends on the algorithm, the number of ranks, where nodes have leaders the
 * ranks of a node, and nothing else; with one algorithm every rank sees the same bits. The result is that of `operator.apply` over
 * that bracketing, bit by bit.
 *
 * Failure: SPARSE_FAILED is final; the outcome says what happened. An error of the transport ends the collective on this rank
 * at once (as an error inside the library's own routine does). A message that cannot be decoded, and every rank that hears of
 * it, takes part until the end with empty messages, so that nobody waits for ever; those ranks get SPARSE_FAILED and no output
 * that may be used (part of `output` may be written). A damaged message of the agreement is the exception: whoever finds it, and
 * hears of it from then on, fails when the agreement is over, for what the others have agreed on is not known; a rank that does not hear
 * of it waits for these in the reduction, as for one whose transport has failed. The error has to end the job.
 *
 * Memory: everything is allocated in create, before anything is sent, but for windows (sparse_windows.h), without which messages do. A rank that cannot says so in the first agreement, and
 * all ranks get SPARSE_NOT_OURS from step (SPARSE_FAILED with SPARSE_NO_MEMORY when the call may not be passed on). Where there is
 * no agreement (see sparse_collective_create) that rank gets SPARSE_FAILED with SPARSE_NO_MEMORY, alone, as it would in a routine of
 * the library's. The handle itself comes from the state if there is no memory; only when that one is also taken (a second unfinished
 * collective on the same state) create returns SPARSE_FAILED, alone. */
#ifndef LUCID_SPARSE_COLLECTIVE_H
#define LUCID_SPARSE_COLLECTIVE_H

#include "sparse_model.h"
#include "sparse_operator.h"
#include "sparse_transport.h"

enum sparse_status { SPARSE_DONE, SPARSE_PENDING, SPARSE_NOT_OURS, SPARSE_FAILED };

enum sparse_kind { SPARSE_REDUCE, SPARSE_ALLREDUCE, SPARSE_REDUCE_SCATTER, SPARSE_SCAN, SPARSE_EXSCAN, SPARSE_KINDS };

/* With which calls of the state a call stands in one order, the same on all ranks, in which they are created and decided: calls that do
 * count in the back-off, for all ranks know what became of those that came before. */
enum sparse_order {
    SPARSE_IN_ORDER,  /* with all others that are, such as blocking ones; each is created when the ones before it are decided */
    SPARSE_IN_TURN,   /* with all others that are: nonblocking ones, between which and blocking ones there is no order. The starts of one
                       * persistent call: with each other */
    SPARSE_UNORDERED, /* with none: it does not count, and is always looked at */
};

/* Tags that one collective uses, from `tag` on. */
#define SPARSE_TAGS 4

/* What one communicator has learned: how far unions grow, which shapes of call are dense, scratch memory (at most
 * `parameters.keep` bytes stay). Lives as long as the communicator; created and destroyed without messages. */
struct sparse_state;
struct sparse_collective;
struct sparse_state *sparse_state_create(void); /* NULL: no memory; run without Lucid */
void sparse_state_destroy(struct sparse_state *state);

/* What one persistent call has learned: its starts come one behind the other, while those of several have no order. As large as some ten
 * KiB; lives as long as the call, and no longer than the state; created and destroyed without messages. */
struct sparse_series;
struct sparse_series *sparse_series_create(void); /* NULL: no memory; the call fails, alone: others count its starts */
void sparse_series_destroy(struct sparse_series *series);

/* The library's own routine has run a call of which the outcome said `left`, and this ticket. Until it has run a blocking one, calls on the
 * state are taken for that routine's own (a Reduce_scatter may be a Reduce and a Scatter) and are not timed; nor are calls in turn
 * beside one in turn. `series`: of a persistent call, or NULL. */
void sparse_state_passed(struct sparse_state *state, struct sparse_series *series, const struct sparse_parameters *parameters, unsigned ticket);

/* The next blocking call (SPARSE_IN_ORDER), or the next one in turn (SPARSE_IN_TURN), all others of which are decided, differs in nothing but its
 * vectors from the last one, which create left to the library's routine: whether create would leave it, too, without a message, and how many
 * behind it if they are such as well: `most` in all, at most. They count as if create had been asked. 0: ask create. */
unsigned sparse_state_passes(struct sparse_state *state, enum sparse_order order, unsigned most, const struct sparse_parameters *parameters);

/* So many of those that it has counted have not come: one that differs is next. Before anything else is asked of calls in that order. */
void sparse_state_take_back(struct sparse_state *state, enum sparse_order order, unsigned calls);

struct sparse_call {
    enum sparse_kind kind;
    /* The rank's own vector. MPI_IN_PLACE: pass the receive buffer as both, where MPI takes the input from it. */
    const void *input;
    /* REDUCE: the root's `count` elements. REDUCE_SCATTER: this rank's share (in place: at the start of the input, as MPI has
     * it). */
    void *output;
    /* Elements of the vector; REDUCE_SCATTER_BLOCK is REDUCE_SCATTER with `counts` NULL: then of one rank's share. */
    size_t count;
    const size_t *counts;            /* REDUCE_SCATTER: elements per rank, `count` is ignored; read during create only */
    struct sparse_operator operator; /* copied; its context stays valid until destroy */
    int root;                        /* REDUCE */
    /* Stays until destroy; may be shared by all calls on a communicator. */
    const struct sparse_transport *transport;
    /* tag .. tag + SPARSE_TAGS - 1 belong to this call until all ranks are done: unfinished collectives of one transport differ */
    int tag;
    struct sparse_state *state;
    struct sparse_series *series;    /* SPARSE_IN_TURN: of a persistent call; NULL: it is none */
    const struct sparse_parameters *parameters; /* read during create only; the same values on all ranks */
    /* The call may be handed to the library's own routine after messages were exchanged, i.e. step may return SPARSE_NOT_OURS.
     * False where the ranks learn it at different moments relative to their other collectives and so would start the library's
     * routines in different orders: those run here in dense form instead. SPARSE_IN_ORDER: the same on all ranks, and with false
     * create decides by size, kind and operator only. Else it may differ: one rank that may not keeps a call here that was looked at. */
    bool may_pass_on;
    /* SPARSE_IN_TURN: create may leave later calls to the library's own routine without a message all the same. One rank that may neither has
     * all calls looked at. */
    bool may_leave;
    enum sparse_order order; /* the same on all ranks */
    /* SPARSE_IN_TURN: how many of those come before this one, and how many of them are decided, which the caller counts. It is decided in
     * its turn, and created in it, too, or before where sparse_collective_looks() allows that. NULL: at once (a persistent call: the start
     * before is complete). */
    unsigned turn;
    const unsigned *decided;
    /* What is known of the library's routine, by which a call that is not timed is chosen. The same on all ranks. */
    struct sparse_library library;
    /* A blocking call: what it takes is measured, unless parameters.clock is NULL, and counts in later choices. Nothing else runs
     * on the state before it is done, by the library's own routine where it is passed on: sparse_state_passed() then says when. Of
     * calls in turn those are measured that have been found to come one at a time (sparse_turns.h). */
    bool blocking;
};

/* Decides what can be decided without a message: SPARSE_NOT_OURS for one rank, no elements, vectors shorter than
 * parameters.short_bytes, operators that are not known element-wise (operator.apply NULL), and while the back-off of the
 * call's shape lasts (kind, operator, size). If calls of the shape have been quickest in dense form and asking takes a noticeable
 * part of them, most run in that form without an agreement. Otherwise samples the vector, allocates, and returns SPARSE_PENDING.
 * *collective is NULL unless SPARSE_PENDING. */
enum sparse_status sparse_collective_create(const struct sparse_call *call, struct sparse_collective **collective);

/* SPARSE_IN_TURN: whether the call, the next to be created, will be looked at whatever is found out about so many that come before it (beside
 * those of which this rank has said that it may neither pass them on nor leave later ones). */
bool sparse_collective_looks(const struct sparse_call *call, unsigned undecided);

/* Goes on as far as it can. SPARSE_PENDING: call again, after the transport has made progress. */
enum sparse_status sparse_collective_step(struct sparse_collective *collective);

/* After SPARSE_PENDING of a blocking call: the message, of this rank's, without which another step can do nothing; it stays where it is until then.
 * NULL: any of several. */
const union sparse_request *sparse_collective_awaits(const struct sparse_collective *collective);

/* Whether the ranks have agreed who runs it: what happens next on this state cannot change that any more. */
bool sparse_collective_decided(const struct sparse_collective *collective);

enum sparse_error { SPARSE_NO_ERROR, SPARSE_NO_MEMORY, SPARSE_CORRUPT, SPARSE_PEER_FAILED, SPARSE_TRANSPORT };

/* Nobody knows yet; they are for nothing; a dense form of ours runs, which is better. */
enum sparse_worth { SPARSE_OPEN, SPARSE_IDLE, SPARSE_WORTH };

struct sparse_outcome {
    enum sparse_algorithm algorithm; /* SPARSE_LIBRARY after SPARSE_NOT_OURS */
    bool dense;                      /* ran in dense form */
    bool left;                       /* SPARSE_NOT_OURS, and it may be timed: sparse_state_passed() is to say when it is done */
    unsigned ticket;                 /* ... of which call: 0 for a blocking one */
    enum sparse_error error;
    int code;                        /* SPARSE_TRANSPORT: the adapter's error code */
    int peer;                        /* where the trouble came from, or -1 */
    enum sparse_worth worth;         /* looks at dense ones like it */
    double sampled, agreed;          /* density of this rank's vector, and the mean of all; -1: nobody has looked */
    uint64_t messages, sent, sent_dense, received; /* this rank's; bytes; sent: and shown to others of the node in memory; sent_dense: what the same algorithm sends in dense form */
    uint64_t elements, exceptions;   /* of this rank's input, exact */
};

/* Any time after create; final after the last step. */
void sparse_collective_outcome(const struct sparse_collective *collective, struct sparse_outcome *outcome);

/* "rank 3: a message from rank 5 is damaged; ..." for the log or MPI's error handler. Returns `text`. */
const char *sparse_outcome_text(const struct sparse_outcome *outcome, int rank, char *text, size_t size);

/* Also in the middle: cancels what is under way. NULL is allowed. */
void sparse_collective_destroy(struct sparse_collective *collective);

#endif
