/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_nodes_test.c: ranks that share nodes. An Allreduce over the nodes' leaders gives the bits of its brackets for all numbers of
 * ranks and nodes, sends as many messages as it should, and between nodes what a node has, once; and it is chosen where that helps.
 */
#include <math.h>

#include "sim_network.h"
#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

static struct sim_report check(const struct sim_trial *t)
{
    struct sim_report report;
    if (!sim_trial_run(t, NULL, &report) || report.done != t->ranks)
        fail_msg("%s: %d ranks, %d a node, %zu elements: stuck %d, done %d, wrong %d, touched %d",
                 sparse_algorithm_name(t->parameters.algorithm), t->ranks, t->parameters.rates.ranks_per_node, t->count, report.stuck,
                 report.done, report.wrong, report.touched);
    return report;
}

static int steps_of(int n)
{
    int count = 0;
    for (; n > 1; n /= 2) count++;
    return count;
}

/* Each rank but the leaders sends and receives once; of the nodes that are more than a power of two, one hands over to its partner and gets
 * the result. Halving takes as many steps back. */
static uint64_t messages_of(int ranks, int per_node, bool halves)
{
    int nodes = (ranks + per_node - 1) / per_node, cube = 1 << steps_of(nodes), ways = halves && cube > 2 ? 2 : 1;
    return (uint64_t)(2 * (ranks - nodes) + ways * cube * steps_of(nodes) + 2 * (nodes - cube));
}

/* Of a slice: one message of each rank but the root's leader, and one more if that is not the root. */
static uint64_t messages_of_reduce(int ranks, int per_node, int root, int slices)
{
    return (uint64_t)(slices * (ranks - 1 + (root % per_node ? 1 : 0)));
}

/* In one slice, and, with an even number of ranks, in several. */
static void test_any_nodes(void **state)
{
    for (int ranks = 2; ranks <= 17; ranks++)
        for (int per_node = 1; per_node <= ranks; per_node++) {
            const bool is_long = ranks % 2 == 0 && (per_node == 2 || per_node % 4 < 2);
            struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_LEADERS, ranks, is_long ? 16384 + 4096 * (size_t)ranks : 300);
            t.operator = SIM_OPERATORS - 1 - per_node % 2; /* order and brackets show */
            t.in_place = per_node % 3 == 0;
            t.parameters.dense = per_node == 2 || per_node % 4 == 0; /* halves, on up to eight nodes */
            t.parameters.rates.ranks_per_node = per_node;
            t.parameters.slice_bytes = SPARSE_LEADERS_HALVE;
            t.sim.seed = (uint64_t)(ranks * 50 + per_node);
            const uint64_t sent = check(&t).data_messages, slice = messages_of(ranks, per_node, t.parameters.dense && is_long);
            assert_int_equal(sent % slice, 0);
            if (is_long) assert_true(sent > slice);
            else assert_int_equal(sent, slice);
        }
}

/* To every root. */
static void test_reduce_to_any_rank(void **state)
{
    int several = 0;
    for (int ranks = 2; ranks <= 13; ranks++)
        for (int per_node = 1; per_node <= ranks; per_node++)
            for (int root = 0; root < ranks; root++) {
                struct sim_trial t = sim_trial_of(SPARSE_REDUCE_LEADERS, ranks, root % 3 ? 200 : 8192);
                t.operator = SIM_OPERATORS - 1 - root % 2;
                t.root = root;
                t.in_place = per_node % 3 == 0;
                t.parameters.dense = per_node % 4 == 0;
                t.parameters.rates.ranks_per_node = per_node;
                t.sim.seed = (uint64_t)(ranks * 50 + per_node + root);
                const uint64_t sent = check(&t).data_messages;
                const size_t bytes = t.count * sim_operator(t.operator).size;
                int slices = (int)sparse_chain_slices(&t.parameters.rates, t.parameters.dense, ranks, bytes);
                several += slices > 1;
                assert_int_equal(sent, messages_of_reduce(ranks, per_node, root, slices));
            }
    assert_true(several > 100);
}

/* Calls that do not ask: the last slices of one in so many as have 1 MiB are confirmed, between nodes, by each lane. */
static void test_confirmed_now_and_then(void **state)
{
    enum { ALL = 8, NODES = 4, CALLS = 40, COUNT = 16384, EACH = 8, CONFIRMATIONS = 2 * (NODES - 1) };
    struct sim_trial t = sim_trial_of(SPARSE_REDUCE_LEADERS, ALL, COUNT);
    struct sparse_state **states = sim_states_create(ALL);
    t.parameters.dense = true;
    t.parameters.rates.ranks_per_node = ALL / NODES;
    t.parameters.rates.latency_network = 50e-6;
    t.parameters.every = 256;
    int confirmed = 0, unasked = 0;
    for (int call = 0; call < CALLS; call++) {
        struct sim_report report;
        assert_true(sim_trial_run(&t, states, &report) && report.done == ALL && report.wrong == 0);
        const int others = (int)(report.messages - report.data_messages); /* without data: confirmations, or an agreement's */
        const bool asked = others > CONFIRMATIONS;
        unasked = asked ? 0 : unasked + 1;
        assert_int_equal(report.data_messages, messages_of_reduce(ALL, ALL / NODES, 0, 4));
        if (!asked) assert_int_equal(others, unasked % EACH == 0 ? CONFIRMATIONS : 0);
        confirmed += others == CONFIRMATIONS;
    }
    sim_states_destroy(states, ALL);
    assert_true(confirmed > 0);
}

enum { RANKS = 32, PER_NODE = 8, AGREEMENT = 2 * 64 };

