/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_shares_test.c: an Allreduce in which every rank fills its own share of the vector, or nearly so.
 */
#include "sim_trial.h"
#include "sparse_state.h"
#include "unit.h"

static const int several[] = {2, 3, 4, 5, 7, 8, 13, 16, 32, 33, 64};

static struct sim_trial shares_of(int ranks, size_t count, int operator)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_SHARES, ranks, count);
    t.pattern = SIM_DISJOINT;
    t.operator = operator;
    t.seed = (uint64_t)(ranks * 31 + operator);
    return t;
}

static bool is_padded(int operator)
{
    return operator == 5 || operator == 9; /* double and int; long double */
}

/* Where ranks may be: each on a node; all on one, with a processor each, or four to each; three to a node. */
enum { PLACES = 4 };
static struct sim_trial at(struct sim_trial t, int place)
{
    struct sparse_rates *rates = &t.parameters.rates;
    rates->ranks_per_node = place == 0 ? 1 : place == 3 ? 3 : t.ranks;
    rates->ranks_per_processor = place == 2 ? 4 : 1;
    return t;
}

/* Many ranks take long, and no other ways than fewer. */
static int places_of(int ranks)
{
    return ranks > 16 ? 1 : PLACES;
}

static size_t share_bytes(const struct sim_trial *t, int from, int to)
{
    size_t elements = 0;
    for (int r = from; r < to; r++) {
        const struct sparse_share share = sparse_share_of(t->count, r, t->ranks);
        elements += share.to - share.from;
    }
    return elements * sim_operator(t->operator).size;
}

/* What goes through the first rank of each node: up, to the other ones, and all of it down. */
static size_t bytes_by_leaders(const struct sim_trial *t)
{
    const int members = t->parameters.rates.ranks_per_node, nodes = (t->ranks + members - 1) / members;
    size_t bytes = share_bytes(t, 0, t->ranks) * (size_t)(nodes - 1 + t->ranks - nodes);
    for (int r = 0; r < t->ranks; r++)
        if (r % members > 0) bytes += share_bytes(t, r, r + 1);
    return bytes;
}

static size_t expected_bytes(const struct sim_trial *t, size_t slices)
{
    const size_t bytes = share_bytes(t, 0, t->ranks);
    const bool leads = sparse_shares_gathering(&t->parameters.rates, t->ranks, bytes, slices) == SPARSE_GATHER_LEADERS;
    return leads ? bytes_by_leaders(t) : bytes * (size_t)(t->ranks - 1);
}

static void check_results(const struct sim_trial *t)
{
    struct sim_report report;
    if (!sim_trial_run(t, NULL, &report) || report.done != t->ranks)
        fail_msg("%d ranks, operator %d: wrong %d, touched %d, stuck %d", t->ranks, t->operator, report.wrong, report.touched, report.stuck);
    const bool shared = !is_padded(t->operator);
    assert_int_equal(report.outcome[0].algorithm, shared ? SPARSE_ALLREDUCE_SHARES : SPARSE_ALLREDUCE_RING);
    const uint64_t agreement = 64 * (report.messages - report.data_messages);
    if (shared) assert_int_equal(report.sent - agreement, expected_bytes(t, 1));
}

/* The bits of the ring, and of the reference, for all operators, in place and not, whether shares are of one length or not. All that is sent are
 * shares, as they are; elements with padding are the ring's. */
static void test_results(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several); i++)
        for (int operator = 0; operator < SIM_OPERATORS; operator++)
            for (int way = 0; way < 2 * places_of(several[i]) && !sim_leaves_out(several[i], operator); way++) {
                struct sim_trial t = shares_of(several[i], 96 * (size_t)several[i] + (operator % 3 ? 0 : 5), operator);
                t.in_place = way % 2;
                t.sim.seed = (uint64_t)operator;
                t = at(t, way / 2);
                check_results(&t);
            }
}

/* Each way is one that some of these take; how many messages, by hand. */
static void test_ways(void **state)
{
    static const struct { int ranks, place; enum sparse_gathering gathering; uint64_t messages; } ways[] = {
        {4, 1, SPARSE_GATHER_DIRECTLY, 12},  {4, 0, SPARSE_GATHER_LEADERS, 8},  {8, 1, SPARSE_GATHER_DOUBLING, 24},
        {7, 1, SPARSE_GATHER_RING, 42},      {16, 2, SPARSE_GATHER_LEADERS, 30}, {13, 2, SPARSE_GATHER_LEADERS, 24},
        {13, 3, SPARSE_GATHER_LEADERS, 36},  {64, 0, SPARSE_GATHER_LEADERS, 384}, {64, 2, SPARSE_GATHER_RING, 64 * 63},
        {16, 3, SPARSE_GATHER_LEADERS, 50},  {12, 3, SPARSE_GATHER_LEADERS, 24}, {11, 3, SPARSE_GATHER_LEADERS, 22}};
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct sim_trial t = at(shares_of(ways[i].ranks, 96 * (size_t)ways[i].ranks, 0), ways[i].place);
        struct sim_report report;
        assert_int_equal(sparse_shares_gathering(&t.parameters.rates, t.ranks, share_bytes(&t, 0, t.ranks), 1), ways[i].gathering);
        assert_true(sim_trial_run(&t, NULL, &report));
        assert_int_equal(report.data_messages, ways[i].messages);
    }
}

