/* SPDX-License-Identifier: BSD-3-Clause */
/* What a communicator has learned, and the choice that follows from it. Calls are told apart by their shape: programs reduce different
 * things with different operators, in elements and vectors of different size. */
#ifndef LUCID_SPARSE_STATE_H
#define LUCID_SPARSE_STATE_H

#include "sparse_agree.h"
#include "sparse_collective.h"
#include "sparse_trial.h"
#include "sparse_turns.h"
#include "sparse_windows.h"

enum { SPARSE_CLASSES = 32 };

struct sparse_class {
    uint32_t shape;    /* 0: free */
    uint32_t used;     /* when last */
    bool observed;     /* whether anything is learned; differs from rank to rank, so that it must pass through the agreement */
    struct sparse_learned learned;
    unsigned since;    /* calls without anything to learn from */
    unsigned looks;
    struct sparse_sort sort; /* of the last look: this and what follows is the same on all ranks, since only calls in one order count */
    unsigned same;     /* looks in a row that hardly differ in it */
    unsigned alike;    /* looks in a row that were not worth it, on the same grounds */
    unsigned skipped;  /* calls not looked at since */
    double dear;       /* how many of the calls' time a look takes, with what a program does between them */
    double found;      /* ... as this rank finds it, which differs from rank to rank */
    double left;       /* seconds: when this rank was done with the last look; 0: it has had none */
    unsigned between;  /* calls from that to this look */
    bool spread;       /* a call that was to gather shares has found more than that: not again. Passes through the agreement, too */
    struct sparse_answer {
        unsigned grounds; /* 1: the inputs make no difference; others: as long as they stay as they are; 0: it holds for its call alone */
        enum sparse_algorithm algorithm;
        bool dense, repeats; /* repeats: this call's alone, which is timed */
    } answer;          /* what runs in those */
};

/* Of the last call that asked, if the next one of its line, of that shape, is to run the same. */
struct sparse_repeat {
    struct sparse_class *class;
    uint32_t shape;
    struct sparse_answer answer;
    double grain; /* struct sparse_estimate */
    bool due;     /* that is the next one */
};

/* Calls one behind the other: all of a state in one order, or the starts of a persistent call. */
struct sparse_line {
    struct sparse_repeat repeat;
    bool unseen;     /* the last one in turn was the library's routine's without a look: nobody knows when it ends */
    bool joined;     /* calls that do not stand in this line began beside the one that was timed, or it beside others when it ran once more */
    unsigned others; /* how many of those had begun when the last one did */
    size_t ahead;    /* bytes of vectors since ranks last waited for each other */
};

/* Apart from the lines' `joined` and `others`, and what is a rank's own in a class and in turns, the same on all ranks. */
struct sparse_series {
    struct sparse_class class;
    struct sparse_turns turns;
    struct sparse_line line;
};

struct sparse_scratch {
    void *memory;
    size_t bytes;
    bool lent;
    void (*release)(void *context, void *memory);
    void *context;
};

struct sparse_state {
    struct sparse_classes {
        struct sparse_class class[SPARSE_CLASSES];
        uint32_t lookups;
    } classes[SPARSE_UNORDERED + 1]; /* by enum sparse_order */
    struct sparse_trials trials;     /* of blocking calls */
    struct sparse_scratch turns;     /* struct sparse_turns, from the first call in turn on */
    unsigned starts, started;        /* of persistent calls, at this rank: that there were; that are under way */
    struct sparse_scratch scratch;
    struct sparse_unseen {
        struct sparse_class *class;
        uint32_t shape;              /* which it had then */
    } unseen[SPARSE_UNORDERED];      /* of the last blocking call, and the last one in turn, if it was left to the library's routine without a look */
    struct sparse_line line[SPARSE_UNORDERED + 1]; /* by enum sparse_order */
    struct sparse_windows windows[SPARSE_UNORDERED]; /* from the first call on that gathers long shares, by enum sparse_order */
    struct sparse_windows boards;   /* ... that gathers short ones, or goes straight (sparse_boards.h), of blocking calls: with words */
    bool large; /* there has been a call for large pages */
    struct sparse_collective *spare; /* for a call that has no memory for its handle */
    bool spare_lent;
};

/* Of a call on a vector of `bytes` bytes, by powers of two. Of what all ranks' calls must have in common, so that they come to the same
 * classes: not of the datatype, of which there are several for one and the same. Never 0. */
uint32_t sparse_call_shape(enum sparse_kind kind, const struct sparse_operator *operator, size_t bytes);

/* NULL: there is none. Changes nothing. */
const struct sparse_class *sparse_class_found(const struct sparse_classes *classes, uint32_t shape);

/* A new one takes the place of the one that has not been used for longest. */
struct sparse_class *sparse_class_at(struct sparse_classes *classes, uint32_t shape);

/* Whether a vector is worth a look; counts. The same on all ranks, of calls in one order. */
bool sparse_class_looks(struct sparse_class *class, const struct sparse_parameters *parameters);

/* Who runs where it is not: what looks have come to several times, or, till then, the library's routine. */
struct sparse_answer sparse_class_unasked(const struct sparse_class *class, const struct sparse_parameters *parameters);
/* The next calls are of this class again: how many of them, `most` at most, are the library's routine's, without a look. Counts those. */
unsigned sparse_class_passes(struct sparse_classes *classes, struct sparse_class *class, unsigned most, const struct sparse_parameters *parameters);
/* So many of these have not come, and nothing else has been asked of the classes since. */
void sparse_class_take_back(struct sparse_classes *classes, struct sparse_class *class, unsigned calls);

