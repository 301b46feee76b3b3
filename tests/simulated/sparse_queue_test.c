/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_queue_test.c: calls in turn, which ranks create at moments of their own, some before the ones in front of them are decided: all
 * ranks look at the same ones, come to the same answers, and have the right results. With a clock, too, by which those that come one at a
 * time are timed.
 */
#include "sim_ranks.h"
#include "sim_reference.h"
#include "sparse_collective.h"
#include "sparse_state.h"
#include "unit.h"

enum { RANKS = 5, CALLS = 120, COUNT = 9000, SORTS = 6, PHASE = 30 };

struct call {
    struct sparse_collective *collective;
    enum sparse_status status;
    bool turned, asked, early, passed;
    unsigned left; /* the ticket of a call that the library's routine is running; 0: it is not, or nobody wants to know */
    char *output;
};

struct queue {
    int ranks;
    struct sim *sim;
    struct sparse_operator operator;
    struct sparse_parameters parameters;
    struct sparse_state *states[RANKS];
    struct call calls[RANKS][CALLS];
    char *input[SORTS]; /* of all ranks, one behind the other */
    char *expected[SORTS];
    unsigned created[RANKS], decided[RANKS];
    int sort[CALLS];
    uint64_t random;
    bool stays; /* a rank may pass nothing on that was looked at */
    unsigned early;
};

static double clock_of_any(void)
{
    static double seconds;
    return seconds += 1e-6;
}

static const struct { enum sim_pattern pattern; double density; size_t count; } sorts[SORTS] = {
    {SIM_DENSE, 1, COUNT}, {SIM_RANDOM, 0.01, COUNT}, {SIM_DENSE, 1, COUNT / 5}, {SIM_RANDOM, 0.001, COUNT / 5},
    {SIM_DISJOINT, 0, COUNT}, {SIM_DENSE, 1, COUNT / 20}};

static void take(struct queue *q, int rank, unsigned i)
{
    struct call *call = &q->calls[rank][i];
    struct sparse_outcome outcome;
    if (call->left > 0 && sim_random(&q->random) >> 62 == 0) {
        sparse_state_passed(q->states[rank], NULL, &q->parameters, call->left);
        call->left = 0;
    }
    if (!call->turned && i == q->decided[rank]) {
        call->turned = call->status != SPARSE_PENDING || sparse_collective_decided(call->collective);
        q->decided[rank] += call->turned;
    }
    if (!call->turned || call->passed || call->status != SPARSE_NOT_OURS || !call->collective) return;
    call->passed = true;
    sparse_collective_outcome(call->collective, &outcome);
    if (outcome.left) call->left = outcome.ticket;
}

static bool over(const struct call *call)
{
    return call->status != SPARSE_PENDING && call->left == 0;
}

/* With a clock the program has one call at a time for a while, then again several. */
static bool comes_alone(const struct queue *q, unsigned i)
{
    return q->parameters.clock && i / PHASE % 2 == 0;
}

/* False: it is too soon. */
static bool create(struct queue *q, int rank)
{
    const unsigned i = q->created[rank], before = i - q->decided[rank];
    const int sort = q->sort[i];
    const size_t bytes = sorts[sort].count * q->operator.size;
    struct call *own = &q->calls[rank][i];
    struct sparse_call call = {
        .kind = SPARSE_ALLREDUCE, .input = q->input[sort] + (size_t)rank * bytes, .count = sorts[sort].count, .operator = q->operator,
        .transport = sim_transport(q->sim, rank), .tag = 10 * (int)(i + 1), .state = q->states[rank], .parameters = &q->parameters,
        .may_pass_on = !(q->stays && rank == 2), .may_leave = true, .order = SPARSE_IN_TURN, .turn = i, .decided = &q->decided[rank]};
    if (comes_alone(q, i) && i > 0 && !over(&q->calls[rank][i - 1])) return false;
    if (before > 0 && !sparse_collective_looks(&call, before)) return false;
    own->early = before > 0;
    q->early += own->early;
    q->created[rank]++;
    call.output = own->output = malloc(bytes);
    own->status = sparse_collective_create(&call, &own->collective);
    assert_false(own->early && own->status != SPARSE_PENDING);
    own->asked = own->status == SPARSE_PENDING && !sparse_collective_decided(own->collective);
    take(q, rank, i);
    return true;
}

static bool step(void *context, int rank)
{
    struct queue *q = context;
    bool all = true;
    for (unsigned i = 0; i < q->created[rank]; i++) {
        struct call *call = &q->calls[rank][i];
        if (call->status == SPARSE_PENDING) call->status = sparse_collective_step(call->collective);
        take(q, rank, i);
        all &= over(call);
    }
    if (q->created[rank] == CALLS && !all) sim_wake(q->sim, rank);
    if (q->created[rank] == CALLS) return all;
    while (q->created[rank] < CALLS && sim_random(&q->random) >> 62 < (uint64_t)(1 + rank % 3) && create(q, rank)) {}
    sim_wake(q->sim, rank);
    return false;
}

