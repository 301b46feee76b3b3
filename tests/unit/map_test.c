/* SPDX-License-Identifier: BSD-3-Clause
 * map_test.c: properties of the mapper: a result is a permutation, costs what a brute-force sum says, is never worse than
 * the identity, does not depend on the number of threads, and respects fixed ranks.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <lucid_map.h>

#include "map_random.h"
#include "map_tree.h"
#include "matrix.h"

static lucid_matrix_t random_matrix(int n, int degree, uint64_t most, uint64_t seed)
{
    struct map_random random = {seed};
    lucid_matrix_t matrix;
    assert_int_equal(lucid_matrix_make(&matrix, n, (size_t)n * (size_t)degree), 0);
    size_t at = 0;
    for (int row = 0; row < n; row++) {
        int step = n / degree > 0 ? n / degree : 1, used = 0;
        for (int i = map_random_below(&random, step); i < n && used < degree; i += 1 + map_random_below(&random, 2 * step)) {
            matrix.column[at] = i;
            matrix.bytes[at] = map_random_next(&random) % (most + 1);
            matrix.count[at++] = 1 + map_random_next(&random) % 5;
            used++;
        }
        matrix.row_start[row + 1] = at;
    }
    matrix.entries = at;
    return matrix;
}

/** A chain of n ranks in an order that scatters it. */
static lucid_matrix_t scattered_chain(int n, uint64_t bytes)
{
    lucid_matrix_t matrix;
    assert_int_equal(lucid_matrix_make(&matrix, n, (size_t)n), 0);
    for (int row = 0; row < n; row++) {
        matrix.column[row] = (int)((row + (int64_t)n / 2 + 1) % n); /* n / 2 + 1 and n share no factor for n = 4 k */
        matrix.bytes[row] = bytes;
        matrix.count[row] = 1;
        matrix.row_start[row + 1] = (size_t)row + 1;
    }
    return matrix;
}

static double brute_force(const lucid_matrix_t *matrix, const lucid_topology_t *topology, const int *k)
{
    double sum = 0;
    int n = matrix->size, *leaf = malloc((size_t)n * sizeof *leaf);
    for (int process = 0; process < n; process++) leaf[k[process]] = process;
    for (int row = 0; row < n; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
            int a = leaf[row], b = leaf[matrix->column[i]], level = 0;
            while (level < topology->levels && topology->group[level][a] == topology->group[level][b]) level++;
            if (level < topology->levels) sum += (double)matrix->bytes[i] * topology->cost[level];
        }
    free(leaf);
    return sum;
}

static void check_permutation(const int *k, int n)
{
    char *seen = calloc((size_t)n, 1);
    for (int i = 0; i < n; i++) {
        assert_in_range(k[i], 0, n - 1);
        assert_int_equal(seen[k[i]], 0);
        seen[k[i]] = 1;
    }
    free(seen);
}

static lucid_topology_t *machine(const char *text)
{
    char why[200] = "";
    lucid_topology_t *topology = NULL;
    if (lucid_topology_read(text, &topology, why, sizeof why) != LUCID_SUCCESS) fail_msg("%s: %s", text, why);
    return topology;
}

static void map_and_check(const lucid_matrix_t *matrix, const lucid_topology_t *topology, const char *algorithm)
{
    char why[200];
    int n = matrix->size, *k = malloc((size_t)n * sizeof *k), *again = malloc((size_t)n * sizeof *again);
    lucid_map_result_t result;
    lucid_map_cost_t cost;
    lucid_map_options_t options = {.algorithm = algorithm, .threads = 1, .seed = 7, .starts = algorithm ? 1 : 5};
    assert_int_equal(lucid_map(matrix, topology, &options, k, &result, why, sizeof why), LUCID_SUCCESS);
    check_permutation(k, n);
    assert_true(result.after.cost <= result.before.cost);
    assert_int_equal(lucid_map_evaluate(matrix, topology, k, &cost, why, sizeof why), LUCID_SUCCESS);
    double expected = brute_force(matrix, topology, k);
    assert_true(expected - cost.cost <= 1e-9 * expected && cost.cost - expected <= 1e-9 * expected);
    assert_true(cost.cost == result.after.cost && cost.between_bytes == result.after.between_bytes);
    options.threads = 4;
    assert_int_equal(lucid_map(matrix, topology, &options, again, NULL, why, sizeof why), LUCID_SUCCESS);
    assert_memory_equal(k, again, (size_t)n * sizeof *k);
    free(k);
    free(again);
}

