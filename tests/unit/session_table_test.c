/* SPDX-License-Identifier: BSD-3-Clause
 * session_table_test.c: every function in every state and its code; names, limits, hidden sessions; what failed can be
 * repeated. Sequences are session_model_test.c's.
 */
#include "allocations.h"
#include "session_table.h"
#include "unit.h"

#define ALL LUCID_TABLE_ALL
#define LIMIT 3

static struct {
    uint64_t sent;      /* messages to peer 1, 10 bytes each */
    double clock;
    int activations, deactivations, releases;
    void *released;
    bool fail_read, fail_activate;
} fake;

static int fake_read(struct lucid_cells *cells, struct lucid_cells *sizes)
{
    if (fake.fail_read) return -1;
    if (lucid_cells_append(cells, (struct lucid_cell){1, 0, fake.sent, fake.sent * 10}) != 0) return -1;
    return lucid_cells_append(sizes, (struct lucid_cell){4, 0, fake.sent, 0});
}

static int fake_activate(void)
{
    if (fake.fail_activate) return -1;
    fake.activations++;
    return 0;
}

static void fake_deactivate(void)
{
    fake.deactivations++;
}

static double fake_seconds(void)
{
    return fake.clock;
}

static void fake_release(void *attachment)
{
    fake.releases++;
    fake.released = attachment;
}

static const struct lucid_table_ops ops = {fake_read, fake_activate, fake_deactivate, fake_seconds, fake_release};

static int setup(void **state)
{
    memset(&fake, 0, sizeof fake);
    lucid_table_setup(&ops);
    return 0;
}

/** Frees the visible sessions; a test frees its hidden ones. */
static int teardown(void **state)
{
    (void)lucid_table_suspend(ALL);
    return lucid_table_clear();
}

static int start(const char *name)
{
    int id = 0;
    assert_int_equal(lucid_table_start(name, false, LIMIT, NULL, &id), LUCID_SUCCESS);
    assert_true(id > 0);
    return id;
}

static int start_hidden(void)
{
    int id = 0;
    assert_int_equal(lucid_table_start(NULL, true, 0, NULL, &id), LUCID_SUCCESS);
    return id;
}

static void send(uint64_t n)
{
    fake.sent += n;
    fake.clock += (double)n;
}

static void assert_data(int id, uint64_t messages, double seconds)
{
    struct lucid_session_data data;
    assert_int_equal(lucid_table_copy(id, &data), LUCID_SUCCESS);
    assert_int_equal(data.cells.n, messages > 0);
    assert_int_equal(data.sizes.n, messages > 0);
    if (messages) {
        assert_int_equal(data.cells.cell[0].peer, 1);
        assert_int_equal(data.cells.cell[0].count, messages);
        assert_int_equal(data.cells.cell[0].bytes, messages * 10);
        assert_int_equal(data.sizes.cell[0].count, messages);
    }
    assert_true(data.seconds == seconds);
    lucid_session_data_clear(&data);
}

/* The table of codes: what each function says to a session in each state. */

enum { NEVER, ACTIVE, SUSPENDED, FREED, STATES };

static int call_attachment(int id)
{
    void *attachment;
    return lucid_table_attachment(id, false, &attachment);
}

static int call_attachment_suspended(int id)
{
    void *attachment;
    return lucid_table_attachment(id, true, &attachment);
}

static int call_copy(int id)
{
    struct lucid_session_data data;
    int rc = lucid_table_copy(id, &data);
    if (rc == LUCID_SUCCESS) lucid_session_data_clear(&data);
    return rc;
}

