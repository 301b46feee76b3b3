/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_overlap_test.c: several unfinished (nonblocking) reductions on one communicator, created by some ranks before, by
 * others after earlier ones are done; and reductions that are given up in the middle.
 */
#include "sim_ranks.h"
#include "sim_reference.h"
#include "sparse_collective.h"
#include "unit.h"

enum { RANKS = 6, CALLS = 4, COUNT = 9000 };

struct overlap {
    struct sim *sim;
    struct sparse_operator operator;
    struct sparse_state *states[RANKS];
    struct sparse_collective *collective[RANKS][CALLS];
    enum sparse_status status[RANKS][CALLS];
    char *input[CALLS], *output[RANKS][CALLS]; /* inputs of all ranks, one behind the other */
    int created[RANKS];
    uint64_t random;
    bool give_up;
    struct sparse_parameters parameters;
};

static char *vector(const struct overlap *o, int call, int rank)
{
    return o->input[call] + (size_t)rank * COUNT * o->operator.size;
}

static void create_next(struct overlap *o, int rank)
{
    int i = o->created[rank]++;
    struct sparse_call call = {
        .kind = i % 2 ? SPARSE_SCAN : SPARSE_ALLREDUCE, .input = vector(o, i, rank), .output = o->output[rank][i], .count = COUNT,
        .operator = o->operator, .transport = sim_transport(o->sim, rank), .tag = 10 * (i + 1), .state = o->states[rank],
        .parameters = &o->parameters, .may_pass_on = false};
    o->status[rank][i] = sparse_collective_create(&call, &o->collective[rank][i]);
    assert_int_equal(o->status[rank][i], SPARSE_PENDING);
}

/* One more is created now and then, by rank 0 only when all before are done; all that exist go on. */
static bool step(void *context, int rank)
{
    struct overlap *o = context;
    bool all = true;
    for (int i = 0; i < o->created[rank]; i++) {
        if (o->status[rank][i] == SPARSE_PENDING) o->status[rank][i] = sparse_collective_step(o->collective[rank][i]);
        all &= o->status[rank][i] != SPARSE_PENDING;
    }
    if (o->created[rank] == CALLS) return all || (o->give_up && rank == 2);
    if (all || o->give_up || (rank > 0 && sim_random(&o->random) >> 62 == 0)) create_next(o, rank);
    sim_wake(o->sim, rank);
    return false;
}

static void set_up(struct overlap *o, uint64_t seed, bool give_up)
{
    struct sim_options options = {.ranks = RANKS, .seed = seed};
    *o = (struct overlap){.sim = sim_create(&options), .operator = sim_operator(1), .random = seed * 3 + 1, .give_up = give_up};
    sparse_parameters_default(&o->parameters);
    o->parameters.short_bytes = 0;
    o->parameters.slice_bytes = 1;
    for (int r = 0; r < RANKS; r++) o->states[r] = sparse_state_create();
    for (int i = 0; i < CALLS; i++) {
        o->input[i] = malloc(RANKS * COUNT * o->operator.size);
        for (int r = 0; r < RANKS; r++)
            sim_fill(&o->operator, i == 2 ? SIM_DENSE : SIM_RANDOM, 0.01, seed + (uint64_t)i, r, RANKS, COUNT, vector(o, i, r));
        for (int r = 0; r < RANKS; r++) o->output[r][i] = malloc(COUNT * o->operator.size);
    }
}

static void compare(const struct overlap *o)
{
    for (int i = 0; i < CALLS; i++) {
        size_t bytes = COUNT * o->operator.size;
        char *expected = sim_reference(&o->operator, i % 2 ? SIM_SCAN : SIM_CUBE, RANKS, COUNT, o->input[i]);
        for (int r = 0; r < RANKS; r++) {
            assert_int_equal(o->status[r][i], SPARSE_DONE);
            char *own = expected + (i % 2 ? (size_t)r * bytes : 0);
            assert_true(sim_difference(&o->operator, o->output[r][i], own, COUNT) == SIZE_MAX);
        }
        free(expected);
    }
}

static void clean_up(struct overlap *o)
{
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < CALLS; i++) {
            sparse_collective_destroy(o->collective[r][i]);
            free(o->output[r][i]);
        }
    for (int r = 0; r < RANKS; r++) sparse_state_destroy(o->states[r]);
    for (int i = 0; i < CALLS; i++) free(o->input[i]);
    sim_destroy(o->sim);
}

static void test_several_at_a_time(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct overlap o;
        set_up(&o, seed, false);
        assert_true(sim_run(o.sim, step, &o));
        compare(&o);
        clean_up(&o);
    }
}

/* Rank 2 stops taking part; everybody's requests are cancelled, and nothing is left behind (sim_destroy looks). */
static void test_given_up(void **state)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct overlap o;
        set_up(&o, seed, true);
        (void)sim_run(o.sim, step, &o);
        clean_up(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_several_at_a_time), cmocka_unit_test(test_given_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
