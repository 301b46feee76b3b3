/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_choice_test.c: what is chosen when, that all ranks choose the same, what is learned from call to call, and that
 * vectors which are not for us cost no messages.
 */
#include <math.h>

#include "sim_trial.h"
#include "unit.h"

enum { RANKS = 16, MIB = 131072 /* doubles */ };

static struct sim_trial free_trial(enum sparse_kind kind, int ranks, enum sim_pattern pattern, double density, size_t count)
{
    enum sparse_algorithm any = kind == SPARSE_REDUCE ? SPARSE_REDUCE_HALVING : kind == SPARSE_ALLREDUCE ? SPARSE_ALLREDUCE_HALVING
                              : kind == SPARSE_REDUCE_SCATTER ? SPARSE_SCATTER_HALVING : SPARSE_SCAN_DOUBLING;
    struct sim_trial t = sim_trial_of(any, ranks, kind == SPARSE_REDUCE_SCATTER ? count / (size_t)ranks : count);
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.parameters.rates.bandwidth_network = 125e6; /* the lab's gigabit */
    t.parameters.rates.latency_network = 30e-6;
    t.pattern = pattern;
    t.density = density;
    return t;
}

/* Messages take what the formulas think. */
static void network_as_modelled(struct sim_trial *t)
{
    t->sim.latency = t->parameters.rates.latency_network;
    t->sim.bandwidth = t->parameters.rates.bandwidth_network;
}

static struct sim_report run(const struct sim_trial *t, struct sparse_state **states)
{
    struct sim_report report;
    assert_true(sim_trial_run(t, states, &report));
    assert_int_equal(report.failed, 0);
    assert_true(report.done == 0 || report.done == t->ranks);
    return report;
}

static void test_short_vectors_cost_nothing(void **state)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, RANKS, SIM_RANDOM, 0.001, 65536 / 8 - 1);
    struct sim_report report = run(&t, NULL);
    assert_int_equal(report.not_ours, RANKS);
    assert_int_equal(report.messages, 0);
    t.parameters.algorithm = SPARSE_REDUCE_BINOMIAL; /* of another kind */
    report = run(&t, NULL);
    assert_int_equal(report.messages, 0);
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.count++;
    report = run(&t, NULL);
    assert_true(report.messages > 0);
}

static void test_sparse_is_ours(void **state)
{
    for (enum sparse_kind kind = SPARSE_REDUCE; kind < SPARSE_KINDS; kind++) {
        struct sim_trial t = free_trial(kind, RANKS, SIM_RANDOM, 0.001, MIB);
        t.kind = kind;
        struct sim_report report = run(&t, NULL);
        assert_int_equal(report.done, RANKS);
        assert_false(report.outcome[0].dense);
        assert_true(report.outcome[1].sent * 10 < report.outcome[1].sent_dense);
    }
}

static void test_dense_is_the_library_s(void **state)
{
    for (enum sparse_kind kind = SPARSE_REDUCE; kind < SPARSE_KINDS; kind++) {
        struct sim_trial t = free_trial(kind, RANKS, SIM_DENSE, 1, MIB);
        t.kind = kind;
        struct sim_report report = run(&t, NULL);
        assert_int_equal(report.not_ours, RANKS);
        assert_int_equal(report.data_messages, 0);
    }
}

/* Without a way back (nonblocking calls) dense vectors run here, in dense form. */
static void test_dense_that_cannot_be_passed_on(void **state)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, RANKS, SIM_DENSE, 1, MIB / 4);
    t.may_pass_on = false;
    struct sim_report report = run(&t, NULL);
    assert_int_equal(report.done, RANKS);
    assert_true(report.outcome[0].dense);
}

/* One rank has data, the others none; the choice is about the mean, and the same everywhere. */
static void test_ranks_of_different_density(void **state)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, 12, SIM_POWER_LAW, 0.05, MIB / 2);
    for (uint64_t seed = 1; seed < 6; seed++) {
        t.seed = t.sim.seed = seed;
        (void)run(&t, NULL);
    }
    t.pattern = SIM_CLUSTERED;
    (void)run(&t, NULL);
}

