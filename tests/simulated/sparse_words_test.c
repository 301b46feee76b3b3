/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_words_test.c: short shares, and what is agreed on before, that the ranks of a node read out of each other's memory, without a message.
 */
#include "sim_trial.h"
#include "sparse_state.h"
#include "sparse_types.h"
#include "unit.h"

#include <stddef.h>
#include <string.h>

enum { CALLS = 5 };

static const int several[] = {2, 3, 5, 8, 13, 16};
enum { FEW = 4 }; /* the first ones: windows take long to be opened */

static int out_of_reach; /* so many times, from the next one on, a window is not found */
static int damaged;      /* the so manieth word that is read is `damage`, for as long as it is; 0: none */
static _Atomic uint64_t damage;
static int damaged_cell; /* the same of cells, of which this bit is changed, from the word's first one on */
static size_t damaged_bit;

bool __real_sparse_windows_find(struct sparse_windows *windows, int place);
bool __wrap_sparse_windows_find(struct sparse_windows *windows, int place);
bool __wrap_sparse_windows_find(struct sparse_windows *windows, int place)
{
    if (out_of_reach-- > 0) return false;
    return __real_sparse_windows_find(windows, place);
}

const _Atomic uint64_t *__real_sparse_windows_word_of(const struct sparse_windows *windows, int place, size_t slot);
const _Atomic uint64_t *__wrap_sparse_windows_word_of(const struct sparse_windows *windows, int place, size_t slot);
const _Atomic uint64_t *__wrap_sparse_windows_word_of(const struct sparse_windows *windows, int place, size_t slot)
{
    if (damaged > 0 && --damaged == 0) return &damage;
    return __real_sparse_windows_word_of(windows, place, slot);
}

const struct sparse_window_cell *__real_sparse_windows_cell_of(const struct sparse_windows *windows, int place, uint64_t number);
const struct sparse_window_cell *__wrap_sparse_windows_cell_of(const struct sparse_windows *windows, int place, uint64_t number);
const struct sparse_window_cell *__wrap_sparse_windows_cell_of(const struct sparse_windows *windows, int place, uint64_t number)
{
    static struct sparse_window_cell copy;
    const struct sparse_window_cell *cell = __real_sparse_windows_cell_of(windows, place, number);
    if (damaged_cell == 0 || cell->word < number || --damaged_cell > 0) return cell;
    memcpy(&copy, cell, sizeof copy);
    ((char *)&copy)[damaged_bit / 8] ^= (char)(1 << damaged_bit % 8);
    return &copy;
}

/* All on one node; three to a node, four. */
enum { PLACES = 3 };
static int per_node(int ranks, int place)
{
    return place == 0 ? ranks : 2 + place;
}

static struct sim_trial words_of(int ranks, int place, size_t count, int operator)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_SHARES, ranks, count);
    t.pattern = SIM_DISJOINT;
    t.operator = operator;
    t.seed = (uint64_t)(ranks * 31 + operator);
    t.parameters.rates.ranks_per_node = per_node(ranks, place);
    t.timed = true; /* such calls block */
    return t;
}

static size_t some(int ranks, int operator)
{
    return 96 * (size_t)ranks + (operator % 3 ? 0 : 5);
}

static int nodes_of(int ranks, int place)
{
    const int members = per_node(ranks, place);
    return (ranks + members - 1) / members;
}

/* What each rank of a node tells each other one, twice, in the first call; the last node may have fewer. */
static uint64_t to_open(int ranks, int place)
{
    const int members = per_node(ranks, place), last = ranks - (nodes_of(ranks, place) - 1) * members;
    return 2 * (uint64_t)((nodes_of(ranks, place) - 1) * members * (members - 1) + last * (last - 1));
}

/* Between nodes, for all of them: by doubling for a power of two, as vectors are short, else directly. */
static uint64_t between(int nodes)
{
    const bool doubles = (nodes & (nodes - 1)) == 0;
    return (uint64_t)nodes * (uint64_t)(doubles ? __builtin_ctz((unsigned)nodes) : nodes - 1);
}