/* One rank, whichever it is, has something elsewhere, and knows that alone: all find out, and the ring gives the same bits; inputs are as they were. */
static void test_one_strays(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several); i++)
        for (int stray = 1; stray <= several[i]; stray += several[i] > 16 ? 5 : 1 + SIM_SLOWLY)
            for (int way = 0; way < 2 * places_of(several[i]); way++) {
                struct sim_trial t = at(shares_of(several[i], 70 * (size_t)several[i] + 3, stray % 2 ? 0 : SIM_OPERATORS - 1), way / 2);
                struct sim_report report;
                t.stray = stray;
                t.in_place = way % 2;
                t.sim.seed = (uint64_t)stray;
                assert_true(sim_trial_run(&t, NULL, &report));
                assert_int_equal(report.done, t.ranks);
                assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_RING);
                assert_int_equal(report.outcome[1].algorithm, SPARSE_ALLREDUCE_RING);
            }
}

enum { SOME = 5 }; /* of the numbers of ranks */

/* Vectors of `slices` slices of four messages' length. */
static struct sim_trial in_slices(int ranks, size_t slices, int operator)
{
    struct sim_trial t = shares_of(ranks, 0, operator);
    const size_t least = 8192 * (size_t)ranks; /* of a slice (sparse_plan.c) */
    t.parameters.slice_bytes = 1;
    t.count = slices * least / sim_operator(operator).size + (operator % 3 ? 0 : 7);
    return t;
}

/* Pieces of shares go around the ring: in slices, with the same bits, and nothing is sent but them. Where a call is in place, and what a rank has changes when
 * it is joined with zeros, that rank strays. */
static void test_slices(void **state)
{
    int shared_in_place = 0, rings = 0;
    for (size_t i = 0; i < SOME; i++)
        for (int operator = 0; operator < SIM_OPERATORS; operator++)
            for (int way = 0; way < (several[i] > SPARSE_SHARES_DIRECT ? 2 : 4) && !sim_leaves_out(several[i], operator); way++) {
                const int in_place = way % 2;
                struct sim_trial t = at(in_slices(several[i], (size_t)several[i] + 2, operator), way / 2);
                struct sim_report report;
                if (is_padded(operator)) continue;
                t.in_place = in_place;
                t.sim.seed = (uint64_t)operator;
                assert_true(sim_trial_run(&t, NULL, &report));
                assert_int_equal(report.done, t.ranks);
                const bool shared = report.outcome[0].algorithm == SPARSE_ALLREDUCE_SHARES;
                if (!shared) assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_RING);
                assert_true(shared || in_place);
                shared_in_place += shared && in_place;
                rings += !shared;
                if (!shared) continue;
                const size_t p = (size_t)t.ranks, slices = 4 * (p + 2) / p;
                assert_int_equal(report.sent - 64 * (report.messages - report.data_messages), share_bytes(&t, 0, t.ranks) * (p - 1));
                assert_int_equal(report.data_messages, slices * p * (p - 1));
            }
    assert_true(shared_in_place >= SOME && rings >= SOME); /* each of some operators */
}

/* One strays in the first slice, in a later one, or in the last. */
static void test_strays_in_slices(void **state)
{
    for (size_t i = 0; i < SOME; i++)
        for (int stray = 1; stray <= several[i]; stray += 1 + SIM_SLOWLY)
            for (int way = 0; way < (several[i] > SPARSE_SHARES_DIRECT ? 4 : 8); way++) {
                struct sim_trial t = at(in_slices(several[i], 2 * (size_t)several[i], 0), way >> 2);
                struct sim_report report;
                t.stray = stray;
                t.strays_late = way & 1;
                t.in_place = way & 2;
                t.sim.seed = (uint64_t)stray;
                assert_true(sim_trial_run(&t, NULL, &report));
                assert_int_equal(report.done, t.ranks);
                assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_RING);
                assert_int_equal(report.outcome[1].algorithm, SPARSE_ALLREDUCE_RING);
            }
}

/* Vectors that are no shares at all, of each kind. */
static void test_other_patterns(void **state)
{
    for (enum sim_pattern pattern = 0; pattern < SIM_PATTERNS; pattern++)
        for (int ranks = 2; ranks <= 9; ranks++)
            for (int way = 0; way < 2 * PLACES; way++) {
                struct sim_trial t = at(shares_of(ranks, 2000, ranks % SIM_OPERATORS), way / 2);
                struct sim_report report;
                t.pattern = pattern;
                t.density = 0.1;
                t.in_place = way % 2;
                assert_true(sim_trial_run(&t, NULL, &report));
                assert_int_equal(report.done, ranks);
            }
}