static const struct {
    const char *name;
    int (*call)(int id);
    int code[STATES], after[STATES]; /* after: the state that the session is in then */
} functions[] = {
    {"suspend", lucid_table_suspend,
     {LUCID_ERR_SESSION, LUCID_SUCCESS, LUCID_ERR_MULTIPLE_CALL, LUCID_ERR_SESSION}, {NEVER, SUSPENDED, SUSPENDED, FREED}},
    {"continue", lucid_table_continue,
     {LUCID_ERR_SESSION, LUCID_ERR_MULTIPLE_CALL, LUCID_SUCCESS, LUCID_ERR_SESSION}, {NEVER, ACTIVE, ACTIVE, FREED}},
    {"reset", lucid_table_reset,
     {LUCID_ERR_SESSION, LUCID_ERR_NOT_SUSPENDED, LUCID_SUCCESS, LUCID_ERR_SESSION}, {NEVER, ACTIVE, SUSPENDED, FREED}},
    {"free", lucid_table_free,
     {LUCID_ERR_SESSION, LUCID_ERR_NOT_SUSPENDED, LUCID_SUCCESS, LUCID_ERR_SESSION}, {NEVER, ACTIVE, FREED, FREED}},
    {"attachment", call_attachment,
     {LUCID_ERR_SESSION, LUCID_SUCCESS, LUCID_SUCCESS, LUCID_ERR_SESSION}, {NEVER, ACTIVE, SUSPENDED, FREED}},
    {"attachment, suspended", call_attachment_suspended,
     {LUCID_ERR_SESSION, LUCID_ERR_NOT_SUSPENDED, LUCID_SUCCESS, LUCID_ERR_SESSION}, {NEVER, ACTIVE, SUSPENDED, FREED}},
    {"copy", call_copy,
     {LUCID_ERR_SESSION, LUCID_ERR_NOT_SUSPENDED, LUCID_SUCCESS, LUCID_ERR_SESSION}, {NEVER, ACTIVE, SUSPENDED, FREED}},
};

static int bring_to(int state)
{
    int id = start(NULL);
    if (state == NEVER) assert_int_equal(lucid_table_suspend(id) + lucid_table_free(id), 0);
    if (state == NEVER) return id + 1000000;
    if (state != ACTIVE) assert_int_equal(lucid_table_suspend(id), LUCID_SUCCESS);
    if (state == FREED) assert_int_equal(lucid_table_free(id), LUCID_SUCCESS);
    return id;
}

static int state_of(int id)
{
    int rc = call_attachment_suspended(id);
    return rc == LUCID_SUCCESS ? SUSPENDED : rc == LUCID_ERR_NOT_SUSPENDED ? ACTIVE : FREED;
}

static void test_codes(void **state)
{
    int checked = 0;
    for (size_t f = 0; f < COUNT_OF(functions); f++)
        for (int from = 0; from < STATES; from++, checked++) {
            int id = bring_to(from), rc = functions[f].call(id);
            if (rc != functions[f].code[from])
                fail_msg("%s in state %d: %d, not %d", functions[f].name, from, rc, functions[f].code[from]);
            int after = functions[f].after[from] == NEVER ? FREED : functions[f].after[from];
            if (state_of(id) != after) fail_msg("%s in state %d leads to %d", functions[f].name, from, state_of(id));
            (void)lucid_table_suspend(id);
            (void)lucid_table_free(id);
        }
    assert_int_equal(checked, 28);
    assert_int_equal(fake.activations, fake.deactivations);
}

