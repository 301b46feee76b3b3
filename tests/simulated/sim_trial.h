/* SPDX-License-Identifier: BSD-3-Clause */
/* One reduction on simulated ranks, from vectors to a verdict. */
#ifndef LUCID_SIM_TRIAL_H
#define LUCID_SIM_TRIAL_H

#include "sim_ranks.h"
#include "sim_reference.h"
#include "sparse_collective.h"

/* Sanitizers, and an emulated processor, take ten to twenty times as long for the same code. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(LUCID_EMULATED)
enum { SIM_SLOWLY = 1 };
#else
enum { SIM_SLOWLY = 0 };
#endif

struct sim_trial {
    enum sparse_kind kind;
    int operator, ranks, root;
    size_t count;      /* elements of the vector; of a share for REDUCE_SCATTER with regular shares; the mean otherwise */
    bool irregular;    /* REDUCE_SCATTER: shares of any length */
    bool in_place, may_pass_on;
    enum sparse_order order;
    struct sparse_series **series; /* the ranks', of a persistent call; NULL: it is none */
    struct sparse_library known;
    int stays;         /* this rank (from 1; 0: none) may not pass it on */
    bool leaves;       /* ... but leave it to the library's routine without a message */
    enum sim_pattern pattern;
    double density;
    uint64_t seed;     /* of the vectors */
    int stray;         /* this rank's (from 1; 0: none's) first element, or the last one of the first rank, is not as the pattern says */
    bool strays_late;  /* ... nor is its first but the last one of another's share */
    struct sim_options sim; /* `ranks` and the tags are filled in */
    bool in_agreement; /* what is damaged, and counted as data_messages: the agreement, not what follows */
    int astray;        /* this rank (from 1; 0: none) takes another algorithm than the others */
    enum sparse_algorithm astray_algorithm;
    bool astray_dense;
    struct sparse_parameters parameters;
    int without_memory; /* on this rank (from 1; 0: nowhere) allocations fail after `memory_after` */
    long memory_after;
    bool timed;         /* parameters.clock is the rank's simulated one, and a call in order blocks */
    double since;       /* ... which shows that when the call begins */
    int again;          /* so many ranks, the first ones, know the call for the same as the last one, and ask that first */
    unsigned *ahead;    /* of each rank, from trial to trial: so many calls to come have been told to be the library's; NULL: each is asked about */
    double library;     /* seconds that the library's own routine takes of a timed call */
    const struct sim_trial *inside; /* a reduction that the library's own routine makes on the way, with the same states */
    bool fast;          /* neither reference nor comparison: volumes only */
};

struct sim_report {
    bool stuck;
    int done, not_ours, failed; /* ranks by status */
    int again;                  /* ranks that were told so by sparse_state_passes() */
    int wrong;                  /* ranks that are done with a wrong result */
    int touched;                /* buffers that should have been left alone */
    struct sparse_outcome outcome[2]; /* of rank 0, and of the last rank that failed, or else of the one that sent most */
    enum sparse_error worst;
    uint64_t messages, sent;             /* of all ranks */
    uint64_t sent_most, received_most, received_root; /* of one rank */
    uint64_t data_messages;
    double time;
};

/* The states are one per rank, for trials in a row on one communicator; NULL: new ones. Returns whether all ranks that should
 * have a result have the right one, and nothing else was written. */
bool sim_trial_run(const struct sim_trial *trial, struct sparse_state **states, struct sim_report *report);

/* Many ranks take long to open each other's windows: they have every fourth operator, and the ones for which order counts. */
static inline bool sim_leaves_out(int ranks, int operator)
{
    enum { MANY = SIM_SLOWLY ? 4 : 8 };
    return ranks > MANY && operator < SIM_OPERATORS - 2 && operator % 4 != ranks % 4;
}

/* Plain defaults: everything is ours, one algorithm. */
struct sim_trial sim_trial_of(enum sparse_algorithm algorithm, int ranks, size_t count);

/* One that blocks, of ranks on one node, which may have words for each other; another operator's has other vectors. */
struct sim_trial sim_trial_near(enum sparse_algorithm algorithm, int ranks, size_t count, int operator);

struct sparse_state **sim_states_create(int ranks);
void sim_states_destroy(struct sparse_state **states, int ranks);

/* The ranks', of one persistent call. */
struct sparse_series **sim_series_create(int ranks);
void sim_series_destroy(struct sparse_series **series, int ranks); /* NULL: nothing */

#endif
