/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_trial.c: see sparse_trial.h. */
#include "sparse_trial.h"

#include <math.h>

enum {
    ROUNDS = 2,        /* a contender's calls before it is judged: the better one counts */
    CLOSE_ROUNDS = 4,  /* where several are nearly as good: each of the first two may have been disturbed */
    CLOSE_TWICE = 3,   /* ... where there is one more behind each that asks */
    REHEARSALS = 6,    /* agreements that are measured, of AGAIN calls */
    WAITS = 4,         /* calls before dense forms are tried */
    LASTS = 6,         /* ... even though asking takes as long as a call */
    OFTEN = 8,         /* every so many of the first calls the second best runs, if it is nearly as good */
    SETTLES = 32,      /* calls after a change in which the former best runs again ... */
    SETTLES_TWICE = 8, /* ... where there is one more behind each that asks */
    SETTLES_SOON = 8,  /* ... where asking is a large part of them */
    CHANGES = 2,       /* of the best after which all calls ask for a while, and one more in PER_CHANGE of them */
    PER_CHANGE = 128,
    SCOUTS = 8,        /* calls that ask between the first two that are to show how inputs overlap now */
    LATER = 32,        /* calls before who is far behind after one has another */
    AGAIN = 64,        /* every so many calls, and at the 4th, 8th, 16th ..., the second best runs, if it is near */
};
/* Who is predicted to take so many times as long as the best of ours is not tried. The library's routine is the one whose inside
 * is not known, and the one that must not be lost against. */
static const double reach = 2, library_reach = 4;
/* ... unless it takes so few seconds that nobody would notice. */
static const double little = 1e-3;
/* How near the second best must be to run again (who has run a few times only, when all was new: as near as to be tried at all); and to
 * do so often, among the first calls. */
static const double near = 1.5, nearest = 1.25;
/* So many times as long as before, or as short, is more than chance. */
static const double shifted = 1.25;