static void set_up(struct queue *q, uint64_t seed, int ranks)
{
    struct sim_options options = {.ranks = ranks, .seed = seed};
    *q = (struct queue){.ranks = ranks, .sim = sim_create(&options), .operator = sim_operator(1), .random = seed * 7 + 1};
    sparse_parameters_default(&q->parameters);
    q->parameters.short_bytes = 1;
    q->parameters.rates.ranks_per_node = seed % 2 ? ranks : 1;
    q->parameters.clock = seed % 4 < 2 ? clock_of_any : NULL;
    q->stays = seed % 5 == 0;
    for (int r = 0; r < q->ranks; r++) q->states[r] = sparse_state_create();
    for (int s = 0; s < SORTS; s++) {
        const size_t bytes = sorts[s].count * q->operator.size;
        q->input[s] = malloc((size_t)ranks * bytes);
        for (int r = 0; r < q->ranks; r++)
            sim_fill(&q->operator, sorts[s].pattern, sorts[s].density, seed, r, ranks, sorts[s].count, q->input[s] + (size_t)r * bytes);
        q->expected[s] = sim_reference(&q->operator, SIM_CUBE, ranks, sorts[s].count, q->input[s]);
    }
    int sort = 0;
    for (int i = 0; i < CALLS; i++) { /* in runs, as programs have them */
        if (sim_random(&q->random) >> 61 == 0) sort = (int)(sim_random(&q->random) % SORTS);
        q->sort[i] = sort;
    }
}

/* All ranks have the same, and what the operator gives over the tree of those algorithms that have it. */
static void right(const struct queue *q, int rank, unsigned i)
{
    const struct call *call = &q->calls[rank][i];
    const size_t count = sorts[q->sort[i]].count;
    if (call->status != SPARSE_DONE) return;
    if (rank > 0) assert_true(sim_difference(&q->operator, call->output, q->calls[0][i].output, count) == SIZE_MAX);
    struct sparse_outcome outcome;
    sparse_collective_outcome(call->collective, &outcome);
    const bool any_order = sorts[q->sort[i]].pattern == SIM_DISJOINT;
    if (outcome.algorithm == SPARSE_ALLREDUCE_DOUBLING || outcome.algorithm == SPARSE_ALLREDUCE_HALVING || any_order)
        assert_true(sim_difference(&q->operator, call->output, q->expected[q->sort[i]], count) == SIZE_MAX);
}

static void clean_up(struct queue *q)
{
    for (int r = 0; r < q->ranks; r++)
        for (int i = 0; i < CALLS; i++) {
            sparse_collective_destroy(q->calls[r][i].collective);
            free(q->calls[r][i].output);
        }
    for (int r = 0; r < q->ranks; r++) sparse_state_destroy(q->states[r]);
    for (int s = 0; s < SORTS; s++) {
        free(q->input[s]);
        free(q->expected[s]);
    }
    sim_destroy(q->sim);
}

/* What all ranks must have alike. Calls that were timed. */
static uint32_t timed(const struct queue *q)
{
    const struct sparse_turns *first = q->states[0]->turns.memory;
    for (int r = 0; r < q->ranks; r++) {
        const struct sparse_turns *other = q->states[r]->turns.memory;
        assert_int_equal(other != NULL, q->parameters.clock != NULL);
        if (!other) continue;
        assert_int_equal(other->running, 0);
        assert_int_equal(other->alone, first->alone);
        assert_int_equal(other->wanted, first->wanted);
        assert_int_equal(other->trials.now, first->trials.now);
    }
    return first ? first->trials.now : 0;
}

/* The library's routine once more without asking, to be timed: else it runs without a handle where ranks do not ask. */
static bool repeated(const struct call *call)
{
    return !call->asked && call->collective && call->status == SPARSE_NOT_OURS;
}

static void test_in_turn(void **state)
{
    uint32_t measured = 0, again = 0;
    unsigned early = 0, unasked = 0, ours = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct queue q;
        set_up(&q, seed, RANKS);
        assert_true(sim_run(q.sim, step, &q));
        for (int r = 0; r < q.ranks; r++) assert_int_equal(q.decided[r], CALLS);
        for (unsigned i = 0; i < CALLS; i++)
            for (int r = 0; r < q.ranks; r++) {
                assert_int_equal(q.calls[r][i].asked, q.calls[0][i].asked);
                assert_int_equal(q.calls[r][i].status, q.calls[0][i].status);
                right(&q, r, i);
                unasked += !q.calls[r][i].asked;
                again += repeated(&q.calls[r][i]);
                ours += q.calls[r][i].status == SPARSE_DONE;
            }
        early += q.early;
        measured += timed(&q);
        clean_up(&q);
    }
    assert_true(measured > 100);
    assert_true(again > 100);
    assert_true(early > 1000);
    assert_true(unasked > 1000);
    assert_true(ours > 1000);
}

/* Several at a time, that read each other's shares where a call before has not taken the slot: nobody reads what is meant for another call. */
static void test_windows(void **state)
{
    unsigned shared = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct queue q;
        set_up(&q, seed, SPARSE_SHARES_DIRECT);
        q.parameters.slice_bytes = q.parameters.past_bytes = 1;
        q.parameters.rates.ranks_per_node = q.ranks;
        if (seed % 3 > 0) q.parameters.algorithm = SPARSE_ALLREDUCE_SHARES;
        assert_true(sim_run(q.sim, step, &q));
        for (unsigned i = 0; i < CALLS; i++)
            for (int r = 0; r < q.ranks; r++) {
                struct sparse_outcome outcome = {0};
                assert_int_equal(q.calls[r][i].status, q.calls[0][i].status);
                right(&q, r, i);
                if (q.calls[r][i].collective) sparse_collective_outcome(q.calls[r][i].collective, &outcome);
                shared += outcome.algorithm == SPARSE_ALLREDUCE_SHARES && sorts[q.sort[i]].pattern == SIM_DISJOINT;
            }
        for (int r = 0; r < q.ranks; r++) {
            const struct sparse_windows *w = &q.states[r]->windows[SPARSE_IN_TURN];
            assert_int_equal(w->begun, q.states[0]->windows[SPARSE_IN_TURN].begun);
            for (int slot = 0; slot < SPARSE_WINDOW_SLOTS; slot++) assert_false(w->taken[slot]);
        }
        clean_up(&q);
    }
    assert_true(shared > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_turn), cmocka_unit_test(test_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
