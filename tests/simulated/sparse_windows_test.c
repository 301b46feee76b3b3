/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_windows_test.c: long shares that the ranks of a node read out of each other's memory.
 */
#include "sim_trial.h"
#include "sparse_types.h"
#include "sparse_windows.h"
#include "unit.h"

#include <string.h>

enum { MOST = 4, SLICES = 6 };

static int out_of_reach; /* so many times, from the next one on, a window is not found */

bool __real_sparse_windows_find(struct sparse_windows *windows, int rank);
bool __wrap_sparse_windows_find(struct sparse_windows *windows, int rank);
bool __wrap_sparse_windows_find(struct sparse_windows *windows, int rank)
{
    if (out_of_reach-- > 0) return false;
    return __real_sparse_windows_find(windows, rank);
}

/* Every rank fills its share of SLICES slices, and the caches are short. */
static struct sim_trial long_shares(int ranks, int operator)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_SHARES, ranks, 0);
    const size_t least = 8192 * (size_t)ranks; /* of a slice (sparse_plan.c), of which one of messages is four */
    t.pattern = SIM_DISJOINT;
    t.operator = operator;
    t.seed = (uint64_t)(ranks * 31 + operator);
    t.parameters.slice_bytes = t.parameters.past_bytes = 1;
    t.parameters.rates.ranks_per_node = ranks;
    t.count = (size_t)SLICES * (size_t)ranks / 4 * least / sim_operator(operator).size + (operator % 3 ? 0 : 7);
    t.timed = true; /* such calls block */
    return t;
}

/* Once. */
static uint64_t to_find(uint64_t pairs)
{
    return pairs * (sizeof(struct sparse_window_name) + sizeof(uint64_t));
}

/* All but those of the agreement; words that a share has been read have no bytes, and are not counted among the reduction's messages. */
static uint64_t sent_bytes(const struct sim_report *report, uint64_t read)
{
    return report->sent - 64 * (report->messages - report->data_messages - read);
}

static uint64_t slices_of(const struct sim_trial *t)
{
    return SLICES * (uint64_t)t->ranks / 4 * 4 / (uint64_t)t->ranks;
}

/* Two calls on one communicator: the bits of the reference; a word that a share is there, and one that it has been read, for each pair of ranks and slice, and
 * before the first of them where windows are. What is under way besides that is sent. */
static void check_calls(const struct sim_trial *t)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    const uint64_t pairs = (uint64_t)(t->ranks * (t->ranks - 1));
    for (int call = 0; call < 2; call++) {
        struct sim_report report;
        assert_true(sim_trial_run(t, states, &report));
        assert_int_equal(report.done, t->ranks);
        if (report.outcome[0].algorithm == SPARSE_ALLREDUCE_RING) { /* what changes when zeros are joined with it is not kept */
            assert_true(t->in_place);
            break;
        }
        const uint64_t slices = slices_of(t), sent = sent_bytes(&report, pairs * slices);
        assert_int_equal(report.data_messages, pairs * slices + (call == 0 ? 2 * pairs : 0));
        if (call == 0) assert_true(sent >= 8 * pairs * slices + to_find(pairs));
        else assert_int_equal(sent, 8 * pairs * slices);
    }
    sim_states_destroy(states, t->ranks);
}

static void test_results(void **state)
{
    for (int ranks = 2; ranks <= MOST; ranks++)
        for (int operator = 0; operator < SIM_OPERATORS; operator++)
            for (int in_place = 0; in_place < 2; in_place++) {
                struct sim_trial t = long_shares(ranks, operator);
                t.in_place = in_place;
                t.sim.seed = (uint64_t)operator;
                const struct sparse_operator of = sim_operator(operator);
                if (!sparse_padded(&of)) check_calls(&t);
            }
}

/* Bytes sent in a second call, where that many times a window was not found in the first. */
static uint64_t sent_without(const struct sim_trial *t, int missing)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    struct sim_report report;
    const bool small = t->parameters.keep < SPARSE_WINDOW_BYTES;
    out_of_reach = missing;
    assert_true(sim_trial_run(t, states, &report));
    assert_true(sim_trial_run(t, states, &report));
    out_of_reach = 0;
    assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_SHARES);
    sim_states_destroy(states, t->ranks);
    return sent_bytes(&report, small ? 0 : (uint64_t)(t->ranks * (t->ranks - 1)) * slices_of(t));
}

/* Whoever cannot read a window is sent what is in it; without any, all are. */
static void test_out_of_reach(void **state)
{
    for (int ranks = 2; ranks <= MOST; ranks++)
        for (int missing = 1; missing <= ranks * (ranks - 1); missing++) {
            struct sim_trial t = long_shares(ranks, 0);
            const uint64_t shares = t.count * sizeof(double) / (uint64_t)ranks * (uint64_t)missing;
            const uint64_t words = 8 * slices_of(&t) * (uint64_t)(ranks * (ranks - 1) - missing);
            assert_in_range(sent_without(&t, missing), shares + words - 8 * ranks, shares + words + 8 * (uint64_t)missing);
        }
    struct sim_trial t = long_shares(MOST, 0);
    t.parameters.keep = SPARSE_WINDOW_BYTES - 1; /* not even asked for */
    assert_int_equal(sent_without(&t, 0), t.count * sizeof(double) * (MOST - 1));
}

