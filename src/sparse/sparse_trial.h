/* SPDX-License-Identifier: BSD-3-Clause */
/* What the contenders for a reduction have really taken: measured over predicted seconds, by shape (sparse_state.h), density and overlap. Formulas
 * are good at telling how time grows and bad at telling one machine's routine from another's by tens of percent; so the first
 * calls of a shape try every contender that is predicted to come close, and later ones go by what was seen.
 *
 * The same on all ranks: times are those of the slowest rank, from the agreement of the next call (struct sparse_terms), and
 * everything else follows from agreed numbers. Of blocking calls, and of those in turn that come one at a time (sparse_turns.h): others
 * do not come in one order, nor take one's whole attention. */
#ifndef LUCID_SPARSE_TRIAL_H
#define LUCID_SPARSE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sparse_agree.h"

enum { SPARSE_CONTENDERS = 11, SPARSE_TRIALS = 32, SPARSE_TRIAL_RATIOS = 5 };

/* Who may run: the library's routine, the kind's algorithms, and their dense forms. */
struct sparse_contest {
    int n, dense;                   /* contenders; the first dense form */
    double cost[SPARSE_CONTENDERS]; /* predicted seconds; infinite: not allowed. First the library's */
    double asking;                  /* seconds of the agreement, which comes before ours */
    double margin, dense_margin;    /* by which ours must be better than the library's routine, as a factor */
    double sure_margin;             /* ... a dense form of which several calls, the last ones, took less than any but other dense ones'; 0: no less */
    bool thin;                      /* inputs may be sparse enough */
    bool unlearned;                 /* ... and nobody knows how they overlap */
    unsigned merge;                 /* a bit for each contender that shows it */
    bool steady;                    /* on one node, of calls that take the same at all ranks */
    bool far;                       /* ranks are on several nodes */
    unsigned every;                 /* calls, of which one asks, where asking is a noticeable part of them */
    double share;                   /* ... and the share of that time in each of those in which an encoded form runs */
};

struct sparse_contender {
    float ratio[SPARSE_TRIAL_RATIOS]; /* the last ones; one behind the other */
    float level;                      /* of the best's, when it ran last in the place of that one */
    uint32_t tried;
};

/* What sort of inputs they are, for comparison with others': density and growth of unions (sparse_model.h), but for what a few samples more
 * or less would change, and for what tells thin inputs that overlap nowhere from independent ones, which hardly do. */
struct sparse_sort {
    double density, growth;
};

/* One sort of call: of a shape, with inputs like those of the first of them. */
struct sparse_trial {
    uint32_t shape;
    uint32_t used; /* when last; 0: free */
    struct sparse_sort sort;
    uint32_t calls;
    int first, dense; /* who ran first; the first dense form, as in the contest */
    int incumbent;
    int ran;          /* whose time the last call has added; -1: nobody's */
    int former;       /* who was the incumbent before the last changes; -1: nobody */
    uint32_t changed, changes; /* the call of the last change; how many there were */
    uint32_t anew;             /* before that call nobody is tried again for what others' work was */
    uint32_t scouted, scouts; /* the last call that was to show how inputs overlap now, and how many there were */
    bool twice;      /* calls run once more without asking */
    bool modes;      /* a routine may have several ways of being, none of which is a disturbance */
    double asking, share; /* seconds of the agreement; the share of them in a call with such inputs, as far as can be foreseen */
    struct sparse_contender contender[SPARSE_CONTENDERS];
};

struct sparse_trials {
    struct sparse_trial trial[SPARSE_TRIALS];
    uint32_t now; /* calls so far */
    double asked[SPARSE_TRIAL_RATIOS]; /* seconds of the last agreements that were measured */
    uint32_t asks;
    /* The last call, the same on all ranks but for `began` and `times`. */
    struct sparse_trial *last; /* NULL: none that was timed */
    int contender;
    double predicted;
    double began;
    struct sparse_times times; /* of this rank */
    bool repeats;  /* it is running again */
    bool outside;  /* the library's routine is running */
};

/* The entry that is nearest; a new one, where none is near, takes the place of the one that has not been used for longest. */
struct sparse_trial *sparse_trials_at(struct sparse_trials *trials, uint32_t shape, struct sparse_sort sort);

/* Which contender is to run. `open`: others are still to be tried. */
int sparse_trial_choose(struct sparse_trial *trial, const struct sparse_contest *contest, bool *open);

/* What contender `i` is expected to take, of which the formulas say `predicted`. */
double sparse_trial_expected(const struct sparse_trial *trial, int i, double predicted);

/* Disturbances only add: the least of two, but the second least of more, or luck would stay for ever. Of modes the middle one: the library's
 * Reduce_scatter_block of 1 MiB between nodes takes 9.4, 11.4 or 13.7 ms. */
double sparse_trial_typical(const double *seen, uint32_t n, bool modes);

/* How times compare with what the formulas say: the longest of the best's last calls, or, before there is a best, the least of all contenders'. */
double sparse_trial_level(const struct sparse_trial *trial);

/* Whether asking, of that many seconds, is a noticeable part of what a call takes. */
bool sparse_trial_refuses(double asking, double takes);

/* Whether this call is to have a second agreement, which shows what one costs: before the first, ranks wait for those that come late. */
bool sparse_trials_rehearse(const struct sparse_trials *trials);

/* A call begins, and ends at this rank. `asked`: seconds of the second agreement, and of what a rank does before and after one; 0: there
 * was none. */
void sparse_trials_begin(struct sparse_trials *trials, struct sparse_trial *trial, int contender, double predicted, double asked,
                         double now);
/* The next call runs the same without asking, on an input of that density. */
void sparse_trials_repeat(struct sparse_trials *trials, double density, double now);
void sparse_trials_end(struct sparse_trials *trials, double now);

/* What the last call took at the slowest rank. Behind an agreement ranks begin one behind the other, and without one as the program has them
 * begin: of a call and its repetition the one counts that took less, since to wait for others only adds. */
void sparse_trials_learn(struct sparse_trials *trials, struct sparse_times last);
/* That is void. */
void sparse_trials_forget(struct sparse_trials *trials);

/* Seconds of an agreement: what the last ones took, or as predicted. */
double sparse_trials_asking(const struct sparse_trials *trials, double predicted);

#endif
