/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_repeated_test.c: trials that run once more without asking.
 */
#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

enum { RANKS = 16 };

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

static struct sim_trial trial_of(size_t count)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, RANKS, count);
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.parameters.rates.latency_network = t.sim.latency = 1e-4;
    t.parameters.rates.bandwidth_network = t.sim.bandwidth = 125e6;
    t.timed = t.fast = true;
    t.library = 0.1;
    return t;
}

/* Whether a call asks. */
static bool asks(const struct sim_trial *t, struct sparse_state **states, struct sim_report *report)
{
    assert_true(sim_trial_run(t, states, report));
    return report->outcome[0].agreed > 0;
}

/* Of 12 calls behind the first four: those that asked, and those that ran the same without, behind such a one. */
static void count_repeated(size_t count, double density, double other, int *asked, int *again)
{
    struct sim_trial t = trial_of(count);
    struct sparse_state **states = sim_states_create(t.ranks);
    struct sim_report report = {0};
    *asked = *again = 0;
    for (int call = 0; call < 16; call++) {
        const struct sparse_outcome last = report.outcome[0];
        t.density = call % 2 ? other : density;
        const bool seen = asks(&t, states, &report), same = report.outcome[0].algorithm == last.algorithm;
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

/* Nonblocking calls that come one at a time, and starts of a persistent one: timed from the third look on. One more that begins beside another
 * call, at any rank, has been timed in vain, as the one before it has. */
static void test_nonblocking_ones_run_again(void **state)
{
    for (int persistent = 0; persistent < 2; persistent++) {
        struct sim_trial t = trial_of(16384);
        struct sparse_state **states = sim_states_create(RANKS);
        struct sim_report report = {0};
        t.order = SPARSE_IN_TURN;
        t.density = 0.001;
        t.series = persistent ? sim_series_create(RANKS) : NULL;
        int calls = 0;
        while (asks(&t, states, &report)) assert_true(++calls < 8);
        assert_true(calls > 2);
        const struct sparse_turns *turns = persistent ? &t.series[1]->turns : states[1]->turns.memory;
        const struct sparse_trial *trial = turns->trials.last;
        assert_non_null(trial);
        assert_true(asks(&t, states, &report));
        assert_true(trial->twice);
        const unsigned wanted = turns->wanted, tried = trial->contender[turns->trials.contender].tried;
        states[0]->started++;
        assert_false(asks(&t, states, &report));
        states[0]->started--;
        assert_true(asks(&t, states, &report));
        assert_int_equal(turns->wanted, 2 * wanted);
        assert_int_equal(trial->contender[turns->trials.contender].tried, tried);
        sim_series_destroy(t.series, RANKS);
        sim_states_destroy(states, RANKS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_repeated), cmocka_unit_test(test_runs_again),
                                       cmocka_unit_test(test_nonblocking_ones_run_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
