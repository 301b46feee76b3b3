/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_series_test.c: several persistent calls on one communicator: ranks start them in orders of their own, and all look at
 * the same starts of each, come to the same answers, and have the right results.
 */
#include "sim_ranks.h"
#include "sim_reference.h"
#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

enum { RANKS = 5, COUNT = 9000, KINDS = 3, STARTS = 80, PHASE = 20 };

/* What runs beside others is not timed, and what others have joined has been timed in vain. */
static void test_beside_others(void **state)
{
    struct sparse_series *one = sparse_series_create(), *other = sparse_series_create();
    struct sparse_state *communicator = sparse_state_create();
    struct sparse_call first = {.state = communicator, .series = one, .order = SPARSE_IN_TURN};
    struct sparse_call second = {.state = communicator, .series = other, .order = SPARSE_IN_TURN};
    bool busy;
    unsigned ticket = one->turns.timed = sparse_turn_begin(&first, &one->turns, &busy);
    assert_false(busy);
    sparse_turn_end(communicator, one, ticket, 1);
    ticket = one->turns.timed = sparse_turn_begin(&first, &one->turns, &busy);
    assert_false(busy);
    unsigned joins = sparse_turn_begin(&second, &other->turns, &busy);
    assert_true(busy);
    sparse_turn_end(communicator, other, joins, 2);
    sparse_turn_end(communicator, one, ticket, 3);
    ticket = sparse_turn_begin(&first, &one->turns, &busy);
    assert_true(busy);
    sparse_turn_end(communicator, one, ticket, 4);
    ticket = sparse_turn_begin(&first, &one->turns, &busy);
    assert_false(busy);
    sparse_turn_end(communicator, one, ticket, 5);
    assert_int_equal(communicator->started, 0);
    sparse_state_destroy(communicator);
    sparse_series_destroy(one);
    sparse_series_destroy(other);
}

struct start {
    struct sparse_collective *collective;
    enum sparse_status status;
    bool asked;
    unsigned left; /* the ticket of one that the library's routine is running; 0: it is not, or nobody wants to know */
    char *output;
};

struct any_order {
    struct sim *sim;
    struct sparse_operator operator;
    struct sparse_parameters parameters;
    struct sparse_state *states[RANKS];
    struct sparse_series *series[KINDS][RANKS];
    struct start starts[KINDS][RANKS][STARTS];
    unsigned begun[KINDS][RANKS];
    char *input[2]; /* dense, sparse: of all ranks, one behind the other */
    uint64_t random;
};

static double clock_of_any(void)
{
    static double seconds;
    return seconds += 1e-6;
}

/* Dense and sparse in phases, which are other ones for each call. */
static int sort_of(int kind, unsigned start)
{
    return (start + (unsigned)kind * PHASE / 2) / PHASE % 2;
}

static bool over(const struct start *start)
{
    return start->status != SPARSE_PENDING && start->left == 0;
}

static void begin(struct any_order *a, int kind, int rank)
{
    const unsigned i = a->begun[kind][rank]++;
    const size_t bytes = COUNT * a->operator.size;
    struct start *own = &a->starts[kind][rank][i];
    own->output = malloc(bytes);
    const struct sparse_call call = {
        .kind = SPARSE_ALLREDUCE, .input = a->input[sort_of(kind, i)] + (size_t)rank * bytes, .output = own->output, .count = COUNT,
        .operator = a->operator, .transport = sim_transport(a->sim, rank), .tag = 10 * (kind + 1), .state = a->states[rank],
        .series = a->series[kind][rank], .parameters = &a->parameters, .may_pass_on = true, .order = SPARSE_IN_TURN};
    own->status = sparse_collective_create(&call, &own->collective);
    own->asked = own->status == SPARSE_PENDING && !sparse_collective_decided(own->collective);
}

static void go_on(struct any_order *a, int kind, int rank)
{
    struct start *own = &a->starts[kind][rank][a->begun[kind][rank] - 1];
    struct sparse_outcome outcome;
    if (own->left > 0 && sim_random(&a->random) >> 62 == 0) {
        sparse_state_passed(a->states[rank], a->series[kind][rank], &a->parameters, own->left);
        own->left = 0;
    }
    if (own->status != SPARSE_PENDING) return;
    own->status = sparse_collective_step(own->collective);
    if (own->status != SPARSE_NOT_OURS) return;
    sparse_collective_outcome(own->collective, &outcome);
    if (outcome.left) own->left = outcome.ticket;
}