static void test_properties(void **state)
{
    static const char *const machines[] = {"node:1 core:1", "node:2 core:1", "node:3 core:5", "node:4 numa:2 core:8",
                                           "rack:2 node:3 numa:2 core:3", "node:3 core:7,2,4", "node:5 numa:1,3 core:2,5",
                                           "node:64", "core:17", "node=7:6 core=0:6"};
    static const char *const algorithms[] = {NULL, "identity", "multilevel"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        lucid_topology_t *topology = machine(machines[m]);
        for (int degree = 1; degree <= 9; degree += 4) {
            lucid_matrix_t matrix = random_matrix(lucid_topology_leaves(topology), degree, 1000, m * 10 + (uint64_t)degree);
            for (size_t a = 0; a < 3; a++) map_and_check(&matrix, topology, algorithms[a]);
            lucid_matrix_free(&matrix);
        }
        lucid_topology_free(topology);
    }
}

static void test_treematch_on_regular_machines(void **state)
{
    static const char *const machines[] = {"node:2 core:2", "node:3 core:5", "node:4 numa:2 core:8", "node:7 numa:3 core:6"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        lucid_topology_t *topology = machine(machines[m]);
        lucid_matrix_t matrix = random_matrix(lucid_topology_leaves(topology), 4, 1000, m);
        map_and_check(&matrix, topology, "treematch");
        lucid_matrix_free(&matrix);
        lucid_topology_free(topology);
    }
}

static void test_treematch_leaves_irregular_machines_alone(void **state)
{
    static const char *const machines[] = {"node:2 core:3,5", "node:3 numa:1,2,1 core:2", "rack:2 node:1,3 core:2",
                                           "rack:2 node:2 core:2,3"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        lucid_topology_t *topology = machine(machines[m]);
        int n = lucid_topology_leaves(topology), k[16];
        lucid_matrix_t matrix = random_matrix(n, 2, 9, m);
        char why[200] = "";
        lucid_map_options_t options = {.algorithm = "treematch"};
        assert_int_equal(lucid_map(&matrix, topology, &options, k, NULL, why, sizeof why), LUCID_ERR_ARG);
        assert_non_null(strstr(why, "regular"));
        options.algorithm = "auto";
        assert_int_equal(lucid_map(&matrix, topology, &options, k, NULL, why, sizeof why), LUCID_SUCCESS);
        lucid_matrix_free(&matrix);
        lucid_topology_free(topology);
    }
}

static void test_finds_what_is_there_to_find(void **state)
{
    lucid_topology_t *topology = machine("node:16 core:16");
    lucid_matrix_t matrix = scattered_chain(256, 100);
    int k[256];
    lucid_map_result_t result;
    char why[200];
    lucid_map_options_t options = {.threads = 2};
    assert_int_equal(lucid_map(&matrix, topology, &options, k, &result, why, sizeof why), LUCID_SUCCESS);
    assert_int_equal(result.before.between_bytes, 256 * 100);
    assert_int_equal(result.after.between_bytes, 16 * 100); /* a ring of 256 in 16 arcs: 16 edges must leave */
    lucid_matrix_free(&matrix);
    lucid_topology_free(topology);
}

static void test_fixed_ranks(void **state)
{
    lucid_topology_t *topology = machine("node:8 core:8");
    lucid_matrix_t matrix = scattered_chain(64, 9);
    int k[64], fixed[64];
    char why[200];
    for (int i = 0; i < 64; i++) fixed[i] = i % 9 == 0 ? 63 - i : -1;
    lucid_map_options_t options = {.fixed = fixed};
    assert_int_equal(lucid_map(&matrix, topology, &options, k, NULL, why, sizeof why), LUCID_SUCCESS);
    check_permutation(k, 64);
    for (int i = 0; i < 64; i++) assert_true(fixed[i] < 0 || k[i] == fixed[i]);
    fixed[1] = fixed[0];
    assert_int_equal(lucid_map(&matrix, topology, &options, k, NULL, why, sizeof why), LUCID_ERR_ARG);
    fixed[1] = 64;
    assert_int_equal(lucid_map(&matrix, topology, &options, k, NULL, why, sizeof why), LUCID_ERR_ARG);
    lucid_matrix_free(&matrix);
    lucid_topology_free(topology);
}

