/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice: every rank evaluates the same formulas (sparse_model.c) on the same agreed numbers and takes the cheapest of the
 * algorithms of the kind, encoded or dense, or the MPI library's own routine unless ours gains at least the margin. Where calls of
 * the shape have been timed, that counts, too (sparse_trial.c). */
#include "sparse_boards.h"
#include "sparse_state.h"

#include <math.h>

/* Without anything learned, inputs are taken for independent. */
#define INDEPENDENT 1.0
#define DISJOINT 1.5

static const struct range { enum sparse_algorithm first, last; } ranges[SPARSE_KINDS] = {
    [SPARSE_REDUCE] = {SPARSE_REDUCE_BINOMIAL, SPARSE_REDUCE_LEADERS},
    [SPARSE_ALLREDUCE] = {SPARSE_ALLREDUCE_DOUBLING, SPARSE_ALLREDUCE_SHARES},
    [SPARSE_REDUCE_SCATTER] = {SPARSE_SCATTER_HALVING, SPARSE_SCATTER_PAIRWISE},
    [SPARSE_SCAN] = {SPARSE_SCAN_DOUBLING, SPARSE_SCAN_CHAIN},
    [SPARSE_EXSCAN] = {SPARSE_SCAN_DOUBLING, SPARSE_SCAN_CHAIN}};

/* Who fills nothing but its share says how unions grow. */
static void see_shares(struct sparse_estimate *e)
{
    e->growth = DISJOINT;
    e->per_exception = (double)e->size;
    e->learned = true;
    e->stale = false;
}

struct sparse_estimate sparse_choice_estimate(const struct sparse_call *call, const struct sparse_parameters *parameters,
                                              size_t elements, const struct sparse_terms *terms)
{
    struct sparse_estimate e = {.elements = elements, .size = call->operator.size, .ranks = call->transport->size,
                                .commutative = call->operator.commutative, .growth = INDEPENDENT,
                                .per_exception = (double)call->operator.size + 2, .library = call->library};
    if (terms->ranks > 0) e.density = (double)terms->density / 0x1p32 / terms->ranks;
    double looked = (double)parameters->sample_lines * 64 / (double)call->operator.size * call->transport->size;
    if (looked > 1) e.grain = 1 / looked;
    e.density = fmax(e.density, e.grain);
    e.learned = terms->observed > 0;
    e.stale = e.learned && terms->flags & SPARSE_STALE;
    if (e.learned) {
        e.growth = (double)terms->growth / 0x1p20 / terms->observed;
        e.per_exception = (double)terms->per_exception / 0x1p20 / terms->observed;
    }
    e.boards = sparse_boards_fit(call, elements);
    e.shown = sparse_boards_near(call);
    e.shares = !(terms->flags & SPARSE_SPREAD) && e.density * e.ranks >= 0.5;
    if (e.shares) see_shares(&e);
    return e;
}

struct sparse_sort sparse_choice_sort(const struct sparse_estimate *estimate)
{
    const double few = 8, met = fmin(1, 2 * estimate->density * (estimate->ranks - 1));
    double growth = estimate->growth <= INDEPENDENT ? estimate->growth : INDEPENDENT + (estimate->growth - INDEPENDENT) * met;
    return (struct sparse_sort){estimate->density + few * estimate->grain, growth};
}

/* Does not merge, and so shows nothing of how unions grow: taken on knowledge only, and now and then another one in its place. Not so of
 * two ranks, whose only merge most others make uncounted, too, into the result: what halving would show of the one union, once in 17
 * calls, gains less than that call takes longer. */
static bool shows_nothing(enum sparse_algorithm algorithm, int ranks)
{
    return (sparse_goes_straight(algorithm) || algorithm == SPARSE_ALLREDUCE_SHARES) && ranks > 2;
}

/* Of dense vectors nothing is to be known. */
static bool barred(enum sparse_algorithm algorithm, bool dense, const struct sparse_estimate *estimate)
{
    return !dense && !estimate->learned && shows_nothing(algorithm, estimate->ranks);
}

bool sparse_choice_forced(enum sparse_kind kind, const struct sparse_parameters *parameters)
{
    return parameters->algorithm >= ranges[kind].first && parameters->algorithm <= ranges[kind].last;
}

static struct sparse_choice passed_on(double predicted)
{
    return (struct sparse_choice){.algorithm = SPARSE_LIBRARY, .predicted = predicted, .settled = true};
}

