/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_threads_test.c: threads that encode, merge and decode vectors of their own, and begin at the same time, so that they choose
 * the kernels together. Run it under the thread sanitizer.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "params.h"
#include "sparse_block.h"
#include "unit.h"

#define THREADS 2
#define COUNT 20000
#define ROUNDS 20

static atomic_int missing = THREADS;
static atomic_int faults;

static void fill(int32_t *x, uint64_t *seed)
{
    memset(x, 0, COUNT * sizeof *x);
    for (int i = 0; i < COUNT / 100; i++) x[unit_random(seed) % COUNT] = (int32_t)(unit_random(seed) % 1000);
}

/** a + b by way of messages, against a loop. */
static bool adds_up(const struct sparse_layout *layout, uint64_t *seed, char *message[3])
{
    int32_t a[COUNT], b[COUNT], sum[COUNT];
    struct sparse_tally tally = {0};
    fill(a, seed);
    fill(b, seed);
    sparse_encode(layout, 0, layout->blocks, a, false, message[0], &tally);
    size_t bytes = sparse_encode(layout, 0, layout->blocks, b, false, message[1], &tally);
    if (!sparse_check(layout, 0, layout->blocks, message[1], bytes)) return false;
    sparse_merge(layout, 0, layout->blocks, message[0], message[1], false, message[2], &tally);
    sparse_decode(layout, 0, layout->blocks, message[2], sum);
    for (int i = 0; i < COUNT; i++)
        if (sum[i] != a[i] + b[i]) return false;
    return tally.elements == 3 * COUNT;
}

static void *work(void *argument)
{
    uint64_t seed = (uintptr_t)argument + 1;
    struct sparse_operator operator;
    struct sparse_layout layout;
    char *message[3];
    for (atomic_fetch_sub(&missing, 1); atomic_load(&missing) > 0;) continue; /* a barrier would wake one after the other */
    if (!sparse_operator_predefined(SPARSE_SUM, SPARSE_INT32, &operator)) atomic_fetch_add(&faults, 1);
    sparse_layout_init(&layout, &operator, COUNT, 1);
    for (int i = 0; i < 3; i++) message[i] = malloc(sparse_bound(&layout, 0, layout.blocks));
    for (int i = 0; i < ROUNDS; i++)
        if (!adds_up(&layout, &seed, message)) atomic_fetch_add(&faults, 1);
    for (int i = 0; i < 3; i++) free(message[i]);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t thread[THREADS];
    lucid_params(); /* or one thread would wait for the other to read them, and for the kernels with that */
    for (intptr_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, work, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(atomic_load(&faults), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