/* Each rank starts what it likes next. */
static bool step(void *context, int rank)
{
    struct any_order *a = context;
    bool all = true;
    for (int kind = 0; kind < KINDS; kind++) {
        const unsigned begun = a->begun[kind][rank];
        if (begun > 0) go_on(a, kind, rank);
        const bool idle = begun == 0 || over(&a->starts[kind][rank][begun - 1]);
        all &= begun == STARTS && idle;
        if (idle && begun < STARTS && sim_random(&a->random) >> 63) begin(a, kind, rank);
    }
    if (!all) sim_wake(a->sim, rank);
    return all;
}

static void set_up(struct any_order *a, uint64_t seed)
{
    struct sim_options options = {.ranks = RANKS, .seed = seed};
    *a = (struct any_order){.sim = sim_create(&options), .operator = sim_operator(1), .random = seed * 7 + 1};
    sparse_parameters_default(&a->parameters);
    a->parameters.short_bytes = 1;
    a->parameters.rates.ranks_per_node = seed % 2 ? RANKS : 1;
    a->parameters.clock = seed % 4 < 2 ? clock_of_any : NULL;
    const size_t bytes = COUNT * a->operator.size;
    for (int sort = 0; sort < 2; sort++) {
        a->input[sort] = malloc(RANKS * bytes);
        for (int r = 0; r < RANKS; r++)
            sim_fill(&a->operator, sort ? SIM_RANDOM : SIM_DENSE, sort ? 0.001 : 1, seed, r, RANKS, COUNT, a->input[sort] + (size_t)r * bytes);
    }
    for (int r = 0; r < RANKS; r++) {
        a->states[r] = sparse_state_create();
        for (int kind = 0; kind < KINDS; kind++) a->series[kind][r] = sparse_series_create();
    }
}

static void clean_up(struct any_order *a)
{
    for (int r = 0; r < RANKS; r++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int i = 0; i < STARTS; i++) {
                sparse_collective_destroy(a->starts[kind][r][i].collective);
                free(a->starts[kind][r][i].output);
            }
            sparse_series_destroy(a->series[kind][r]);
        }
        sparse_state_destroy(a->states[r]);
    }
    for (int sort = 0; sort < 2; sort++) free(a->input[sort]);
    sim_destroy(a->sim);
}

/* All ranks have the same, and what the operator gives over the tree of those algorithms that have it. */
static void right(const struct any_order *a, int kind, unsigned i, char *const *expected)
{
    for (int r = 0; r < RANKS; r++) {
        const struct start *own = &a->starts[kind][r][i], *first = &a->starts[kind][0][i];
        struct sparse_outcome outcome;
        assert_int_equal(own->asked, first->asked);
        assert_int_equal(own->status, first->status);
        if (own->status != SPARSE_DONE) continue;
        assert_true(sim_difference(&a->operator, own->output, first->output, COUNT) == SIZE_MAX);
        sparse_collective_outcome(own->collective, &outcome);
        if (outcome.algorithm == SPARSE_ALLREDUCE_DOUBLING || outcome.algorithm == SPARSE_ALLREDUCE_HALVING)
            assert_true(sim_difference(&a->operator, own->output, expected[sort_of(kind, i)], COUNT) == SIZE_MAX);
    }
}

/* What ranks must have learned alike. */
static void learned_alike(const struct any_order *a, int kind)
{
    const struct sparse_series *first = a->series[kind][0];
    for (int r = 0; r < RANKS; r++) {
        const struct sparse_series *other = a->series[kind][r];
        assert_int_equal(other->class.alike, first->class.alike);
        assert_int_equal(other->class.skipped, first->class.skipped);
        assert_int_equal(other->turns.trials.now, first->turns.trials.now);
        assert_int_equal(other->turns.wanted, first->turns.wanted);
        assert_int_equal(other->turns.running, 0);
        assert_int_equal(a->states[r]->started, 0);
    }
}

static void test_any_order(void **state)
{
    unsigned unasked = 0, ours = 0, passed = 0;
    for (uint64_t seed = 1; seed <= (SIM_SLOWLY ? 8 : 24); seed++) {
        struct any_order a;
        set_up(&a, seed);
        char *expected[2];
        for (int sort = 0; sort < 2; sort++) expected[sort] = sim_reference(&a.operator, SIM_CUBE, RANKS, COUNT, a.input[sort]);
        assert_true(sim_run(a.sim, step, &a));
        for (int kind = 0; kind < KINDS; kind++) {
            learned_alike(&a, kind);
            for (unsigned i = 0; i < STARTS; i++) {
                right(&a, kind, i, expected);
                unasked += !a.starts[kind][0][i].asked;
                ours += a.starts[kind][0][i].status == SPARSE_DONE;
                passed += a.starts[kind][0][i].status == SPARSE_NOT_OURS;
            }
        }
        for (int sort = 0; sort < 2; sort++) free(expected[sort]);
        clean_up(&a);
    }
    assert_true(unasked > 100 && ours > 100 && passed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_beside_others), cmocka_unit_test(test_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