/* A timed call's look. Returns which share of a look's time an encoded form would take in each of the calls with such inputs.
 * `waits`: half of it is a wait for others which these would have as well. */
double sparse_class_seen(struct sparse_class *class, struct sparse_sort sort, bool waits, const struct sparse_parameters *parameters);

/* What a call without a look had for inputs, as the next look says. Returns whether they were like those of the look before. */
bool sparse_class_repeated(struct sparse_class *class, struct sparse_sort sort);

/* A look, from when this rank came to it until it was over there; it is left at `now`, seconds of one clock. A look takes what a
 * call takes several times over where calls are short and a network is slow, and ranks that need not wait for each other in the calls do in a
 * look: they are the more seldom. The rank for which it is least counts, for which others wait (a Reduce's root, if nothing else is done). */
void sparse_class_looked(struct sparse_class *class, double came, double over, double now);
/* What this rank has found, for the agreement. */
uint32_t sparse_class_dear(const struct sparse_class *class);

/* What a look has come to, of calls in one order. When it has come to the same a few times, the next calls run that without a look. */
void sparse_class_answer(struct sparse_class *class, struct sparse_answer answer);

/* What the merges of a call have shown, of elements of `size` bytes. Algorithms without merges show nothing, and a ring would go on
 * after the inputs have ceased to be disjoint: what is known is stale after some calls, so that one with merges runs in a ring's place
 * at the next look, and forgotten when that has shown nothing either. */
void sparse_class_learn(struct sparse_class *class, const struct sparse_record *record, size_t size, bool looked);
bool sparse_class_stale(const struct sparse_class *class);

/* Memory of at least `bytes` bytes: the state's, or new. In large pages where the state will keep it and this call or an earlier one is
 * `large`: the state's own makes way if it is not. */
void *sparse_state_borrow(struct sparse_state *state, const struct sparse_parameters *parameters, size_t bytes, bool large);
/* All that the state keeps. */
void sparse_state_give_back(struct sparse_state *state);

/* Where a call stands. */
static inline struct sparse_line *sparse_call_line(const struct sparse_call *call)
{
    return call->series ? &call->series->line : &call->state->line[call->order];
}

/* A call begins in which ranks do not ask each other. Whether they are to wait for each other at its end: where all messages go one way a rank
 * could be any number of calls ahead of others, whose memory would fill with what it has sent. The same on all ranks, of calls in one order. */
bool sparse_line_runs_ahead(struct sparse_line *line, size_t bytes);

/* Of a call in turn: the series', the state's, or new ones of that; NULL: no memory. */
struct sparse_turns *sparse_call_turns(const struct sparse_call *call, const struct sparse_parameters *parameters);

/* A call in turn begins. Returns its ticket. `busy`: another one is under way here, or was beside the one before when that was timed. */
unsigned sparse_turn_begin(const struct sparse_call *call, struct sparse_turns *turns, bool *busy);
/* See sparse_turns_end(). */
void sparse_turn_end(struct sparse_state *state, struct sparse_series *series, unsigned ticket, double now);

void sparse_state_return(struct sparse_state *state, const struct sparse_parameters *parameters, void *memory, size_t bytes);

struct sparse_choice {
    enum sparse_algorithm algorithm;
    bool dense;
    int contender;    /* the library's routine is 0, an algorithm its place among those of its kind, from 1 on */
    double predicted; /* seconds, by the formulas; 0: not looked at */
    bool open;        /* others are still to be tried */
    bool settled;     /* nobody is, and who runs is the best so far */
};

/* Seconds that asking is taken for where it is not measured. */
double sparse_choice_asking(const struct sparse_estimate *estimate, const struct sparse_parameters *parameters);

/* Whether the parameters name an algorithm of this kind. */
bool sparse_choice_forced(enum sparse_kind kind, const struct sparse_parameters *parameters);

/* What the agreed terms stand for. A sample in which nothing differed is no proof: one element is taken to differ after all. */
struct sparse_estimate sparse_choice_estimate(const struct sparse_call *call, const struct sparse_parameters *parameters,
                                              size_t elements, const struct sparse_terms *terms);

struct sparse_sort sparse_choice_sort(const struct sparse_estimate *estimate);

/* One that merges, to show how inputs overlap of which nobody knows that. `otherwise`: it is known, or they are dense, or that would take
 * several times as long as the library's routine. */
struct sparse_choice sparse_choice_to_learn(enum sparse_kind kind, const struct sparse_estimate *estimate,
                                            const struct sparse_parameters *parameters, struct sparse_choice otherwise);

/* Not all messages go one way, to a root or to higher ranks: what a call takes at one rank is what it takes at others. */
static inline bool sparse_both_ways(enum sparse_kind kind)
{
    return kind == SPARSE_ALLREDUCE || kind == SPARSE_REDUCE_SCATTER;
}

/* A function of its arguments only, which are the same on all ranks. `trial`: what calls of this shape have taken; NULL: by the
 * formulas alone. */
struct sparse_choice sparse_choose(enum sparse_kind kind, bool may_pass_on, const struct sparse_estimate *estimate,
                                   const struct sparse_parameters *parameters, struct sparse_trial *trial);

#endif
