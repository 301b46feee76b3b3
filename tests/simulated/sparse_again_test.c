/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_again_test.c: calls that are as the one before are left to the library in a few steps, and all counts as if they had not been.
 */
#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

enum { RANKS = 3, CALLS = 200 };

static struct sim_trial dense_trial(size_t count)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, RANKS, count);
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.pattern = SIM_DENSE;
    t.density = 1;
    t.timed = t.fast = true;
    t.parameters.wordless = true; /* they take no time here */
    t.library = 1e-6;
    return t;
}

static struct sim_report run(const struct sim_trial *t, struct sparse_state **states)
{
    struct sim_report report;
    assert_true(sim_trial_run(t, states, &report));
    assert_int_equal(report.failed, 0);
    assert_true(report.done == 0 || report.done == t->ranks);
    return report;
}

/* Which of the calls are looked at, where the first `again` ranks take the short way, for one call or (`ahead`) several at a time: every `other`-th
 * call is one on a longer vector, of which no call is the same as the one before. How often a rank took it. */
static int looks_of(enum sparse_order order, int again, bool ahead, int other, bool *looks)
{
    struct sim_trial usual = dense_trial(15872), longer = dense_trial(40000);
    struct sparse_state **states = sim_states_create(RANKS);
    unsigned told[RANKS] = {0};
    int taken = 0;
    usual.order = longer.order = order;
    usual.ahead = longer.ahead = ahead ? told : NULL;
    for (int call = 0; call < CALLS; call++) {
        bool first = call == 0 || call % other <= 1;
        usual.again = first ? 0 : again;
        struct sim_report report = run(call % other == 0 ? &longer : &usual, states);
        looks[call] = report.messages > 0;
        taken += report.again;
    }
    sim_states_destroy(states, RANKS);
    return taken;
}

/* The short way is taken, by all ranks or by some, and the same calls are looked at. */
static void count_the_same(enum sparse_order order)
{
    static bool without[CALLS], with[CALLS];
    const int others[] = {CALLS, 7, 3};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        int seen = 0;
        assert_int_equal(looks_of(order, 0, false, others[i], without), 0);
        for (int call = 0; call < CALLS; call++) seen += without[call];
        assert_in_range(seen, 10, CALLS / 3);
        for (int again = 1; again <= RANKS; again += RANKS - 1)
            for (int ahead = 0; ahead < 2; ahead++) {
                int taken = looks_of(order, again, ahead, others[i], with);
                assert_in_range(taken, again * CALLS / 5, again * CALLS);
                assert_memory_equal(with, without, sizeof with);
            }
    }
}

static void test_counts_the_same(void **state)
{
    count_the_same(SPARSE_IN_ORDER);
    count_the_same(SPARSE_IN_TURN);
}

/* How many calls are asked about where the library's routine never runs. */
static int asked_always(bool dense)
{
    struct sim_trial t = dense_trial(15872);
    struct sparse_state **states = sim_states_create(RANKS);
    t.parameters.always = true;
    t.parameters.dense = dense;
    int asked = 0;
    for (int call = 0; call < CALLS; call++) {
        const struct sim_report report = run(&t, states);
        assert_int_equal(report.done, RANKS);
        asked += report.outcome[0].agreed >= 0;
    }
    sim_states_destroy(states, RANKS);
    return asked;
}

/* Of dense forms alone there is soon nothing to ask. */
static void test_always(void **state)
{
    assert_int_equal(asked_always(false), CALLS);
    assert_in_range(asked_always(true), 5, 20);
}

/* Not after a call that was looked at, nor one that is ours. */
static void test_after_a_look(void **state)
{
    struct sim_trial t = dense_trial(15872), ours = dense_trial(15872);
    struct sparse_state **states = sim_states_create(RANKS);
    struct sim_report report = {0};
    t.again = RANKS;
    for (int call = 0; call < CALLS; call++) {
        bool looked = report.messages > 0;
        report = run(&t, states);
        if (looked || call == 0) assert_int_equal(report.again, 0);
    }
    while (run(&t, states).again == 0) continue;
    ours.parameters.always = true;
    assert_int_equal(run(&ours, states).done, RANKS);
    for (int r = 0; r < RANKS; r++) assert_int_equal(sparse_state_passes(states[r], SPARSE_IN_ORDER, 1, &t.parameters), 0);
    sim_states_destroy(states, RANKS);
}