static void test_all_ranks_fixed(void **state)
{
    enum { N = 20000 };
    lucid_topology_t *topology = machine("node:625 core:32");
    lucid_matrix_t matrix = scattered_chain(N, 1);
    int *k = malloc(2 * N * sizeof *k), *fixed = k + N;
    char why[200];
    lucid_map_result_t result;
    for (int i = 0; i < N; i++) fixed[i] = (int)(((int64_t)i * 7 + 3) % N);
    lucid_map_options_t options = {.fixed = fixed, .starts = 1};
    assert_int_equal(lucid_map(&matrix, topology, &options, k, &result, why, sizeof why), LUCID_SUCCESS);
    assert_memory_equal(k, fixed, N * sizeof *k);
    assert_true(result.after.cost == result.before.cost); /* there is no choice */
    free(k);
    lucid_matrix_free(&matrix);
    lucid_topology_free(topology);
}

static void test_more_time_is_no_worse(void **state)
{
    lucid_topology_t *topology = machine("node:16 numa:2 core:4");
    lucid_matrix_t matrix = random_matrix(128, 6, 1000, 5);
    int k[128];
    char why[200];
    double last = HUGE_VAL;
    for (int starts = 1; starts <= 9; starts += 4) {
        lucid_map_options_t options = {.starts = starts, .seed = 3};
        lucid_map_result_t result;
        assert_int_equal(lucid_map(&matrix, topology, &options, k, &result, why, sizeof why), LUCID_SUCCESS);
        assert_true(result.after.cost <= last);
        last = result.after.cost;
    }
    lucid_matrix_free(&matrix);
    lucid_topology_free(topology);
}

static void test_no_overflow(void **state)
{
    enum { N = 65536 };
    lucid_topology_t *topology = machine("node=1000000:2048 core:32");
    lucid_matrix_t matrix = scattered_chain(N, UINT64_C(1000000000000000));
    int *k = malloc(N * sizeof *k);
    lucid_map_result_t result;
    char why[200];
    lucid_map_options_t options = {.algorithm = "treematch"};
    assert_int_equal(lucid_map(&matrix, topology, &options, k, &result, why, sizeof why), LUCID_SUCCESS);
    check_permutation(k, N);
    assert_true(result.before.cost > 6.5e25 && result.before.cost < 6.6e25); /* 65,536 x 10^15 x 10^6 */
    assert_true(result.after.cost < result.before.cost);
    assert_true(result.before.between_bytes == UINT64_MAX); /* 6.5e19 does not fit: the largest number, not a small one */
    free(k);
    lucid_matrix_free(&matrix);
    lucid_topology_free(topology);
}

static void test_nothing_to_gain(void **state)
{
    lucid_topology_t *topology = machine("node:1 core:16");
    lucid_matrix_t zero;
    int k[16];
    char why[200];
    lucid_map_result_t result;
    assert_int_equal(lucid_matrix_make(&zero, 16, 0), 0);
    assert_int_equal(lucid_map(&zero, topology, NULL, k, &result, why, sizeof why), LUCID_SUCCESS);
    for (int i = 0; i < 16; i++) assert_int_equal(k[i], i);
    assert_string_equal(result.algorithm, "identity");
    lucid_matrix_free(&zero);
    lucid_topology_free(topology);
}