/* After a few dense answers not every call is looked at, the same ones on all ranks; sparse ones are found again. */
static void test_patience(void **state)
{
    struct sim_trial dense = free_trial(SPARSE_ALLREDUCE, 5, SIM_DENSE, 1, 15872);
    struct sim_trial sparse = free_trial(SPARSE_ALLREDUCE, 5, SIM_RANDOM, 0.001, 15872);
    struct sparse_state **states = sim_states_create(5);
    unsigned looked = 0, calls = 0;
    for (; calls < 200; calls++) looked += run(&dense, states).messages > 0;
    assert_int_equal(looked, dense.parameters.patience + (calls - dense.parameters.patience) / dense.parameters.every);
    for (calls = 0; calls < dense.parameters.every; calls++)
        if (run(&sparse, states).done == 5) break;
    assert_true(calls < dense.parameters.every);
    assert_int_equal(run(&sparse, states).done, 5);
    sim_states_destroy(states, 5);
}

/* Of so long a vector's time looking is no part: no call is passed on unseen. */
static void test_long_vectors_are_always_looked_at(void **state)
{
    struct sim_trial dense = free_trial(SPARSE_ALLREDUCE, 5, SIM_DENSE, 1, MIB);
    struct sparse_state **states = sim_states_create(5);
    for (unsigned call = 0; call < 3 * dense.parameters.patience; call++) {
        struct sim_report report = run(&dense, states);
        assert_int_equal(report.not_ours, 5);
        assert_true(report.messages > 0);
    }
    sim_states_destroy(states, 5);
}

static enum sparse_algorithm learned(int ranks)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, ranks, SIM_DISJOINT, 0, MIB);
    struct sparse_state **states = sim_states_create(ranks);
    struct sim_report report = {0};
    for (int call = 0; call < 4; call++) report = run(&t, states);
    sim_states_destroy(states, ranks);
    return report.outcome[0].algorithm;
}

/* Everyone fills its part: nothing is reduced on the way. */
static void test_disjoint_inputs(void **state)
{
    enum sparse_algorithm even = learned(16), odd = learned(12);
    assert_true(even == SPARSE_ALLREDUCE_DOUBLING || even == SPARSE_ALLREDUCE_RING);
    assert_int_equal(odd, SPARSE_ALLREDUCE_RING);
}

/* Inputs that are disjoint no longer: found out although a ring shows nothing of it. */
static void test_learning_is_forgotten(void **state)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, 12, SIM_DISJOINT, 0, MIB / 4);
    struct sparse_state **states = sim_states_create(t.ranks);
    struct sim_report report = {0};
    for (int call = 0; call < 4; call++) report = run(&t, states);
    assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_RING);
    t.pattern = SIM_SAME_POSITIONS;
    t.density = 1.0 / 12;
    for (int call = 0; call < 20; call++) report = run(&t, states);
    assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_HALVING);
    sim_states_destroy(states, t.ranks);
}

/* The same positions everywhere: learned in one call, and then ours at densities that would fill up otherwise. */
static void test_growth_is_learned(void **state)
{
    struct sim_trial t = free_trial(SPARSE_REDUCE, RANKS, SIM_SAME_POSITIONS, 0.3, MIB);
    struct sparse_state **states = sim_states_create(RANKS);
    t.parameters.always = true;
    (void)run(&t, states);
    t.parameters.always = false;
    struct sim_report after = run(&t, states);
    assert_int_equal(after.done, RANKS);
    assert_false(after.outcome[0].dense);
    sim_states_destroy(states, RANKS);
}

/* A library that is quicker than ours while positions differ from rank to rank, and slower when they are the same: which is found out
 * although the library's routine shows nothing of it. */
static void test_overlap_that_comes(void **state)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, RANKS, SIM_RANDOM, 0.1, MIB / 4);
    struct sparse_state **states = sim_states_create(t.ranks);
    int left = 0, ours = 0;
    network_as_modelled(&t);
    t.parameters.every = 4;
    t.timed = t.fast = true;
    t.library = 0.00115;
    for (int call = 0; call < 100; call++) left += run(&t, states).not_ours == t.ranks;
    t.pattern = SIM_SAME_POSITIONS;
    for (int call = 0; call < 200; call++) ours += run(&t, states).done == t.ranks && call >= 100;
    assert_in_range(left, 80, 98);
    assert_in_range(ours, 90, 100);
    sim_states_destroy(states, t.ranks);
}

/* The formulas think that messages travel in no time, and so much of a ring; it is tried, and left. */
static void test_what_is_slow_is_left(void **state)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, 12, SIM_DISJOINT, 0, MIB / 4);
    struct sparse_state **states = sim_states_create(t.ranks);
    struct sim_report report = {0};
    unsigned rings = 0;
    t.parameters.rates.latency_network = t.parameters.rates.latency_node = 0;
    t.sim.latency = 0.01;
    t.sim.bandwidth = 125e6;
    for (int call = 0; call < 4; call++) report = run(&t, states);
    assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_RING);
    t.timed = t.fast = true;
    t.library = 1000;
    for (int call = 0; call < 60; call++) rings += run(&t, states).outcome[0].algorithm == SPARSE_ALLREDUCE_RING;
    assert_in_range(rings, 1, 10);
    sim_states_destroy(states, t.ranks);
}

