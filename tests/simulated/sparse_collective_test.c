/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_collective_test.c: every algorithm on up to 1,000 simulated ranks gives, bit by bit, what the operator's plain loop
 * gives over the same brackets, whatever the vectors, the order of events, the place of the result; and touches nothing else.
 */
#include "sim_trial.h"
#include "unit.h"

/* Where every message is a rank with every other's, a thousand ranks are a million messages. */
enum { MANY_RANKS = SIM_SLOWLY ? 200 : 1000, MOST_RANKS = SIM_SLOWLY ? 300 : 1000, REPEATS = SIM_SLOWLY ? 6 : 24,
       NEXT_RANKS = SIM_SLOWLY ? 3 : 1 };

static const int all_ranks[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 100};

static void fail_with(const struct sim_trial *t, const struct sim_report *report)
{
    fail_msg("%s%s: %d ranks, %zu elements, operator %d, pattern %d, density %g, root %d, in place %d, irregular %d, kind %d, "
             "slice %zu, "
             "seeds %lu %lu: stuck %d, done %d, failed %d, not ours %d, wrong %d, touched %d",
             sparse_algorithm_name(t->parameters.algorithm), t->parameters.dense ? " dense" : "", t->ranks, t->count, t->operator,
             (int)t->pattern, t->density, t->root, t->in_place, t->irregular, (int)t->kind, t->parameters.slice_bytes,
             (unsigned long)t->seed, (unsigned long)t->sim.seed, report->stuck, report->done, report->failed, report->not_ours,
             report->wrong, report->touched);
}

static struct sim_report check(const struct sim_trial *trial)
{
    struct sim_report report;
    bool nothing = trial->ranks == 1 || (trial->count == 0 && trial->kind != SPARSE_REDUCE_SCATTER);
    bool fine = sim_trial_run(trial, NULL, &report);
    if (!fine || report.failed > 0 || (nothing && report.done > 0) || report.not_ours % trial->ranks != 0)
        fail_with(trial, &report);
    if (!nothing && trial->count > 0 && !trial->irregular && report.done != trial->ranks) fail_with(trial, &report);
    return report;
}

/* A trial in which everything that may vary does. */
static struct sim_trial any_trial(enum sparse_algorithm algorithm, int ranks, size_t most, uint64_t *random)
{
    static const double densities[] = {0.001, 0.01, 0.1, 0.5};
    size_t counts[] = {1, (size_t)ranks - 1, (size_t)ranks, (size_t)ranks + 1, most / 3 + 1, most, sim_random(random) % most + 1};
    struct sim_trial t = sim_trial_of(algorithm, ranks, counts[sim_random(random) % COUNT_OF(counts)]);
    if (t.kind == SPARSE_SCAN && sim_random(random) % 2) t.kind = SPARSE_EXSCAN;
    if (t.count > most) t.count = most;
    if (t.kind == SPARSE_REDUCE_SCATTER) {
        t.irregular = sim_random(random) % 2;
        t.count = t.count / (size_t)ranks + (t.count > 3);
    }
    t.operator = (int)(sim_random(random) % SIM_OPERATORS);
    t.root = (int)(sim_random(random) % (uint64_t)ranks);
    t.in_place = sim_random(random) % 3 == 0;
    t.pattern = (enum sim_pattern)(sim_random(random) % SIM_PATTERNS);
    t.density = densities[sim_random(random) % COUNT_OF(densities)];
    t.seed = sim_random(random) >> 40;
    t.sim.seed = (sim_random(random) >> 40) + 1;
    t.parameters.dense = sim_random(random) % 4 == 0;
    t.parameters.slice_bytes = 1;
    if (sim_random(random) % 2) t.parameters.past_bytes = 1;
    if (sim_random(random) % 2) t.parameters.rates.ranks_per_node = ranks;
    else t.parameters.rates.ranks_per_node = 1 + (int)(sim_random(random) % (uint64_t)ranks);
    return t;
}

static void test_all_sorts(void **state)
{
    uint64_t random = 2010;
    for (size_t i = 0; i < COUNT_OF(all_ranks); i++)
        for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
            for (int repeat = 0; repeat < (all_ranks[i] <= 33 ? REPEATS : SIM_SLOWLY ? 2 : 4); repeat++) {
                size_t most = all_ranks[i] <= 33 ? 6000 : 1500;
                struct sim_trial trial = any_trial(a, all_ranks[i], most, &random);
                (void)check(&trial);
            }
}

/* Every pattern with every operator, also in dense form: the twin has the same bits. */
static void test_patterns_and_operators(void **state)
{
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
        for (int operator = 0; operator < SIM_OPERATORS; operator++)
            for (enum sim_pattern pattern = 0; pattern < SIM_PATTERNS; pattern++) {
                struct sim_trial t = sim_trial_of(a, 3 + (operator + (int)pattern) % 4, 700);
                t.operator = operator;
                t.pattern = pattern;
                t.sim.seed = 1 + (uint64_t)operator * 100 + pattern;
                t.parameters.dense = (operator + (int)a) % 2;
                if (t.kind == SPARSE_REDUCE_SCATTER) t.count /= (size_t)t.ranks;
                (void)check(&t);
            }
}

