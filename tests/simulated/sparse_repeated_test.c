/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_repeated_test.c: trials that run once more without asking.
 */
#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

/* Behind an agreement ranks wait for each other, all the time or now and then: what counts is what calls take without. */
static void test_repeated(void **state)
{
    struct sparse_trials trials = {0};
    struct sparse_trial *trial = sparse_trials_at(&trials, 1, (struct sparse_sort){0.01, 1});
    for (int call = 0; call < 8; call++) {
        sparse_trials_begin(&trials, trial, 1, 2, 0, 0);
        sparse_trials_end(&trials, call % 4 == 3 ? 3 : 5);
        sparse_trials_repeat(&trials, 0.01, 100);
        sparse_trials_end(&trials, call % 4 == 2 ? 106 : 103);
        assert_true(trials.times.again > 0);
        sparse_trials_learn(&trials, trials.times);
        assert_int_equal(trial->contender[1].tried, call + 1);
        assert_true(trial->twice);
        assert_float_equal(sparse_trial_expected(trial, 1, 2), 3, 1e-6);
    }
}

/* Of 12 calls behind the first four: those that asked, and those that ran the same without, behind such a one. */
static void count_repeated(size_t count, double density, double other, int *asked, int *again)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, 16, count);
    struct sparse_state **states = sim_states_create(t.ranks);
    struct sim_report report = {0};
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.parameters.rates.latency_network = t.sim.latency = 1e-4;
    t.parameters.rates.bandwidth_network = t.sim.bandwidth = 125e6;
    t.timed = t.fast = true;
    t.library = 0.1;
    *asked = *again = 0;
    for (int call = 0; call < 16; call++) {
        const struct sparse_outcome last = report.outcome[0];
        t.density = call % 2 ? other : density;
        assert_true(sim_trial_run(&t, states, &report));
        const bool seen = report.outcome[0].agreed > 0, same = report.outcome[0].algorithm == last.algorithm;
        if (call < 4) continue;
        *asked += seen;
        *again += !seen && same && last.agreed > 0;
    }
    sim_states_destroy(states, t.ranks);
}

/* One call more of who has run, where asking is a part of what calls take: in all trials of inputs that stay as they are, and in none of others. */
static void test_runs_again(void **state)
{
    int asked, again;
    count_repeated(16384, 0.001, 0.001, &asked, &again);
    assert_int_equal(asked, 6);
    assert_int_equal(again, 6);
    count_repeated(16384, 0.001, 0.03, &asked, &again);
    assert_int_equal(asked, 12);
    count_repeated(1 << 20, 0.2, 0.2, &asked, &again);
    assert_int_equal(asked, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_repeated), cmocka_unit_test(test_runs_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
