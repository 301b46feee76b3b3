/* SPDX-License-Identifier: BSD-3-Clause
 * log_test.c: one line, in one write, on standard error alone, where the level allows it.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>

#include "log.h"
#include "unit.h"

static int say_all(void *level)
{
    if (level) setenv("LUCID_LOG", level, 1);
    else unsetenv("LUCID_LOG");
    lucid_error("e%d", 1);
    lucid_warn("w%s", "2");
    lucid_info("i");
    lucid_debug("d");
    return 0;
}

static void assert_said(char *level, const char *expected)
{
    struct caught caught;
    unit_catch(&caught, say_all, level);
    assert_string_equal(caught.err, expected);
    assert_string_equal(caught.out, "");
    assert_int_equal(caught.status, 0);
}

static void test_levels(void **state)
{
    assert_said(NULL, "lucid: error: e1\n");
    assert_said("error", "lucid: error: e1\n");
    assert_said("warn", "lucid: error: e1\nlucid: warn: w2\n");
    assert_said("info", "lucid: error: e1\nlucid: warn: w2\nlucid: info: i\n");
    assert_said("debug", "lucid: error: e1\nlucid: warn: w2\nlucid: info: i\nlucid: debug: d\n");
    assert_said("", "lucid: error: e1\n");
}

static int say_rank(void *argument)
{
    unsetenv("LUCID_LOG");
    lucid_error("before");
    lucid_log_set_rank(0);
    lucid_error("first");
    lucid_log_set_rank(65535);
    errno = ENOSPC;
    lucid_error("last");
    CHILD_CHECK(errno == ENOSPC);
    return 0;
}

static void test_rank(void **state)
{
    struct caught caught;
    unit_catch(&caught, say_rank, NULL);
    assert_string_equal(caught.err, "lucid: error: before\nlucid: rank 0: error: first\nlucid: rank 65535: error: last\n");
    assert_int_equal(caught.status, 0);
}

static int say_much(void *argument)
{
    size_t length = *(size_t *)argument;
    char *text = malloc(length + 1);
    memset(text, 'x', length);
    text[length] = '\0';
    unsetenv("LUCID_LOG");
    lucid_error("%s", text);
    free(text);
    return 0;
}

/** A text that is too long is cut, the line ends all the same. */
static void test_long_text(void **state)
{
    static const char prefix[] = "lucid: error: ";
    const size_t lengths[] = {1000, 1007, 1008, 1009, 1010, 1023, 1024, 5000};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        struct caught caught;
        size_t length = lengths[i], all = length + sizeof prefix;
        unit_catch(&caught, say_much, &length);
        assert_int_equal(strlen(caught.err), all < 1023 ? all : 1023);
        assert_int_equal(strncmp(caught.err, prefix, sizeof prefix - 1), 0);
        assert_int_equal(strspn(caught.err + sizeof prefix - 1, "x"), strlen(caught.err) - sizeof prefix);
        assert_ptr_equal(strchr(caught.err, '\n'), caught.err + strlen(caught.err) - 1);
    }
}

static int say_lines(void *argument)
{
    unsetenv("LUCID_LOG");
    lucid_error("cannot write %s: no", "a\nb\n.json");
    return 0;
}

static void test_one_line(void **state)
{
    struct caught caught;
    unit_catch(&caught, say_lines, NULL);
    assert_string_equal(caught.err, "lucid: error: cannot write a b .json: no\n");
}

#define THREADS 4
#define LINES 50

static void *say_in_thread(void *argument)
{
    for (int i = 0; i < LINES; i++) lucid_error("%0500d", i);
    return NULL;
}

/** Every write to such a socket is a packet of its own. */
static int count_writes(void *argument)
{
    int ends[2], received = 0, size = 1 << 20;
    pthread_t threads[THREADS];
    char line[2048];
    unsetenv("LUCID_LOG");
    CHILD_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    (void)setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    int old = dup(STDERR_FILENO);
    (void)dup2(ends[0], STDERR_FILENO);
    (void)close(ends[0]);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, say_in_thread, NULL) != 0) return 2;
    for (ssize_t n; received < THREADS * LINES && (n = recv(ends[1], line, sizeof line, 0)) > 0; received++)
        if (n != 14 + 500 + 1 || line[n - 1] != '\n' || memchr(line, '\n', (size_t)n - 1) || strncmp(line, "lucid: error: 0", 15))
            return 3;
    for (int i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
    (void)dup2(old, STDERR_FILENO);
    CHILD_CHECK(received == THREADS * LINES);
    CHILD_CHECK(recv(ends[1], line, sizeof line, MSG_DONTWAIT) <= 0);
    return 0;
}

static void test_one_write(void **state)
{
    struct caught caught;
    unit_catch(&caught, count_writes, NULL);
    unit_assert_silent(&caught);
}

/** Without a standard error, nothing happens. */
static int say_nowhere(void *argument)
{
    unsetenv("LUCID_LOG");
    (void)close(STDERR_FILENO);
    lucid_error("lost");
    return 0;
}

static void test_nowhere(void **state)
{
    struct caught caught;
    unit_catch(&caught, say_nowhere, NULL);
    unit_assert_silent(&caught);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),   cmocka_unit_test(test_rank),      cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_one_line), cmocka_unit_test(test_one_write), cmocka_unit_test(test_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
