/* SPDX-License-Identifier: BSD-3-Clause
 * hier_schedule_test.c: every operation of coll/hier, computed by all ranks of random layouts in one process, against the
 * definition; and how many messages it takes.
 */
#include "unit.h"

#include "hier_simulator.h"

enum { SIZES = 24 };

typedef struct world {
    hier_world_t world;
    hier_plan_t plan[64];
    uint64_t *input[64], *output[64];
    int root;
    size_t count;
} test_world_t;

static uint64_t value(int rank, size_t i)
{
    return (uint64_t)rank * UINT64_C(1000003) + i * UINT64_C(7919) + 1;
}

static uint64_t *numbers(int rank, size_t first, size_t count)
{
    uint64_t *data = malloc((count + 1) * sizeof *data);
    for (size_t i = 0; i < count; i++) data[i] = value(rank, first + i);
    return data;
}

static void begin(test_world_t *t, const int *node, int size, hier_plan_t plan, uint64_t *random)
{
    *t = (test_world_t){.world = {.size = size, .window = 1 + (int)(unit_random(random) % 9), .random = random}};
    t->root = plan.root;
    t->count = plan.count;
    t->world.plan = t->plan;
    t->world.input = t->input;
    t->world.output = t->output;
    for (int a = 0; a < HIER_AREAS; a++) t->world.unit[a] = 1;
    for (int r = 0; r < size; r++) {
        t->plan[r] = plan;
        t->plan[r].layout = hier_layout_create(node, size, r);
        assert_non_null(t->plan[r].layout);
    }
}

/* Sockets are known to all ranks of a node or to none. */
static void agree_on_sockets(test_world_t *t, bool sockets)
{
    for (int r = 0; r < t->world.size; r++) {
        hier_layout_t *layout = (hier_layout_t *)t->plan[r].layout;
        int socket[64], n = hier_node_size(layout, layout->node_of[r]);
        for (int i = 0; i < n; i++) socket[i] = i * 7 % 3;
        hier_layout_drop_sockets(layout);
        if (sockets) assert_true(hier_layout_set_sockets(layout, socket));
    }
}

static void end(test_world_t *t)
{
    for (int r = 0; r < t->world.size; r++) {
        hier_layout_destroy((hier_layout_t *)t->plan[r].layout);
        hier_plan_cleanup(&t->plan[r]);
        free(t->input[r]);
        free(t->output[r]);
    }
}

static void fill_reduction(test_world_t *t, hier_operation_t operation)
{
    for (int r = 0; r < t->world.size; r++) {
        bool in_place = t->plan[r].in_place &= operation == HIER_ALLREDUCE || r == t->root;
        bool source = operation == HIER_BCAST && r == t->root;
        t->input[r] = in_place || operation == HIER_BCAST ? NULL : numbers(r, 0, t->count);
        t->output[r] = in_place || source ? numbers(r, 0, t->count) : calloc(t->count + 1, sizeof(uint64_t));
    }
}

static void check_reduction(test_world_t *t, hier_operation_t operation)
{
    for (size_t i = 0; i < t->count; i++) {
        uint64_t sum = 0;
        for (int r = 0; r < t->world.size; r++) sum += value(r, i);
        for (int r = 0; r < t->world.size; r++) {
            if (operation == HIER_BCAST) assert_int_equal(t->output[r][i], value(t->root, i));
            if (operation == HIER_ALLREDUCE || (operation == HIER_REDUCE && r == t->root)) assert_int_equal(t->output[r][i], sum);
        }
    }
}

static void fill_blocks(test_world_t *t, hier_operation_t operation)
{
    size_t m = t->count, all = m * (size_t)t->world.size;
    for (int a = 0; a < HIER_AREAS; a++) t->world.unit[a] = m;
    for (int r = 0; r < t->world.size; r++) {
        hier_plan_t *plan = &t->plan[r];
        plan->in_place &= r == t->root && operation != HIER_ALLGATHER;
        size_t output = operation == HIER_SCATTER ? m : all;
        t->output[r] = calloc(output + 1, sizeof(uint64_t));
        if (operation == HIER_SCATTER) {
            t->input[r] = r == t->root ? numbers(0, 0, all) : NULL;
        } else if (operation == HIER_GATHER && !plan->in_place) {
            t->input[r] = numbers(0, m * (size_t)r, m);
        } else {
            for (size_t i = 0; i < m; i++) t->output[r][m * (size_t)r + i] = value(0, m * (size_t)r + i);
        }
    }
    if (operation == HIER_ALLGATHER && t->plan[0].direct)
        for (int a = 0; a < HIER_AREAS; a++) t->world.unit[a] = 1;
}

static void check_blocks(test_world_t *t, hier_operation_t operation)
{
    size_t m = t->count, all = m * (size_t)t->world.size;
    for (int r = 0; r < t->world.size; r++) {
        if (operation == HIER_SCATTER) {
            for (size_t i = 0; i < m && !t->plan[r].in_place; i++) assert_int_equal(t->output[r][i], value(0, m * (size_t)r + i));
        } else if (operation == HIER_ALLGATHER || r == t->root) {
            for (size_t i = 0; i < all; i++) assert_int_equal(t->output[r][i], value(0, i));
        }
    }
}

static bool has_blocks(hier_operation_t operation)
{
    return operation == HIER_ALLGATHER || operation == HIER_GATHER || operation == HIER_SCATTER;
}

