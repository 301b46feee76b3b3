/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_boards_test.c: encoded vectors that the ranks of a node read out of each other's memory, without a message; and when that may be written again.
 */
#include "sim_read.h"
#include "sparse_boards.h"
#include "sparse_state.h"
#include "sparse_types.h"
#include "unit.h"

#include <string.h>

static const int several[] = {2, 3, 5, 8, 13, 16};
static const enum sparse_algorithm algorithms[] = {SPARSE_REDUCE_DIRECT, SPARSE_ALLREDUCE_RING, SPARSE_SCATTER_PAIRWISE, SPARSE_ALLREDUCE_SHARES, SPARSE_ALLREDUCE_HALVING};
enum { STRAIGHT = 3, SHARES = STRAIGHT, SLOTS = SPARSE_WINDOW_SLOTS }; /* of these the first ones go straight, and all but shares are of encoded vectors */

static int damaged; /* the so manieth slot that is read is other than it is, by this byte; 0: none */
static size_t damaged_byte;
static char damage;

const char *__real_sparse_words_slot_of(const struct sparse_slice *s, int place, unsigned before);
const char *__wrap_sparse_words_slot_of(const struct sparse_slice *s, int place, unsigned before);
const char *__wrap_sparse_words_slot_of(const struct sparse_slice *s, int place, unsigned before)
{
    static char copy[SPARSE_WINDOW_SLOT];
    const char *slot = __real_sparse_words_slot_of(s, place, before);
    if (damaged == 0 || --damaged > 0) return slot;
    memcpy(copy, slot, sizeof copy);
    copy[damaged_byte] ^= damage;
    return copy;
}

static struct sim_trial boards_of(enum sparse_algorithm algorithm, int ranks, size_t count, int operator)
{
    struct sim_trial t = sim_trial_near(algorithm, ranks, count, operator);
    if (algorithm == SPARSE_ALLREDUCE_SHARES) t.pattern = SIM_DISJOINT;
    return t;
}

static uint64_t pairs(int ranks)
{
    return (uint64_t)(ranks * (ranks - 1));
}

static struct sim_report run_right(const struct sim_trial *t, struct sparse_state **states)
{
    struct sim_report report;
    assert_true(sim_trial_run(t, states, &report));
    if (t->irregular && report.not_ours == t->ranks) return report; /* there are no elements */
    assert_int_equal(report.done, t->ranks);
    return report;
}

/* In the first call ranks tell each other where windows are, twice, and send; from the next on there are no messages. Not so of shares of any length: there is
 * no room for ranks' parts of a share that is nearly all, but for a slice of it. */
static void check_calls(struct sim_trial *t)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    for (int call = 0; call < 4; call++) {
        t->seed++;
        t->pattern = call == 3 ? SIM_DENSE : (enum sim_pattern)((int)SIM_RANDOM + (int)(t->seed % 3));
        const struct sim_report report = run_right(t, states);
        if (t->irregular) continue;
        if (call == 0) assert_true(report.data_messages > 2 * pairs(t->ranks));
        else assert_int_equal(report.data_messages, 0);
    }
    for (int r = 0; r < t->ranks && !t->irregular; r++) assert_int_equal(states[r]->boards.turn, 3);
    sim_states_destroy(states, t->ranks);
}

/* Operators, counts that leave some with little or nothing, roots, in place. */
static void test_results(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several); i++)
        for (int operator = 0; operator < SIM_OPERATORS; operator++)
            for (int way = 0; way < 4 * STRAIGHT && !sim_leaves_out(several[i], operator); way++) {
                const size_t count = way % 4 == 3 ? (size_t)several[i] / 2 : 700 + (size_t)(operator % 3);
                struct sim_trial t = boards_of(algorithms[way / 4], several[i], count, operator);
                t.in_place = way % 2;
                t.irregular = way % 4 == 2;
                t.root = operator % several[i];
                if (way % 4 != 3 || t.kind != SPARSE_REDUCE_SCATTER) check_calls(&t);
            }
}