/* How many of 60 calls are left to a library of that speed, of which the formulas think that ours is twice as fast. */
static int left_to_library(double seconds, bool timed, const struct sim_trial *inside)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, RANKS, SIM_RANDOM, 0.05, MIB / 4);
    struct sparse_state **states = sim_states_create(t.ranks);
    int left = 0;
    network_as_modelled(&t);
    t.timed = timed;
    t.library = seconds;
    t.inside = inside;
    t.fast = true;
    for (int call = 0; call < 60; call++) left += run(&t, states).not_ours == t.ranks;
    sim_states_destroy(states, t.ranks);
    return left;
}

/* A dense vector and a slow library: the dense form takes its place, later on and only there. */
static void test_dense_form(void **state)
{
    struct sim_trial t = free_trial(SPARSE_REDUCE_SCATTER, RANKS, SIM_DENSE, 1, MIB / 4);
    struct sparse_state **states = sim_states_create(t.ranks);
    int ours = 0, first = 0;
    network_as_modelled(&t);
    t.parameters.every = 4;
    t.timed = t.fast = true;
    t.library = 1;
    for (int call = 0; call < 60; call++) {
        struct sim_report report = run(&t, states);
        if (report.done != RANKS) continue;
        assert_true(report.outcome[0].dense);
        if (ours++ == 0) first = call;
    }
    assert_in_range(first, 4, 20);
    assert_in_range(ours, 30, 56);
    sim_states_destroy(states, t.ranks);
}

/* A dense form that is best runs as the library's routine would: without asking in most calls. They cost no message of an agreement, and
 * sparse vectors are found again. */
static void test_dense_form_unseen(void **state)
{
    struct sim_trial t = free_trial(SPARSE_REDUCE_SCATTER, RANKS, SIM_DENSE, 1, 15872);
    struct sparse_state **states = sim_states_create(t.ranks);
    uint64_t seen = 0, unseen = 0;
    int blind = 0;
    network_as_modelled(&t);
    t.timed = true;
    t.library = 1;
    for (int call = 0; call < 100; call++) {
        struct sim_report report = run(&t, states);
        bool looked = report.outcome[0].agreed >= 0;
        if (call >= 40) blind += !looked;
        const bool dense = report.done == RANKS && report.outcome[0].dense;
        if (dense && report.outcome[0].algorithm == SPARSE_SCATTER_PAIRWISE) *(looked ? &seen : &unseen) = report.messages;
    }
    assert_in_range(blind, 45, 59);
    assert_true(unseen > 0 && seen > 0);
    assert_int_equal(seen - unseen, RANKS * 4); /* one message of each rank for each of log2(16) */
    t.pattern = SIM_RANDOM;
    t.density = 0.001;
    int ours = 0;
    for (int call = 0; call < 120; call++) { /* of which the 64th is looked at, if none before */
        struct sim_report report = run(&t, states);
        ours += report.done == RANKS && !report.outcome[0].dense;
    }
    assert_in_range(ours, 50, 120);
    sim_states_destroy(states, t.ranks);
}

/* Nobody would hear of it: that rank gets the error. */
static void test_dense_form_without_memory(void **state)
{
    struct sim_trial t = free_trial(SPARSE_REDUCE_SCATTER, RANKS, SIM_DENSE, 1, 15872);
    struct sparse_state **states = sim_states_create(t.ranks);
    struct sim_report report;
    network_as_modelled(&t);
    t.timed = true;
    t.library = 1;
    t.parameters.keep = 0;
    for (int call = 0; call < 80; call++) (void)run(&t, states);
    t.without_memory = 1;
    t.memory_after = 1; /* the shares */
    do (void)sim_trial_run(&t, states, &report);
    while (report.outcome[0].agreed >= 0);
    assert_int_equal(report.worst, SPARSE_NO_MEMORY);
    assert_in_range(report.failed, 1, 1);
    assert_int_equal(report.wrong, 0);
    sim_states_destroy(states, t.ranks);
}

