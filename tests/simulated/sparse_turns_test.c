/* SPDX-License-Identifier: BSD-3-Clause */
/* The order that a call stands in with others: which calls count in the back-off, and with which. */
#include "unit.h"

#include "sim_trial.h"
#include "sparse_turns.h"

enum { RANKS = 5, COUNT = 15872, CALLS = 80 };

static struct sim_trial trial_of(enum sparse_order order, enum sim_pattern pattern, double density)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_DOUBLING, RANKS, COUNT);
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.parameters.always = false;
    t.may_pass_on = true;
    t.order = order;
    t.pattern = pattern;
    t.density = density;
    return t;
}

static struct sim_report run(const struct sim_trial *trial, struct sparse_state **states)
{
    struct sim_report report;
    assert_true(sim_trial_run(trial, states, &report));
    assert_false(report.stuck);
    return report;
}

static unsigned looked_at(const struct sim_trial *trial, struct sparse_state **states, unsigned calls)
{
    unsigned looked = 0;
    for (unsigned i = 0; i < calls; i++) looked += run(trial, states).messages > 0;
    return looked;
}

static unsigned expected(const struct sparse_parameters *parameters, unsigned calls)
{
    return parameters->patience + (calls - parameters->patience) / parameters->every;
}

/* Dense calls: all ranks leave the same ones to the library, without a message. Between those in order and in turn there is none, so that
 * neither may count the other's. */
static void test_orders_count_by_themselves(void **state)
{
    struct sim_trial order = trial_of(SPARSE_IN_ORDER, SIM_DENSE, 1), turn = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1);
    struct sim_trial none = trial_of(SPARSE_UNORDERED, SIM_DENSE, 1);
    struct sparse_state **states = sim_states_create(RANKS);
    assert_int_equal(looked_at(&order, states, CALLS), expected(&order.parameters, CALLS));
    assert_int_equal(looked_at(&turn, states, CALLS), expected(&turn.parameters, CALLS));
    assert_int_equal(looked_at(&none, states, CALLS), CALLS);
    assert_int_equal(looked_at(&turn, states, turn.parameters.every - CALLS % turn.parameters.every), 0);
    sim_states_destroy(states, RANKS);
}

/* Sparse vectors are found again. */
static void test_turns_look_again(void **state)
{
    struct sim_trial dense = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1), sparse = trial_of(SPARSE_IN_TURN, SIM_RANDOM, 0.001);
    struct sparse_state **states = sim_states_create(RANKS);
    unsigned calls = 0;
    (void)looked_at(&dense, states, dense.parameters.patience + 1);
    while (calls < dense.parameters.every && run(&sparse, states).done < RANKS) calls++;
    assert_true(calls > 0 && calls < dense.parameters.every);
    assert_int_equal(run(&sparse, states).done, RANKS);
    sim_states_destroy(states, RANKS);
}

/* A rank that may not pass calls on keeps them here, and no rank leaves one without asking it. */
static void test_one_stays(void **state)
{
    struct sim_trial t = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1);
    struct sparse_state **states = sim_states_create(RANKS);
    t.stays = 3;
    for (unsigned i = 0; i < CALLS; i++) {
        struct sim_report report = run(&t, states);
        assert_int_equal(report.done, RANKS);
        assert_true(report.messages > 0);
    }
    sim_states_destroy(states, RANKS);
}

/* Nor one that it may leave without a message: those that were looked at stay, and the others go. */
static void test_one_stays_and_leaves(void **state)
{
    struct sim_trial t = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1);
    struct sparse_state **states = sim_states_create(RANKS);
    unsigned looked = 0;
    t.stays = 3;
    t.leaves = true;
    for (unsigned i = 0; i < CALLS; i++) {
        struct sim_report report = run(&t, states);
        assert_int_equal(report.messages > 0 ? report.done : report.not_ours, RANKS);
        looked += report.messages > 0;
    }
    assert_int_equal(looked, expected(&t.parameters, CALLS));
    t.pattern = SIM_RANDOM;
    t.density = 0.001;
    for (unsigned i = 0; i < t.parameters.every; i++) (void)run(&t, states);
    assert_int_equal(looked_at(&t, states, CALLS), CALLS); /* who would run those is not known */
    sim_states_destroy(states, RANKS);
}

/* It begins to when the others pass calls on unseen: so does it, until the next one that is looked at. */
static void test_one_begins_to_stay(void **state)
{
    struct sim_trial t = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1);
    struct sparse_state **states = sim_states_create(RANKS);
    (void)looked_at(&t, states, t.parameters.patience);
    t.stays = 3;
    assert_int_equal(looked_at(&t, states, t.parameters.every - 1), 0);
    assert_int_equal(looked_at(&t, states, CALLS), CALLS);
    t.stays = 0;
    assert_int_equal(looked_at(&t, states, CALLS), expected(&t.parameters, CALLS));
    sim_states_destroy(states, RANKS);
}

static double standing(void)
{
    return 0;
}