static void test_every_root(void **state)
{
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a <= SPARSE_REDUCE_LEADERS; a++)
        for (int ranks = 2; ranks <= 9; ranks++)
            for (int root = 0; root < ranks; root++) {
                struct sim_trial t = sim_trial_of(a, ranks, 300);
                t.operator = SIM_OPERATORS - 1; /* order and brackets show */
                t.root = root;
                t.sim.seed = (uint64_t)root + 5;
                (void)check(&t);
            }
}

/* For exact types all brackets give what a program would compute one vector after the other. */
static void test_sequential_result(void **state)
{
    for (int operator = 0; operator < SIM_OPERATORS; operator++) {
        if (!sim_operator_exact(operator)) continue;
        struct sparse_operator op = sim_operator(operator);
        enum { RANKS = 13, COUNT = 200 };
        char *vectors = malloc(RANKS * COUNT * op.size);
        for (int r = 0; r < RANKS; r++) sim_fill(&op, SIM_RANDOM, 0.3, 5, r, RANKS, COUNT, vectors + (size_t)r * COUNT * op.size);
        void *cube = sim_reference(&op, SIM_CUBE, RANKS, COUNT, vectors);
        void *left = sim_reference(&op, SIM_LEFT, RANKS, COUNT, vectors);
        char *scan = sim_reference(&op, SIM_SCAN, RANKS, COUNT, vectors);
        assert_true(sim_difference(&op, cube, left, COUNT) == SIZE_MAX);
        assert_true(sim_difference(&op, scan + (RANKS - 1) * COUNT * op.size, left, COUNT) == SIZE_MAX);
        free(cube);
        free(left);
        free(scan);
        free(vectors);
    }
}

/* Dense forms have twice as many slices where all ranks are on one node. */
static void test_slices_on_one_node(void **state)
{
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
        for (int ranks = 2; ranks <= 7; ranks += NEXT_RANKS)
            for (int in_place = 0; in_place < 2; in_place++) {
                struct sim_trial t = sim_trial_of(a, ranks, SIM_SLOWLY ? 20011 : 60013);
                if (t.kind == SPARSE_REDUCE_SCATTER) t.count /= (size_t)ranks;
                t.in_place = in_place;
                t.sim.seed = (uint64_t)ranks * 5 + a;
                t.parameters.slice_bytes = 1;
                t.parameters.dense = true;
                uint64_t apart = check(&t).data_messages;
                t.parameters.rates.ranks_per_node = ranks;
                uint64_t together = check(&t).data_messages;
                assert_true(together >= apart);
                if (a == SPARSE_SCATTER_HALVING || a == SPARSE_ALLREDUCE_HALVING) assert_true(together > apart);
            }
}

/* Several slices, two under way at a time. */
static void test_slices(void **state)
{
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
        for (int ranks = 2; ranks <= 7; ranks += NEXT_RANKS)
            for (int in_place = 0; in_place < 2; in_place++) {
                struct sim_trial t = sim_trial_of(a, ranks, 30011);
                if (t.kind == SPARSE_REDUCE_SCATTER) t.count /= (size_t)ranks, t.irregular = ranks % 2;
                t.in_place = in_place;
                t.operator = in_place ? 0 : SIM_OPERATORS - 2;
                t.sim.seed = (uint64_t)ranks * 3 + a;
                t.parameters.slice_bytes = 1; /* the least that the plan makes: 8 KiB per rank */
                struct sim_report report = check(&t);
                if (!t.irregular) assert_true(report.data_messages >= 2 * (uint64_t)(ranks - 1));
            }
}

/* Everyone fills its part: the parts are blocks of their own, and travel as they are. */
static void test_parts_are_blocks(void **state)
{
    enum { COUNT = 1 << 17 };
    for (int ranks = 2; ranks <= 16; ranks *= SIM_SLOWLY ? 4 : 2) {
        struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_RING, ranks, COUNT);
        t.operator = 1;
        t.pattern = SIM_DISJOINT;
        t.density = 1;
        uint64_t share = check(&t).sent / (uint64_t)(ranks * (ranks - 1)), bytes = COUNT * sim_operator(t.operator).size / (uint64_t)ranks;
        assert_in_range(share, bytes, bytes + 64 * (uint64_t)ranks); /* a bitmap would take two bytes of a hundred */
    }
}

static void test_a_thousand_ranks(void **state)
{
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++) {
        bool many = a == SPARSE_ALLREDUCE_RING || a == SPARSE_SCATTER_PAIRWISE;
        struct sim_trial t = sim_trial_of(a, many ? MANY_RANKS : MOST_RANKS, many ? 3 : 1500);
        if (t.kind == SPARSE_REDUCE_SCATTER) t.count = many ? 1 : 2;
        t.operator = 1;
        t.root = 617 % t.ranks;
        t.density = 0.001;
        t.sim.seed = many ? 0 : 11;
        (void)check(&t);
    }
}

static void test_nothing_to_do(void **state)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, 4, 0);
    struct sim_report report = check(&t);
    assert_int_equal(report.not_ours, 4);
    t = sim_trial_of(SPARSE_REDUCE_HALVING, 1, 100);
    report = check(&t);
    assert_int_equal(report.not_ours, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_do), cmocka_unit_test(test_every_root),  cmocka_unit_test(test_patterns_and_operators),
        cmocka_unit_test(test_all_sorts),     cmocka_unit_test(test_slices),      cmocka_unit_test(test_sequential_result),
        cmocka_unit_test(test_a_thousand_ranks), cmocka_unit_test(test_slices_on_one_node),
        cmocka_unit_test(test_parts_are_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