static struct sim_trial on_one_node(int ranks)
{
    struct sim_trial t = shares_of(ranks, 16384, 0);
    t.parameters.algorithm = SPARSE_LIBRARY;
    t.parameters.rates.ranks_per_node = ranks;
    t.sim.latency = t.parameters.rates.latency_node;
    t.sim.bandwidth = t.parameters.rates.bandwidth_node;
    t.timed = t.fast = true; /* of results see above */
    t.library = 1;
    return t;
}

/* Of 40 calls, how many gather shares. */
static int gathered(const struct sim_trial *t, struct sparse_state **states)
{
    int some = 0;
    for (int call = 0; call < 40; call++) {
        struct sim_report report;
        assert_true(sim_trial_run(t, states, &report));
        some += report.done == t->ranks && report.outcome[0].algorithm == SPARSE_ALLREDUCE_SHARES;
    }
    return some;
}

static bool has_tried_in_vain(const struct sparse_state *state, enum sparse_order order)
{
    bool some = false;
    for (int i = 0; i < SPARSE_CLASSES; i++) some |= state->classes[order].class[i].spread;
    return some;
}

/* They are found where they are filled, and after one call in which they were not, never again. */
static void choose_in(enum sparse_order order, size_t count)
{
    struct sim_trial t = on_one_node(8);
    struct sparse_state **states = sim_states_create(t.ranks);
    t.order = order;
    t.count = count;
    (void)gathered(&t, states);
    assert_in_range(gathered(&t, states), 30, 40);
    assert_false(has_tried_in_vain(states[0], order));
    t.stray = 3;
    t.strays_late = true; /* where samples do not look */
    assert_in_range(gathered(&t, states), 0, 2);
    assert_true(has_tried_in_vain(states[0], order));
    t.stray = 0;
    assert_int_equal(gathered(&t, states), 0);
    sim_states_destroy(states, t.ranks);
}

static void never_chosen(const struct sim_trial *t)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    assert_int_equal(gathered(t, states), 0);
    sim_states_destroy(states, t->ranks);
}

/* Of calls that come in an order: on one node; between nodes only what is short, which has its trials. */
static void test_choice(void **state)
{
    enum { MIB = 131072, LONG = SIM_SLOWLY ? MIB / 2 : MIB };
    choose_in(SPARSE_IN_ORDER, MIB / 8);
    choose_in(SPARSE_IN_TURN, MIB / 8);
    choose_in(SPARSE_IN_TURN, LONG);
    struct sim_trial t = on_one_node(8);
    t.order = SPARSE_UNORDERED;
    t.count = LONG;
    never_chosen(&t);
    t.order = SPARSE_IN_ORDER;
    t.parameters.rates.ranks_per_node = 4;
    never_chosen(&t);
    struct sparse_state **states = sim_states_create(t.ranks);
    t.count = MIB / 16;
    assert_in_range(gathered(&t, states), 1, 40);
    sim_states_destroy(states, t.ranks);
}

/* What a few samples do not show: thin vectors, with nothing in most places, are not taken for shares, not for one call. */
static void test_thin(void **state)
{
    struct sim_trial t = on_one_node(8);
    struct sparse_state **states = sim_states_create(t.ranks);
    t.pattern = SIM_RANDOM;
    for (t.density = 1e-5; t.density < 0.2; t.density *= 10) assert_int_equal(gathered(&t, states), 0);
    assert_false(has_tried_in_vain(states[0], SPARSE_IN_ORDER));
    sim_states_destroy(states, t.ranks);
}

static void check_damage(const struct sim_trial *trial, enum sim_damage damage, long message)
{
    struct sim_trial t = *trial;
    struct sim_report report;
    t.sim.damage = damage;
    t.sim.damaged = message;
    (void)sim_trial_run(&t, NULL, &report);
    assert_false(report.stuck);
    assert_int_equal(report.wrong, 0);
    assert_true(report.failed > 0);
    assert_true(report.worst == SPARSE_CORRUPT || report.worst == SPARSE_PEER_FAILED);
}

/* A message that is too short is seen by who receives it, and by those who depend on that; nobody has a wrong result. */
static void test_damage(void **state)
{
    for (int ranks = 2; ranks <= 9; ranks++)
        for (int place = 0; place < PLACES; place++)
            for (enum sim_damage damage = SIM_TRUNCATE; damage <= SIM_EMPTY; damage++)
                for (long message = 0; message < ranks; message++) {
                    const struct sim_trial whole = at(shares_of(ranks, 100 * (size_t)ranks, 0), place);
                    const struct sim_trial sliced = at(in_slices(ranks, (size_t)ranks, 0), place);
                    check_damage(&whole, damage, message);
                    check_damage(&sliced, damage, message + ranks);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results), cmocka_unit_test(test_ways), cmocka_unit_test(test_one_strays), cmocka_unit_test(test_slices),
        cmocka_unit_test(test_strays_in_slices), cmocka_unit_test(test_other_patterns),
        cmocka_unit_test(test_choice), cmocka_unit_test(test_thin), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
