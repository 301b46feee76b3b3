/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_pages_test.c: messages of long vectors lie in large pages where all ranks are on one node, and the communicator keeps them. */
#include "sim_trial.h"
#include "sparse_memory.h"
#include "sparse_state.h"
#include "unit.h"

#include <unistd.h>

static int takes, large_takes, borrows, large_borrows;

void *__real_sparse_memory_take(size_t bytes, bool large);
void *__wrap_sparse_memory_take(size_t bytes, bool large);
void *__wrap_sparse_memory_take(size_t bytes, bool large)
{
    takes++;
    large_takes += large;
    return __real_sparse_memory_take(bytes, large);
}

void *__real_sparse_state_borrow(struct sparse_state *state, const struct sparse_parameters *parameters, size_t bytes, bool large);
void *__wrap_sparse_state_borrow(struct sparse_state *state, const struct sparse_parameters *parameters, size_t bytes, bool large);
void *__wrap_sparse_state_borrow(struct sparse_state *state, const struct sparse_parameters *parameters, size_t bytes, bool large)
{
    borrows++;
    large_borrows += large;
    return __real_sparse_state_borrow(state, parameters, bytes, large);
}

/** Calls of four ranks that want large pages. */
static int wanted(int ranks_per_node, size_t large_bytes)
{
    struct sim_trial t = sim_trial_of(SPARSE_ALLREDUCE_HALVING, 4, 5000);
    struct sim_report report;
    t.parameters.rates.ranks_per_node = ranks_per_node;
    t.parameters.large_bytes = large_bytes;
    borrows = large_borrows = 0;
    assert_true(sim_trial_run(&t, NULL, &report));
    assert_int_equal(report.done, 4);
    assert_int_equal(borrows, 4);
    return large_borrows;
}

static void test_long_vectors_on_one_node(void **state)
{
    assert_int_equal(wanted(4, 1), 4);
    assert_int_equal(wanted(8, 1), 4);
    assert_int_equal(wanted(2, 1), 0); /* some are elsewhere */
    assert_int_equal(wanted(4, (size_t)1 << 20), 0); /* short */
}

static int taken_large(size_t bytes, size_t keep, bool large)
{
    static struct sparse_state state;
    const struct sparse_parameters parameters = {.keep = keep};
    takes = large_takes = 0;
    state.large = false;
    void *memory = sparse_state_borrow(&state, &parameters, bytes, large);
    assert_non_null(memory);
    assert_int_equal(takes, 1);
    sparse_memory_give(memory); /* never returned: the next one is new, too */
    return large_takes;
}

static void test_memory_that_is_kept(void **state)
{
    assert_int_equal(taken_large(1000, 1000, true), 1);
    assert_int_equal(taken_large(1000, 1000, false), 0);
    assert_int_equal(taken_large(1001, 1000, true), 0);
    assert_int_equal(taken_large(1000, 0, true), 0);
}

/** Beside a call that has the kept memory, another one's goes when it ends. */
static void test_two_calls_at_once(void **unused)
{
    static struct sparse_state state;
    const struct sparse_parameters parameters = {.keep = 1 << 20};
    takes = large_takes = 0;
    void *first = sparse_state_borrow(&state, &parameters, 1000, true);
    sparse_state_return(&state, &parameters, first, 1000);
    assert_ptr_equal(sparse_state_borrow(&state, &parameters, 900, true), first);
    assert_int_equal(large_takes, 1);
    void *second = sparse_state_borrow(&state, &parameters, 900, true);
    assert_int_equal(takes, 2);
    assert_int_equal(large_takes, 1);
    sparse_state_return(&state, &parameters, second, 900);
    sparse_state_return(&state, &parameters, first, 900);
    assert_ptr_equal(sparse_state_borrow(&state, &parameters, 1000, true), first);
    sparse_state_return(&state, &parameters, first, 1000);
    sparse_memory_give(first);
}

static void *used(struct sparse_state *state, const struct sparse_parameters *parameters, size_t bytes, bool large)
{
    void *memory = sparse_state_borrow(state, parameters, bytes, large);
    assert_non_null(memory);
    memset(memory, 1, bytes);
    sparse_state_return(state, parameters, memory, bytes);
    return memory;
}

/** What a short vector has left makes way for a long one's, once; and what needs more after that does not bring small pages back. */
static void test_memory_of_a_short_vector(void **unused)
{
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) skip();
    static struct sparse_state state;
    struct sparse_parameters parameters = {.keep = 64 << 20};
    size_t bytes = 4 << 20;
    takes = large_takes = 0;
    (void)used(&state, &parameters, bytes, false);
    (void)used(&state, &parameters, bytes, false);
    assert_int_equal(takes, 1);
    (void)used(&state, &parameters, 1000, true); /* too little for a large page */
    assert_int_equal(takes, 1);
    void *large = used(&state, &parameters, bytes - 1000, true);
    assert_int_equal(takes, 2);
    assert_int_equal(large_takes, 1);
    assert_ptr_equal(used(&state, &parameters, bytes - 1000, true), large);
    assert_ptr_equal(used(&state, &parameters, 1000, false), large);
    assert_int_equal(takes, 2);
    (void)used(&state, &parameters, bytes, false);
    (void)used(&state, &parameters, bytes, true);
    assert_int_equal(takes, 3);
    assert_int_equal(large_takes, 2);
    parameters.keep = 0;
    (void)used(&state, &parameters, 2 * bytes, true);
    assert_int_equal(large_takes, 2); /* it does not stay */
    sparse_memory_give(state.scratch.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_vectors_on_one_node),
        cmocka_unit_test(test_memory_that_is_kept),
        cmocka_unit_test(test_two_calls_at_once),
        cmocka_unit_test(test_memory_of_a_short_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