/* Bytes into the busiest of four nodes of eight ranks, but for the agreement. */
static uint64_t into_a_node(enum sparse_algorithm algorithm)
{
    struct sim_links links;
    sim_links_default(&links);
    links.ranks_per_node = PER_NODE;
    struct sim_trial t = sim_trial_of(algorithm, RANKS, 100000);
    t.operator = 1;
    t.density = 0.001;
    t.parameters.rates.ranks_per_node = PER_NODE;
    t.sim.network = sim_network_create(SIM_FAT_TREE, RANKS, &links);
    (void)check(&t);
    const uint64_t bytes = sim_network_busiest(t.sim.network) - AGREEMENT;
    sim_network_destroy(t.sim.network);
    return bytes;
}

static void test_once_between_nodes(void **state)
{
    assert_int_equal(into_a_node(SPARSE_ALLREDUCE_DOUBLING), PER_NODE * into_a_node(SPARSE_ALLREDUCE_LEADERS));
}

/* What the ranks have learned of vectors of 5 %: all of them the same, about, from the result of all, not from the first two vectors
 * that were joined. */
static void growths(enum sim_pattern pattern, double *least, double *most)
{
    enum { COUNT = 1 << 18, ALL = 13 };
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_LEADERS, ALL, COUNT);
    struct sparse_state **states = sim_states_create(ALL);
    const struct sparse_operator operator = sim_operator(t.operator);
    struct sim_report report;
    t.pattern = pattern;
    t.density = 0.05;
    assert_true(sim_trial_run(&t, states, &report));
    for (int r = 0; r < ALL; r++) {
        struct sparse_class *class =
            sparse_class_at(&states[r]->classes[SPARSE_IN_ORDER], sparse_call_shape(SPARSE_ALLREDUCE, &operator, COUNT * operator.size));
        assert_true(class->observed);
        *least = r == 0 ? class->learned.growth : fmin(*least, class->learned.growth);
        *most = r == 0 ? class->learned.growth : fmax(*most, class->learned.growth);
    }
    sim_states_destroy(states, ALL);
}

static void test_overlap_is_learned(void **state)
{
    double least, most;
    growths(SIM_SAME_POSITIONS, &least, &most);
    assert_true(least >= 0 && most < 0.01);
    growths(SIM_RANDOM, &least, &most);
    assert_true(least > 0.9 && most < 1.2);
    growths(SIM_DISJOINT, &least, &most);
    assert_true(least > 1.4 && most <= 1.5);
}

/* 16 ranks of the lab, 64 KiB, about the same positions everywhere. */
static enum sparse_algorithm chosen(int per_node, double per_processor, double density, bool *dense)
{
    struct sparse_estimate e = {.elements = 8192, .size = 8, .ranks = 16, .density = density, .growth = 0.2, .per_exception = 10,
                                .learned = true};
    struct sparse_parameters parameters;
    sparse_parameters_default(&parameters);
    parameters.rates.ranks_per_node = per_node;
    parameters.rates.ranks_per_processor = per_processor;
    parameters.rates.latency_network = 170e-6;
    parameters.rates.bandwidth_network = 125e6;
    const struct sparse_choice choice = sparse_choose(SPARSE_ALLREDUCE, true, &e, &parameters, NULL);
    *dense = choice.dense;
    return choice.algorithm;
}

static void test_chosen_by_nodes(void **state)
{
    bool dense = true;
    assert_int_equal(chosen(4, 1, 0.03, &dense), SPARSE_ALLREDUCE_LEADERS);
    assert_false(dense);
    assert_int_equal(chosen(8, 1, 0.1, &dense), SPARSE_ALLREDUCE_LEADERS);
    for (int per_node = 1; per_node <= 16; per_node += 15) /* no nodes to speak of, and only one */
        for (double density = 1e-5; density < 1; density *= 3) assert_int_not_equal(chosen(per_node, 1, density, &dense), SPARSE_ALLREDUCE_LEADERS);
    assert_int_equal(chosen(16, 8, 0.1, &dense), SPARSE_ALLREDUCE_LEADERS); /* ranks take turns: the fewer messages the better */
    assert_int_not_equal(chosen(1, 8, 0.1, &dense), SPARSE_ALLREDUCE_LEADERS);
}

/* How many of 200 calls are led; at least one is not the library's routine's. */
static int led(int ranks, int per_node)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_LEADERS, ranks, 30000);
    struct sparse_state **states = sim_states_create(ranks);
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.parameters.rates.ranks_per_node = per_node;
    t.timed = t.fast = true; /* of results see above */
    t.library = 1e-3;
    int ours = 0, led = 0;
    for (int call = 0; call < 200; call++) {
        struct sim_report report;
        assert_true(sim_trial_run(&t, states, &report));
        led += report.outcome[0].algorithm == SPARSE_ALLREDUCE_LEADERS;
        ours += report.done == ranks;
    }
    assert_true(ours > 0);
    sim_states_destroy(states, ranks);
    return led;
}

/* Where it is no way of its own it is not tried either. */
static void test_tried(void **state)
{
    assert_int_equal(led(PER_NODE, 1), 0);
    assert_int_equal(led(3, 3), 0);
    assert_true(led(PER_NODE, PER_NODE) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_nodes),       cmocka_unit_test(test_reduce_to_any_rank),
        cmocka_unit_test(test_confirmed_now_and_then), cmocka_unit_test(test_once_between_nodes),
        cmocka_unit_test(test_overlap_is_learned),
        cmocka_unit_test(test_chosen_by_nodes), cmocka_unit_test(test_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
