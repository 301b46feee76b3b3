/* SPDX-License-Identifier: BSD-3-Clause
 * session_threads_test.c: threads with sessions of their own, over the real counters, while another thread meddles with
 * all sessions it can reach. Run it under the thread sanitizer.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "counters.h"
#include "session_table.h"
#include "unit.h"

#define THREADS 4
#define ROUNDS 200

static atomic_int listening, working, faults, released;

static int activate(void)
{
    return atomic_exchange(&listening, 1) == 0 ? 0 : -1;
}

static void deactivate(void)
{
    atomic_store(&listening, 0);
}

static double seconds(void)
{
    return 0;
}

static void release(void *attachment)
{
    atomic_fetch_add(&released, 1);
}

static const struct lucid_table_ops ops = {lucid_counters_read, activate, deactivate, seconds, release};

static void expect(bool condition)
{
    if (!condition) atomic_fetch_add(&faults, 1);
}

static uint64_t messages_to(int id, uint32_t peer)
{
    struct lucid_session_data data;
    uint64_t count = UINT64_MAX;
    expect(lucid_table_copy(id, &data) == LUCID_SUCCESS);
    count = 0;
    for (size_t i = 0; i < data.cells.n; i++)
        if (data.cells.cell[i].peer == peer) count += data.cells.cell[i].count;
    lucid_session_data_clear(&data);
    return count;
}

/** Hidden sessions, for nobody else may reach these. Only this thread sends to its peer. */
static void *own_sessions(void *argument)
{
    uint32_t peer = (uint32_t)(uintptr_t)argument;
    int outer, inner;
    for (int round = 0; round < ROUNDS; round++) {
        expect(lucid_table_start(NULL, true, 0, argument, &outer) == LUCID_SUCCESS);
        lucid_count_one(peer, 0, 8);
        expect(lucid_table_start(NULL, true, 0, argument, &inner) == LUCID_SUCCESS);
        lucid_count_one(peer, 0, 8);
        expect(atomic_load(&listening) == 1);
        expect(lucid_table_suspend(outer) == LUCID_SUCCESS);
        lucid_count_one(peer, 0, 8);
        expect(lucid_table_continue(outer) == LUCID_SUCCESS);
        for (int i = 0; i < 10; i++) lucid_count_one(peer + 100 * (uint32_t)i, 1 + (unsigned)i, 8);
        expect(lucid_table_suspend(inner) == LUCID_SUCCESS);
        lucid_count_one(peer, 0, 8);
        expect(lucid_table_suspend(outer) == LUCID_SUCCESS);
        expect(messages_to(inner, peer) == 3); /* the second, the third, the first of the ten */
        expect(messages_to(outer, peer) == 4); /* without the third */
        expect(lucid_table_free(inner) == LUCID_SUCCESS);
        expect(lucid_table_free(outer) == LUCID_SUCCESS);
    }
    atomic_fetch_sub(&working, 1);
    return NULL;
}

/** Visible sessions of everybody, through all ways at once: any code that fits is right, a crash or a race is not. */
static void *meddle(void *argument)
{
    int id, *ids;
    while (atomic_load(&working) > 0) {
        int rc = lucid_table_start(NULL, false, 5, NULL, &id);
        expect(rc == LUCID_SUCCESS || rc == LUCID_ERR_OVERFLOW);
        rc = lucid_table_suspend(LUCID_TABLE_ALL);
        expect(rc == LUCID_SUCCESS || rc == LUCID_ERR_MULTIPLE_CALL || rc == LUCID_ERR_SESSION);
        rc = lucid_table_continue(LUCID_TABLE_ALL);
        expect(rc == LUCID_SUCCESS || rc == LUCID_ERR_MULTIPLE_CALL || rc == LUCID_ERR_SESSION);
        int n = lucid_table_list(&ids);
        expect(n >= 0 && n <= 5);
        free(ids);
        (void)lucid_table_suspend(LUCID_TABLE_ALL);
        (void)lucid_table_reset(LUCID_TABLE_ALL);
        rc = lucid_table_free(LUCID_TABLE_ALL);
        expect(rc == LUCID_SUCCESS || rc == LUCID_ERR_STILL_ACTIVE || rc == LUCID_ERR_SESSION);
        expect(lucid_table_memory() > 0);
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS + 2];
    lucid_table_setup(&ops);
    atomic_store(&working, THREADS);
    for (int i = 0; i < THREADS + 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < THREADS ? own_sessions : meddle, (void *)(uintptr_t)(i + 1)), 0);
    for (int i = 0; i < THREADS + 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&faults), 0);
    assert_int_equal(atomic_load(&released), 2 * THREADS * ROUNDS);
    (void)lucid_table_suspend(LUCID_TABLE_ALL);
    assert_int_equal(lucid_table_clear(), LUCID_SUCCESS);
    assert_int_equal(atomic_load(&listening), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
