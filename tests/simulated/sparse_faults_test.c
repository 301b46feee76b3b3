/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_faults_test.c: when things go wrong in a reduction: damaged messages, no memory, a transport that breaks. No rank
 * waits for ever (but for a broken transport's, and one that could not hear of a damaged agreement), none has a wrong result, nothing is
 * left behind.
 */
#include "sim_trial.h"
#include "sparse_agree.h"
#include "unit.h"

static const int some_ranks[] = {2, 3, 5, 8, 13};

static struct sim_trial trial_of(enum sparse_algorithm algorithm, int ranks, uint64_t seed)
{
    struct sim_trial t = sim_trial_of(algorithm, ranks, 3000);
    if (t.kind == SPARSE_REDUCE_SCATTER) t.count = 3000 / (size_t)ranks;
    t.operator = (int)(seed % SIM_OPERATORS);
    t.root = (int)(seed / 3) % ranks;
    t.seed = seed;
    t.sim.seed = seed + 1;
    t.parameters.slice_bytes = 1;
    t.parameters.rates.ranks_per_node = 1 + (int)(seed % 4);
    if (algorithm == SPARSE_ALLREDUCE_LEADERS && seed % 5 == 0) { /* leaders halve what is dense and long, of which a double has 8 bytes */
        t.operator = 1;
        t.count = SPARSE_LEADERS_HALVE / 8;
        t.parameters.dense = true;
    }
    return t;
}

static void damage_one(struct sim_trial *t, enum sim_damage damage, uint64_t messages, uint64_t *random)
{
    struct sim_report report;
    t->sim.damage = damage;
    t->sim.damaged = (long)(sim_random(random) % messages);
    bool fine = sim_trial_run(t, NULL, &report);
    bool certain = damage == SIM_TRUNCATE || damage == SIM_EMPTY || damage == SIM_FIRST_BYTE || damage == SIM_LENGTH;
    if (report.stuck || report.touched || report.not_ours || (certain && (!fine || report.failed == 0)))
        fail_msg("%s, %d ranks, message %ld damaged (%d), seed %lu: stuck %d, done %d, failed %d, wrong %d",
                 sparse_algorithm_name(t->parameters.algorithm), t->ranks, t->sim.damaged, (int)damage, (unsigned long)t->seed,
                 report.stuck, report.done, report.failed, report.wrong);
    if (certain) assert_true(report.worst == SPARSE_CORRUPT || report.worst == SPARSE_PEER_FAILED);
}

/* A message that is too short, empty, or says another length or part: always seen. A changed bit may be a value, which nobody can
 * see; it must do no harm. */
static void test_damage(void **state)
{
    uint64_t random = 4711;
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
        for (size_t i = 0; i < COUNT_OF(some_ranks); i++) {
            struct sim_report report;
            struct sim_trial t = trial_of(a, some_ranks[i], sim_random(&random) >> 48);
            assert_true(sim_trial_run(&t, NULL, &report));
            uint64_t messages = report.data_messages;
            for (enum sim_damage damage = SIM_TRUNCATE; damage <= SIM_NOISE; damage++)
                for (int repeat = 0; repeat < (damage == SIM_ANY_BIT ? 10 : 3); repeat++) damage_one(&t, damage, messages, &random);
        }
}

static void test_every_bit_of_the_agreement(void **state)
{
    uint64_t random = 31;
    for (int repeat = 0; repeat < 20; repeat++) {
        struct sparse_terms terms;
        for (size_t i = 0; i < sizeof terms; i++) ((unsigned char *)&terms)[i] = (unsigned char)(sim_random(&random) >> 50);
        terms.seal = sparse_terms_seal(&terms);
        for (size_t bit = 0; bit < 8 * sizeof terms; bit++) {
            struct sparse_terms other = terms;
            ((unsigned char *)&other)[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_true(other.seal != sparse_terms_seal(&other));
        }
    }
}

/* Who finds it fails, and whoever hears of it; others may wait for these, but have no wrong result. */
static void test_damaged_agreement(void **state)
{
    uint64_t random = 1789;
    for (int repeat = 0; repeat < (SIM_SLOWLY ? 1000 : 3000); repeat++) {
        enum sparse_algorithm any = SPARSE_REDUCE_BINOMIAL + (unsigned)(sim_random(&random) >> 33) % (SPARSE_ALGORITHMS - 1);
        struct sim_report report;
        struct sim_trial t = trial_of(any, 2 + repeat % 12, sim_random(&random) >> 48);
        t.parameters.algorithm = SPARSE_LIBRARY; /* chosen, by the numbers of the agreement */
        t.parameters.short_bytes = 1;
        t.operator = 1;
        t.in_agreement = true;
        assert_true(sim_trial_run(&t, NULL, &report));
        t.sim.damage = SIM_TRUNCATE + (unsigned)(sim_random(&random) >> 33) % SIM_NOISE;
        t.sim.damaged = (long)((sim_random(&random) >> 20) % report.data_messages);
        (void)sim_trial_run(&t, NULL, &report);
        assert_int_equal(report.wrong, 0);
        assert_int_equal(report.touched, 0);
        assert_true(report.failed > 0);
        assert_true(report.outcome[1].error == SPARSE_CORRUPT || report.outcome[1].error == SPARSE_PEER_FAILED);
    }
}

/* What is found on the way up, or at the first ranks to meet, is heard of by all of them. */
static void test_all_hear_of_a_damaged_agreement(void **state)
{
    const struct { int ranks, per_node; } jobs[] = {{3, 1}, {5, 1}, {8, 4}, {13, 4}};
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        struct sim_report report;
        struct sim_trial t = trial_of(SPARSE_ALLREDUCE_DOUBLING, jobs[i].ranks, 7);
        t.parameters.rates.ranks_per_node = jobs[i].per_node;
        t.sim.seed = 0;
        t.sim.damage = SIM_ANY_BIT;
        t.in_agreement = true;
        (void)sim_trial_run(&t, NULL, &report);
        assert_false(report.stuck);
        assert_int_equal(report.failed, jobs[i].ranks);
        assert_int_equal(report.touched, 0);
    }
}

/* A rank that takes another algorithm, or form, than all others, which no agreement should let happen: nobody adds up what does not belong
 * together, although all messages are well-formed. */
static void test_one_goes_astray(void **state)
{
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
        for (enum sparse_algorithm other = SPARSE_REDUCE_BINOMIAL; other < SPARSE_ALGORITHMS; other++)
            for (int ranks = 2; ranks <= 8; ranks++)
                for (int astray = 1; astray <= 2 * ranks; astray++) {
                    struct sim_report report;
                    struct sim_trial t = trial_of(a, ranks, 2);
                    bool dense = astray > ranks, same = a == other && !dense;
                    if (t.kind != trial_of(other, ranks, 2).kind || same) continue;
                    t.operator = 1;
                    t.root = 0;
                    t.sim.seed = 0;
                    t.astray = dense ? astray - ranks : astray;
                    t.astray_algorithm = other;
                    t.astray_dense = dense;
                    (void)sim_trial_run(&t, NULL, &report);
                    assert_int_equal(report.wrong, 0);
                    const bool marked = a != SPARSE_ALLREDUCE_SHARES; /* whose dense form is the ring's: they meet there, and wait */
                    if (a == other && marked) assert_true(report.worst == SPARSE_CORRUPT || report.worst == SPARSE_PEER_FAILED);
                }
}

static void test_message_says_what_happened(void **state)
{
    char text[200];
    struct sim_report report;
    struct sim_trial t = trial_of(SPARSE_REDUCE_DIRECT, 4, 3);
    t.root = 0;
    t.sim.seed = 0;
    t.sim.damage = SIM_TRUNCATE;
    (void)sim_trial_run(&t, NULL, &report);
    assert_int_equal(report.failed, 1);
    assert_int_equal(report.outcome[0].error, SPARSE_CORRUPT);
    (void)sparse_outcome_text(&report.outcome[0], 0, text, sizeof text);
    assert_non_null(strstr(text, "reduce_direct: a message from rank "));
}

/* No memory on one rank, at its first, second, ... allocation: all ranks leave it to the library's own routine, or all fail. */
static void test_no_memory(void **state)
{
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
        for (int rank = 1; rank <= 5; rank++)
            for (long after = 0; after < 3; after++)
                for (int passes = 0; passes < 2; passes++) {
                    struct sim_report report;
                    struct sim_trial t = trial_of(a, 5, (uint64_t)rank);
                    long needed = t.kind == SPARSE_REDUCE_SCATTER ? 3 : 2;
                    t.without_memory = rank;
                    t.memory_after = after;
                    t.may_pass_on = passes;
                    if (after >= needed) continue;
                    assert_false((sim_trial_run(&t, NULL, &report), report.stuck));
                    assert_int_equal(report.touched, 0);
                    assert_int_equal(passes ? report.not_ours : report.failed, 5);
                    if (!passes) assert_int_equal(report.worst, SPARSE_NO_MEMORY);
                    assert_int_equal(report.data_messages, 0);
                }
}

/* An error of the transport comes out as it is; requests under way are cancelled (sim_destroy looks). */
static void test_transport_breaks(void **state)
{
    uint64_t random = 99;
    for (enum sparse_algorithm a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
        for (int ranks = 2; ranks <= 6; ranks++)
            for (long after = 0; after < 60; after += 1 + (long)(sim_random(&random) % 5)) {
                struct sim_report report;
                struct sim_trial t = trial_of(a, ranks, (uint64_t)after);
                t.sim.breaks = 1 + (int)(sim_random(&random) % (uint64_t)ranks);
                t.sim.breaks_after = after;
                (void)sim_trial_run(&t, NULL, &report);
                assert_int_equal(report.wrong, 0);
                if (report.failed == 0) continue; /* the rank was done before */
                assert_int_equal(report.worst, SPARSE_TRANSPORT);
                assert_int_equal(report.outcome[1].code, SIM_BROKEN);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_every_bit_of_the_agreement),
        cmocka_unit_test(test_damaged_agreement),
        cmocka_unit_test(test_all_hear_of_a_damaged_agreement),
        cmocka_unit_test(test_one_goes_astray),
        cmocka_unit_test(test_message_says_what_happened),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_transport_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