/* The agreement's: the nodes' first ranks on a cube, those that do not fit into that before and behind. */
static uint64_t between_for_agreement(int nodes)
{
    uint64_t cube = 1;
    while (cube * 2 <= (uint64_t)nodes) cube *= 2;
    return cube * (uint64_t)__builtin_ctzll(cube) + 2 * ((uint64_t)nodes - cube);
}

/* Calls on one communicator, each with other vectors: the bits of the reference; in the first of them ranks tell each other where windows are, from the next
 * on there are no messages but those between nodes, and of the agreement from the one behind that on. */
static void check_calls(struct sim_trial *t, int place)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    for (int call = 0; call < CALLS; call++) {
        const uint64_t asked = states[0]->boards.asks; /* in the first calls once more, to see what that takes */
        struct sim_report report;
        t->seed++;
        t->sim.seed = t->sim.seed ? t->sim.seed + 1 : 0;
        assert_true(sim_trial_run(t, states, &report));
        assert_int_equal(report.done, t->ranks);
        assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_SHARES);
        if (call == 0) assert_true(report.data_messages > to_open(t->ranks, place));
        else assert_int_equal(report.data_messages, between(nodes_of(t->ranks, place)));
        const uint64_t asks = states[0]->boards.asks - asked, agreements = report.messages - report.data_messages;
        if (call > 1) assert_int_equal(agreements, asks * between_for_agreement(nodes_of(t->ranks, place)));
    }
    for (int r = 0; r < t->ranks; r++) {
        assert_int_equal(states[r]->boards.turn, CALLS - 1);
        assert_in_range(states[r]->boards.asks, CALLS - 2, 2 * (CALLS - 2));
    }
    sim_states_destroy(states, t->ranks);
}

static void test_results(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several); i++)
        for (int operator = 0; operator < SIM_OPERATORS; operator++)
            for (int way = 0; way < 2 * PLACES; way++) {
                struct sim_trial t = words_of(several[i], way / 2, some(several[i], operator), operator);
                const struct sparse_operator of = sim_operator(operator);
                t.in_place = way % 2;
                t.sim.seed = (uint64_t)operator; /* the first one's in order */
                if (!sparse_padded(&of) && !sim_leaves_out(several[i], operator)) check_calls(&t, way / 2);
            }
}

/* Messages of a second call, where so many times a window was not found in the first. */
static uint64_t messages_without(const struct sim_trial *t, int missing)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    struct sim_report report;
    out_of_reach = missing;
    assert_true(sim_trial_run(t, states, &report));
    out_of_reach = 0;
    assert_true(sim_trial_run(t, states, &report));
    assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_SHARES);
    sim_states_destroy(states, t->ranks);
    return report.data_messages;
}

/* If one rank cannot read one other's, nobody waits for words. */
static void test_out_of_reach(void **state)
{
    for (int missing = 1; missing <= 12; missing++) {
        const struct sim_trial near = words_of(4, 0, some(4, 0), 0), apart = words_of(8, 2, some(8, 0), 0);
        assert_int_equal(messages_without(&near, missing), 12);
        assert_int_equal(messages_without(&apart, missing), 14);
    }
    struct sim_trial t = words_of(4, 0, some(4, 0), 0);
    assert_int_equal(messages_without(&t, 0), 0);
    t.parameters.keep = SPARSE_WINDOW_BYTES - 1; /* not even asked for */
    assert_int_equal(messages_without(&t, 0), 12);
    t = words_of(4, 0, some(4, 0), 0);
    t.timed = false; /* several of them might be under way */
    assert_int_equal(messages_without(&t, 0), 12);
    t = words_of(2, 0, 2 * SPARSE_WINDOW_SLOT / sizeof(double), 0);
    t.parameters.slice_bytes = 8 * SPARSE_WINDOW_SLOT;
    assert_int_equal(messages_without(&t, 0), 2); /* with the room for one element more: it does not fit */
    t.count -= 2;
    assert_int_equal(messages_without(&t, 0), 0);
}