static void test_bad_input(void **state)
{
    static const char *const bad[] = {"", "  ", "node", "node:", "node:0", "node:-1", "node:1x", "node:99999999999", ":4",
                                      "node:4 4", "node=:3", "node=x:3", "node=1e99:3", "node:70000 core:70000", "nothere.xml",
                                      "4*nothere.xml", "a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1"};
    char why[200];
    lucid_topology_t *topology;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        why[0] = '\0';
        assert_int_equal(lucid_topology_read(bad[i], &topology, why, sizeof why), LUCID_ERR_ARG);
        assert_true(strncmp(why, "topology: ", 10) == 0 && !strchr(why, '\n'));
    }
    topology = machine("node:2 core:2");
    lucid_matrix_t matrix = scattered_chain(8, 1);
    lucid_map_cost_t cost;
    int k[8] = {0};
    assert_int_equal(lucid_map(&matrix, topology, NULL, k, NULL, why, sizeof why), LUCID_ERR_ARG);
    lucid_topology_free(topology);
    topology = machine("node:2 core:4");
    assert_int_equal(lucid_map_evaluate(&matrix, topology, k, &cost, why, sizeof why), LUCID_ERR_ARG); /* all rank 0 */
    assert_non_null(strstr(why, "not a permutation"));
    lucid_map_options_t options = {.algorithm = "magic"};
    assert_int_equal(lucid_map(&matrix, topology, &options, k, NULL, why, sizeof why), LUCID_ERR_ARG);
    assert_non_null(strstr(why, "magic"));
    lucid_matrix_free(&matrix);
    lucid_topology_free(topology);
}

static void test_topology_from_groups(void **state)
{
    const int group[] = {0, 0, 0, 5, 5, 9, /* unequal nodes */ 0, 0, 1, 2, 2, 3};
    const double cost[] = {50, 5};
    lucid_topology_t *topology;
    assert_int_equal(lucid_topology_make(6, 2, group, cost, 1, &topology), LUCID_SUCCESS);
    assert_true(map_tree_distance(topology, 0, 5) == 50 && map_tree_distance(topology, 0, 2) == 5);
    assert_true(map_tree_distance(topology, 3, 4) == 1 && map_tree_distance(topology, 2, 2) == 0);
    lucid_topology_free(topology);
    const int backwards[] = {1, 0};
    assert_int_equal(lucid_topology_make(2, 1, backwards, cost, 1, &topology), LUCID_ERR_ARG);
    const int crossing[] = {0, 1, 0, 0}; /* one inner group in two outer ones */
    assert_int_equal(lucid_topology_make(2, 2, crossing, cost, 1, &topology), LUCID_ERR_ARG);
}

static void test_levels_can_be_read(void **state)
{
    lucid_topology_t *topology = machine("rack=500:2 node:2,1 core:2");
    const int racks[] = {0, 0, 0, 0, 1, 1}, nodes[] = {0, 0, 1, 1, 2, 2};
    const char *name;
    double cost;
    int group[6];
    assert_int_equal(lucid_topology_leaves(topology), 6);
    assert_int_equal(lucid_topology_levels(topology), 3);
    assert_int_equal(lucid_topology_level(topology, 0, &name, &cost, group), LUCID_SUCCESS);
    assert_string_equal(name, "rack");
    assert_true(cost == 500);
    assert_memory_equal(group, racks, sizeof racks);
    assert_int_equal(lucid_topology_level(topology, 1, NULL, &cost, group), LUCID_SUCCESS);
    assert_true(cost == 10);
    assert_memory_equal(group, nodes, sizeof nodes);
    assert_int_equal(lucid_topology_level(topology, 2, &name, NULL, NULL), LUCID_SUCCESS);
    assert_string_equal(name, "core");
    assert_int_equal(lucid_topology_level(topology, 3, &name, &cost, group), LUCID_ERR_ARG);
    assert_int_equal(lucid_topology_level(topology, -1, &name, &cost, group), LUCID_ERR_ARG);
    lucid_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),          cmocka_unit_test(test_treematch_on_regular_machines),
        cmocka_unit_test(test_treematch_leaves_irregular_machines_alone),
        cmocka_unit_test(test_finds_what_is_there_to_find), cmocka_unit_test(test_fixed_ranks),
        cmocka_unit_test(test_no_overflow),         cmocka_unit_test(test_nothing_to_gain),
        cmocka_unit_test(test_bad_input),           cmocka_unit_test(test_topology_from_groups),
        cmocka_unit_test(test_all_ranks_fixed),     cmocka_unit_test(test_more_time_is_no_worse),
        cmocka_unit_test(test_levels_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