/** LUCID_TABLE_ALL: none living, all active, some, none active. */
static void test_all(void **state)
{
    assert_int_equal(lucid_table_suspend(ALL), LUCID_ERR_SESSION);
    assert_int_equal(lucid_table_continue(ALL), LUCID_ERR_SESSION);
    assert_int_equal(lucid_table_reset(ALL), LUCID_ERR_SESSION);
    assert_int_equal(lucid_table_free(ALL), LUCID_ERR_SESSION);
    assert_int_equal(lucid_table_clear(), LUCID_SUCCESS);
    int a = start(NULL), b = start(NULL);
    assert_int_equal(lucid_table_continue(ALL), LUCID_ERR_MULTIPLE_CALL);
    assert_int_equal(lucid_table_reset(ALL), LUCID_ERR_STILL_ACTIVE);
    assert_int_equal(lucid_table_free(ALL), LUCID_ERR_STILL_ACTIVE);
    assert_int_equal(lucid_table_clear(), LUCID_ERR_STILL_ACTIVE);
    assert_int_equal(lucid_table_suspend(a), LUCID_SUCCESS);
    assert_int_equal(lucid_table_free(ALL), LUCID_ERR_STILL_ACTIVE);
    assert_int_equal(state_of(a), SUSPENDED);
    send(1);
    assert_int_equal(lucid_table_continue(ALL), LUCID_SUCCESS); /* a only */
    send(1);
    assert_int_equal(lucid_table_suspend(ALL), LUCID_SUCCESS);
    assert_data(a, 1, 1);
    assert_data(b, 2, 2);
    assert_int_equal(lucid_table_suspend(ALL), LUCID_ERR_MULTIPLE_CALL);
    assert_int_equal(lucid_table_reset(ALL), LUCID_SUCCESS);
    assert_data(a, 0, 0);
    assert_data(b, 0, 0);
    assert_int_equal(lucid_table_free(ALL), LUCID_SUCCESS);
    assert_int_equal(state_of(a), FREED);
    assert_int_equal(state_of(b), FREED);
}

/** a ⊃ b, and c overlaps both. */
static void test_overlap(void **state)
{
    send(100);
    int a = start(NULL);
    send(1);
    int b = start(NULL);
    send(2);
    int c = start(NULL);
    send(4);
    assert_int_equal(lucid_table_suspend(b), LUCID_SUCCESS);
    send(8);
    assert_int_equal(lucid_table_suspend(a), LUCID_SUCCESS);
    send(16);
    assert_int_equal(fake.deactivations, 0);
    assert_int_equal(lucid_table_suspend(c), LUCID_SUCCESS);
    assert_int_equal(fake.deactivations, 1);
    assert_int_equal(fake.activations, 1);
    assert_data(a, 15, 15);
    assert_data(b, 6, 6);
    assert_data(c, 28, 28);
    send(32);
    assert_int_equal(lucid_table_continue(b), LUCID_SUCCESS);
    send(64);
    assert_int_equal(lucid_table_suspend(b), LUCID_SUCCESS);
    assert_data(b, 70, 70);
    assert_data(a, 15, 15);
}

static void test_names(void **state)
{
    char name[LUCID_NAME_LENGTH + 2];
    int id = -7, found = -7;
    memset(name, 'n', sizeof name - 1);
    name[LUCID_NAME_LENGTH + 1] = '\0';
    assert_int_equal(lucid_table_start(name, false, LIMIT, NULL, &id), LUCID_ERR_ARG);
    assert_int_equal(lucid_table_start("", false, LIMIT, NULL, &id), LUCID_ERR_ARG);
    assert_int_equal(id, -7);
    name[LUCID_NAME_LENGTH] = '\0';
    int longest = start(name), nameless = start(NULL);
    assert_int_equal(lucid_table_start(name, false, LIMIT, NULL, &id), LUCID_ERR_ARG);
    assert_int_equal(lucid_table_start(name, true, LIMIT, NULL, &id), LUCID_ERR_ARG);
    assert_int_equal(lucid_table_find(name, &found), LUCID_SUCCESS);
    assert_int_equal(found, longest);
    assert_int_equal(lucid_table_find("other", &found), LUCID_ERR_NOT_FOUND);
    assert_int_equal(lucid_table_find("", &found), LUCID_ERR_NOT_FOUND);
    assert_int_equal(found, longest);
    assert_int_equal(lucid_table_suspend(longest), LUCID_SUCCESS);
    assert_int_equal(lucid_table_free(longest), LUCID_SUCCESS);
    assert_int_equal(lucid_table_find(name, &found), LUCID_ERR_NOT_FOUND);
    int again = start(name); /* the name is free again, the identifier never is */
    assert_true(again > nameless && nameless > longest);
}