/* Ranks are found to be on other nodes than they were taken to be on: there are no words, for windows are those of others. */
static void test_other_nodes(void **state)
{
    struct sim_trial t = words_of(8, 2, some(8, 0), 0);
    struct sparse_state **states = sim_states_create(t.ranks);
    struct sim_report report;
    for (int call = 0; call < 2 * CALLS; call++) {
        t.parameters.rates.ranks_per_node = call < CALLS ? 4 : 8;
        t.seed++;
        assert_true(sim_trial_run(&t, states, &report));
        assert_int_equal(report.done, t.ranks);
        assert_int_equal(report.outcome[0].algorithm, SPARSE_ALLREDUCE_SHARES);
        if (call > 0) assert_int_equal(report.data_messages, call < CALLS ? 2 : 24);
    }
    sim_states_destroy(states, t.ranks);
}

/* One strays, and then no one does: the ring has the bits, and words of the next call are its own. */
static void test_strays(void **state)
{
    for (size_t i = 0; i < FEW; i++)
        for (int stray = 1; stray <= several[i]; stray++)
            for (int way = 0; way < 2 * PLACES; way++) {
                struct sim_trial t = words_of(several[i], way / 2, some(several[i], 0), 0);
                struct sparse_state **states = sim_states_create(t.ranks);
                t.in_place = way % 2;
                t.sim.seed = (uint64_t)stray;
                for (int call = 0; call < 3; call++) {
                    struct sim_report report;
                    t.stray = call == 1 ? stray : 0;
                    t.seed++;
                    assert_true(sim_trial_run(&t, states, &report));
                    assert_int_equal(report.done, t.ranks);
                    assert_int_equal(report.outcome[0].algorithm, call == 1 ? SPARSE_ALLREDUCE_RING : SPARSE_ALLREDUCE_SHARES);
                }
                sim_states_destroy(states, t.ranks);
            }
}

/* In the first call, or the second. */
static struct sim_report run_damaged(const struct sim_trial *t, bool second, uint64_t word, int at)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    struct sim_trial before = *t;
    struct sim_report report;
    before.sim.damage = SIM_INTACT;
    if (second) assert_true(sim_trial_run(&before, states, &report));
    damage = word;
    damaged = at;
    (void)sim_trial_run(t, states, &report);
    sim_states_destroy(states, t->ranks);
    return report;
}

static void check_failure(const struct sim_report *report, enum sparse_error least)
{
    assert_false(report->stuck);
    assert_int_equal(report->wrong, 0);
    assert_true(report->failed > 0);
    assert_in_range(report->worst, least, SPARSE_PEER_FAILED);
}

static void check_damage(const struct sim_trial *t, bool second)
{
    const struct sim_report report = run_damaged(t, second, 0, 0);
    check_failure(&report, SPARSE_CORRUPT);
}

/* Messages that tell where windows are; those between nodes, in a second call. */
static void test_damaged_messages(void **state)
{
    for (int ranks = 2; ranks <= 5; ranks++)
        for (int place = 0; place < PLACES; place++)
            for (enum sim_damage harm = SIM_TRUNCATE; harm <= SIM_EMPTY; harm++) {
                struct sim_trial t = words_of(ranks, place, some(ranks, 0), 0);
                t.sim.damage = harm;
                for (t.sim.damaged = 0; t.sim.damaged < (long)to_open(ranks, place); t.sim.damaged++) check_damage(&t, false);
                for (t.sim.damaged = 0; t.sim.damaged < (long)between(nodes_of(ranks, place)); t.sim.damaged++) check_damage(&t, true);
            }
}