/* One strays, in the first slice or the last: the ring has the same bits. */
static void test_strays(void **state)
{
    for (int ranks = 2; ranks <= MOST; ranks++)
        for (int stray = 1; stray <= ranks; stray++)
            for (int way = 0; way < 4; way++) {
                struct sim_trial t = long_shares(ranks, 0);
                struct sim_report report;
                t.stray = stray;
                t.strays_late = way & 1;
                t.in_place = way & 2;
                t.sim.seed = (uint64_t)stray;
                assert_true(sim_trial_run(&t, NULL, &report));
                assert_int_equal(report.done, t.ranks);
                assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_RING);
            }
}

/* Of what is said before, in and behind a slice: whatever is damaged, nobody waits for ever, or has a wrong result. */
static void test_damage(void **state)
{
    for (int ranks = 2; ranks <= MOST; ranks++)
        for (enum sim_damage damage = SIM_TRUNCATE; damage <= SIM_EMPTY; damage++)
            for (long message = 0; message < 5 * ranks * (ranks - 1); message++) {
                struct sim_trial t = long_shares(ranks, 0);
                struct sim_report report;
                t.sim.damage = damage;
                t.sim.damaged = message;
                (void)sim_trial_run(&t, NULL, &report);
                assert_false(report.stuck);
                assert_int_equal(report.wrong, 0);
                assert_true(report.failed > 0);
                assert_true(report.worst == SPARSE_CORRUPT || report.worst == SPARSE_PEER_FAILED);
            }
}

/* What one writes the other reads, until it is hidden; nobody takes something else for it. */
static void test_window(void **state)
{
    struct sparse_windows one = {0}, two = {0};
    sparse_windows_open(&one, 0);
    assert_non_null(one.own);
    two.name[0] = one.name[0];
    assert_true(__real_sparse_windows_find(&two, 0));
    memset(one.own, 7, SPARSE_WINDOW_BYTES);
    for (size_t i = 0; i < SPARSE_WINDOW_BYTES; i += 1000) assert_int_equal(two.other[0][i], 7);
    struct sparse_windows other = {0};
    other.name[0] = one.name[0];
    other.name[0].mark++;
    assert_false(__real_sparse_windows_find(&other, 0));
    other.name[0] = one.name[0];
    other.name[0].file = 100000;
    assert_false(__real_sparse_windows_find(&other, 0));
    other.name[0] = (struct sparse_window_name){0};
    assert_false(__real_sparse_windows_find(&other, 0));
    sparse_windows_hide(&one);
    other.name[0] = one.name[0];
    assert_false(__real_sparse_windows_find(&other, 0));
    one.own[1] = 8;
    assert_int_equal(two.other[0][1], 8);
    sparse_windows_close(&one);
    assert_int_equal(two.other[0][1], 8); /* for as long as somebody has it */
    sparse_windows_close(&two);
    assert_null(one.own);
    assert_null(two.other[0]);
    sparse_windows_close(&two);
}

/* A process has so many, and another one when one of them is closed. */
static void test_most(void **state)
{
    static struct sparse_windows windows[SPARSE_WINDOWS_MOST + 1];
    for (int i = 0; i <= SPARSE_WINDOWS_MOST; i++) {
        sparse_windows_open(&windows[i], 0);
        assert_int_equal(windows[i].own != NULL, i < SPARSE_WINDOWS_MOST);
        assert_int_equal(windows[i].name[0].mark != 0, i < SPARSE_WINDOWS_MOST);
    }
    sparse_windows_close(&windows[SPARSE_WINDOWS_MOST]);
    sparse_windows_open(&windows[SPARSE_WINDOWS_MOST], 0);
    assert_null(windows[SPARSE_WINDOWS_MOST].own); /* it had none */
    sparse_windows_close(&windows[3]);
    sparse_windows_open(&windows[SPARSE_WINDOWS_MOST], 0);
    assert_non_null(windows[SPARSE_WINDOWS_MOST].own);
    for (int i = 0; i <= SPARSE_WINDOWS_MOST; i++) sparse_windows_close(&windows[i]);
}

/* A process makes communicators for a few calls each, a dozen and more: of those to come every 16th has a window. */
static void test_spared(void **state)
{
    struct sparse_windows one = {0};
    int there = 0;
    sparse_windows_spare(SPARSE_WINDOWS_SPARED);
    for (int i = 0; i < 2 * SPARSE_WINDOWS_SPARED; i++) { /* those of the tests before may count */
        sparse_windows_open(&one, 0);
        sparse_windows_close(&one);
    }
    for (int i = 0; i < 64; i++) {
        sparse_windows_open(&one, 0);
        assert_int_equal(one.own != NULL, one.name[0].mark != 0);
        there += one.own != NULL;
        sparse_windows_close(&one);
    }
    assert_int_equal(there, 4);
    for (int often = 0; often < 2; often++) { /* one that has lived long, or has been used */
        for (int i = 0; i < 2 * SPARSE_WINDOWS_SPARED * 16; i++) sparse_windows_close(&one), sparse_windows_open(&one, 0);
        while (!one.own) sparse_windows_open(&one, 0);
        if (often) one.turn = 64;
        else one.opened -= 1;
        sparse_windows_close(&one);
        sparse_windows_open(&one, 0);
        assert_non_null(one.own);
    }
    sparse_windows_close(&one);
    sparse_windows_spare(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window), cmocka_unit_test(test_most), cmocka_unit_test(test_spared), cmocka_unit_test(test_results), cmocka_unit_test(test_out_of_reach),
        cmocka_unit_test(test_strays), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
