/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_trial_test.c: who of several contenders runs, by what they have taken so far.
 */
#include <math.h>

#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

static uint32_t shape(enum sparse_op op, enum sparse_type type, int kind, size_t bytes)
{
    struct sparse_operator operator;
    assert_true(sparse_operator_predefined(op, type, &operator));
    return sparse_call_shape((enum sparse_kind)kind, &operator, bytes);
}

/* Of sums of doubles. */
static struct sparse_trial *at(struct sparse_trials *trials, int kind, size_t bytes, double density, double growth)
{
    return sparse_trials_at(trials, shape(SPARSE_SUM, SPARSE_DOUBLE, kind, bytes), (struct sparse_sort){density, growth});
}

/* One call of a contest in which contender i takes seconds[i]. Who ran. */
static int contend(struct sparse_trials *trials, struct sparse_trial *trial, const struct sparse_contest *contest, const double *seconds)
{
    bool open;
    int i = sparse_trial_choose(trial, contest, &open);
    sparse_trials_begin(trials, trial, i, contest->cost[i], 0, 0);
    sparse_trials_end(trials, seconds[i]);
    sparse_trials_learn(trials, trials->times);
    return i;
}

/* Both of its first calls take twice as long as the others will: who is nearly as good is given two more. */
static void test_disturbed(void **state)
{
    const struct sparse_contest contest = {.n = 3, .dense = 3, .cost = {6, 3, 4}, .margin = 1.1, .dense_margin = 1.1};
    const double usual[] = {8, 3, 5}, disturbed[] = {8, 6, 5};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 20, 0.01, 1);
    int seen = 0, right = 0;
    for (int call = 0; call < 20; call++) {
        int ran = contend(&trials, trial, &contest, seen < 2 ? disturbed : usual);
        seen += ran == 1;
        right += call >= 10 && ran == 1;
    }
    assert_in_range(right, 8, 10);
}

/* Better by less than a dense form is to be, but in all calls: it is taken where that counts, and not where calls overlap. */
static void test_surely_quicker(void **state)
{
    const double sure[] = {0, 1.1};
    for (int i = 0; i < 2; i++)
        for (int overlap = 0; overlap < 2; overlap++) {
            const struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {6, 20, 6}, .margin = 1.1, .dense_margin = 1.25, .sure_margin = sure[i]};
            struct sparse_trials trials = {0};
            struct sparse_trial *trial = at(&trials, 1, 1 << 16, 1, 1);
            for (int call = 0; call < 64; call++) {
                const double slow = overlap && trial->contender[2].tried % 2 == 1 ? 7.1 : 6;
                const double seconds[] = {7 + 0.01 * (call % 3), 20, slow};
                (void)contend(&trials, trial, &contest, seconds);
            }
            assert_int_equal(trial->incumbent, i == 1 && !overlap ? 2 : 0);
        }
}

/* Its first calls, when all was new to it, take nearly twice as long as the best one's: it has more of them, and is found. */
static void test_few_calls_say_little(void **state)
{
    const struct sparse_contest contest = {.n = 3, .dense = 3, .cost = {20, 5, 5}, .margin = 1.1, .dense_margin = 1.1};
    const double first[] = {20, 5, 9}, later[] = {20, 5, 3};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 20, 0.01, 1);
    for (int call = 0, seen = 0; call < 64; call++) seen += contend(&trials, trial, &contest, seen < 2 ? first : later) == 2;
    assert_int_equal(trial->incumbent, 2);
}

/* The library's routine comes first, when everything is new, and takes three times as long as later. It is found although two of ours are
 * nearer to each other. */
static void test_library_s_first_calls_say_little(void **state)
{
    const struct sparse_contest contest = {.n = 3, .dense = 3, .cost = {6, 3, 3}, .margin = 1.1, .dense_margin = 1.1};
    const double first[] = {9, 3, 3.2}, later[] = {2, 3, 3.2};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 20, 0.1, 1);
    for (int call = 0; call < 64; call++) (void)contend(&trials, trial, &contest, trial->contender[0].tried < 2 ? first : later);
    assert_int_equal(trial->incumbent, 0);
}

