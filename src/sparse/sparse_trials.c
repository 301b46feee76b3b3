/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of trials, and the times of the calls that they are of: see sparse_trial.h. */
#include "sparse_trial.h"

#include <math.h>

/* How many times as dense an entry's calls may be as the first of them, or the other way round; and how far unions may grow otherwise (they
 * hardly do, do, or grow to the sum of their parts: 0, 1, 1.5). */
static const double denser = 1.8, otherwise = 0.375;

/* How far an entry is from a call: 1 is as far as it reaches. Limits that are the same for all would have inputs near one of them be of two
 * sorts, since samples differ. */
static double distance(const struct sparse_trial *t, uint32_t shape, struct sparse_sort sort)
{
    if (t->used == 0 || t->shape != shape) return INFINITY;
    double times = sort.density > t->sort.density ? sort.density / t->sort.density : t->sort.density / sort.density;
    return fmax(times / denser, fabs(sort.growth - t->sort.growth) / otherwise);
}

/* The library's routine and dense forms take what they take, however dense inputs are: what is known of them from calls with others is known
 * of these. */
static bool whatever_the_inputs(const struct sparse_trial *trial, int contender)
{
    return contender == 0 || (trial->dense > 0 && contender >= trial->dense);
}

static void take_over(const struct sparse_trials *trials, struct sparse_trial *trial)
{
    const struct sparse_trial *last = NULL;
    for (const struct sparse_trial *t = trials->trial; t < trials->trial + SPARSE_TRIALS; t++)
        if (t != trial && t->used > 0 && t->shape == trial->shape && (!last || t->used > last->used)) last = t;
    if (!last) return;
    trial->dense = last->dense;
    for (int i = 0; i < SPARSE_CONTENDERS; i++) {
        if (!whatever_the_inputs(last, i)) continue;
        trial->contender[i] = last->contender[i];
        trial->contender[i].level = 0;
    }
}

struct sparse_trial *sparse_trials_at(struct sparse_trials *trials, uint32_t shape, struct sparse_sort sort)
{
    struct sparse_trial *oldest = trials->trial, *found = NULL;
    double least = 1;
    sort.density = fmax(sort.density, 1e-9);
    for (struct sparse_trial *t = trials->trial; t < trials->trial + SPARSE_TRIALS; t++) {
        double far = distance(t, shape, sort);
        if (t->used < oldest->used) oldest = t;
        if (far > least) continue;
        least = far;
        found = t;
    }
    if (!found) {
        found = oldest;
        *found = (struct sparse_trial){.shape = shape, .sort = sort, .incumbent = -1, .ran = -1, .former = -1};
        take_over(trials, found);
    }
    found->used = ++trials->now;
    return found;
}

static uint32_t in_units(double x)
{
    return x < 1 ? 1 : x < 4e9 ? (uint32_t)x : 4000000000u;
}

void sparse_trials_begin(struct sparse_trials *trials, struct sparse_trial *trial, int contender, double predicted, double asked,
                         double now)
{
    trials->last = trial;
    trials->contender = contender;
    trials->predicted = predicted;
    trials->began = now;
    trials->times = (struct sparse_times){.asked = asked > 0 ? in_units(asked * 1e9) : 0};
}

void sparse_trials_repeat(struct sparse_trials *trials, double density, double now)
{
    trials->repeats = true;
    trials->times.density = density;
    trials->began = now;
}

void sparse_trials_end(struct sparse_trials *trials, double now)
{
    const uint32_t took = in_units((now - trials->began) * 1e7);
    trials->outside = false;
    if (trials->repeats) trials->times.again = took;
    else trials->times.took = took;
}

void sparse_trials_forget(struct sparse_trials *trials)
{
    trials->last = NULL;
    trials->times = (struct sparse_times){0};
    trials->outside = trials->repeats = false;
}

static void note(struct sparse_trial *trial, int contender, float ratio)
{
    struct sparse_contender *c = &trial->contender[contender];
    c->ratio[c->tried % SPARSE_TRIAL_RATIOS] = ratio;
    c->tried++;
    if (contender != trial->incumbent) c->level = (float)sparse_trial_level(trial);
}

void sparse_trials_learn(struct sparse_trials *trials, struct sparse_times last)
{
    struct sparse_trial *trial = trials->last;
    sparse_trials_forget(trials);
    if (!trial) return;
    if (last.asked > 0) trials->asked[trials->asks++ % SPARSE_TRIAL_RATIOS] = last.asked * 1e-9;
    trial->twice = last.again > 0;
    const uint32_t took = trial->twice && last.again < last.took ? last.again : last.took;
    const bool known = took > 0 && trials->predicted > 0;
    const float ratio = known ? (float)(took * 1e-7 / trials->predicted) : 1; /* or it would be tried for ever */
    const bool all = whatever_the_inputs(trial, trials->contender);
    for (struct sparse_trial *t = trials->trial; t < trials->trial + SPARSE_TRIALS; t++)
        if (t == trial || (all && t->used > 0 && t->shape == trial->shape)) note(t, trials->contender, ratio);
    trial->ran = trials->contender;
}

double sparse_trials_asking(const struct sparse_trials *trials, double predicted)
{
    return trials->asks > 0 ? sparse_trial_typical(trials->asked, trials->asks, false) : predicted;
}
