/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_short_test.c: from which length on vectors are looked at, by times that are made up.
 */
#include "sparse_short.h"

#include "unit.h"

static double no_clock(void)
{
    return 0;
}

static struct sparse_parameters measured(void)
{
    struct sparse_parameters parameters;
    sparse_parameters_default(&parameters);
    parameters.short_measured = true;
    parameters.clock = no_clock;
    return parameters;
}

static void call(struct sparse_short *s, size_t bytes, double seconds)
{
    assert_false(sparse_short_begin(s, bytes, 10));
    sparse_short_end(s, 10 + seconds);
}

static void test_nothing_is_known(void **state)
{
    struct sparse_short s = {0};
    assert_int_equal(sparse_short_bytes(&s), SPARSE_SHORT_MOST);
    sparse_short_end(&s, 1); /* of no call */
    assert_int_equal(sparse_short_bytes(&s), SPARSE_SHORT_MOST);
}

static void test_shortest_that_takes_long(void **state)
{
    struct sparse_short s = {0};
    call(&s, 5000, 9e-6);
    call(&s, 8191, 8e-6);
    assert_int_equal(sparse_short_bytes(&s), SPARSE_SHORT_MOST);
    call(&s, 65535, 90e-6);
    assert_int_equal(sparse_short_bytes(&s), 32768);
    call(&s, 8192, 50e-6);
    assert_int_equal(sparse_short_bytes(&s), 8192);
}

/* Another one of the length, before or behind, that took less: the first has waited for others. */
static void test_the_quickest_counts(void **state)
{
    for (int order = 0; order < 2; order++) {
        struct sparse_short s = {0};
        call(&s, 16384, order ? 1e-3 : 5e-6);
        call(&s, 20000, order ? 5e-6 : 1e-3);
        assert_int_equal(sparse_short_bytes(&s), SPARSE_SHORT_MOST);
    }
}

static void test_so_many_are_timed(void **state)
{
    struct sparse_short s = {0};
    for (int i = 0; i < SPARSE_SHORT_CALLS; i++) call(&s, 4096, 1e-3);
    assert_true(sparse_short_begin(&s, 4096, 10));
    sparse_short_end(&s, 10 + 1e-6); /* none is running */
    assert_int_equal(sparse_short_bytes(&s), 4096);
}

/* A call of which the end is not seen, because the library gave an error, counts as the others do at the other ranks. */
static void test_a_call_without_an_end(void **state)
{
    struct sparse_short s = {0};
    for (int i = 0; i < SPARSE_SHORT_CALLS; i++) assert_false(sparse_short_begin(&s, 4096, 10));
    assert_true(sparse_short_begin(&s, 4096, 10));
}

static void test_whose_length_is_found_out(void **state)
{
    struct sparse_short s = {0};
    struct sparse_parameters parameters = measured(), other = parameters;
    assert_true(sparse_short_unsettled(&s, &parameters, 4096));
    assert_true(sparse_short_unsettled(&s, &parameters, 65535));
    assert_false(sparse_short_unsettled(&s, &parameters, 4095));
    assert_false(sparse_short_unsettled(&s, &parameters, 65536));
    other.short_measured = false;
    assert_false(sparse_short_unsettled(&s, &other, 8192));
    other = parameters;
    other.clock = NULL;
    assert_false(sparse_short_unsettled(&s, &other, 8192));
    other = parameters;
    other.always = true;
    assert_false(sparse_short_unsettled(&s, &other, 8192));
    other = parameters;
    other.algorithm = SPARSE_ALLREDUCE_RING;
    assert_false(sparse_short_unsettled(&s, &other, 8192));
}

static void test_settles_once(void **state)
{
    const struct sparse_transport alone = {.rank = 0, .size = 1};
    const struct sparse_surroundings surroundings = {NULL, NULL, NULL};
    struct sparse_short s = {0};
    struct sparse_parameters parameters = measured();
    call(&s, 20000, 1e-3);
    assert_int_equal(sparse_short_settle(&s, &alone, 0, &surroundings, &parameters), 0);
    assert_int_equal(parameters.short_bytes, 16384);
    assert_false(sparse_short_unsettled(&s, &parameters, 8192));
}

/* Only after many dense ones in a row, and calls that were not looked at are none. */
static void test_gives_up(void **state)
{
    struct sparse_short s = {0};
    int looks = 0;
    for (int i = 0; i < 1000; i++) assert_false(sparse_short_gives_up(&s, i % 10 == 0 ? 0.01 : 1, SPARSE_IDLE));
    s = (struct sparse_short){0};
    for (int i = 0; i < 1000; i++) assert_false(sparse_short_gives_up(&s, -1, SPARSE_IDLE));
    for (int i = 0; i < 1000; i++) assert_false(sparse_short_gives_up(&s, 1, SPARSE_OPEN));
    for (int i = 0; i < 1000; i++) assert_false(sparse_short_gives_up(&s, 1, i % 10 ? SPARSE_IDLE : SPARSE_WORTH)); /* some are */
    s = (struct sparse_short){0};
    while (!sparse_short_gives_up(&s, 0.9, looks % 3 ? SPARSE_IDLE : SPARSE_OPEN)) looks++;
    assert_in_range(looks, 10, 100);
    assert_false(sparse_short_gives_up(&s, 0.9, SPARSE_IDLE)); /* it has */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_known),       cmocka_unit_test(test_shortest_that_takes_long),
        cmocka_unit_test(test_the_quickest_counts),    cmocka_unit_test(test_so_many_are_timed),
        cmocka_unit_test(test_a_call_without_an_end),  cmocka_unit_test(test_whose_length_is_found_out),
        cmocka_unit_test(test_settles_once),           cmocka_unit_test(test_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