/* Calls that do not wait may come in between, of so many shapes that what was known of the last blocking one has made way. */
static void test_what_has_made_way(void **state)
{
    struct sim_trial t = dense_trial(15872), other = dense_trial(15872);
    struct sparse_state **states = sim_states_create(RANKS);
    t.again = RANKS;
    for (int call = 0; call < 40; call++) (void)run(&t, states);
    while (run(&t, states).again == 0) continue;
    other.timed = false;
    other.count = 65536;
    for (int kind = 0; kind < SPARSE_KINDS; kind++)
        for (other.operator = 1; other.operator < SIM_OPERATORS; other.operator++) {
            other.kind = kind;
            for (int call = 0; call < 6; call++) (void)run(&other, states); /* to be settled, too */
        }
    for (int r = 0; r < RANKS; r++) assert_int_equal(sparse_state_passes(states[r], SPARSE_IN_ORDER, 1, &t.parameters), 0);
    assert_true(run(&t, states).messages > 0);
    sim_states_destroy(states, RANKS);
}

/* So many of the calls behind the `first` ones are looked at, in a program that does something else for `between` seconds after each. Its
 * ranks are on four nodes; the library's routine takes `library` seconds, and one of ours much more or less than that. */
static int looks_among(int first, int calls, double library, double between, enum sim_pattern pattern)
{
    struct sim_trial t = dense_trial(15872);
    t.parameters.rates.latency_network = t.sim.latency = 1e-4;
    t.parameters.rates.bandwidth_network = t.sim.bandwidth = 125e6;
    t.pattern = pattern;
    t.density = pattern == SIM_RANDOM ? 0.4 : 0.01;
    t.library = library;
    struct sparse_state **states = sim_states_create(RANKS);
    int looks = 0;
    for (int call = 0; call < first + calls; call++) {
        struct sim_report report = run(&t, states);
        bool looked = report.done ? report.outcome[0].agreed >= 0 : report.messages > 0;
        if (call >= first) looks += looked;
        t.since += report.time + between + (report.done ? 0 : library);
    }
    sim_states_destroy(states, RANKS);
    return looks;
}

/* A look is several messages in a row, and takes longer than such a call. Beside what a program does otherwise, it is nothing. */
static void test_dear_looks_are_seldom(void **state)
{
    assert_int_equal(looks_among(2000, 3200, 1e-4, 0.1, SIM_RANDOM), 3200 / 32);
    assert_in_range(looks_among(2000, 3200, 1e-4, 1e-4, SIM_RANDOM), 40, 80);
    assert_in_range(looks_among(2000, 3200, 2e-5, 0, SIM_RANDOM), 3200 / 512, 20);
}

/* How many calls there are from one look to the next. At first they follow each other, or the call between them is timed. */
static void distances(struct sim_trial *t, struct sparse_state **states, int *distance, int n)
{
    for (int i = 0, since = 1; i < n; since++) {
        const struct sim_report report = run(t, states);
        if (report.done ? report.outcome[0].agreed < 0 : report.messages == 0) continue;
        if (since > 2) distance[i++] = since;
        since = 0;
    }
}

/* The more looks have come to the same, the more seldom they are, of what is short and of what is dense; less so where an encoded form runs.
 * (One look at thin vectors is to show how they overlap, and does not count.) Sparse vectors are found all the same. */