/* A word of a call to come, one of this call that says nothing, and one of a rank that has failed: no result, and nobody waits for ever. */
static void test_damaged_words(void **state)
{
    static const uint64_t words[] = {2 << 2 | 1, UINT64_MAX, 1 << 2, 1 << 2 | 3};
    int heard = 0;
    static const enum sparse_error errors[] = {SPARSE_CORRUPT, SPARSE_CORRUPT, SPARSE_CORRUPT, SPARSE_PEER_FAILED};
    for (int ranks = 2; ranks <= 8; ranks++)
        for (int place = 0; place < PLACES; place++)
            for (size_t i = 0; i < COUNT_OF(words); i++)
                for (int word = 1; word <= (3); word++) {
                    struct sim_trial t = words_of(ranks, place, some(ranks, 0), 0);
                    const struct sim_report report = run_damaged(&t, true, words[i], word);
                    if (damaged == 0) check_failure(&report, errors[i]); /* else there are not so many */
                    heard += damaged == 0;
                    damaged = 0;
                }
    assert_true(heard > 200);
}

/* Word of a call before is no word yet. */
static void test_old_words(void **state)
{
    struct sim_trial t = words_of(4, 0, some(4, 0), 0);
    struct sparse_state **states = sim_states_create(t.ranks);
    struct sim_report report;
    for (int call = 0; call < CALLS; call++) {
        damage = call > 1 ? (uint64_t)(call - 1) << 2 | 1 : 0;
        damaged = call > 0;
        assert_true(sim_trial_run(&t, states, &report));
        assert_int_equal(report.done, t.ranks);
        assert_int_equal(damaged, 0);
    }
    sim_states_destroy(states, t.ranks);
}

/* Of what is read for the agreement: whatever is damaged, whoever reads it has no result. */
static void test_damaged_cells(void **state)
{
    int heard = 0;
    for (int ranks = 2; ranks <= 8; ranks++)
        for (int place = 0; place < PLACES; place++)
            for (size_t bit = 0; bit < 8 * sizeof(struct sparse_window_cell); bit += 61) {
                struct sim_trial t = words_of(ranks, place, some(ranks, 0), 0);
                struct sparse_state **states = sim_states_create(ranks);
                struct sim_report report;
                for (int call = 0; call < 3; call++) {
                    damaged_cell = call == 2;
                    damaged_bit = bit;
                    (void)sim_trial_run(&t, states, &report);
                }
                const bool read = damaged_cell == 0, matters = bit == 61 || bit >= 8 * offsetof(struct sparse_window_cell, terms);
                assert_int_equal(report.wrong, 0);
                if (read && matters) assert_true(report.failed > 0);
                else assert_int_equal(report.done, ranks);
                heard += read;
                damaged_cell = 0;
                sim_states_destroy(states, ranks);
            }
    assert_true(heard > 200);
}

/* Who waits for a word hears of a transport that is broken. */
static void test_transport_breaks(void **state)
{
    int broken = 0;
    for (int place = 0; place < PLACES; place++)
        for (int rank = 1; rank <= 4; rank++) {
            struct sim_trial t = words_of(8, place, some(8, 0), 0);
            struct sparse_state **states = sim_states_create(t.ranks);
            struct sim_report report;
            for (int call = 0; call < 3; call++) {
                t.sim.breaks = call == 2 ? rank : 0;
                (void)sim_trial_run(&t, states, &report);
            }
            assert_int_equal(report.wrong, 0);
            if (report.failed == 0) assert_int_equal(report.done, t.ranks); /* it did not have to wait */
            else assert_int_equal(report.outcome[1].code, SIM_BROKEN);
            broken += report.failed > 0;
            sim_states_destroy(states, t.ranks);
        }
    assert_true(broken >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results), cmocka_unit_test(test_out_of_reach), cmocka_unit_test(test_other_nodes),
        cmocka_unit_test(test_strays),
        cmocka_unit_test(test_damaged_messages), cmocka_unit_test(test_damaged_words), cmocka_unit_test(test_old_words), cmocka_unit_test(test_damaged_cells),
        cmocka_unit_test(test_transport_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