/* What a rank is said to show each other one is what that one reads, to the byte. */
static void check_shown(struct sim_trial *t)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    (void)run_right(t, states);
    for (int call = 0; call < 3; call++) {
        sim_read_begin(t);
        t->seed++;
        const struct sim_report report = run_right(t, states);
        assert_int_equal(report.data_messages, 0);
        assert_true(sim_read_as_shown(t->ranks));
        assert_true(call < 2 || sim_shows.others[0][1] > 0); /* windows are known to be read by all in the second agreement behind their opening */
        if (t->count >= (size_t)t->ranks) assert_true(sim_shows.bytes[t->root == 0][t->root] > 0);
    }
    sim_states_destroy(states, t->ranks);
}

static void test_shown(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several); i++)
        for (size_t which = 0; which < COUNT_OF(algorithms); which++) {
            if (which == SHARES) continue;
            for (int long_ones = 0; long_ones < 2; long_ones++) {
                struct sim_trial t = boards_of(algorithms[which], several[i], long_ones ? 3000 : (size_t)several[i] / 2 + 1, 0);
                t.root = (int)i % several[i];
                check_shown(&t);
            }
        }
}

/* A share goes to every other rank. */
static void test_shown_shares(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several); i++) {
        const int ranks = several[i];
        struct sim_trial t = boards_of(SPARSE_ALLREDUCE_SHARES, ranks, 96 * (size_t)ranks, 0);
        struct sparse_state **states = sim_states_create(ranks);
        (void)run_right(&t, states);
        sim_read_begin(&t);
        (void)run_right(&t, states);
        for (int r = 0; r < ranks; r++)
            for (int peer = 0; peer < ranks; peer++) assert_int_equal(sim_shows.bytes[r][peer], r == peer ? 0 : 96 * sizeof(double));
        sim_states_destroy(states, ranks);
    }
}

/* Shares of no elements. */
static void test_nothing(void **state)
{
    struct sim_trial t = boards_of(SPARSE_SCATTER_PAIRWISE, 5, 1, 0);
    t.irregular = true;
    for (int seed = 0; seed < 20; seed++) {
        struct sparse_state **states = sim_states_create(t.ranks);
        t.seed = (uint64_t)seed;
        for (int call = 0; call < 3; call++) (void)run_right(&t, states);
        sim_states_destroy(states, t.ranks);
    }
}

/* Calls of all sorts on one communicator: their slots are the same. */
static void test_mixed(void **state)
{
    for (size_t i = 0; i < COUNT_OF(several); i++) {
        struct sparse_state **states = sim_states_create(several[i]);
        uint64_t random = 7;
        for (int call = 0; call < 60; call++) {
            const size_t which = sim_random(&random) % COUNT_OF(algorithms);
            struct sim_trial t = boards_of(algorithms[which], several[i], which == SHARES ? 96 * (size_t)several[i] : 300, 0);
            t.root = (int)(sim_random(&random) % (uint64_t)several[i]);
            t.seed = sim_random(&random);
            t.stray = which == SHARES && call % 8 == 0 ? 1 + (int)(sim_random(&random) % (uint64_t)several[i]) : 0;
            t.sim.seed = sim_random(&random);
            const struct sim_report report = run_right(&t, states);
            if (call > 0) assert_int_equal(report.data_messages, 0);
        }
        sim_states_destroy(states, several[i]);
    }
}

static uint64_t messages_of_second(const struct sim_trial *t)
{
    struct sparse_state **states = sim_states_create(t->ranks);
    (void)run_right(t, states);
    const struct sim_report report = run_right(t, states);
    sim_states_destroy(states, t->ranks);
    return report.data_messages;
}

