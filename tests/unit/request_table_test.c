/* SPDX-License-Identifier: BSD-3-Clause
 * The table of persistent requests, against a model, and from several threads.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../src/monitor/request_table.h"

static struct lucid_request send_to(uint64_t key, uint32_t peer, uint64_t bytes)
{
    struct lucid_request request = {.key = key, .type = LUCID_REQUEST_SEND, .kind = 0, .shares = 1};
    request.one = (struct lucid_share){peer, bytes};
    return request;
}

static void copy(const struct lucid_request *request, void *arg)
{
    *(struct lucid_request *)arg = *request;
}

static void forgets_and_replaces(void **state)
{
    struct lucid_request seen;
    assert_false(lucid_requests_visit(7, copy, &seen));
    assert_int_equal(lucid_requests_add(send_to(7, 1, 100)), 0);
    assert_int_equal(lucid_requests_add(send_to(7, 2, 200)), 0); /* the library gave out a handle again */
    assert_int_equal(lucid_requests_known(), 1);
    assert_true(lucid_requests_visit(7, copy, &seen));
    assert_int_equal(seen.one.peer, 2);
    assert_int_equal(seen.one.bytes, 200);
    lucid_requests_remove(7);
    lucid_requests_remove(7);
    assert_false(lucid_requests_visit(7, copy, &seen));
    assert_int_equal(lucid_requests_known(), 0);
}

static void renames(void **state)
{
    struct lucid_request seen;
    lucid_requests_add(send_to(1, 10, 1));
    lucid_requests_add(send_to(2, 20, 2));
    lucid_requests_rename(1, 1);
    lucid_requests_rename(3, 4); /* unknown */
    lucid_requests_rename(1, 2); /* the other one is gone by then */
    assert_int_equal(lucid_requests_known(), 1);
    assert_false(lucid_requests_visit(1, copy, &seen));
    assert_true(lucid_requests_visit(2, copy, &seen));
    assert_int_equal(seen.key, 2);
    assert_int_equal(seen.one.peer, 10);
    lucid_requests_remove(2);
}

/* Shares of a collective are owned by the table: a leak or a double free is the sanitizers' to find. */
static void owns_shares(void **state)
{
    struct lucid_request seen;
    for (int i = 0; i < 3; i++) {
        struct lucid_request request = {.key = 5, .type = LUCID_REQUEST_COLLECTIVE, .kind = 2, .shares = 2};
        request.many = calloc(2, sizeof *request.many);
        request.many[1].bytes = (uint64_t)i;
        assert_int_equal(lucid_requests_add(request), 0);
    }
    lucid_requests_rename(5, 6);
    assert_true(lucid_requests_visit(6, copy, &seen));
    assert_int_equal(seen.many[1].bytes, 2);
    lucid_requests_remove(6);
}

/* Keys as aligned addresses are, few enough that they collide and come back. */
enum { KEYS = 300, STEPS = 200000 };

static uint64_t key_number(unsigned i)
{
    return UINT64_C(0x7f0000000000) + i * UINT64_C(0x280);
}

static void equals_model(void **state)
{
    static uint32_t model[KEYS]; /* peer + 1, 0: not known */
    unsigned random = 1;
    size_t known = 0;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1103515245u + 12345u;
        const unsigned i = random / 65536 % KEYS, j = (i * 7 + 3) % KEYS, action = random / 16777216 % 4;
        if (action < 2) {
            lucid_requests_add(send_to(key_number(i), i + (unsigned)step, 1));
            known += model[i] == 0;
            model[i] = i + (unsigned)step + 1;
        } else if (action == 2) {
            lucid_requests_remove(key_number(i));
            known -= model[i] != 0;
            model[i] = 0;
        } else if (model[i] != 0 && i != j) {
            lucid_requests_rename(key_number(i), key_number(j));
            known -= model[j] != 0;
            model[j] = model[i];
            model[i] = 0;
        }
        struct lucid_request seen;
        const unsigned k = random / 3 % KEYS;
        assert_int_equal(lucid_requests_visit(key_number(k), copy, &seen), model[k] != 0);
        if (model[k] != 0) assert_int_equal(seen.one.peer, model[k] - 1);
        assert_int_equal(lucid_requests_known(), known);
    }
    for (unsigned i = 0; i < KEYS; i++) lucid_requests_remove(key_number(i));
    assert_int_equal(lucid_requests_known(), 0);
}

enum { THREADS = 4, ROUNDS = 5000, LIVING = 20 };

static void *use(void *arg)
{
    const uint64_t base = (uint64_t)*(const int *)arg << 32;
    size_t *wrong = calloc(1, sizeof *wrong);
    struct lucid_request seen;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        lucid_requests_add(send_to(base + i, (uint32_t)i, base));
        if (i % 3 == 0) {
            lucid_requests_rename(base + i, base + i + ROUNDS);
            lucid_requests_rename(base + i + ROUNDS, base + i);
        }
        if (!lucid_requests_visit(base + i, copy, &seen) || seen.one.bytes != base) ++*wrong;
        if (i >= LIVING) lucid_requests_remove(base + i - LIVING);
    }
    return wrong;
}

static void from_threads(void **state)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, use, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        size_t *wrong;
        pthread_join(threads[i], (void **)&wrong);
        assert_int_equal(*wrong, 0);
        free(wrong);
    }
    assert_int_equal(lucid_requests_known(), THREADS * LIVING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgets_and_replaces), cmocka_unit_test(renames), cmocka_unit_test(owns_shares),
        cmocka_unit_test(equals_model), cmocka_unit_test(from_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
