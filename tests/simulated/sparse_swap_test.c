/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_swap_test.c: what two ranks exchange. To another node a long message is sent before the receive of the other one is posted,
 * anything else behind it; both are there in any case, with the right slots, peers and lengths.
 */
#include "sparse_slice.h"
#include "sim_trial.h"
#include "unit.h"

enum { RANK = 5, SIZE = 16, PER_NODE = 4, NEAR = 6, FAR = 13, MOST = 1 << 17 };

/* What the transport has been asked for, in order: 's' and 'r'. */
struct log {
    char order[3];
    int calls, peer[2];
    size_t bytes[2];
};

static int note(struct log *log, char what, int peer, size_t bytes)
{
    if (log->calls < 2) {
        log->order[log->calls] = what;
        log->peer[log->calls] = peer;
        log->bytes[log->calls] = bytes;
    }
    log->calls++;
    return 0;
}

static int sends(void *context, const void *buffer, size_t bytes, int peer, int tag, union sparse_request *request)
{
    return note(context, 's', peer, bytes);
}

static int receives(void *context, void *buffer, size_t bytes, int peer, int tag, union sparse_request *request)
{
    return note(context, 'r', peer, bytes);
}

/* One part of so many dense bytes in one position, as sparse_plan.c would make it. */
static struct log swap(int peer, size_t dense, bool vectors, enum sparse_error error)
{
    static char memory[2][MOST + 1024];
    const struct sparse_operator operator = sim_operator(1);
    const size_t count = dense / operator.size;
    struct sparse_layout layout;
    struct log log = {.order = ""};
    const struct sparse_transport transport = {.rank = RANK, .size = SIZE, .context = &log, .isend = sends, .irecv = receives};
    struct sparse_record record = {.error = error};
    sparse_layout_init(&layout, &operator, count, 1);
    const size_t bytes = SPARSE_MARK + sparse_bound(&layout, 0, layout.blocks);
    struct sparse_run run = {.base = memory[0], .used = bytes, .at = (size_t[]){0}, .length = (size_t[]){bytes}};
    struct sparse_slice s = {.transport = &transport, .operator = &operator, .record = &record, .positions = 1, .first = (size_t[]){0, 1},
                             .from = (size_t[]){0}, .count = (size_t[]){count}, .layout = &layout};
    sparse_nodes_init(&s.nodes, RANK, SIZE, PER_NODE);
    if (vectors) sparse_swap_vectors(&s, 1, memory[0], bytes, memory[1], 1, peer);
    else sparse_swap(&s, 1, &run, sparse_all(&s), memory[1], sparse_all(&s), peer);
    assert_int_equal(log.calls, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(log.peer[i], peer);
        assert_int_equal(log.bytes[i], error && log.order[i] == 's' ? 0 : bytes);
    }
    assert_true(s.active == 3 && s.slot[0].receives && !s.slot[1].receives);
    return log;
}

static void test_long_to_another_node(void **state)
{
    for (int vectors = 0; vectors < 2; vectors++)
        for (size_t dense = SPARSE_SEND_FIRST; dense <= MOST; dense *= 2)
            assert_string_equal(swap(FAR, dense, vectors, SPARSE_NO_ERROR).order, "sr");
}

static void test_within_the_node(void **state)
{
    for (int vectors = 0; vectors < 2; vectors++)
        for (size_t dense = 64; dense <= MOST; dense *= 2)
            assert_string_equal(swap(NEAR, dense, vectors, SPARSE_NO_ERROR).order, "rs");
}

static void test_short(void **state)
{
    for (int vectors = 0; vectors < 2; vectors++)
        for (size_t dense = 64; dense < SPARSE_SEND_FIRST; dense *= 2)
            assert_string_equal(swap(FAR, dense, vectors, SPARSE_NO_ERROR).order, "rs");
}

/* After a failure an empty message goes out, which is short. */
static void test_failed(void **state)
{
    assert_string_equal(swap(FAR, MOST, false, SPARSE_CORRUPT).order, "rs");
}

/* Who takes the last slice says so to who sent it, on another node, and that one waits for it; nobody else does. */
static void test_confirmation(void **state)
{
    for (int final = 0; final < 2; final++)
        for (int far = 0; far < 2; far++) {
            struct log log = {.order = ""};
            const struct sparse_transport transport = {.rank = RANK, .size = SIZE, .context = &log, .isend = sends, .irecv = receives};
            struct sparse_record record = {.error = SPARSE_NO_ERROR};
            struct sparse_slice s = {.transport = &transport, .record = &record, .final = final};
            const int peer = far ? FAR : NEAR;
            sparse_nodes_init(&s.nodes, RANK, SIZE, PER_NODE);
            sparse_confirm(&s, 2, peer);
            sparse_await_confirmation(&s, 4, peer);
            assert_string_equal(log.order, final && far ? "sr" : "");
            assert_true(log.bytes[0] == 0 && log.bytes[1] <= 1);
            assert_int_equal(s.active >> 4 & 1, final && far);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_to_another_node),
        cmocka_unit_test(test_within_the_node),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_confirmation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