static void test_looks_that_come_to_the_same(void **state)
{
    static const struct { size_t count; enum sim_pattern pattern; int distance[6]; } cases[] = {
        {2048, SIM_DENSE, {32, 64, 128, 256, 512, 512}}, {2048, SIM_RANDOM, {32, 64, 128, 256, 256, 512}},
        {15872, SIM_DENSE, {32, 64, 128, 128, 128, 128}}, {15872, SIM_RANDOM, {32, 32, 32, 32, 32, 32}}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sim_trial t = dense_trial(cases[i].count);
        struct sparse_state **states = sim_states_create(RANKS);
        int found[6], ours[16], calls = 0;
        t.parameters.short_bytes = 4096;
        t.pattern = cases[i].pattern;
        t.density = t.pattern == SIM_DENSE ? 1 : 0.05;
        distances(&t, states, found, 6);
        assert_memory_equal(found, cases[i].distance, sizeof found);
        t.pattern = SIM_SAME_POSITIONS;
        t.density = 0.001;
        t.library = 1;
        while (run(&t, states).done == 0) calls++;
        assert_in_range(calls, 1, found[5]);
        distances(&t, states, ours, COUNT_OF(ours));
        assert_int_equal(ours[0], 8);
        for (size_t k = 1; k < COUNT_OF(ours); k++) assert_true(ours[k] >= ours[k - 1]);
        assert_int_equal(ours[COUNT_OF(ours) - 1], cases[i].count == 2048 ? 32 : 8);
        sim_states_destroy(states, RANKS);
    }
}

/* Until it is known who is the best one: other calls, which the library's routine runs, take as long as those looks. */
static void test_first_looks(void **state)
{
    struct sparse_class class = {.shape = 1, .dear = 4, .answer = {.algorithm = SPARSE_ALLREDUCE_RING}};
    struct sparse_parameters parameters;
    int looks = 0;
    sparse_parameters_default(&parameters);
    for (int call = 0; call < 100; call++) {
        looks += sparse_class_looks(&class, &parameters);
        assert_int_equal(sparse_class_unasked(&class, &parameters).algorithm, SPARSE_LIBRARY);
    }
    assert_int_equal(looks, 100 / 4);
    class.dear = 0.9;
    for (int call = 0; call < 100; call++) assert_true(sparse_class_looks(&class, &parameters));
    class.alike = parameters.patience;
    assert_int_equal(sparse_class_unasked(&class, &parameters).algorithm, SPARSE_ALLREDUCE_RING);
}

/* Others wait for the one that hardly waits, which loses nothing by that: it says how dear looks are. */
static void test_whose_looks_are_dear(void **state)
{
    struct sim_trial t = dense_trial(15872);
    struct sparse_state **states = sim_states_create(RANKS);
    (void)run(&t, states);
    for (int r = 0; r < RANKS; r++) states[r]->classes[SPARSE_IN_ORDER].class[0].found = r == 1 ? 0.125 : 8;
    assert_true(run(&t, states).messages > 0);
    for (int r = 0; r < RANKS; r++) assert_float_equal(states[r]->classes[SPARSE_IN_ORDER].class[0].dear, 0.125, 0);
    sim_states_destroy(states, RANKS);
}

/* Inputs may become others, for which an encoded form is a bad choice. */
static void test_encoded_forms_are_seen_to(void **state)
{
    assert_int_equal(looks_among(2000, 3200, 1e-2, 0.1, SIM_SAME_POSITIONS), 3200 / 8);
    assert_in_range(looks_among(2000, 3200, 1e-2, 0, SIM_SAME_POSITIONS), 3200 / 32, 3200 / 16);
}

/* Asking takes as long as the library's routine, and a dense form two thirds of that. Of 500 calls, behind as many, how many that ran; and how
 * many of those that were looked at say that looks are worth it. */
