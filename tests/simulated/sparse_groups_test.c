/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_groups_test.c: Allreduces by halving of ranks that read each other's memory, some slices at a time, and what happens where there is no room for them.
 */
#include "sim_read.h"
#include "sparse_boards.h"
#include "sparse_state.h"
#include "unit.h"

static const int several[] = {2, 3, 5, 8, 13, 16};
enum { LONG = SIM_SLOWLY ? 3 : 8 }; /* ranks with long vectors */

static struct sim_trial groups_of(int ranks, size_t count, int operator)
{
    return sim_trial_near(SPARSE_ALLREDUCE_HALVING, ranks, count, operator);
}

static struct sim_report run_right(const struct sim_trial *t, struct sparse_state **states)
{
    struct sim_report report;
    assert_true(sim_trial_run(t, states, &report));
    assert_int_equal(report.done, t->ranks);
    return report;
}

/* Turns that a call takes without a message; what is read is what others are said to have shown, whichever turns are void. */
static uint64_t turns_of(struct sim_trial *t, struct sparse_state **states)
{
    const uint64_t before = states[0]->boards.turn;
    t->seed++;
    t->sim.seed = t->seed * 7;
    sim_read_begin(t);
    const struct sim_report report = run_right(t, states);
    assert_int_equal(report.data_messages, 0);
    assert_true(sim_read_as_shown(t->ranks));
    for (int r = 0; r < t->ranks; r++) assert_int_equal(states[r]->boards.turn, states[0]->boards.turn);
    return states[0]->boards.turn - before;
}

/* Operators, counts that leave some with little or nothing, in place. In the first call ranks tell each other where windows are, and send. */
static void test_results(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several); i++)
        for (int operator = 0; operator < SIM_OPERATORS; operator++)
            for (int way = 0; way < 4 && !sim_leaves_out(several[i], operator); way++) {
                const size_t count = way == 3 ? (size_t)several[i] / 2 : 700 + (size_t)(operator % 3);
                struct sim_trial t = groups_of(several[i], count, operator);
                struct sparse_state **states = sim_states_create(t.ranks);
                t.in_place = way % 2;
                assert_true(run_right(&t, states).data_messages > 0);
                assert_int_equal(turns_of(&t, states), 3);
                t.pattern = way < 2 ? SIM_DISJOINT : SIM_DENSE;
                assert_int_equal(turns_of(&t, states), 3);
                sim_states_destroy(states, t.ranks);
            }
}

/* 3 MiB: 10, 8 or 7 slices of any density, or 4 groups of three or two, and two turns more. */
static struct sim_trial long_one(int ranks)
{
    struct sim_trial t = groups_of(ranks, ((size_t)3 << 20) / sizeof(double) + 5, 0);
    t.density = 0.01;
    return t;
}

static uint64_t slices_of(const struct sim_trial *t)
{
    size_t cube = 1;
    while (cube <= (size_t)t->ranks / 2) cube *= 2;
    return sparse_boards_slices(t->count * sizeof(double), cube);
}

static void test_groups(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several) && several[i] <= LONG; i++) {
        struct sim_trial t = long_one(several[i]);
        struct sparse_state **states = sim_states_create(t.ranks);
        const uint64_t slices = slices_of(&t), each = slices / 3;
        (void)run_right(&t, states);
        for (int way = 0; way < 4; way++) {
            t.in_place = way % 2;
            t.pattern = way < 2 ? SIM_RANDOM : SIM_CLUSTERED;
            assert_true(each > 1);
            assert_int_equal(turns_of(&t, states), (slices + each - 1) / each + 2);
        }
        sim_states_destroy(states, t.ranks);
    }
}

/* Dense vectors, or results, for which slots have no room by groups: all begin again slice by slice, and go so for some calls. */
static void test_no_room(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several) && several[i] <= LONG; i++)
        for (int way = 0; way < 4; way++) {
            struct sim_trial t = long_one(several[i]);
            struct sparse_state **states = sim_states_create(t.ranks);
            const uint64_t slices = slices_of(&t);
            (void)run_right(&t, states);
            t.in_place = way % 2;
            t.pattern = way < 2 ? SIM_DENSE : SIM_RANDOM;
            if (way >= 2) t.density = t.ranks == 2 ? 0.45 : 0.6; /* of two ranks the vectors have room, and the results not */
            assert_true(turns_of(&t, states) > slices + 2);
            for (int r = 0; r < t.ranks; r++) assert_true(states[r]->boards.crowded > 0);
            assert_int_equal(turns_of(&t, states), slices + 2);
            t.pattern = SIM_RANDOM;
            t.density = 0.01;
            for (int r = 0; r < t.ranks; r++) states[r]->boards.crowded = 1;
            assert_int_equal(turns_of(&t, states), slices + 2);
            assert_true(turns_of(&t, states) < slices + 2);
            sim_states_destroy(states, t.ranks);
        }
}

/* One rank alone has none, for its second group, when the first one of all is on its way. */
static void test_no_room_later(void **state)
{
    for (int ranks = 2; ranks <= 3; ranks++)
        for (int in_place = 0; in_place < 2; in_place++) {
            struct sim_trial t = long_one(ranks);
            struct sparse_state **states = sim_states_create(ranks);
            const uint64_t slices = slices_of(&t);
            (void)run_right(&t, states);
            t.in_place = in_place;
            t.pattern = SIM_LATE;
            t.density = 0.1;
            assert_int_equal(turns_of(&t, states), 3 + slices + 2);
            for (int r = 0; r < ranks; r++) assert_true(states[r]->boards.crowded > 0);
            assert_int_equal(turns_of(&t, states), slices + 2);
            sim_states_destroy(states, ranks);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_no_room_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