/* The cheapest by the formulas, of ours. */
static struct sparse_choice cheapest(struct range range, bool forced, const struct sparse_estimate *estimate,
                                     const struct sparse_parameters *parameters)
{
    struct sparse_choice best = passed_on(0);
    for (enum sparse_algorithm a = range.first; a <= range.last; a++)
        for (int dense = parameters->dense; dense < 2; dense++) {
            if (forced && dense != parameters->dense) continue;
            if (!forced && barred(a, dense, estimate)) continue;
            double cost = sparse_cost(a, a, dense, estimate, parameters);
            if (best.algorithm == SPARSE_LIBRARY || cost < best.predicted)
                best = (struct sparse_choice){a, dense, (int)(a - range.first) + 1, cost, .open = false};
        }
    return best;
}

/* The cheapest of the kind that merges. */
static struct sparse_choice to_learn(struct range range, const struct sparse_estimate *estimate,
                                     const struct sparse_parameters *parameters)
{
    struct sparse_choice best = passed_on(0);
    for (enum sparse_algorithm a = range.first; a <= range.last; a++) {
        if (shows_nothing(a, estimate->ranks)) continue;
        double cost = sparse_cost(a, a, false, estimate, parameters);
        if (best.algorithm == SPARSE_LIBRARY || cost < best.predicted)
            best = (struct sparse_choice){a, false, (int)(a - range.first) + 1, cost, .open = false};
    }
    return best;
}

static enum sparse_algorithm contender(struct range range, int i)
{
    const int algorithms = (int)(range.last - range.first) + 1;
    return i > 0 ? range.first + (unsigned)((i - 1) % algorithms) : SPARSE_LIBRARY;
}

static double careful(const struct sparse_parameters *parameters)
{
    return 1 + 2.5 * (parameters->margin - 1);
}

/* The library's routine waits for a network for long. */
static bool waits(const struct sparse_estimate *estimate, const struct sparse_parameters *parameters, double library)
{
    static const double a_while = 2e-3;
    return !sparse_near(&parameters->rates, estimate->ranks) && library >= a_while;
}

/* Where many ranks share a processor they leave the agreement one behind the other, and wait for each other in what is timed, whoever runs: that
 * makes short calls more alike than they are. */
static bool alike(const struct sparse_estimate *estimate, const struct sparse_parameters *parameters)
{
    static const double many = 4;
    const bool is_short = estimate->elements * estimate->size < 4 * SPARSE_SHORT_MOST;
    return is_short && parameters->rates.ranks_per_processor >= many && sparse_near(&parameters->rates, estimate->ranks);
}

/* A dense form has memory of its own, which calls one behind the other find in the caches, and calls of a program that computes between
 * them do not; and over a network a call that takes little is disturbed by more than the usual margin: where it would stay in the
 * caches, it has to be better by more. Not so beside a long wait, where memory is nothing. What takes long is disturbed by less of it.
 * Between nodes of several ranks, of which the library's routine may know nothing, several calls that take less than the other's are no chance:
 * sure_margin(); but where messages go one way what a call takes at a rank says little. */
static double dense_margin(const struct sparse_estimate *estimate, const struct sparse_parameters *parameters, bool waits)
{
    bool cached = estimate->elements * estimate->size < parameters->past_bytes;
    if (!cached) return 1 + (parameters->margin - 1) / 2;
    return !waits && !alike(estimate, parameters) ? careful(parameters) : parameters->margin;
}

static double sure_margin(enum sparse_kind kind, const struct sparse_estimate *estimate, const struct sparse_parameters *parameters)
{
    return sparse_both_ways(kind) && sparse_nodes_matter(estimate->ranks, parameters->rates.ranks_per_node) ? parameters->margin : 0;
}

/* What is short takes little, and is disturbed by more of that. */
static double encoded_margin(const struct sparse_estimate *estimate, const struct sparse_parameters *parameters)
{
    bool is_short = estimate->elements * estimate->size < SPARSE_SHORT_MOST;
    return is_short ? careful(parameters) : parameters->margin;
}