/* How inputs overlap is found out where calls are not timed, too: of independent ones nothing would be saved. Not where ranks do not count
 * alike, nor where the choice is to follow from the inputs. */
static void test_overlap_is_found_out(void **state)
{
    for (enum sparse_order order = SPARSE_IN_ORDER; order <= SPARSE_UNORDERED; order++) {
        struct sim_trial t = trial_of(order, SIM_DISJOINT, 0);
        struct sparse_state **states = sim_states_create(RANKS);
        t.kind = SPARSE_REDUCE_SCATTER;
        t.count = 8 * COUNT / RANKS;
        t.parameters.rates.ranks_per_node = RANKS;
        struct sparse_state **still = sim_states_create(RANKS);
        for (int i = 0; i < 3; i++) assert_int_equal(run(&t, still).not_ours, RANKS);
        sim_states_destroy(still, RANKS);
        t.parameters.clock = standing;
        assert_int_equal(run(&t, states).not_ours, RANKS);
        const bool found = run(&t, states).done == RANKS;
        assert_int_equal(found, order != SPARSE_UNORDERED);
        struct sim_report report = run(&t, states);
        assert_int_equal(report.done == RANKS && !report.outcome[0].dense, found);
        sim_states_destroy(states, RANKS);
    }
}

/* Who would run a dense call, and whether the next one asks. */
static bool stays_here(const struct sim_trial *trial, bool *asks)
{
    struct sparse_state **states = sim_states_create(RANKS);
    bool here = false;
    for (unsigned i = 0; i <= trial->parameters.patience; i++) {
        struct sim_report report = run(trial, states);
        assert_true(report.done == RANKS || report.not_ours == RANKS);
        here = report.done == RANKS;
        *asks = report.outcome[0].agreed >= 0;
        if (here) assert_true(report.outcome[0].dense);
    }
    sim_states_destroy(states, RANKS);
    return here;
}

/* By the formulas a dense form of ours runs only where the library's routine is known not to be a good one. */
static void test_what_is_known_of_the_library(void **state)
{
    struct sim_trial t = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1);
    bool asks;
    t.kind = SPARSE_REDUCE_SCATTER;
    t.count = COUNT / RANKS;
    assert_false(stays_here(&t, &asks));
    t.known.at_root = true;
    assert_true(stays_here(&t, &asks));
    assert_false(asks);
    t.parameters.rates.ranks_per_node = RANKS; /* on one node that is no slower */
    assert_false(stays_here(&t, &asks));
    t.known = (struct sparse_library){.fresh = 16 * COUNT * sizeof(double)};
    assert_true(stays_here(&t, &asks));
    t.kind = SPARSE_ALLREDUCE;
    t.count = COUNT;
    assert_true(stays_here(&t, &asks));
    t.known.fresh = COUNT;
    assert_false(stays_here(&t, &asks));
}

/* Who runs in the end. */
static bool ours_in_the_end(const struct sim_trial *trial)
{
    enum { MANY = 48, LAST = 24 };
    struct sparse_state **states = sim_states_create(RANKS);
    unsigned ours = 0;
    for (unsigned i = 0; i < MANY; i++) {
        const bool done = run(trial, states).done == RANKS;
        ours += i >= MANY - LAST && done;
    }
    sim_states_destroy(states, RANKS);
    return ours > LAST / 2;
}

/* Calls that come one at a time are timed: a dense form of ours runs where the library's routine is slower, and only there. */
static void test_one_at_a_time_is_timed(void **state)
{
    struct sim_trial t = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1);
    t.sim.latency = 1e-6;
    t.sim.bandwidth = 1e9;
    t.parameters.rates.ranks_per_node = RANKS;
    t.library = 0.1;
    assert_false(ours_in_the_end(&t));
    t.timed = true;
    assert_true(ours_in_the_end(&t));
    t.library = 1e-6;
    assert_false(ours_in_the_end(&t));
    t.order = SPARSE_UNORDERED;
    t.library = 0.1;
    assert_false(ours_in_the_end(&t));
}

/* Dense: most starts are the library's routine's without a message; of two calls of one shape each has its own, and nonblocking ones theirs. */
static void test_starts_count_by_themselves(void **state)
{
    struct sparse_state **states = sim_states_create(RANKS);
    struct sparse_series **first = sim_series_create(RANKS), **second = sim_series_create(RANKS);
    struct sim_trial none = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1), one = none, other = none;
    const unsigned patience = none.parameters.patience, all = expected(&none.parameters, CALLS);
    one.series = first;
    other.series = second;
    assert_int_equal(looked_at(&one, states, CALLS), all);
    assert_int_equal(looked_at(&other, states, patience), patience);
    assert_int_equal(looked_at(&other, states, 1), 0);
    assert_int_equal(looked_at(&none, states, CALLS), all);
    assert_int_equal(looked_at(&other, states, CALLS - patience - 1), all - patience);
    sim_series_destroy(first, RANKS);
    sim_series_destroy(second, RANKS);
    sim_states_destroy(states, RANKS);
}