/* The library's routine takes three quarters more than a dense form in its first calls, and then half as long: it is found again. */
static void test_library_is_seen_again(void **state)
{
    const struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {4, 9, 4}, .margin = 1.1, .dense_margin = 1.1};
    const double first[] = {7, 9, 4}, later[] = {2, 9, 4};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 24, 1, 1);
    for (int call = 0; call < 12; call++) (void)contend(&trials, trial, &contest, first);
    assert_int_equal(trial->incumbent, 2);
    for (int call = 0; call < 128; call++) (void)contend(&trials, trial, &contest, later);
    assert_int_equal(trial->incumbent, 0);
}

/* Processors are moved away from each other, and after a while back: who is quicker then is found out within a few calls, also when what
 * was known of it is out of date. */
static void test_things_change(void **state)
{
    const struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {8, 20, 7}, .margin = 1.1, .dense_margin = 1.1};
    const double near[] = {18.5, 40, 9}, apart[] = {14, 40, 20};
    enum { WHILE = 90, FEW = 12 };
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 24, 1, 1);
    for (int turn = 0; turn < 6; turn++)
        for (int call = 0; call < WHILE; call++) {
            (void)contend(&trials, trial, &contest, turn % 2 ? apart : near);
            if (turn > 0 && call >= FEW) assert_int_equal(trial->incumbent, turn % 2 ? 0 : 2);
        }
}

/* So many of the 64 calls after the best has become another one would ask whatever had run before. */
static int asked_after_a_change(double asking)
{
    const struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {8, 20, 7}, .asking = asking, .margin = 1.1, .dense_margin = 1.1};
    const double before[] = {18, 40, 9}, after[] = {10, 40, 20};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 24, 1, 1);
    int asked = 0;
    for (int call = 0; trial->incumbent != 2; call++) (void)contend(&trials, trial, &contest, before);
    for (int call = 0; call < 32; call++) (void)contend(&trials, trial, &contest, before);
    while (trial->incumbent == 2) (void)contend(&trials, trial, &contest, after);
    for (int call = 0; call < 64; call++) {
        bool open;
        int i = sparse_trial_choose(trial, &contest, &open);
        sparse_trials_begin(&trials, trial, i, contest.cost[i], 0, 0);
        sparse_trials_end(&trials, after[i]);
        sparse_trials_learn(&trials, trials.times);
        asked += open;
    }
    return asked;
}

/* The former best is seen again for a while, in which all calls ask: not for long where that takes as much as the call. */
static void test_asking_is_dear(void **state)
{
    assert_in_range(asked_after_a_change(0), 24, 40);
    assert_in_range(asked_after_a_change(8), 1, 12);
}

/* Nothing changes, and who is best stays it, whatever disturbs a call now and then. */
static void test_disturbances_change_nothing(void **state)
{
    const struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {8, 20, 7}, .margin = 1.1, .dense_margin = 1.1};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 24, 1, 1);
    int others = 0;
    for (int call = 0; call < 512; call++) {
        const double now_and_then = call % 7 < 2 ? 2 : 1, seconds[] = {15 * now_and_then, 40 * now_and_then, 9 * now_and_then};
        others += contend(&trials, trial, &contest, seconds) != 2;
    }
    assert_int_equal(trial->incumbent, 2);
    assert_in_range(others, 0, 32);
}

/* Of 20 times 400 calls those in which the library's routine ran, whose every third call takes less than ours do. */
static int taken_by_luck(bool modes)
{
    const struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {8, 20, 7}, .margin = 1.1, .dense_margin = 1.1};
    const double mode[] = {7.6, 9.7, 13.8};
    uint64_t random = 1;
    int luck = 0;
    for (int job = 0; job < 20; job++) {
        struct sparse_trials trials = {0};
        struct sparse_trial *trial = at(&trials, 1, 1 << 20, 1, 1);
        for (int call = 0; call < 464; call++) {
            const double seconds[] = {mode[sim_random(&random) % 3], 40, 7.9};
            trial->modes = modes;
            luck += contend(&trials, trial, &contest, seconds) == 0 && call >= 64;
        }
    }
    return luck;
}

static void test_modes(void **state)
{
    const int luck = taken_by_luck(true);
    assert_in_range(luck, 20, 800); /* it has its turns */
    assert_true(taken_by_luck(false) > 2 * luck);
}

