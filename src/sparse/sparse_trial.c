/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_trial.c: see sparse_trial.h. */
#include "sparse_trial.h"

#include <math.h>

enum {
    ROUNDS = 2,        /* a contender's calls before it is judged: the better one counts */
    WAITS = 4,         /* calls before the dense form is tried */
    AGAIN = 64,        /* every so many calls the second best runs, if it is near */
    DOUBTS = 4,        /* every so many calls that are looked at while the library's routine runs: ours, if the formulas are for it */
};
/* Who is predicted to take so many times as long as the best of ours is not tried. The library's routine is the one whose inside
 * is not known, and the one that must not be lost against. */
static const double reach = 2, library_reach = 4;
/* How near the second best must be to run again, and by how much another one must be better than the one that ran before: results
 * of floating-point sums stay the same from call to call that way. */
static const double near = 1.5, better = 1.1;

static uint32_t octave(double x)
{
    int exponent = 0;
    (void)frexp(x, &exponent);
    return (uint32_t)exponent;
}

/* Sizes by powers of two, densities by powers of four, unions that hardly grow, grow, or grow to the sum of their parts. */
static uint32_t key_of(int kind, size_t bytes, double density, double growth)
{
    uint32_t overlap = growth < 0.5 ? 0 : growth < 1.25 ? 1 : 2;
    uint32_t thin = density > 0 ? (1 - octave(density)) / 2 : 31;
    return 1 + (uint32_t)kind + 8 * (thin < 31 ? thin : 31) + 256 * overlap + 1024 * octave((double)bytes);
}

struct sparse_trial *sparse_trials_at(struct sparse_trials *trials, int kind, size_t bytes, double density, double growth)
{
    uint32_t key = key_of(kind, bytes, density, growth);
    struct sparse_trial *oldest = trials->trial, *found = NULL;
    for (struct sparse_trial *t = trials->trial; t < trials->trial + SPARSE_TRIALS && !found; t++) {
        if (t->key == key) found = t;
        else if (t->used < oldest->used) oldest = t;
    }
    if (!found) {
        found = oldest;
        *found = (struct sparse_trial){.key = key, .incumbent = -1};
    }
    found->used = ++trials->now;
    return found;
}

static double middle(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Disturbances only add: the better one of two, but the middle one of three, or luck would stay for ever. */
static double ratio_of(const struct sparse_contender *c)
{
    if (c->tried == 1) return (double)c->ratio[0];
    if (c->tried == 2) return fmin((double)c->ratio[0], (double)c->ratio[1]);
    return middle((double)c->ratio[0], (double)c->ratio[1], (double)c->ratio[2]);
}

double sparse_trial_expected(const struct sparse_trial *trial, int i, double predicted)
{
    double hope = 1; /* of who was not tried: that the formulas are right, or off as they are for the others */
    if (trial->contender[i].tried > 0) return predicted * ratio_of(&trial->contender[i]);
    for (int k = 0; k < SPARSE_CONTENDERS; k++)
        if (trial->contender[k].tried > 0) hope = fmin(hope, ratio_of(&trial->contender[k]));
    return predicted * hope;
}

static double cheapest(const struct sparse_contest *c)
{
    double best = INFINITY;
    for (int i = 1; i < c->n; i++) best = fmin(best, c->cost[i]);
    return best;
}

/* The dense form is for a vector that is not sparse, of which the formulas cannot say whether it is better than the library's
 * routine: it waits until that has run a few times, so that a program with a few calls loses nothing by it. */
static bool promising(const struct sparse_trial *trial, const struct sparse_contest *c, int i, double best)
{
    if (i == 0) return c->cost[0] <= library_reach * best;
    if (i == c->n - 1) return trial->calls >= WAITS && c->cost[i] <= reach * fmin(best, c->cost[0]);
    return c->cost[i] <= reach * best && c->cost[i] * c->margin <= c->cost[0];
}

/* Who is still to be tried: the one with fewest calls, then the one that is predicted to be quickest. -1: nobody. */
static int next_to_try(const struct sparse_trial *trial, const struct sparse_contest *c)
{
    double best = cheapest(c);
    int next = -1;
    for (int i = 0; i < c->n; i++) {
        uint32_t tried = trial->contender[i].tried;
        if (tried >= ROUNDS || !promising(trial, c, i, best)) continue;
        bool before = next < 0 || tried < trial->contender[next].tried;
        if (before || (tried == trial->contender[next].tried && c->cost[i] < c->cost[next])) next = i;
    }
    return next;
}

static int best_of(const struct sparse_trial *trial, const struct sparse_contest *c, int but)
{
    double least = INFINITY;
    int best = 0;
    for (int i = 0; i < c->n; i++) {
        bool unlikely = i == c->n - 1 || c->cost[i] * c->margin > c->cost[0];
        bool idle = i > 0 && unlikely && trial->contender[i].tried == 0;
        if (i == but || idle || !isfinite(c->cost[i])) continue;
        double expected = sparse_trial_expected(trial, i, c->cost[i]);
        if (i > 0) expected = (expected + c->asking) * c->margin;
        if (i != trial->incumbent) expected *= better;
        if (expected >= least) continue;
        least = expected;
        best = i;
    }
    return best;
}

/* The one of ours that the formulas take for clearly better than the library's routine; 0: none. */
static int favourite(const struct sparse_contest *c)
{
    int best = 0;
    for (int i = 1; i < c->n - 1; i++)
        if (c->cost[i] * reach < c->cost[0] && (best == 0 || c->cost[i] < c->cost[best])) best = i;
    return best;
}

int sparse_trial_choose(struct sparse_trial *trial, const struct sparse_contest *contest)
{
    const double *cost = contest->cost;
    int next = next_to_try(trial, contest);
    trial->calls++;
    if (next >= 0) return next;
    int best = best_of(trial, contest, -1);
    trial->incumbent = best;
    if (best == 0 && trial->calls % DOUBTS == 0) {
        int ours = favourite(contest);
        bool hopeless = sparse_trial_expected(trial, ours, cost[ours]) > reach * sparse_trial_expected(trial, 0, cost[0]);
        if (ours > 0 && !hopeless) return ours;
    }
    if (trial->calls % AGAIN == 0) {
        int second = best_of(trial, contest, best);
        bool close = sparse_trial_expected(trial, second, cost[second]) < near * sparse_trial_expected(trial, best, cost[best]);
        if (second != best && close) return second;
    }
    return best;
}

void sparse_trials_begin(struct sparse_trials *trials, struct sparse_trial *trial, int contender, double predicted, double now)
{
    trials->last = trial;
    trials->contender = contender;
    trials->predicted = predicted;
    trials->began = now;
    trials->took = 0;
}

void sparse_trials_end(struct sparse_trials *trials, double now)
{
    double took = (now - trials->began) * 1e6;
    trials->outside = false;
    trials->took = took < 1 ? 1 : took < 4e9 ? (uint32_t)took : 4000000000u;
}

void sparse_trials_learn(struct sparse_trials *trials, uint32_t microseconds)
{
    struct sparse_trial *trial = trials->last;
    trials->last = NULL;
    trials->took = 0;
    trials->outside = false;
    if (!trial) return;
    struct sparse_contender *c = &trial->contender[trials->contender];
    bool known = microseconds > 0 && trials->predicted > 0;
    c->ratio[c->tried % SPARSE_TRIAL_RATIOS] = known ? (float)(microseconds * 1e-6 / trials->predicted) : 1; /* or it would be tried for ever */
    c->tried++;
}