static void test_limit(void **state)
{
    int id = -7, ids[LIMIT], *listed;
    for (int i = 0; i < LIMIT; i++) ids[i] = start(NULL);
    assert_int_equal(lucid_table_start(NULL, false, LIMIT, NULL, &id), LUCID_ERR_OVERFLOW);
    assert_int_equal(id, -7);
    int hidden = start_hidden(); /* does not count, and is not counted */
    assert_int_equal(lucid_table_list(&listed), LIMIT);
    assert_memory_equal(listed, ids, sizeof ids);
    free(listed);
    assert_int_equal(lucid_table_suspend(ids[1]), LUCID_SUCCESS);
    assert_int_equal(lucid_table_start(NULL, false, LIMIT, NULL, &id), LUCID_ERR_OVERFLOW);
    assert_int_equal(lucid_table_free(ids[1]), LUCID_SUCCESS);
    start(NULL);
    assert_int_equal(lucid_table_suspend(hidden), LUCID_SUCCESS);
    assert_int_equal(lucid_table_free(hidden), LUCID_SUCCESS);
}

/** The whole-run recording goes on, whatever the program does to its own sessions. */
static void test_hidden(void **state)
{
    int id, hidden = start_hidden();
    assert_int_equal(lucid_table_suspend(ALL), LUCID_ERR_SESSION);
    assert_int_equal(lucid_table_reset(ALL), LUCID_ERR_SESSION);
    assert_int_equal(lucid_table_free(ALL), LUCID_ERR_SESSION);
    assert_int_equal(lucid_table_clear(), LUCID_SUCCESS);
    int mine = start(NULL);
    send(3);
    assert_int_equal(lucid_table_suspend(ALL), LUCID_SUCCESS);
    assert_int_equal(fake.deactivations, 0);
    send(4);
    assert_int_equal(lucid_table_reset(ALL), LUCID_SUCCESS); /* a hidden active one is no obstacle */
    assert_int_equal(lucid_table_free(ALL), LUCID_SUCCESS);
    assert_int_equal(state_of(mine), FREED);
    assert_int_equal(state_of(hidden), ACTIVE);
    assert_int_equal(lucid_table_suspend(hidden), LUCID_SUCCESS);
    assert_data(hidden, 7, 7);
    assert_int_equal(lucid_table_continue(ALL), LUCID_ERR_SESSION);
    assert_data(hidden, 7, 7);
    assert_int_equal(lucid_table_free(hidden), LUCID_SUCCESS);
    assert_int_equal(lucid_table_start("run", true, 0, NULL, &hidden), LUCID_SUCCESS);
    assert_int_equal(lucid_table_find("run", &id), LUCID_ERR_NOT_FOUND);
    assert_int_equal(lucid_table_suspend(hidden) + lucid_table_free(hidden), LUCID_SUCCESS);
}

static void test_attachments(void **state)
{
    int id, thing;
    void *attachment = NULL;
    fake.fail_read = true;
    assert_int_equal(lucid_table_start(NULL, false, LIMIT, &thing, &id), LUCID_ERR_INTERNAL);
    assert_int_equal(fake.releases, 0); /* still the caller's */
    fake.fail_read = false;
    assert_int_equal(lucid_table_start(NULL, false, LIMIT, &thing, &id), LUCID_SUCCESS);
    assert_int_equal(lucid_table_attachment(id, false, &attachment), LUCID_SUCCESS);
    assert_ptr_equal(attachment, &thing);
    assert_int_equal(lucid_table_suspend(id), LUCID_SUCCESS);
    assert_int_equal(lucid_table_free(id), LUCID_SUCCESS);
    assert_int_equal(fake.releases, 1);
    assert_ptr_equal(fake.released, &thing);
    start(NULL);
    assert_int_equal(lucid_table_suspend(ALL) + lucid_table_free(ALL), LUCID_SUCCESS);
    assert_int_equal(fake.releases, 1); /* nothing was attached */
}