/* What is dense, long, of several slices, on several nodes, or not to have words is sent. */
static void test_sent(void **state)
{
    for (int i = 0; i < STRAIGHT; i++) {
        const bool scatters = algorithms[i] == SPARSE_SCATTER_PAIRWISE;
        const size_t most = ((size_t)1 << 19) / sizeof(double) / (scatters ? 4 : 1);
        struct sim_trial t = boards_of(algorithms[i], 4, most, 0);
        t.fast = true;
        t.density = 0.001;
        assert_int_equal(messages_of_second(&t), 0);
        t.count = most + 1;
        assert_true(messages_of_second(&t) > 0);
        t.count = most;
        t.parameters.slice_bytes = 65536;
        assert_true(messages_of_second(&t) > 0);
        t = boards_of(algorithms[i], 4, 300, 0);
        t.parameters.dense = true;
        assert_true(messages_of_second(&t) > 0);
        t.parameters.dense = false;
        t.parameters.wordless = true;
        assert_true(messages_of_second(&t) > 0);
        t.parameters.wordless = false;
        t.parameters.rates.ranks_per_node = 2;
        assert_true(messages_of_second(&t) > 0);
        t.parameters.rates.ranks_per_node = 4;
        t.timed = false;
        assert_true(messages_of_second(&t) > 0);
    }
}

/* Two of four ranks have no window, for the process has as many as it may: all goes on by messages. */
static void test_without_windows(void **state)
{
    enum { RANKS = 4, LEFT = 2, TAKEN = SPARSE_WINDOWS_MOST - LEFT };
    static struct sparse_windows taken[TAKEN];
    for (int i = 0; i < TAKEN; i++) sparse_windows_open(&taken[i], 0);
    for (size_t i = 0; i < COUNT_OF(algorithms); i++) {
        struct sim_trial t = boards_of(algorithms[i], RANKS, i == SHARES ? 96 * RANKS : 300, 0);
        struct sparse_state **states = sim_states_create(RANKS);
        for (int call = 0; call < 4; call++) {
            const struct sim_report report = run_right(&t, states);
            assert_true(report.data_messages > 0);
        }
        int windows = 0;
        for (int r = 0; r < RANKS; r++) windows += states[r]->boards.own != NULL;
        assert_int_equal(windows, LEFT);
        sim_states_destroy(states, RANKS);
    }
    for (int i = 0; i < TAKEN; i++) sparse_windows_close(&taken[i]);
}

/* Whatever is other than it was: no wrong result, and nobody waits for ever. A halving reads a slot of each rank twice. */
static void damage_slots(enum sparse_algorithm algorithm, int ranks, int slots, int *failed)
{
    for (int slot = 1; slot <= slots; slot += 2)
        for (size_t byte = 0; byte < 600; byte += byte < 48 ? 1 : 13) {
            struct sim_trial t = boards_of(algorithm, ranks, 64, 0);
            struct sparse_state **states = sim_states_create(ranks);
            struct sim_report report;
            (void)run_right(&t, states);
            damaged = slot;
            damaged_byte = byte;
            damage = (char)(1 << (byte + (size_t)slot) % 8);
            (void)sim_trial_run(&t, states, &report);
            damaged = 0;
            assert_false(report.stuck);
            if (byte < SPARSE_WINDOW_HEAD) assert_int_equal(report.wrong, 0); /* elements have no checksum: see sparse_faults_test */
            assert_int_equal(report.touched, 0);
            *failed += report.failed > 0;
            sim_states_destroy(states, ranks);
        }
}

static void test_damage(void **state)
{
    for (size_t i = 0; i < COUNT_OF(algorithms); i++) {
        int failed = 0;
        const int times = algorithms[i] == SPARSE_ALLREDUCE_HALVING ? 2 : 1;
        if (i == SHARES) continue;
        for (int ranks = 2; ranks <= 5; ranks += 3) damage_slots(algorithms[i], ranks, times * ranks, &failed);
        assert_true(failed > 30);
    }
}

/* Two ranks of one process, each with the other's window. */
struct pair {
    struct sparse_transport transport[2];
    struct sparse_windows windows[2];
    struct sparse_record record[2];
    struct sparse_slice slice[2];
};