/* Seconds of a dense form, in calls that are not looked at; and how many of 60 calls it runs beside a library that takes `library`
 * seconds. Vectors of `past` bytes and more are longer than the caches. */
static double dense_seconds(int per_node, size_t past, double library, int *ours)
{
    struct sim_trial t = free_trial(SPARSE_REDUCE_SCATTER, RANKS, SIM_DENSE, 1, MIB / 8);
    struct sparse_state **states = sim_states_create(t.ranks);
    double seconds = 0;
    network_as_modelled(&t);
    t.parameters.rates.ranks_per_node = per_node;
    t.parameters.past_bytes = past;
    t.parameters.every = 4;
    t.timed = t.fast = true;
    t.library = library;
    *ours = 0;
    for (int call = 0; call < 60; call++) {
        struct sim_report report = run(&t, states);
        *ours += report.done == RANKS;
        if (report.done == RANKS && report.outcome[0].agreed < 0) seconds = report.time;
    }
    sim_states_destroy(states, t.ranks);
    return seconds;
}

/* A sixth better is enough for a dense form of a long vector, but not of one that trials find in the caches; between nodes of
 * several ranks it is, where each call is better. */
static void test_dense_form_in_the_caches(void **state)
{
    const size_t never = SIZE_MAX;
    for (int per_node = 1; per_node <= RANKS; per_node *= SIM_SLOWLY ? 4 : 2) {
        int ours;
        double seconds = dense_seconds(per_node, 1, 1, &ours);
        assert_true(seconds > 0);
        (void)dense_seconds(per_node, 1, 1.17 * seconds, &ours);
        assert_in_range(ours, 30, 56);
        seconds = dense_seconds(per_node, never, 1, &ours);
        assert_in_range(ours, 30, 56);
        (void)dense_seconds(per_node, never, 1.17 * seconds, &ours);
        if (per_node > 1 && per_node < RANKS) assert_in_range(ours, 30, 56);
        else assert_in_range(ours, 0, 16); /* the trials of two, most of them twice */
    }
}

static void test_library_is_measured(void **state)
{
    assert_in_range(left_to_library(1e-4, true, NULL), 40, 58);
    assert_in_range(left_to_library(1, true, NULL), 1, 6); /* it is tried, too */
    assert_int_equal(left_to_library(1e-4, false, NULL), 0);
}

/* The library's routine reduces on the same communicator: that is part of its time, and no call of the program's. */
static void test_reductions_of_the_library_s(void **state)
{
    struct sim_trial inside = free_trial(SPARSE_REDUCE, RANKS, SIM_DENSE, 1, 15872);
    inside.timed = inside.fast = true;
    inside.library = 1e-5;
    assert_in_range(left_to_library(1, true, &inside), 1, 6);
}

/* Of 40 calls after many others, those that run ours, and of these the ones without a look. Ours takes four messages, one behind the other,
 * and the agreement as many; the library's routine as many as `library` says. Every second call has inputs of the other density. */
static int ours_of_forty(int per_node, double other, int library, int *unseen)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, RANKS, SIM_RANDOM, 0.001, 8192);
    struct sparse_state **states = sim_states_create(t.ranks);
    int ours = 0;
    t.sim.latency = 1e-3;
    t.sim.bandwidth = 1e12;
    t.timed = t.fast = true;
    t.library = library * 1e-3;
    t.parameters.rates.ranks_per_node = per_node;
    *unseen = 0;
    for (int call = 0; call < 200; call++) {
        t.density = call % 2 ? other : 0.001;
        struct sim_report report = run(&t, states);
        if (call < 160 || report.done < t.ranks) continue;
        ours++;
        *unseen += report.outcome[0].agreed < 0;
    }
    sim_states_destroy(states, t.ranks);
    return ours;
}

/* Asking takes longer than the formulas think. Where it is needed for every call, the library's routine is better; where the inputs stay as
 * they are, an encoded form runs, and runs without. */
static void test_asking_is_measured(void **state)
{
    int unseen;
    assert_in_range(ours_of_forty(1, 0.02, 8, &unseen), 0, 15);
    assert_int_equal(unseen, 0);
    assert_in_range(ours_of_forty(1, 0.02, 20, &unseen), 30, 40);
    assert_int_equal(unseen, 0);
    assert_in_range(ours_of_forty(1, 0.001, 8, &unseen), 30, 40);
    assert_in_range(unseen, 25, 35);
    assert_in_range(ours_of_forty(1, 0.001, 6, &unseen), 0, 10); /* over a network all that asking takes is not saved */
    assert_in_range(ours_of_forty(4, 0.001, 6, &unseen), 25, 40); /* between nodes of several ranks it has been seen what is */
    assert_in_range(ours_of_forty(RANKS, 0.001, 6, &unseen), 30, 40);
}

