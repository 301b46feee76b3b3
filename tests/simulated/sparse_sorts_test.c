/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_sorts_test.c: which calls are of one sort, so that what contenders have taken in one tells what they will take in another.
 */
#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

/* Of Allreduces of 1 MiB of doubles. */
static struct sparse_trial *at(struct sparse_trials *trials, double density, double growth)
{
    const struct sparse_operator sum = sim_operator(0);
    return sparse_trials_at(trials, sparse_call_shape(SPARSE_ALLREDUCE, &sum, 1 << 20), (struct sparse_sort){density, growth});
}

/* Samples of the same inputs differ: wherever they lie, what differs by little is one sort of call, and what is between two is the nearer
 * one's. */
static void test_samples_differ(void **state)
{
    for (double density = 0.001; density < 0.5; density *= 1.1) {
        struct sparse_trials trials = {0};
        struct sparse_trial *trial = at(&trials, density, 1);
        assert_ptr_equal(at(&trials, density * 0.65, 1.2), trial);
        assert_ptr_equal(at(&trials, density * 1.6, 0.8), trial);
        assert_ptr_not_equal(at(&trials, density, 1.5), trial);
        assert_ptr_not_equal(at(&trials, density, 0.5), trial);
        struct sparse_trial *denser = at(&trials, density * 4, 1);
        assert_ptr_not_equal(denser, trial);
        assert_ptr_equal(at(&trials, density * 1.7, 1), trial);
        assert_ptr_equal(at(&trials, density * 2.4, 1), denser);
    }
    struct sparse_trials trials = {0};
    struct sparse_trial *none = at(&trials, 0, 1);
    assert_ptr_equal(at(&trials, 0, 1), none);
}

/* Positions of their own in each call: however samples differ, all calls are of one sort, and after a while most need not ask. */
static void test_one_sort_of_inputs(void **state)
{
    const double densities[] = {0.001, 0.004, 0.0078, 0.01, 0.03};
    for (int i = 0; i < 5; i += 1 + SIM_SLOWLY) {
        struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, 4, 16384);
        struct sparse_state **states = sim_states_create(t.ranks);
        uint32_t unseen = 0, most = 0, calls = 0;
        t.parameters.algorithm = SPARSE_LIBRARY;
        t.parameters.rates.latency_network = t.sim.latency = 1e-4;
        t.parameters.rates.bandwidth_network = t.sim.bandwidth = 125e6;
        t.density = densities[i];
        t.timed = t.fast = true;
        t.library = 0.1;
        for (t.seed = 1; t.seed <= 160; t.seed++) {
            struct sim_report report;
            assert_true(sim_trial_run(&t, states, &report));
            unseen += report.done == t.ranks && report.outcome[0].agreed < 0;
        }
        for (const struct sparse_trial *trial = states[0]->trials.trial; trial < states[0]->trials.trial + SPARSE_TRIALS; trial++) {
            calls += trial->calls;
            if (trial->calls > most) most = trial->calls;
        }
        assert_in_range(calls - most, 0, 1); /* one in some hundred samples has twice as many or half as many as the others */
        assert_true(unseen > 80);
        sim_states_destroy(states, t.ranks);
    }
}

/* Thin inputs that overlap nowhere are as good as independent ones; denser ones are not, nor are those with the same positions. */
static void test_sorts(void **state)
{
    struct sparse_estimate e = {.ranks = 4, .density = 0.25, .growth = 1.5, .grain = 1.0 / 2048};
    assert_true(sparse_choice_sort(&e).growth > 1.4);
    e.density = 0.01;
    assert_true(sparse_choice_sort(&e).growth < 1.05);
    e.growth = 0;
    assert_true(sparse_choice_sort(&e).growth < 0.1);
    struct sparse_estimate one = {.density = 1.0 / 2048, .grain = 1.0 / 2048}, six = {.density = 6.0 / 2048, .grain = 1.0 / 2048};
    assert_true(sparse_choice_sort(&six).density < 1.8 * sparse_choice_sort(&one).density);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples_differ), cmocka_unit_test(test_one_sort_of_inputs),
                                       cmocka_unit_test(test_sorts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