/* What was seen last, the least first. Returns how many there are. A few: every call that asks waits for it. */
static uint32_t in_order(const double *seen, uint32_t n, double *sorted)
{
    const uint32_t kept = n < SPARSE_TRIAL_RATIOS ? n : SPARSE_TRIAL_RATIOS;
    for (uint32_t k = 0, at; k < kept; k++) {
        for (at = k; at > 0 && sorted[at - 1] > seen[k]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = seen[k];
    }
    return kept;
}

double sparse_trial_typical(const double *seen, uint32_t n, bool modes)
{
    double sorted[SPARSE_TRIAL_RATIOS] = {INFINITY};
    const uint32_t kept = in_order(seen, n, sorted);
    return sorted[n < 3 ? 0 : modes ? (kept - 1) / 2 : 1];
}

static void ratios_of(const struct sparse_contender *c, double *ratios)
{
    for (int k = 0; k < SPARSE_TRIAL_RATIOS; k++) ratios[k] = (double)c->ratio[k];
}

static double ratio_of(const struct sparse_trial *trial, int i)
{
    const struct sparse_contender *c = &trial->contender[i];
    double seen[SPARSE_TRIAL_RATIOS];
    ratios_of(c, seen);
    return sparse_trial_typical(seen, c->tried, trial->modes);
}

/* Of a contender's last calls. */
static double slowest(const struct sparse_contender *c)
{
    double most = 0;
    for (uint32_t k = 0; k < SPARSE_TRIAL_RATIOS && k < c->tried; k++) most = fmax(most, (double)c->ratio[k]);
    return most;
}

double sparse_trial_level(const struct sparse_trial *trial)
{
    double least = INFINITY;
    if (trial->incumbent >= 0) return slowest(&trial->contender[trial->incumbent]);
    for (int i = 0; i < SPARSE_CONTENDERS; i++)
        if (trial->contender[i].tried > 0) least = fmin(least, slowest(&trial->contender[i]));
    return least;
}

double sparse_trial_expected(const struct sparse_trial *trial, int i, double predicted)
{
    double hope = 1; /* of who was not tried: that the formulas are right, or off as they are for the others */
    if (trial->contender[i].tried > 0) return predicted * ratio_of(trial, i);
    for (int k = 0; k < SPARSE_CONTENDERS; k++)
        if (trial->contender[k].tried > 0) hope = fmin(hope, ratio_of(trial, k));
    return predicted * hope;
}

static double cheapest(const struct sparse_contest *c)
{
    double best = INFINITY;
    for (int i = 1; i < c->n; i++) best = fmin(best, c->cost[i]);
    return best;
}

/* Dense forms are for a vector that is not sparse, of which the formulas cannot say whether they are better than the library's
 * routine: they wait until that has run a few times, so that a program with a few calls loses nothing by them. Where the library's routine
 * takes little, and asking half of that, they would have to run for long to win back what trying them costs; one that
 * the formulas take for better, too, where asking takes as long. On one node, where what a call takes at a rank is what it takes, a form
 * that is found the best wins it back: it runs without asking. */
static bool worth_it(const struct sparse_trial *trial, const struct sparse_contest *c, bool better)
{
    const double asked = c->steady && trial->calls >= LASTS ? 0 : (better ? 1 : reach) * c->asking;
    return trial->calls >= WAITS && sparse_trial_expected(trial, 0, c->cost[0]) > fmin(asked, little);
}

/* By the formulas not much worse than the library's routine, of which they know less, and better than in dense form: or that cannot be
 * told before one that merges has shown it. */
static bool saves(const struct sparse_contest *c, int i)
{
    int dense = i + c->dense - 1;
    bool shorter = c->unlearned || (dense < c->n && c->cost[i] * c->margin <= c->cost[dense]);
    return shorter && c->cost[i] <= near * c->cost[0];
}

static bool promising(const struct sparse_trial *trial, const struct sparse_contest *c, int i, double best)
{
    if (i == 0) return c->cost[0] <= library_reach * best || c->cost[0] < little;
    const bool better = c->cost[i] * c->margin <= c->cost[0];
    if (i >= c->dense) return worth_it(trial, c, better) && c->cost[i] <= reach * fmin(best, c->cost[0]);
    return c->cost[i] <= reach * best && (better || (worth_it(trial, c, false) && saves(c, i)));
}

/* The longest and the shortest of a contender's last calls: of more than a few, but for one of each. */
static void range_of(const struct sparse_contender *c, double cost, double *longest, double *shortest)
{
    enum { FEW = 3 };
    double seen[SPARSE_TRIAL_RATIOS], sorted[SPARSE_TRIAL_RATIOS] = {0};
    ratios_of(c, seen);
    const uint32_t kept = in_order(seen, c->tried, sorted), but = kept > FEW;
    *shortest = sorted[but] * cost;
    *longest = sorted[kept - 1 - but] * cost;
}

/* Whether the last calls of `i` took less than those of all others that have been tried, but other dense forms; and the
 * library's routine has been, several times. */
static bool surely_quicker(const struct sparse_trial *trial, const struct sparse_contest *c, int i)
{
    enum { SEVERAL = CLOSE_TWICE };
    double longest, shortest, its_longest, its_shortest;
    if (trial->contender[i].tried < SEVERAL || trial->contender[0].tried < SEVERAL) return false;
    range_of(&trial->contender[i], c->cost[i], &longest, &shortest);
    for (int other = 0; other < c->dense; other++) {
        if (trial->contender[other].tried == 0 || !isfinite(c->cost[other])) continue;
        range_of(&trial->contender[other], c->cost[other], &its_longest, &its_shortest);
        if (its_shortest <= longest) return false;
    }
    return true;
}

/* Ours must be better by its margin than who ran before, be it the library's routine or another one of ours: sums of floating-point
 * numbers are the same from call to call that way. The library's routine need only be better. */
static double handicap(const struct sparse_trial *trial, const struct sparse_contest *c, int i)
{
    if (i == trial->incumbent || i == 0) return 1;
    if (i < c->dense) return c->margin;
    return c->sure_margin > 0 && surely_quicker(trial, c, i) ? c->sure_margin : c->dense_margin;
}

/* What a call by contender `i` is expected to take. The library's routine and dense forms run without asking in most calls, encoded ones in
 * most of those that are like the ones before. */
static double expected_with(const struct sparse_trial *trial, const struct sparse_contest *c, int i)
{
    return sparse_trial_expected(trial, i, c->cost[i]) + (i > 0 && i < c->dense ? c->share * c->asking : 0);
}

/* What is nearly as good as the best of those that have been tried; 0: only the best is. */
static double close_to_best(const struct sparse_trial *trial, const struct sparse_contest *c)
{
    double least = INFINITY, second = INFINITY;
    for (int i = 0; i < c->n; i++) {
        if (trial->contender[i].tried < ROUNDS) continue;
        double expected = expected_with(trial, c, i);
        second = fmin(second, fmax(least, expected));
        least = fmin(least, expected);
    }
    return second < nearest * least ? nearest * least : 0;
}

/* Over a network: its one call has taken several times as long as another's. In a program with few calls one more would be a noticeable part of
 * them; in others there is time for it. The first call of all says little: connections are made in it, and memory is new. */
static bool far_behind(const struct sparse_trial *trial, const struct sparse_contest *c, int i)
{
    double least = INFINITY;
    if (!c->far || trial->contender[i].tried != 1 || i == trial->first || trial->calls >= LATER) return false;
    for (int k = 0; k < c->n; k++)
        if (trial->contender[k].tried > 0) least = fmin(least, expected_with(trial, c, k));
    return expected_with(trial, c, i) > fmax(little, reach * least);
}

/* How often it runs before it is judged. The library's routine comes first, when everything is new to the caches and to the other
 * processes: it runs again beside what is nearly as good. */
static uint32_t rounds(const struct sparse_trial *trial, const struct sparse_contest *c, int i, double close)
{
    if (trial->contender[i].tried < ROUNDS || expected_with(trial, c, i) >= close) return ROUNDS;
    return trial->twice ? CLOSE_TWICE + (i == 0 ? WAITS / 2 : 0) : CLOSE_ROUNDS + (i == 0 ? WAITS : 0);
}

/* Who is still to be tried: the one with fewest calls, then the one that is predicted to be quickest. -1: nobody. */
static int next_to_try(const struct sparse_trial *trial, const struct sparse_contest *c)
{
    double best = cheapest(c), close = close_to_best(trial, c);
    int next = -1;
    for (int i = 0; i < c->n; i++) {
        uint32_t tried = trial->contender[i].tried;
        if (tried >= rounds(trial, c, i, close) || !promising(trial, c, i, best) || far_behind(trial, c, i)) continue;
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
        bool unlikely = i >= c->dense || c->cost[i] * c->margin > c->cost[0];
        bool idle = i > 0 && unlikely && trial->contender[i].tried == 0;
        if (i == but || idle || !isfinite(c->cost[i])) continue;
        double expected = expected_with(trial, c, i) * handicap(trial, c, i);
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
    for (int i = 1; i < c->dense; i++)
        if (c->cost[i] * reach < c->cost[0] && (best == 0 || c->cost[i] < c->cost[best])) best = i;
    return best;
}

/* A dense form is still to come. */
static bool one_waits(const struct sparse_trial *trial, const struct sparse_contest *c)
{
    double least = INFINITY;
    for (int i = c->dense; i < c->n; i++) least = fmin(least, c->cost[i]);
    return trial->calls < WAITS && least <= reach * fmin(cheapest(c), c->cost[0]);
}

/* Ever more rarely at first, and every so many calls later, it has to show again: against the library's routine, whose first calls may have
 * been slow (new memory in each of them, until malloc keeps it), or against the second best. */
static bool doubtful(const struct sparse_trial *trial)
{
    return (trial->calls >= WAITS && (trial->calls & (trial->calls - 1)) == 0) || trial->calls % AGAIN == 0;
}

/* Where the best changes more than once before the first of them is settled, the former best is who was best before all; but whose place that
 * one takes again is seen again, too, the first times: calls one behind the other may all have been disturbed by the same. */
static void change(struct sparse_trial *trial, int best)
{
    if (best == trial->incumbent) return;
    bool again = trial->former == best && trial->changes <= CHANGES;
    if (trial->former < 0 || again || trial->calls - trial->changed > SETTLES) trial->former = trial->incumbent;
    if (trial->former == best) trial->former = -1;
    if (trial->incumbent >= 0) {
        trial->changes++;
        trial->contender[trial->incumbent].level = (float)slowest(&trial->contender[best]);
    }
    trial->incumbent = best;
    trial->changed = trial->calls;
}

static double expected_of(const struct sparse_trial *trial, const struct sparse_contest *c, int i)
{
    return sparse_trial_expected(trial, i, c->cost[i]);
}

static uint32_t settles(const struct sparse_trial *trial, const struct sparse_contest *c)
{
    static const double large = 0.125;
    return c->asking > large * expected_of(trial, c, trial->incumbent) ? SETTLES_SOON : trial->twice ? SETTLES_TWICE : SETTLES;
}

/* It was the best by the formulas alone, and its first call has taken several times as long as others'. */
static bool never_was(const struct sparse_trial *trial, const struct sparse_contest *c)
{
    const double took = expected_of(trial, c, trial->former);
    return trial->contender[trial->former].tried < ROUNDS && took > library_reach * expected_of(trial, c, trial->incumbent);
}

/* Whose turn it is to be seen again: the former best's, or nobody's, -1. A few calls that another program disturbed take the place of the best
 * away from who has it, and nothing would show that it is quick again: it runs at the 2nd, 4th, 8th ... call after the change, and ranks ask each other till then. Not
 * so where the best changes again and again: then it hardly matters who it is, and asking would take more. Who never was the best runs once more, since
 * that call may have been disturbed, too, or the first to have memory. */
static int seen_again(struct sparse_trial *trial, const struct sparse_contest *c, bool *open)
{
    const uint32_t since = trial->calls - trial->changed;
    const int former = trial->former;
    if (former < 0 || since > settles(trial, c) || !isfinite(c->cost[former])) return -1;
    if (never_was(trial, c)) {
        if (since < SETTLES_SOON) return -1;
        trial->former = -1;
        return former;
    }
    *open = *open || trial->changes <= CHANGES + trial->calls / PER_CHANGE;
    return since >= 2 && (since & (since - 1)) == 0 ? former : -1;
}

bool sparse_trial_refuses(double asking, double takes)
{
    return asking > 0.01 * takes;
}

/* The library's routine and dense forms show nothing of how inputs overlap, and who would be better if that has changed is not seen while
 * they run: now and then one that merges takes their turn, ever more rarely, and so that it costs a hundredth at most. 0: not now. */
static int scout(struct sparse_trial *trial, const struct sparse_contest *c, int best)
{
    int scout = 0;
    if (!c->thin || (best > 0 && best < c->dense)) return 0;
    for (int i = 1; i < c->dense; i++)
        if (c->merge >> i & 1 && (scout == 0 || expected_with(trial, c, i) < expected_with(trial, c, scout))) scout = i;
    if (scout == 0) return 0;
    double more = expected_with(trial, c, scout) / expected_with(trial, c, best);
    double since = (double)(trial->calls - trial->scouted), every = sparse_trial_refuses(c->asking, expected_of(trial, c, best)) ? c->every : 1;
    uint32_t least = SCOUTS << (trial->scouts < 3 ? trial->scouts : 3);
    if (more > library_reach || since < least || since * every < 100 * (more - 1)) return 0;
    trial->scouted = trial->calls;
    trial->scouts++;
    return scout;
}

/* How near the library's routine must be to run again in the place of one of ours. It comes first, when all is new to the caches and to malloc:
 * what it took then says least of all, but over a network, where that is a small part. Later only a dense form has to show again that it is better. */
static double library_reached(const struct sparse_trial *trial, const struct sparse_contest *c, int best)
{
    if (trial->contender[0].tried < SPARSE_TRIAL_RATIOS) return c->far && trial->contender[0].tried > 0 ? reach : library_reach;
    return best >= c->dense ? reach : 0;
}

/* The ratio that was seen `back` calls before the last. */
static double seen(const struct sparse_contender *c, uint32_t back)
{
    return (double)c->ratio[(c->tried - 1 - back) % SPARSE_TRIAL_RATIOS];
}

/* Whether the last `new` calls all took longer than those before. */
static bool slower(const struct sparse_contender *c, uint32_t new)
{
    double least = INFINITY, before = 0;
    for (uint32_t back = 0; back < new; back++) least = fmin(least, seen(c, back));
    for (uint32_t back = new; back < SPARSE_TRIAL_RATIOS; back++) before = fmax(before, seen(c, back));
    return least > shifted * before;
}

/* Whether the last call took less than those before. */
static bool quicker(const struct sparse_contender *c)
{
    double before = INFINITY;
    for (uint32_t back = 1; back < SPARSE_TRIAL_RATIOS; back++) before = fmin(before, seen(c, back));
    return seen(c, 0) * shifted < before;
}

/* A program that starts while others are at work finds out who waits least for a processor. When the best takes less than two fifths of what it took when
 * another one ran last, what that one took then says nothing: it is tried again; ever more seldom, if this happens again. */
static void begin_anew(struct sparse_trial *trial)
{
    static const double little_of = 0.4;
    const int best = trial->incumbent;
    if (best < 0 || trial->calls < trial->anew || trial->contender[best].tried <= SPARSE_TRIAL_RATIOS) return;
    const double now = ratio_of(trial, best);
    for (int i = 0; i < SPARSE_CONTENDERS; i++) {
        struct sparse_contender *c = &trial->contender[i];
        if (i == best || c->tried == 0 || now >= little_of * (double)c->level) continue;
        c->tried = 0;
        if (i == trial->former) trial->former = -1;
        trial->anew = trial->calls + trial->calls / 4 + AGAIN;
    }
}

/* Other programs come and go, and processors are moved: what was found out holds no longer then. The best has taken longer than it did, several
 * times in a row: is somebody quicker now? Or another one has had its turn, and took less than the best, and than it ever did: was
 * that luck? One more call tells. -1: neither. `ran`: whose call was the last. */
static int after_a_shift(const struct sparse_trial *trial, const struct sparse_contest *c, int ran, int best)
{
    enum { SEVERAL = 3 };
    if (ran < 0 || !isfinite(c->cost[ran]) || trial->contender[ran].tried < SPARSE_TRIAL_RATIOS) return -1;
    const struct sparse_contender *last = &trial->contender[ran];
    const double took = c->cost[ran] * seen(last, 0);
    if (ran != best) return quicker(last) && took * handicap(trial, c, ran) < expected_with(trial, c, best) ? ran : -1;
    if (!slower(last, SEVERAL)) return -1;
    const int second = best_of(trial, c, best);
    return sparse_trial_expected(trial, second, c->cost[second]) < nearest * took ? second : -1;
}

int sparse_trial_choose(struct sparse_trial *trial, const struct sparse_contest *contest, bool *open)
{
    const double *cost = contest->cost;
    trial->dense = contest->dense;
    begin_anew(trial);
    int next = next_to_try(trial, contest);
    if (trial->calls == 0) trial->first = next;
    const int ran = trial->ran;
    trial->ran = -1;
    *open = next >= 0 || one_waits(trial, contest);
    trial->calls++;
    if (next >= 0) return next;
    int best = best_of(trial, contest, -1);
    change(trial, best);
    const int again = seen_again(trial, contest, open);
    if (again >= 0) return again;
    const int shift = after_a_shift(trial, contest, ran, best);
    if (shift >= 0) return shift;
    int merges = scout(trial, contest, best);
    if (merges > 0) return merges;
    bool often = trial->calls <= AGAIN && trial->calls % OFTEN == 0, rarely = doubtful(trial);
    if (!often && !rarely) return best;
    if (best == 0 && rarely) {
        int ours = favourite(contest);
        bool hopeless = sparse_trial_expected(trial, ours, cost[ours]) > reach * sparse_trial_expected(trial, 0, cost[0]);
        if (ours > 0 && !hopeless) return ours;
    }
    int second = best_of(trial, contest, best);
    double least = sparse_trial_expected(trial, best, cost[best]), next_best = sparse_trial_expected(trial, second, cost[second]);
    if (rarely && best > 0 && sparse_trial_expected(trial, 0, cost[0]) < library_reached(trial, contest, best) * least) return 0;
    double reached = !rarely ? nearest : trial->contender[second].tried < SPARSE_TRIAL_RATIOS ? reach : near;
    return next_best < reached * least ? second : best;
}

bool sparse_trials_rehearse(const struct sparse_trials *trials)
{
    return trials->now % AGAIN < REHEARSALS;
}