/* A ring shows nothing of how inputs overlap. While nobody looks, what is known of it is not forgotten: at one look in some another
 * algorithm runs in its place, and shows it again. */
static void test_unseen_ring(void **state)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, 6, SIM_DISJOINT, 1, 4096);
    struct sparse_state **states = sim_states_create(t.ranks);
    t.operator = 9; /* whose elements have padding: no shares */
    int unseen = 0, others = 0;
    network_as_modelled(&t);
    t.timed = true;
    t.library = 1;
    for (int call = 0; call < 300; call++) {
        struct sim_report report = run(&t, states);
        if (call < 100) continue;
        unseen += report.outcome[0].agreed < 0;
        others += report.outcome[0].algorithm != SPARSE_ALLREDUCE_RING;
    }
    assert_in_range(others, 1, 16);
    assert_in_range(unseen, 150, 175);
    sim_states_destroy(states, t.ranks);
}

/* Inputs that become dense while nobody looks are reduced all the same, and found to be dense at the next look. */
static void test_unseen_inputs_become_dense(void **state)
{
    struct sim_trial t = free_trial(SPARSE_ALLREDUCE, RANKS, SIM_RANDOM, 0.001, 8192);
    struct sparse_state **states = sim_states_create(t.ranks);
    int unseen = 0, ours = 0;
    network_as_modelled(&t);
    t.sim.latency = 1e-3;
    t.timed = true;
    t.library = 0.02;
    for (int call = 0; call < 200; call++) unseen += run(&t, states).outcome[0].agreed < 0;
    assert_true(unseen > 100);
    while (run(&t, states).outcome[0].agreed < 0) continue;
    t.pattern = SIM_DENSE;
    t.library = 1e-3;
    for (int call = 0; call < 100; call++) ours += run(&t, states).done == t.ranks;
    assert_in_range(ours, 1, 40);
    sim_states_destroy(states, t.ranks);
}

static void test_unions(void **state)
{
    for (double g = 0; g <= 1.5; g += 0.25)
        for (double d = 0.0001; d < 0.05; d *= 3) {
            struct sparse_estimate e = {.ranks = 16, .density = d, .growth = g};
            double u = sparse_union(&e, 16), least = 1 - pow(1 - d, pow(16, g < 1 ? g : 1));
            assert_true(fabs(u - (g <= 1 ? least : least + (2 * g - 2) * (16 * d - least))) < 1e-7);
            assert_true(fabs(sparse_growth(d, u, 16) - g) < 1e-3);
        }
    struct sparse_estimate e = {.density = 0, .growth = 1};
    assert_true(sparse_union(&e, 5) == 0);
    e.density = 1;
    assert_true(sparse_union(&e, 5) == 1);
}

static void test_calibration(void **state)
{
    struct sparse_rates rates;
    sparse_rates_default(&rates);
    assert_true(sparse_rates_calibrate(&rates));
    assert_true(rates.scan > 0 && rates.merge > 0 && rates.add > 0 && rates.copy > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_vectors_cost_nothing),     cmocka_unit_test(test_sparse_is_ours),
        cmocka_unit_test(test_dense_is_the_library_s),         cmocka_unit_test(test_dense_that_cannot_be_passed_on),
        cmocka_unit_test(test_ranks_of_different_density),     cmocka_unit_test(test_patience),
        cmocka_unit_test(test_disjoint_inputs),                cmocka_unit_test(test_growth_is_learned),
        cmocka_unit_test(test_overlap_that_comes),
        cmocka_unit_test(test_learning_is_forgotten),
        cmocka_unit_test(test_what_is_slow_is_left),           cmocka_unit_test(test_library_is_measured),
        cmocka_unit_test(test_long_vectors_are_always_looked_at),
        cmocka_unit_test(test_reductions_of_the_library_s),
        cmocka_unit_test(test_asking_is_measured),             cmocka_unit_test(test_unseen_inputs_become_dense),
        cmocka_unit_test(test_unseen_ring),
        cmocka_unit_test(test_dense_form_in_the_caches),
        cmocka_unit_test(test_dense_form),                     cmocka_unit_test(test_dense_form_unseen),
        cmocka_unit_test(test_dense_form_without_memory),
        cmocka_unit_test(test_unions),                         cmocka_unit_test(test_calibration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
