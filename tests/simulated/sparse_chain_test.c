/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_chain_test.c: over a network: what a chain and messages that all go to the root are thought to take, and how a vector is cut for
 * a chain and for halving.
 */
#include "sim_trial.h"
#include "unit.h"

/* The lab: nodes of four, a Gbit/s between them. */
static struct sparse_parameters over_a_network(double latency, double bandwidth)
{
    struct sparse_parameters parameters;
    sparse_parameters_default(&parameters);
    parameters.rates.ranks_per_node = 4;
    parameters.rates.latency_network = latency;
    parameters.rates.bandwidth_network = bandwidth;
    return parameters;
}

/* One MiB over four ranks on each of four nodes: it took 10.2 ms in the lab. */
static void test_chain_over_a_network(void **state)
{
    struct sparse_estimate e = {.elements = 1 << 17, .size = 8, .ranks = 16, .density = 1, .growth = 1, .per_exception = 10};
    const struct sparse_parameters parameters = over_a_network(170e-6, 125e6);
    double seconds = sparse_cost(SPARSE_REDUCE_CHAIN, SPARSE_REDUCE_CHAIN, true, &e, &parameters);
    assert_true(seconds > 8.4e-3 && seconds < 14e-3);
}

/* One MiB at 1 % took 1.5 to 1.9 ms there, when a message of every rank at once took 170 to 310 us: those of one node do not wait for each
 * other, as they would on nodes of one rank. */
static void test_all_to_the_root(void **state)
{
    struct sparse_estimate e = {.elements = 1 << 17, .size = 8, .ranks = 16, .density = 0.01, .growth = 1, .per_exception = 10};
    for (double latency = 170e-6; latency < 320e-6; latency += 70e-6) {
        struct sparse_parameters parameters = over_a_network(latency, 125e6);
        const double seconds = sparse_cost(SPARSE_REDUCE_DIRECT, SPARSE_REDUCE_DIRECT, false, &e, &parameters);
        assert_true(seconds > 1.4e-3 && seconds < 3e-3);
        parameters.rates.ranks_per_node = 1;
        assert_true(sparse_cost(SPARSE_REDUCE_DIRECT, SPARSE_REDUCE_DIRECT, false, &e, &parameters) > seconds + 11 * latency);
    }
}

/* A chain's dense slices are short enough to go at once, unless that takes them less time than an answer, or they would be too many. */
static void test_slices_of_a_chain(void **state)
{
    const struct sparse_rates lab = over_a_network(170e-6, 125e6).rates, fast = over_a_network(20e-6, 12.5e9).rates;
    const size_t mib = 1 << 20;
    for (int ranks = 5; ranks <= 16; ranks++)
        for (size_t bytes = 65536; bytes <= 16 * mib; bytes += 99991) {
            const size_t slices = sparse_chain_slices(&lab, true, ranks, bytes);
            assert_true((bytes + slices - 1) / slices <= 49152 && bytes / slices >= 16384);
        }
    assert_int_equal(sparse_chain_slices(&lab, false, 8, 8 * mib), 32);
    assert_int_equal(sparse_chain_slices(&fast, true, 8, 8 * mib), 32);
    assert_int_equal(sparse_chain_slices(&lab, true, 8, 32 * mib), 32);
    assert_int_equal(sparse_chain_slices(&lab, true, 4, 8 * mib), 16); /* of one node */
    assert_int_equal(sparse_chain_slices(&lab, true, 8, 30000), 1);
}

/* Eight ranks and more that share links halve long dense vectors into parts that go at once; nothing else is cut otherwise. */
static void test_slices_of_halving(void **state)
{
    const struct sparse_rates lab = over_a_network(170e-6, 125e6).rates, fast = over_a_network(20e-6, 12.5e9).rates;
    const size_t bytes = 8 << 20;
    for (int ranks = 8; ranks <= 16; ranks++) {
        const size_t parts = ranks < 16 ? 8 : 16, slices = sparse_least_slices(SPARSE_SCATTER_HALVING, true, &lab, ranks, bytes, 8);
        assert_in_range(bytes / slices / parts, 32768, 57344);
    }
    assert_int_equal(sparse_least_slices(SPARSE_ALLREDUCE_HALVING, true, &lab, 16, bytes, 8), 10);
    assert_int_equal(sparse_least_slices(SPARSE_ALLREDUCE_HALVING, true, &lab, 16, bytes, 20), 20);
    assert_int_equal(sparse_least_slices(SPARSE_ALLREDUCE_HALVING, false, &lab, 16, bytes, 8), 8);
    assert_int_equal(sparse_least_slices(SPARSE_ALLREDUCE_HALVING, true, &lab, 16, bytes / 8, 1), 1);
    assert_int_equal(sparse_least_slices(SPARSE_ALLREDUCE_HALVING, true, &lab, 6, bytes, 8), 8);
    assert_int_equal(sparse_least_slices(SPARSE_ALLREDUCE_HALVING, true, &fast, 16, bytes, 8), 8);
    assert_int_equal(sparse_least_slices(SPARSE_ALLREDUCE_DOUBLING, true, &lab, 16, bytes, 8), 8);
}

/* Encoded ones of calls with many steps are half as many, but those of a chain; on one node those of a Reduce are short for the caches. */
static void test_slices_that_are_encoded(void **state)
{
    static const enum sparse_algorithm between[] = {SPARSE_REDUCE_BINOMIAL, SPARSE_REDUCE_HALVING, SPARSE_REDUCE_DIRECT,
                                                    SPARSE_SCATTER_HALVING, SPARSE_SCATTER_PAIRWISE, SPARSE_ALLREDUCE_HALVING};
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        assert_int_equal(sparse_slices(between[i], false, false, 8), 4);
        assert_int_equal(sparse_slices(between[i], false, false, 3), 3);
        assert_int_equal(sparse_slices(between[i], true, false, 8), 8);
    }
    assert_int_equal(sparse_slices(SPARSE_REDUCE_BINOMIAL, false, true, 8), 8);
    assert_int_equal(sparse_slices(SPARSE_SCATTER_HALVING, false, true, 8), 8);
    assert_int_equal(sparse_slices(SPARSE_REDUCE_CHAIN, false, false, 8), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_over_a_network),
        cmocka_unit_test(test_all_to_the_root),
        cmocka_unit_test(test_slices_of_a_chain),
        cmocka_unit_test(test_slices_of_halving),
        cmocka_unit_test(test_slices_that_are_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
