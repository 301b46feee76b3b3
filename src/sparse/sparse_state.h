/* SPDX-License-Identifier: BSD-3-Clause */
/* What a communicator has learned, and the choice that follows from it. Calls are told apart by their shape: programs reduce different
 * things with different operators, in elements and vectors of different size. */
#ifndef LUCID_SPARSE_STATE_H
#define LUCID_SPARSE_STATE_H

#include "sparse_agree.h"
#include "sparse_collective.h"
#include "sparse_trial.h"

enum { SPARSE_CLASSES = 32 };

struct sparse_class {
    uint32_t shape;    /* 0: free */
    uint32_t used;     /* when last */
    bool observed;     /* whether anything is learned; differs from rank to rank, so that it must pass through the agreement */
    struct sparse_learned learned;
    unsigned since;    /* calls without anything to learn from */
    unsigned refused;  /* calls in a row that need not have been looked at: the same on all ranks, since only blocking calls count */
    unsigned skipped;  /* calls not looked at since */
    enum sparse_algorithm form; /* what runs in those: the library's routine, or this algorithm in dense form */
};

struct sparse_scratch {
    void *memory;
    size_t bytes;
    bool lent;
    void (*release)(void *context, void *memory);
    void *context;
};

struct sparse_state {
    /* Of calls that all ranks make in one order, and of others. */
    struct sparse_classes {
        struct sparse_class class[SPARSE_CLASSES];
        uint32_t lookups;
    } ordered, unordered;
    struct sparse_trials trials;
    struct sparse_scratch scratch;
    bool large; /* there has been a call for large pages */
    struct sparse_collective *spare; /* for a call that has no memory for its handle */
    bool spare_lent;
};

/* Of a call on a vector of `bytes` bytes, by powers of two. Of what all ranks' calls must have in common, so that they come to the same
 * classes: not of the datatype, of which there are several for one and the same. Never 0. */
uint32_t sparse_call_shape(enum sparse_kind kind, const struct sparse_operator *operator, size_t bytes);

/* A new one takes the place of the one that has not been used for longest. */
struct sparse_class *sparse_class_at(struct sparse_classes *classes, uint32_t shape);

/* Whether a blocking call's vector is worth a look; counts. The same on all ranks. */
bool sparse_class_looks(struct sparse_class *class, const struct sparse_parameters *parameters);

/* The answer of a blocking call. `refused`: the inputs made no difference and the agreement is worth saving; then the next calls may
 * run what has run, unseen: the library's routine or `algorithm` in dense form. */
void sparse_class_answer(struct sparse_class *class, bool refused, enum sparse_algorithm algorithm);

/* What the merges have shown. Algorithms without merges show nothing, and a ring would go on after the inputs have ceased to be
 * disjoint: what is known is stale after some calls, so that one with merges runs in a ring's place, and forgotten when that has
 * shown nothing either. */
void sparse_class_learn(struct sparse_class *class, const struct sparse_record *record);
bool sparse_class_stale(const struct sparse_class *class);

/* Memory of at least `bytes` bytes: the state's, or new. In large pages where the state will keep it and this call or an earlier one is
 * `large`: the state's own makes way if it is not. */
void *sparse_state_borrow(struct sparse_state *state, const struct sparse_parameters *parameters, size_t bytes, bool large);
void sparse_state_return(struct sparse_state *state, const struct sparse_parameters *parameters, void *memory, size_t bytes);

struct sparse_choice {
    enum sparse_algorithm algorithm;
    bool dense;
    int contender;    /* the library's routine is 0, an algorithm its place among those of its kind, from 1 on */
    double predicted; /* seconds, by the formulas; 0: not looked at */
    bool open;        /* others are still to be tried */
    bool unseen;      /* who runs is the best so far, and needs no look at the inputs */
};

/* Whether the parameters name an algorithm of this kind. */
bool sparse_choice_forced(enum sparse_kind kind, const struct sparse_parameters *parameters);

/* What the agreed terms stand for. A sample in which nothing differed is no proof: one element is taken to differ after all. */
struct sparse_estimate sparse_choice_estimate(const struct sparse_call *call, const struct sparse_parameters *parameters,
                                              size_t elements, const struct sparse_terms *terms);

/* A function of its arguments only, which are the same on all ranks. `trial`: what calls of this shape have taken; NULL: by the
 * formulas alone. */
struct sparse_choice sparse_choose(enum sparse_kind kind, bool may_pass_on, const struct sparse_estimate *estimate,
                                   const struct sparse_parameters *parameters, struct sparse_trial *trial);

#endif