static void of_short_vectors(int per_node, int *ours, int *looks, int *worth)
{
    enum { MANY = 16 };
    struct sim_trial t = dense_trial(512);
    struct sparse_state **states = sim_states_create(MANY);
    struct sparse_rates *rates = &t.parameters.rates;
    t.ranks = MANY;
    rates->latency_node = rates->latency_network = t.sim.latency = 3e-5;
    rates->bandwidth_node = rates->bandwidth_network = t.sim.bandwidth = 1e12;
    rates->ranks_per_node = per_node;
    t.parameters.short_bytes = 1024;
    t.library = 1.9e-4;
    for (int call = *ours = *looks = *worth = 0; call < 1000; call++) {
        struct sim_report report = run(&t, states);
        t.since += report.time + (report.done ? 0 : t.library);
        if (call < 500) continue;
        *ours += report.done == MANY && report.outcome[0].dense;
        if (report.outcome[0].agreed < 0) continue;
        ++*looks;
        *worth += report.outcome[0].worth == SPARSE_WORTH;
    }
    sim_states_destroy(states, MANY);
}

/* On one node it is tried in a program that goes on, runs without asking, and is looked at now and then; elsewhere it is not. */
static void test_dense_form_of_short_vectors(void **state)
{
    int ours, looks, worth;
    of_short_vectors(16, &ours, &looks, &worth);
    assert_int_equal(ours, 500);
    assert_in_range(looks, 1, 500 / 16);
    assert_int_equal(worth, looks);
    of_short_vectors(1, &ours, &looks, &worth);
    assert_int_equal(ours, 0);
    assert_true(looks > 0);
    assert_int_equal(worth, 0);
}

/* The machine was measured while others were at work: messages are taken for a hundred times as long as they are, or more, and a call for so long
 * that asking would be no part of it. What calls take shows that it is. */
static void test_rates_of_another_time(void **state)
{
    struct sim_trial t = dense_trial(15872);
    struct sparse_state **states = sim_states_create(RANKS);
    struct sparse_rates *rates = &t.parameters.rates;
    int looks = 0;
    t.sim.latency = 2e-6;
    t.sim.bandwidth = 4e9;
    rates->latency_node = rates->latency_network = 2e-3;
    rates->bandwidth_node = rates->bandwidth_network = 3e7;
    rates->ranks_per_node = RANKS;
    t.library = 4e-5;
    for (int call = 0; call < 1000; call++) {
        const struct sim_report report = run(&t, states);
        t.since += report.time + (report.done ? 0 : t.library);
        if (call >= 500) looks += report.done ? report.outcome[0].agreed >= 0 : report.messages > 0;
    }
    assert_in_range(looks, 1, 500 / 16);
    sim_states_destroy(states, RANKS);
}

/* By the formulas asking takes a two hundredth of a call, which is not measured where calls come in turn, and may be several times that where ranks
 * share processors. */
static void test_asking_that_is_not_measured(void **state)
{
    for (int per_node = 1; per_node <= RANKS; per_node += RANKS - 1) {
        struct sim_trial t = dense_trial(15872);
        struct sparse_state **states = sim_states_create(RANKS);
        int looks = 0;
        t.order = SPARSE_IN_TURN;
        t.sim.latency = 2e-3;
        t.parameters.rates.ranks_per_node = per_node;
        t.parameters.rates.latency_network = 4e-6; /* asking is taken for as much as on one node, where it is mostly waiting */
        t.library = 2.5e-3;
        for (int call = 0; call < CALLS; call++) {
            const struct sim_report report = run(&t, states);
            t.since += report.time + (report.done ? 0 : t.library);
            if (call >= CALLS / 2) looks += report.messages > 0;
        }
        if (per_node == RANKS) assert_in_range(looks, 1, CALLS / 16);
        else assert_int_equal(looks, CALLS / 2);
        sim_states_destroy(states, RANKS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts_the_same), cmocka_unit_test(test_always), cmocka_unit_test(test_after_a_look),
                                       cmocka_unit_test(test_what_has_made_way), cmocka_unit_test(test_dear_looks_are_seldom),
                                       cmocka_unit_test(test_looks_that_come_to_the_same),
                                       cmocka_unit_test(test_encoded_forms_are_seen_to), cmocka_unit_test(test_first_looks),
                                       cmocka_unit_test(test_whose_looks_are_dear), cmocka_unit_test(test_dense_form_of_short_vectors),
                                       cmocka_unit_test(test_rates_of_another_time),
                                       cmocka_unit_test(test_asking_that_is_not_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