static size_t compute(const int *node, int size, hier_plan_t plan, bool sockets, uint64_t *random)
{
    test_world_t t;
    begin(&t, node, size, plan, random);
    agree_on_sockets(&t, sockets);
    if (has_blocks(plan.operation))
        fill_blocks(&t, plan.operation);
    else
        fill_reduction(&t, plan.operation);
    for (int r = 0; r < size; r++) assert_true(hier_plan_prepare(&t.plan[r]));
    assert_true(hier_world_run(&t.world));
    if (has_blocks(plan.operation))
        check_blocks(&t, plan.operation);
    else
        check_reduction(&t, plan.operation);
    size_t messages = t.world.messages;
    end(&t);
    return messages;
}

static void random_nodes(int *node, int size, uint64_t *random)
{
    int nodes = 1 + (int)(unit_random(random) % (unsigned)size), kind = (int)(unit_random(random) % 3);
    int l = (size + nodes - 1) / nodes;
    for (int i = 0; i < size; i++) {
        int anywhere = (int)(unit_random(random) % (unsigned)nodes) * 3;
        node[i] = kind == 0 ? i / l : kind == 1 ? i % nodes : anywhere;
    }
}

static void test_random(void **state)
{
    uint64_t random = 20251121;
    for (int round = 0; round < 6000; round++) {
        int size = 1 + (int)(unit_random(&random) % SIZES), node[SIZES];
        random_nodes(node, size, &random);
        hier_plan_t plan = {.operation = (hier_operation_t)(unit_random(&random) % HIER_OPERATIONS)};
        plan.root = (int)(unit_random(&random) % (unsigned)size);
        plan.in_place = unit_random(&random) % 2;
        plan.count = 1 + unit_random(&random) % 50;
        plan.chunk = unit_random(&random) % 60;
        plan.up_radix = 1 + (int)(unit_random(&random) % 4);
        plan.radix = 1 + (int)(unit_random(&random) % 8);
        plan.exchange = (hier_exchange_t)(unit_random(&random) % HIER_EXCHANGES);
        plan.direct = unit_random(&random) % 2;
        compute(node, size, plan, unit_random(&random) % 2, &random);
    }
}

/* What the issue asks for: at most 40 messages for an allreduce on 4 x 4 ranks (HAN's second one takes 30, its first 774). */
static void test_messages(void **state)
{
    uint64_t random = 1;
    int node[16];
    static const size_t expected[HIER_OPERATIONS] = {30, 15, 15, 30, 32, 15, 15};
    for (int i = 0; i < 16; i++) node[i] = i / 4;
    for (int operation = 0; operation < HIER_OPERATIONS; operation++) {
        hier_plan_t plan = {.operation = (hier_operation_t)operation, .count = 1, .up_radix = 8, .radix = 8};
        assert_int_equal(compute(node, 16, plan, false, &random), expected[operation]);
    }
}

static size_t count_sends(int nodes, int l, hier_plan_t plan)
{
    int size = nodes * l, *node = malloc(sizeof *node * (size_t)size);
    size_t sends = 0;
    hier_schedule_t schedule = {0};
    for (int i = 0; i < size; i++) node[i] = i / l;
    for (int r = 0; r < size; r++) {
        hier_layout_t *layout = hier_layout_create(node, size, r);
        plan.layout = layout;
        assert_true(hier_plan_prepare(&plan));
        for (int chunk = 0; chunk < plan.chunks; chunk++) {
            hier_plan_build(&plan, chunk, &schedule);
            for (int i = 0; i < schedule.count; i++) sends += schedule.step[i].kind == HIER_SEND;
        }
        hier_plan_cleanup(&plan);
        hier_layout_destroy(layout);
    }
    hier_schedule_cleanup(&schedule);
    free(node);
    return sends;
}

/* The formulas that the documentation gives for scales that cannot be measured here. */
static void test_messages_at_scale(void **state)
{
    static const int shapes[][3] = {{4, 4, 2}, {8, 4, 3}, {16, 8, 4}, {64, 16, 6}, {128, 16, 7}}; /* nodes, ranks, log2 nodes */
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        size_t n = (size_t)shapes[i][0], l = (size_t)shapes[i][1], p = n * l, log = (size_t)shapes[i][2];
        hier_plan_t plan = {.operation = HIER_ALLREDUCE, .count = 1, .up_radix = 8, .radix = 8, .exchange = HIER_TREE};
        assert_int_equal(count_sends((int)n, (int)l, plan), 2 * (p - 1));
        plan.exchange = HIER_DOUBLING;
        assert_int_equal(count_sends((int)n, (int)l, plan), 2 * (p - n) + n * log);
        plan.exchange = HIER_RING;
        assert_int_equal(count_sends((int)n, (int)l, plan), 2 * (p - n) + 2 * n * (n - 1));
        plan.operation = HIER_BARRIER;
        assert_int_equal(count_sends((int)n, (int)l, plan), 2 * (p - 1));
        plan.operation = HIER_ALLGATHER;
        assert_int_equal(count_sends((int)n, (int)l, plan), 2 * (p - n) + n * log);
    }
}

static void test_one_rank_alone(void **state)
{
    uint64_t random = 1;
    int node[1] = {0};
    for (int operation = 0; operation < HIER_OPERATIONS; operation++) {
        hier_plan_t plan = {.operation = (hier_operation_t)operation, .count = 3, .chunk = 2, .up_radix = 2, .radix = 8};
        assert_int_equal(compute(node, 1, plan, true, &random), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_messages_at_scale),
        cmocka_unit_test(test_one_rank_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