/* Encoded, it is expected to take longer than the library's routine, but less than in dense form: it is tried after a few calls of that. Not
 * where encoding saves nothing, nor in a dense form where the library's routine takes microseconds and asking as many. */
static void test_formulas_are_doubted(void **state)
{
    const struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {4, 5, 8}, .margin = 1.1, .dense_margin = 1.1};
    const double seconds[] = {4, 2, 3};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 20, 0.01, 1);
    for (int call = 0; call < 4; call++) assert_int_equal(contend(&trials, trial, &contest, seconds), 0);
    for (int call = 0; call < 20; call++) (void)contend(&trials, trial, &contest, seconds);
    assert_int_equal(trial->incumbent, 1);
    struct sparse_contest brief = {.n = 3, .dense = 2, .cost = {4e-5, 5e-5, 5e-5}, .asking = 3e-5, .share = 1,
                                    .margin = 1.1, .dense_margin = 1.1};
    const double moments[] = {4e-5, 2e-5, 3e-5};
    trial = at(&trials, 2, 1 << 20, 0.01, 1);
    for (int call = 0; call < 24; call++) assert_int_equal(contend(&trials, trial, &brief, moments), 0);
    brief.asking = 1e-6;
    for (int call = 0; call < 24; call++) assert_int_not_equal(contend(&trials, trial, &brief, moments), 1);
    assert_int_equal(trial->incumbent, 2);
}

/* Nobody knows how the inputs overlap, and so whether encoding saves anything: one that merges is tried, if it is not much worse. */
static void test_unlearned(void **state)
{
    struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {4, 5, 5}, .margin = 1.1, .dense_margin = 1.1};
    const double seconds[] = {4, 4, 6};
    for (int unlearned = 0; unlearned < 3; unlearned++) {
        struct sparse_trials trials = {0};
        struct sparse_trial *trial = at(&trials, 2, 1 << 20, 0.25, 1);
        contest.unlearned = unlearned > 0;
        if (unlearned == 2) contest.cost[1] = 6.1;
        for (int call = 0; call < 4; call++) assert_int_equal(contend(&trials, trial, &contest, seconds), 0);
        for (int call = 0; call < 6; call++) (void)contend(&trials, trial, &contest, seconds);
        assert_int_equal(trial->contender[1].tried > 0, unlearned == 1);
    }
}

/* The best takes three times as long for some calls, and another one takes its place, which does, too. It has it back soon afterwards, and
 * while that is open ranks ask each other. Nobody comes back who stays slow, nor runs often. */
static void test_disturbed_later(void **state)
{
    const struct sparse_contest contest = {.n = 4, .dense = 2, .cost = {6, 3, 5, 5}, .margin = 1.1, .dense_margin = 1.1};
    const double usual[] = {20, 4, 6, 6.5}, disturbed[] = {60, 12, 18, 19.5}, slow[] = {20, 40, 6, 6.5};
    for (int calls = 5; calls <= 12; calls++) {
        struct sparse_trials trials = {0};
        struct sparse_trial *trial = at(&trials, 1, 1 << 24, 0.25, 1.5);
        for (int call = 0; call < 900; call++) (void)contend(&trials, trial, &contest, usual);
        assert_int_equal(trial->incumbent, 1);
        for (int call = 0; call < calls; call++) (void)contend(&trials, trial, &contest, disturbed);
        for (int call = 0; call < 32; call++) {
            bool open, was = trial->incumbent != 1;
            struct sparse_trial copy = *trial;
            (void)sparse_trial_choose(&copy, &contest, &open);
            assert_true(open || !was || copy.incumbent == 1);
            (void)contend(&trials, trial, &contest, usual);
        }
        assert_int_equal(trial->incumbent, 1);
        int again = 0;
        for (int call = 0; call < 200; call++) again += contend(&trials, trial, &contest, slow) == 1;
        assert_int_not_equal(trial->incumbent, 1);
        assert_in_range(again, 4, 20);
    }
}

/* A program starts while others are at work, for which so many of its first calls wait up to `longest` seconds, whoever runs. How many of 100 such programs
 * have found the one that is the best 160 calls later. */