static void open_pair(struct pair *pair)
{
    memset(pair, 0, sizeof *pair);
    for (int r = 0; r < 2; r++) {
        struct sparse_slice *s = &pair->slice[r];
        pair->transport[r] = (struct sparse_transport){.rank = r, .size = 2};
        sparse_windows_open(&pair->windows[r], r);
        pair->windows[r].per_node = 2;
        pair->windows[r].agreed = true;
        *s = (struct sparse_slice){.transport = &pair->transport[r], .windows = &pair->windows[r], .record = &pair->record[r], .words = true};
        sparse_nodes_init(&s->nodes, r, 2, 2);
    }
    for (int r = 0; r < 2; r++) {
        pair->windows[r].name[1 - r] = pair->windows[1 - r].name[1 - r];
        assert_true(sparse_windows_find(&pair->windows[r], 1 - r));
        assert_true(sparse_has_words(&pair->slice[r]));
    }
}

static void close_pair(struct pair *pair)
{
    for (int r = 0; r < 2; r++) sparse_windows_close(&pair->windows[r]);
}

/* Rank 0 is a root that reads, and rank 1 ahead of it: by no more than the slots. */
static void test_ahead(void **state)
{
    struct pair pair;
    struct sparse_slice *root = &pair.slice[0], *other = &pair.slice[1];
    open_pair(&pair);
    for (int call = 0; call < SLOTS; call++) {
        assert_int_equal(sparse_words_begin(other, 1), SPARSE_DONE);
        sparse_words_slot(other)[0] = (char)('a' + call);
        sparse_words_write(other, SPARSE_WORD_SHOWN, 10);
    }
    assert_int_equal(sparse_words_begin(other, 1), SPARSE_PENDING);
    for (int call = 0; call < 7; call++) {
        assert_int_equal(sparse_words_begin(root, 0), SPARSE_DONE);
        sparse_words_write(root, SPARSE_WORD_SHOWN, 10);
        assert_int_equal(sparse_words_begin(other, 1), call < 2 ? SPARSE_PENDING : SPARSE_DONE); /* it may still read the first one */
        for (unsigned before = 0; before < 2 && before <= (unsigned)call; before++) {
            assert_int_equal(sparse_words_read(root, 1, before), SPARSE_WORD_SHOWN);
            assert_int_equal(sparse_words_slot_of(root, 1, before)[0], 'a' + call - (int)before);
        }
        if (call < 2) continue;
        sparse_words_slot(other)[0] = (char)('a' + call + SLOTS - 2);
        sparse_words_write(other, SPARSE_WORD_SHOWN, 10);
    }
    assert_int_equal(pair.record[1].sent_dense, 10 * (SLOTS + 5));
    assert_int_equal(pair.record[0].sent_dense, 0); /* nobody reads it */
    close_pair(&pair);
}

/* Who is not read waits for nobody; who was by both, till then. */
static void test_turns(void **state)
{
    struct pair pair;
    open_pair(&pair);
    for (int call = 0; call < 2 * SLOTS; call++) {
        assert_int_equal(sparse_words_begin(&pair.slice[0], call < SLOTS ? 0 : 2), SPARSE_DONE);
        sparse_words_write(&pair.slice[0], SPARSE_WORD_SHOWN, 0);
    }
    const int done = 2 * SLOTS - 1; /* when this word is there, what is read in the call two before it may be written */
    for (int call = 1; call <= done + 1; call++) {
        assert_int_equal(sparse_words_begin(&pair.slice[0], 2), call <= done ? SPARSE_PENDING : SPARSE_DONE);
        assert_int_equal(sparse_words_begin(&pair.slice[1], 0), SPARSE_DONE);
        if (call > SLOTS) assert_int_equal(sparse_words_read(&pair.slice[1], 0, 0), SPARSE_WORD_SHOWN);
        sparse_words_write(&pair.slice[1], SPARSE_WORD_SHOWN, 0);
    }
    assert_int_equal(pair.windows[0].turn, 2 * SLOTS + 1);
    close_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results), cmocka_unit_test(test_nothing), cmocka_unit_test(test_mixed), cmocka_unit_test(test_sent),
        cmocka_unit_test(test_without_windows), cmocka_unit_test(test_damage), cmocka_unit_test(test_shown), cmocka_unit_test(test_shown_shares), cmocka_unit_test(test_ahead), cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