/** The first session brings the source up, the last one down; what fails meanwhile leaves it as it was. */
static void test_failures(void **state)
{
    int id = -7;
    fake.fail_activate = true;
    assert_int_equal(lucid_table_start(NULL, false, LIMIT, NULL, &id), LUCID_ERR_INTERNAL);
    fake.fail_activate = false;
    fake.fail_read = true;
    assert_int_equal(lucid_table_start(NULL, false, LIMIT, NULL, &id), LUCID_ERR_INTERNAL);
    assert_int_equal(id, -7);
    assert_int_equal(fake.activations, 1);
    assert_int_equal(fake.deactivations, 1);
    assert_int_equal(lucid_table_suspend(ALL), LUCID_ERR_SESSION); /* no session is left of it */
    fake.fail_read = false;
    id = start(NULL);
    send(5);
    fake.fail_read = true;
    assert_int_equal(lucid_table_suspend(id), LUCID_ERR_INTERNAL);
    assert_int_equal(state_of(id), ACTIVE);
    assert_int_equal(fake.deactivations, 1);
    fake.fail_read = false;
    send(1);
    assert_int_equal(lucid_table_suspend(id), LUCID_SUCCESS);
    assert_data(id, 6, 6);
    fake.fail_activate = true;
    assert_int_equal(lucid_table_continue(id), LUCID_ERR_INTERNAL);
    assert_int_equal(state_of(id), SUSPENDED);
    fake.fail_activate = false;
    assert_data(id, 6, 6);
}

/** Memory runs out at every place in turn: the call fails, nothing has changed, and it succeeds when repeated. */
static void test_without_memory(void **state)
{
    int failures = 0;
    for (long n = 0; n < 12; n++) {
        int id = start(NULL), rc;
        struct lucid_session_data data;
        send(1);
        assert_int_equal(lucid_table_suspend(id) + lucid_table_continue(id), LUCID_SUCCESS);
        send(2);
        allocations_fail_after(n);
        rc = lucid_table_suspend(id);
        allocations_fail_never();
        if (rc != LUCID_SUCCESS) {
            failures++;
            assert_int_equal(rc, LUCID_ERR_INTERNAL);
            assert_int_equal(lucid_table_suspend(id), LUCID_SUCCESS);
        }
        assert_data(id, 3, 3);
        allocations_fail_after(n);
        rc = lucid_table_copy(id, &data);
        allocations_fail_never();
        assert_true(rc == LUCID_SUCCESS || rc == LUCID_ERR_INTERNAL);
        failures += rc != LUCID_SUCCESS;
        if (rc == LUCID_SUCCESS) lucid_session_data_clear(&data);
        assert_data(id, 3, 3);
        assert_int_equal(lucid_table_free(id), LUCID_SUCCESS);
    }
    assert_true(failures >= 6); /* two reads, two sums; two copies */
    for (long n = 0; n < 4; n++) {
        int id = -7;
        allocations_fail_after(n);
        int rc = lucid_table_start(NULL, false, LIMIT, NULL, &id);
        allocations_fail_never();
        assert_int_equal(rc == LUCID_SUCCESS, id > 0);
        if (id > 0) assert_int_equal(lucid_table_suspend(id) + lucid_table_free(id), LUCID_SUCCESS);
    }
    assert_int_equal(fake.activations, fake.deactivations);
}

/** Sessions that are gone leave the array of pointers, and nothing else. */
static void test_memory(void **state)
{
    long before = allocations_live();
    size_t idle = lucid_table_memory();
    int id = start(NULL);
    send(3);
    assert_int_equal(lucid_table_suspend(id) + lucid_table_continue(id), LUCID_SUCCESS);
    long grown = allocations_live() - before;
    size_t said = lucid_table_memory() - idle;
    assert_true(said > 0 && (long)said <= grown && grown <= (long)said + 200);
    assert_int_equal(lucid_table_suspend(id) + lucid_table_free(id), LUCID_SUCCESS);
    assert_int_equal(allocations_live(), before);
    assert_int_equal(lucid_table_memory(), idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_codes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overlap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hidden, setup, teardown),
        cmocka_unit_test_setup_teardown(test_attachments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