static int found_after(int disturbed, double longest)
{
    const struct sparse_contest contest = {.n = 4, .dense = 2, .cost = {3e-5, 1e-4, 5e-5, 6e-5}, .margin = 1.1, .dense_margin = 1.25};
    uint64_t random = 1;
    int found = 0;
    for (int job = 0; job < 100; job++) {
        const int best = job % 2 ? 0 : 2;
        struct sparse_trials trials = {0};
        struct sparse_trial *trial = at(&trials, 0, 1 << 16, 1, 1);
        for (int call = 0; call < disturbed + 160; call++) {
            const double waits = call < disturbed ? longest * (double)(sim_random(&random) % 1000) / 1000 : 0;
            const double seconds[] = {(best == 0 ? 3e-5 : 6e-5) + waits, 1e-4 + waits, (best == 2 ? 3e-5 : 6e-5) + waits, 7e-5 + waits};
            (void)contend(&trials, trial, &contest, seconds);
        }
        found += trial->incumbent == best;
    }
    return found;
}

static void test_start_beside_others(void **state)
{
    static const double longest[] = {2e-4, 6e-4, 6e-3};
    for (size_t i = 0; i < COUNT_OF(longest); i++)
        for (int disturbed = 20; disturbed <= 320; disturbed *= 4) assert_in_range(found_after(disturbed, longest[i]), 90, 100);
}

/* The best is disturbed soon after it has become that, in calls one behind the other, and loses its place to whom it took it from. */
static void test_disturbed_soon(void **state)
{
    const struct sparse_contest contest = {.n = 2, .dense = 1, .cost = {9.8, 9.8}, .margin = 1.1, .dense_margin = 1.1};
    const double usual[] = {13, 9.3}, disturbed[] = {13, 13.2};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 20, 1, 1);
    int calls = 0;
    for (; trial->incumbent != 1; calls++) (void)contend(&trials, trial, &contest, usual);
    assert_in_range(calls, 1, 20);
    for (; trial->incumbent == 1; calls++) (void)contend(&trials, trial, &contest, disturbed);
    assert_in_range(calls, 1, 32);
    for (calls = 0; trial->incumbent != 1 && calls < 100; calls++) (void)contend(&trials, trial, &contest, usual);
    assert_in_range(calls, 1, 8);
}

/* The library's routine is the best by formulas that know nothing of it, and takes many times as long as ours: once more, and no more; but if that was its
 * first call alone, it is found. */
static void test_never_was_the_best(void **state)
{
    const struct sparse_contest contest = {.n = 3, .dense = 3, .cost = {38, 6, 5}, .margin = 1.1, .dense_margin = 1.1, .asking = 1};
    const double slow[] = {350, 52, 45}, usual[] = {30, 52, 45};
    for (int once = 0; once < 2; once++) {
        struct sparse_trials trials = {0};
        struct sparse_trial *trial = at(&trials, 2, 1 << 26, 0.01, 1);
        for (int call = 0; call < 200; call++) (void)contend(&trials, trial, &contest, once && trial->contender[0].tried > 0 ? usual : slow);
        assert_int_equal(trial->incumbent, once ? 0 : 2);
        if (!once) assert_int_equal(trial->contender[0].tried, 2);
    }
}

/* Asking takes two thirds of the library's routine: a dense form is tried that the formulas take for better, and no other; none where asking takes longer. */
static void test_dense_forms_beside_dear_asking(void **state)
{
    const double asking[] = {2e-4, 4e-4};
    for (int dear = 0; dear < 2; dear++) {
        const struct sparse_contest contest = {.n = 4, .dense = 2, .cost = {3e-4, 9e-4, 2.5e-4, 3e-4}, .margin = 1.1, .dense_margin = 1.1,
                                               .asking = asking[dear]};
        struct sparse_trials trials = {0};
        struct sparse_trial *trial = at(&trials, 1, 1 << 16, 1, 1);
        const double seconds[] = {3e-4, 9e-4, 2e-4, 3e-4};
        for (int call = 0; call < 40; call++) (void)contend(&trials, trial, &contest, seconds);
        assert_int_equal(trial->incumbent, dear ? 0 : 2);
        assert_int_equal(trial->contender[3].tried, 0);
    }
}