static struct sparse_choice by_trial(enum sparse_kind kind, double library, const struct sparse_estimate *estimate,
                                     const struct sparse_parameters *parameters, struct sparse_trial *trial)
{
    const struct range range = ranges[kind];
    const int algorithms = (int)(range.last - range.first) + 1;
    struct sparse_contest contest = {.n = 1, .dense = 1 + algorithms, .cost = {library}, .asking = trial->asking,
                                     .margin = encoded_margin(estimate, parameters), .thin = estimate->density < 0.5,
                                     .steady = sparse_both_ways(kind) && sparse_near(&parameters->rates, estimate->ranks),
                                     .far = !sparse_near(&parameters->rates, estimate->ranks), .every = parameters->every, .share = trial->share};
    contest.unlearned = contest.thin && !estimate->learned;
    trial->modes = waits(estimate, parameters, sparse_trial_expected(trial, 0, library));
    contest.dense_margin = dense_margin(estimate, parameters, trial->modes);
    contest.sure_margin = fmin(contest.dense_margin, sure_margin(kind, estimate, parameters));
    bool open;
    for (enum sparse_algorithm a = range.first; a <= range.last; a++)
        contest.merge |= shows_nothing(a, estimate->ranks) ? 0 : 2u << (a - range.first);
    for (int dense = 0; dense < 2; dense++)
        for (enum sparse_algorithm a = range.first; a <= range.last; a++)
            contest.cost[contest.n++] = barred(a, dense, estimate) ? INFINITY : sparse_cost(a, a, dense, estimate, parameters);
    int i = sparse_trial_choose(trial, &contest, &open);
    return (struct sparse_choice){.algorithm = contender(range, i), .dense = i >= contest.dense, .contender = i,
                                  .predicted = contest.cost[i], .open = open,
                                  .settled = !open && i == trial->incumbent};
}

/* Within a node messages take next to nothing, and most of it is how ranks wait for each other. */
double sparse_choice_asking(const struct sparse_estimate *estimate, const struct sparse_parameters *parameters)
{
    enum { WAITING = 8 };
    const double messages = sparse_cost_of_asking(estimate, parameters);
    return sparse_near(&parameters->rates, estimate->ranks) ? WAITING * messages : messages;
}

/* By the formulas. They cannot say whether a dense form of ours is better than the library's routine, unless that is known not to be a good
 * one: then one that is, by more than the usual margin, need not be asked for again. */
static struct sparse_choice untimed(struct range range, double library, const struct sparse_estimate *estimate,
                                    const struct sparse_parameters *parameters)
{
    const bool good = estimate->library.fresh == 0 && !estimate->library.at_root;
    struct sparse_choice best = cheapest(range, false, estimate, parameters);
    const double margin = best.dense ? careful(parameters) : parameters->margin;
    const double asking = best.dense ? 0 : sparse_choice_asking(estimate, parameters);
    if ((best.dense && good) || best.predicted * margin + asking > library) return passed_on(library);
    best.settled = best.dense;
    return best;
}

struct sparse_choice sparse_choice_to_learn(enum sparse_kind kind, const struct sparse_estimate *estimate,
                                            const struct sparse_parameters *parameters, struct sparse_choice otherwise)
{
    static const double several = 4;
    const double library = sparse_cost(SPARSE_LIBRARY, ranges[kind].first, true, estimate, parameters);
    if (estimate->learned || estimate->density >= 0.5) return otherwise;
    struct sparse_choice choice = to_learn(ranges[kind], estimate, parameters);
    return choice.predicted <= several * library ? choice : otherwise;
}

struct sparse_choice sparse_choose(enum sparse_kind kind, bool may_pass_on, const struct sparse_estimate *estimate,
                                   const struct sparse_parameters *parameters, struct sparse_trial *trial)
{
    struct range range = ranges[kind];
    bool forced = sparse_choice_forced(kind, parameters);
    if (forced) range.first = range.last = parameters->algorithm;
    if (!may_pass_on || forced || parameters->always) {
        struct sparse_choice choice = cheapest(range, forced, estimate, parameters);
        choice.settled = parameters->dense;
        return choice;
    }
    double library = sparse_cost(SPARSE_LIBRARY, range.first, true, estimate, parameters);
    const bool timed = trial && !parameters->dense;
    struct sparse_choice best = timed ? by_trial(kind, library, estimate, parameters, trial) : untimed(range, library, estimate, parameters);
    return estimate->stale && shows_nothing(best.algorithm, estimate->ranks) ? to_learn(range, estimate, parameters) : best;
}
