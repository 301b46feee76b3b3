/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_few_calls_test.c: what trials cost a program that has a few long calls, on several nodes.
 */
#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

/* One of ours is as good as predicted, another one and the library's routine take more than twice as long. */
static struct sparse_contest contest_of(bool far)
{
    return (struct sparse_contest){.n = 4, .dense = 4, .cost = {0.1, 0.05, 0.06, 0.07}, .margin = 1.1, .dense_margin = 1.1, .far = far};
}

static const double usual[] = {0.16, 0.06, 0.15, 0.09};

static struct sparse_trial *of_density(struct sparse_trials *trials, double density)
{
    return sparse_trials_at(trials, 1, (struct sparse_sort){density, 1});
}

/* So many calls in each of which contender i takes seconds[i]; the first one takes `slow` times as long. */
static void run(struct sparse_trials *trials, struct sparse_trial *trial, const struct sparse_contest *contest, const double *seconds, int calls,
                double slow)
{
    for (int call = 0; call < calls; call++) {
        bool open;
        const int i = sparse_trial_choose(trial, contest, &open);
        sparse_trials_begin(trials, trial, i, contest->cost[i], 0, 0);
        sparse_trials_end(trials, call == 0 ? slow * seconds[i] : seconds[i]);
        sparse_trials_learn(trials, trials->times);
    }
}

/* Who takes more than twice as long as another one has one call, and a second one when the program has had many; within a node it has it soon. */
static void test_far_behind(void **state)
{
    for (int far = 0; far < 2; far++) {
        const struct sparse_contest contest = contest_of(far);
        struct sparse_trials trials = {0};
        struct sparse_trial *trial = of_density(&trials, 0.06);
        run(&trials, trial, &contest, usual, 24, 1);
        assert_int_equal(trial->incumbent, 1);
        assert_int_equal(trial->contender[2].tried, far ? 1 : 2);
        assert_true(far ? trial->contender[0].tried == 1 : trial->contender[0].tried > 1);
        assert_true(trial->contender[3].tried > 1);
        run(&trials, trial, &contest, usual, 40, 1);
        assert_true(trial->contender[0].tried > 1 && trial->contender[2].tried > 1);
    }
}

/* The first call of all has connections to make. */
static void test_first_call(void **state)
{
    const struct sparse_contest contest = contest_of(true);
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = of_density(&trials, 0.06);
    run(&trials, trial, &contest, usual, 12, 4);
    assert_int_equal(trial->incumbent, 1);
}

/* Its call was disturbed: it is found, if later. */
static void test_was_disturbed(void **state)
{
    const struct sparse_contest contest = contest_of(true);
    const double later[] = {0.16, 0.06, 0.04, 0.09};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = of_density(&trials, 0.06);
    while (trial->contender[2].tried == 0) run(&trials, trial, &contest, usual, 1, 1);
    run(&trials, trial, &contest, later, 48, 1);
    assert_int_equal(trial->incumbent, 2);
}

/* Inputs of other densities come in between, of which nothing is known but what does not depend on that: the library's routine and dense forms have been
 * seen enough, and are seen again with all of them. */
static void test_other_densities(void **state)
{
    const struct sparse_contest contest = {.n = 4, .dense = 2, .cost = {0.1, 0.05, 0.06, 0.07}, .margin = 1.1, .dense_margin = 1.1, .far = true};
    const double seconds[] = {0.1, 0.06, 0.09, 0.09};
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = of_density(&trials, 0.06), *other;
    run(&trials, trial, &contest, seconds, 64, 1);
    const uint32_t library = trial->contender[0].tried, dense = trial->contender[2].tried;
    assert_true(library > 1 && dense > 1);
    other = of_density(&trials, 0.0001);
    assert_ptr_not_equal(other, trial);
    assert_int_equal(other->contender[1].tried, 0);
    assert_int_equal(other->contender[0].tried, library);
    run(&trials, other, &contest, seconds, 7, 1);
    assert_int_equal(other->incumbent, 1);
    assert_int_equal(other->contender[0].tried, library);
    assert_int_equal(other->contender[2].tried, dense);
    const double slower[] = {0.1, 0.2, 0.09, 0.09};
    run(&trials, other, &contest, slower, 64, 1);
    assert_true(other->contender[0].tried > library);
    assert_int_equal(trial->contender[0].tried, other->contender[0].tried);
    assert_int_equal(sparse_trials_at(&trials, 2, (struct sparse_sort){0.06, 1})->contender[0].tried, 0); /* another shape */
}

/* How many of the first calls ask. */
static int asked(size_t count, double library, int calls)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, 4, count);
    struct sparse_state **states = sim_states_create(t.ranks);
    int asked = 0;
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.parameters.rates.latency_network = t.sim.latency = 1e-4;
    t.parameters.rates.bandwidth_network = t.sim.bandwidth = 125e6;
    t.pattern = SIM_RANDOM;
    t.density = 0.1;
    t.timed = t.fast = true;
    t.library = library;
    for (int call = 0; call < calls; call++) {
        struct sim_report report;
        assert_true(sim_trial_run(&t, states, &report));
        asked += report.done ? report.outcome[0].agreed >= 0 : report.messages > 0;
    }
    sim_states_destroy(states, t.ranks);
    return asked;
}

/* Of a long call's time an agreement is a hundredth: one that is tried need not be tried twice in a row, without asking. Of a short one's it is a large part. */
static void test_tried_once(void **state)
{
    assert_int_equal(asked(1 << 18, 0.02, 12), 12);
    assert_in_range(asked(1 << 14, 1e-3, 12), 4, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_far_behind), cmocka_unit_test(test_first_call), cmocka_unit_test(test_was_disturbed),
                                       cmocka_unit_test(test_other_densities), cmocka_unit_test(test_tried_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