/* Two that are as good as each other, in times that are not: the best changes for ever, but the ranks do not ask each other for ever. */
static void test_nobody_is_better(void **state)
{
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 20, 0.01, 1);
    uint64_t random = 1;
    int asked = 0;
    for (int call = 0; call < 2000; call++) {
        const struct sparse_contest contest = {.n = 2, .dense = 2, .cost = {4, 3}, .margin = 1.1, .dense_margin = 1.1};
        double seconds[2];
        bool open;
        struct sparse_trial copy = *trial;
        (void)sparse_trial_choose(&copy, &contest, &open);
        asked += open;
        for (int i = 0; i < 2; i++) seconds[i] = 4 + (double)((random = random * 6364136223846793005u + 1442695040888963407u) >> 61);
        (void)contend(&trials, trial, &contest, seconds);
    }
    assert_true(trial->changes > 20);
    assert_in_range(asked, 8, 150);
}

static void test_trials(void **state)
{
    const struct sparse_contest contest = {.n = 5, .dense = 4, .cost = {4, 1, 3, INFINITY, 2.5}, .margin = 1.1, .dense_margin = 1.1};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 20, 0.01, 1);
    unsigned ran[SPARSE_CONTENDERS] = {0};
    bool open;
    assert_ptr_equal(at(&trials, 1, (1 << 20) + 8, 0.011, 1), trial);
    assert_ptr_not_equal(at(&trials, 2, 1 << 20, 0.01, 1), trial);
    assert_ptr_not_equal(at(&trials, 1, 1 << 21, 0.01, 1), trial);
    assert_ptr_not_equal(at(&trials, 1, 1 << 20, 0.0001, 1), trial);
    assert_ptr_not_equal(sparse_trials_at(&trials, shape(SPARSE_MIN, SPARSE_DOUBLE, 1, 1 << 20), (struct sparse_sort){0.01, 1}), trial);
    assert_ptr_not_equal(sparse_trials_at(&trials, shape(SPARSE_SUM, SPARSE_FLOAT, 1, 1 << 20), (struct sparse_sort){0.01, 1}), trial);
    for (int call = 0; call < 60; call++) {
        int i = sparse_trial_choose(trial, &contest, &open);
        assert_true(call > 0 || open); /* others are to be tried */
        ran[i]++;
        sparse_trials_begin(&trials, trial, i, contest.cost[i], 0, 0);
        sparse_trials_end(&trials, i == 1 ? 12 : i == 0 ? 5 : 6); /* the second is twelve times as slow as predicted */
        sparse_trials_learn(&trials, trials.times);
    }
    assert_false(open);
    assert_int_equal(ran[1], 2);
    assert_int_equal(ran[3], 0);
    assert_true(ran[0] > 40); /* 5 s against 6, which was found out */
    assert_true(fabs(sparse_trial_expected(trial, 1, 1) - 12) < 1e-3);
    for (int i = 1; i <= SPARSE_TRIALS; i++) (void)at(&trials, 0, (size_t)1 << (16 + i), 0.5, 1);
    assert_int_equal(at(&trials, 1, 1 << 20, 0.01, 1)->contender[0].tried, 0); /* was not used for longest */
}

/* Dense inputs, of which the library's routine and a dense form take about the same: who is second best is seen again in one of the calls
 * that ask, which are not more for that. */
static void test_seen_again_in_passing(void **state)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, 4, 16384);
    struct sparse_state **states = sim_states_create(t.ranks);
    int asked = 0, others = 0, last = -1;
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.parameters.rates.latency_network = t.sim.latency = 1e-4;
    t.parameters.rates.bandwidth_network = t.sim.bandwidth = 125e6;
    t.pattern = SIM_DENSE;
    t.timed = t.fast = true;
    t.library = 2e-3;
    for (int call = 0; call < 2000; call++) {
        struct sim_report report;
        assert_true(sim_trial_run(&t, states, &report));
        if (call >= 400) asked += report.done ? report.outcome[0].agreed >= 0 : report.messages > 0;
        if (call >= 100) others += report.done != last;
        last = report.done;
    }
    assert_in_range(asked, 1600 / (4 * (int)t.parameters.every), 1600 / (4 * (int)t.parameters.every) + 1); /* 12.5 */
    assert_true(others > 2);
    sim_states_destroy(states, t.ranks);
}

