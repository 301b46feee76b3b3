/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_learning_test.c: what a communicator learns from merges of how unions grow (0 same positions, 1 independent, 1.5 disjoint), and
 * what shows nothing of it.
 */
#include <math.h>

#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

enum { COUNT = 65536 };

/* Of all ranks that have learned something, on average; -1: nobody has. `stale`: how many would look again. */
static double growth_of(struct sparse_state **states, int ranks, int *stale)
{
    double sum = 0;
    int seen = 0;
    *stale = 0;
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < SPARSE_CLASSES; i++) {
            const struct sparse_class *class = &states[r]->classes[SPARSE_IN_ORDER].class[i];
            if (class->shape == 0 || !class->observed) continue;
            sum += class->learned.growth;
            seen++;
            *stale += sparse_class_stale(class);
        }
    return seen > 0 ? sum / seen : -1;
}

static struct sim_trial trial_of(int ranks, int operator, enum sim_pattern pattern, double density)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, ranks, COUNT);
    t.operator = operator;
    t.pattern = pattern;
    t.density = density;
    t.fast = true;
    return t;
}

static double learn(const struct sim_trial *t, struct sparse_state **states)
{
    struct sim_report report;
    int stale;
    assert_true(sim_trial_run(t, states, &report));
    assert_int_equal(report.done, t->ranks);
    return growth_of(states, t->ranks, &stale);
}

/* Also where blocks become dense, which those of short elements do earlier. */
static void test_independent_inputs(void **state)
{
    static const double densities[] = {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
    static const int operators[] = {0, 1, 10}; /* elements of 8, 4 and 2 bytes */
    for (size_t o = 0; o < COUNT_OF(operators); o++)
        for (int ranks = 8; ranks <= (SIM_SLOWLY ? 16 : 64); ranks *= 2)
            for (size_t i = 0; i < COUNT_OF(densities); i++) {
                struct sparse_state **states = sim_states_create(ranks);
                const struct sim_trial t = trial_of(ranks, operators[o], SIM_RANDOM, densities[i]);
                const double growth = learn(&t, states);
                if (growth < 0.85 || growth > 1.15)
                    fail_msg("operator %d, %d ranks, density %g: growth %g", operators[o], ranks, densities[i], growth);
                sim_states_destroy(states, ranks);
            }
}

/* Disjoint inputs that fill the vector are no chance. */
static void test_disjoint_inputs_that_fill_up(void **state)
{
    for (int ranks = 2; ranks <= 64; ranks *= 2) {
        struct sparse_state **states = sim_states_create(ranks);
        const struct sim_trial t = trial_of(ranks, 0, SIM_DISJOINT, 0);
        assert_true(fabs(learn(&t, states) - 1.5) < 0.01);
        sim_states_destroy(states, ranks);
    }
}

static void test_what_is_known_stays(void **state)
{
    enum { RANKS = 16 };
    struct sparse_state **states = sim_states_create(RANKS);
    struct sim_trial t = trial_of(RANKS, 0, SIM_DISJOINT, 0);
    (void)learn(&t, states);
    t = trial_of(RANKS, 0, SIM_RANDOM, 0.5);
    assert_true(fabs(learn(&t, states) - 1.5) < 0.01);
    t = trial_of(RANKS, 0, SIM_SAME_POSITIONS, 0.3);
    assert_true(learn(&t, states) < 0.01);
    t = trial_of(RANKS, 0, SIM_RANDOM, 0.3); /* which the same positions would not fill */
    assert_true(fabs(learn(&t, states) - 1) < 0.01);
    sim_states_destroy(states, RANKS);
}

/* Nothing more will be seen of it: it is learned, and does not become stale. */
static void test_full_unions_are_seen(void **state)
{
    enum { RANKS = 16 };
    struct sparse_state **states = sim_states_create(RANKS);
    const struct sim_trial t = trial_of(RANKS, 0, SIM_RANDOM, 0.5);
    int stale = 0;
    for (int call = 0; call < 40; call++) {
        (void)learn(&t, states);
        assert_true(growth_of(states, RANKS, &stale) == 1);
        assert_int_equal(stale, 0);
    }
    sim_states_destroy(states, RANKS);
}

static void test_rounded_to_full(void **state)
{
    for (double density = 0.04; density < 1; density += 0.04)
        for (int ranks = 2; ranks <= 1 << 20; ranks *= 2) {
            const struct sparse_estimate e = {.density = density, .growth = 1};
            const double joined = sparse_union(&e, ranks), growth = sparse_growth(density, joined, ranks);
            assert_true(fabs(growth - 1) < 0.1);
        }
}

/* Two ranks choose without knowledge: one algorithm from the first call on, and no other to learn something. */
static void test_two_ranks(void **state)
{
    static const enum sparse_algorithm any[] = {SPARSE_REDUCE_HALVING, SPARSE_ALLREDUCE_HALVING, SPARSE_SCATTER_HALVING};
    for (size_t kind = 0; kind < COUNT_OF(any); kind++) {
        struct sparse_state **states = sim_states_create(2);
        struct sim_trial t = sim_trial_of(any[kind], 2, kind == 2 ? COUNT : 2 * COUNT);
        enum sparse_algorithm first = SPARSE_LIBRARY;
        t.parameters.algorithm = SPARSE_LIBRARY;
        t.density = 0.01;
        t.fast = true;
        for (int call = 0; call < 60; call++) {
            struct sim_report report;
            assert_true(sim_trial_run(&t, states, &report));
            assert_int_equal(report.done, 2);
            if (call == 0) first = report.outcome[0].algorithm;
            assert_int_equal(report.outcome[0].algorithm, first);
        }
        assert_true(first != any[kind]);
        sim_states_destroy(states, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent_inputs),  cmocka_unit_test(test_disjoint_inputs_that_fill_up),
        cmocka_unit_test(test_what_is_known_stays), cmocka_unit_test(test_full_unions_are_seen),
        cmocka_unit_test(test_rounded_to_full),     cmocka_unit_test(test_two_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
