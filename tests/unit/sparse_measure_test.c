/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_measure_test.c: what rank 0 makes of messages that take long.
 */
#include "sparse_measure.h"

#include <time.h>
#include <unistd.h>

#include "unit.h"

enum { RANKS = 3, LONG = 64 * 1024 };
static const double a_while = 2e-3;

static int isend(void *context, const void *buffer, size_t bytes, int peer, int tag, union sparse_request *request)
{
    *request = (union sparse_request){.number = 0};
    return 0;
}

static int irecv(void *context, void *buffer, size_t capacity, int peer, int tag, union sparse_request *request)
{
    *request = (union sparse_request){.number = 1};
    return 0;
}

/* Nobody is there: what is received comes a while later. */
static int test(void *context, union sparse_request *request, bool *done, size_t *bytes)
{
    const struct timespec time = {.tv_nsec = (long)(a_while * 1e9)};
    if (request->number > 0) nanosleep(&time, NULL);
    *done = true;
    *bytes = 0;
    return 0;
}

static bool on_my_node(void *context, int rank)
{
    return rank < *(const int *)context;
}

/* As rank 0 finds them for three ranks, so many of them on its node. */
static struct sparse_rates measured(int near)
{
    const struct sparse_transport transport = {.size = RANKS, .isend = isend, .irecv = irecv, .test = test};
    const struct sparse_surroundings surroundings = {on_my_node, NULL, &near};
    struct sparse_rates rates;
    assert_int_equal(sparse_measure(&transport, 0, &surroundings, &rates), 0);
    assert_int_equal(rates.ranks_per_node, near);
    return rates;
}

/* A node's messages take so long only where others are at work. A network's may. */
static void test_others_were_at_work(void **state)
{
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN), share = RANKS > processors ? RANKS / processors : 1;
    const struct sparse_rates near = measured(RANKS), both = measured(2);
    assert_true(near.latency_node <= 20e-6 * share && near.bandwidth_node >= 0.5e9 / share);
    assert_float_equal(near.latency_network, near.latency_node, 0);
    assert_float_equal(near.bandwidth_network, near.bandwidth_node, 0);
    assert_true(both.latency_node <= 20e-6 * share);
    assert_true(both.latency_network + LONG / (both.bandwidth_network / 2) >= a_while); /* of each of two ranks */
}

/* The same ones again are not measured anew. */
static void test_one_shape_is_measured_once(void **state)
{
    const struct sparse_rates first = measured(2), second = measured(2);
    assert_memory_equal(&first, &second, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_others_were_at_work), cmocka_unit_test(test_one_shape_is_measured_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