/* They are timed: a dense form of ours runs where the library's routine is slower, and only there. */
static void test_starts_are_timed(void **state)
{
    const double library[] = {0.1, 1e-6};
    for (int quick = 0; quick < 2; quick++) {
        struct sparse_state **states = sim_states_create(RANKS);
        struct sparse_series **series = sim_series_create(RANKS);
        struct sim_trial t = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1);
        unsigned ours = 0;
        t.series = series;
        t.sim.latency = 1e-6;
        t.sim.bandwidth = 1e9;
        t.parameters.rates.ranks_per_node = RANKS;
        t.timed = true;
        t.library = library[quick];
        for (unsigned i = 0; i < CALLS; i++) {
            const bool done = run(&t, states).done == RANKS;
            ours += i >= CALLS / 2 && done;
        }
        assert_true(quick ? ours <= 2 : ours >= CALLS / 2 - 4); /* looks at the other one */
        sim_series_destroy(series, RANKS);
        sim_states_destroy(states, RANKS);
    }
}

/* A rank that has no memory for times says that it is busy: all go by the formulas, until it has. */
static void test_no_memory_for_times(void **state)
{
    enum { HANDLE = 1, MESSAGES = 1 };
    struct sim_trial t = trial_of(SPARSE_IN_TURN, SIM_DENSE, 1);
    struct sparse_state **states = sim_states_create(RANKS);
    unsigned ours = 0;
    t.sim.latency = 1e-6;
    t.sim.bandwidth = 1e9;
    t.parameters.rates.ranks_per_node = RANKS;
    t.parameters.patience = 1000; /* all are looked at */
    t.library = 0.1;
    t.timed = true;
    t.without_memory = 2;
    for (unsigned i = 0; i < CALLS; i++) {
        t.memory_after = i == 0 ? HANDLE + MESSAGES : HANDLE; /* that for messages stays */
        assert_int_equal(run(&t, states).not_ours, RANKS);
    }
    t.without_memory = 0;
    for (unsigned i = 0; i < CALLS; i++) ours += run(&t, states).done == RANKS;
    assert_true(ours > CALLS / 2);
    sim_states_destroy(states, RANKS);
}

/* A look at a call that is alone; whether it is timed. */
static bool alone(struct sparse_turns *turns, bool unseen, uint32_t took)
{
    const unsigned ticket = sparse_turns_begin(turns);
    const bool timed = sparse_turns_learn(turns, false, unseen, turns->trials.times);
    if (timed) {
        struct sparse_trial *trial = sparse_trials_at(&turns->trials, 1, (struct sparse_sort){1, 1});
        sparse_trials_begin(&turns->trials, trial, 0, 1e-3, 0, 1);
        turns->timed = ticket;
    }
    sparse_turns_end(turns, ticket, 1 + took * 1e-7);
    return timed;
}

/* Programs that have several calls at a time are not believed for having one now and then, and less every time that it was in vain. */
static void test_several_at_a_time_are_not(void **state)
{
    struct sparse_turns turns = {0};
    unsigned first, second, looks;
    assert_false(alone(&turns, false, 10));
    assert_false(alone(&turns, false, 10));
    for (int i = 0; i < 5; i++) assert_false(alone(&turns, true, 10)); /* nobody knows of what came before */
    assert_true(alone(&turns, false, 10));
    assert_true(alone(&turns, true, 20));
    assert_int_equal(turns.trials.trial[0].contender[0].tried, 1);
    for (unsigned wanted = 4; wanted <= 16; wanted *= 2) {
        const uint32_t tried = turns.trials.trial[0].contender[0].tried;
        first = sparse_turns_begin(&turns);
        assert_true(sparse_turns_learn(&turns, false, false, turns.trials.times)); /* timed, */
        turns.timed = first;
        sparse_trials_begin(&turns.trials, &turns.trials.trial[0], 0, 1e-3, 0, 1);
        second = sparse_turns_begin(&turns);
        assert_int_not_equal(first, second);
        assert_false(sparse_turns_learn(&turns, true, false, turns.trials.times)); /* and in vain */
        sparse_turns_end(&turns, second, 2);
        sparse_turns_end(&turns, first, 2);
        assert_int_equal(turns.running, 0);
        for (looks = 0; !alone(&turns, false, 10); looks++) {}
        assert_int_equal(looks, wanted);
        assert_int_equal(turns.trials.trial[0].contender[0].tried, tried + 1); /* with what came before that call */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_count_by_themselves), cmocka_unit_test(test_turns_look_again),
        cmocka_unit_test(test_one_stays), cmocka_unit_test(test_one_stays_and_leaves), cmocka_unit_test(test_one_begins_to_stay),
        cmocka_unit_test(test_what_is_known_of_the_library), cmocka_unit_test(test_overlap_is_found_out),
        cmocka_unit_test(test_one_at_a_time_is_timed), cmocka_unit_test(test_starts_count_by_themselves),
        cmocka_unit_test(test_starts_are_timed), cmocka_unit_test(test_no_memory_for_times),
        cmocka_unit_test(test_several_at_a_time_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