/* How often the first of ours, which shows how inputs overlap and takes twice as long as a dense form, runs in 1,000 calls after 100. */
static int shown(bool thin, double asking)
{
    const struct sparse_contest contest = {.n = 3, .dense = 2, .cost = {4, 6, 3}, .asking = asking, .share = 1,
                                           .margin = 1.1, .dense_margin = 1.1, .thin = thin, .merge = 2, .every = 32};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, 1, 1 << 20, 0.25, 1);
    int times = 0;
    for (int call = 0; call < 1100; call++) times += contend(&trials, trial, &contest, contest.cost) == 1 && call >= 100;
    assert_int_equal(trial->incumbent, 2);
    return times;
}

/* Where all calls ask, a hundredth of the time goes into it; where one of 32 does, it may be every 64th of those that do. */
static void test_overlap_is_looked_at_again(void **state)
{
    assert_int_equal(shown(false, 0), 0);
    assert_in_range(shown(true, 0), 8, 10);
    assert_in_range(shown(true, 0.05), 14, 20);
}

/* What was learned of one shape stays while others come, until there are too many; then the one not used for longest makes way. */
static void test_classes(void **state)
{
    struct sparse_classes classes = {.lookups = 0};
    const uint32_t first = shape(SPARSE_SUM, SPARSE_DOUBLE, 0, 1 << 20), second = shape(SPARSE_MAX, SPARSE_DOUBLE, 0, 1 << 20);
    sparse_class_at(&classes, first)->alike = 1;
    sparse_class_at(&classes, second)->alike = 2;
    for (int i = 0; i < SPARSE_CLASSES - 2; i++) (void)sparse_class_at(&classes, shape(SPARSE_SUM, SPARSE_INT32, 1, (size_t)1 << i));
    assert_int_equal(sparse_class_at(&classes, first)->alike, 1);
    (void)sparse_class_at(&classes, shape(SPARSE_SUM, SPARSE_INT32, 2, 1));
    assert_int_equal(sparse_class_at(&classes, first)->alike, 1);
    assert_int_equal(sparse_class_at(&classes, second)->alike, 0);
}

/* A pairwise exchange of dense vectors is the quickest: nothing is to be known of how they overlap before it may run. */
static void test_dense_forms_need_no_knowledge(void **state)
{
    const struct sparse_estimate dense = {.elements = 1 << 20, .size = 8, .ranks = 4, .commutative = true, .density = 1, .growth = 1,
                                          .per_exception = 10};
    struct sparse_parameters parameters;
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = at(&trials, SPARSE_REDUCE_SCATTER, 8 << 20, 1, 1);
    sparse_parameters_default(&parameters);
    for (int call = 0; call < 64; call++) {
        struct sparse_choice choice = sparse_choose(SPARSE_REDUCE_SCATTER, true, &dense, &parameters, trial);
        const bool pairwise = choice.algorithm == SPARSE_SCATTER_PAIRWISE, library = choice.algorithm == SPARSE_LIBRARY;
        sparse_trials_begin(&trials, trial, choice.contender, choice.predicted, 0, 0);
        sparse_trials_end(&trials, library ? 0.264 : choice.dense && pairwise ? 0.075 : 0.087);
        sparse_trials_learn(&trials, trials.times);
    }
    struct sparse_choice choice = sparse_choose(SPARSE_REDUCE_SCATTER, true, &dense, &parameters, trial);
    assert_int_equal(choice.algorithm, SPARSE_SCATTER_PAIRWISE);
    assert_true(choice.dense);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trials), cmocka_unit_test(test_nobody_is_better),
        cmocka_unit_test(test_seen_again_in_passing),
        cmocka_unit_test(test_disturbed), cmocka_unit_test(test_surely_quicker), cmocka_unit_test(test_few_calls_say_little),
        cmocka_unit_test(test_disturbed_later), cmocka_unit_test(test_disturbed_soon), cmocka_unit_test(test_start_beside_others),
        cmocka_unit_test(test_things_change), cmocka_unit_test(test_asking_is_dear), cmocka_unit_test(test_disturbances_change_nothing),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_formulas_are_doubted),
        cmocka_unit_test(test_unlearned),
        cmocka_unit_test(test_library_s_first_calls_say_little), cmocka_unit_test(test_never_was_the_best),
        cmocka_unit_test(test_dense_forms_beside_dear_asking),
        cmocka_unit_test(test_library_is_seen_again),
        cmocka_unit_test(test_overlap_is_looked_at_again),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_dense_forms_need_no_knowledge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
