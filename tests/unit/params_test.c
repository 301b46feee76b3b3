/* SPDX-License-Identifier: BSD-3-Clause
 * params_test.c: sizes, values of every type, and the parameters of a process read from its environment.
 */
#include <limits.h>

#include "params.h"
#include "unit.h"

extern char **environ;

static void assert_size(const char *text, uint64_t expected)
{
    size_t value = 4711;
    if (lucid_parse_size(text, &value) != 0) fail_msg("\"%s\" is a size", text);
    assert_int_equal(value, expected);
}

static void test_sizes(void **state)
{
    assert_size("0", 0);
    assert_size("007", 7);
    assert_size("1K", 1024);
    assert_size("1k", 1024);
    assert_size("3M", UINT64_C(3) << 20);
    assert_size("3m", UINT64_C(3) << 20);
    assert_size("8G", UINT64_C(8) << 30);
    assert_size("8g", UINT64_C(8) << 30);
    assert_size("2T", UINT64_C(2) << 40);
    assert_size("2t", UINT64_C(2) << 40);
    assert_size("18446744073709551615", UINT64_MAX);
    assert_size("18014398509481983K", UINT64_MAX - 1023);
    assert_size("16777215T", UINT64_C(16777215) << 40);
    assert_size("0T", 0);
}

static void test_no_sizes(void **state)
{
    static const char *const texts[] = {
        "", " ", "K", " 1", "1 ", "+1", "-1", "-0", "0x10", "1.5", "1e3", "1KB", "1KK", "1P", "1[", "1{", "1\n", "ten", "\xff", "1\xff",
        "18446744073709551616", "18014398509481984K", "17592186044416M", "17179869184G", "16777216T",
        "999999999999999999999999999999",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        size_t value = 4711;
        if (lucid_parse_size(texts[i], &value) == 0) fail_msg("\"%s\" is no size", texts[i]);
        assert_int_equal(value, 4711);
    }
}

/* One variable at a time. */

static const char *one_name, *one_text;
static int bad_calls;

static const char *get_one(const char *name)
{
    return one_name && strcmp(name, one_name) == 0 ? one_text : NULL;
}

static void bad_one(const char *name, const char *text, const char *range, const char *def)
{
    bad_calls++;
    assert_string_equal(name, one_name);
    assert_string_equal(text, one_text);
    assert_non_null(range);
    assert_non_null(def);
}

static struct lucid_params read_one(const char *name, const char *text, bool good)
{
    struct lucid_params params;
    one_name = name;
    one_text = text;
    bad_calls = 0;
    memset(&params, 0x55, sizeof params); /* every field is set */
    lucid_params_read(&params, get_one, bad_one);
    if (bad_calls != !good) fail_msg("%s=%s is %s", name, text, good ? "good" : "bad");
    return params;
}

static void assert_defaults(const struct lucid_params *params)
{
    assert_string_equal(params->source, "auto");
    assert_string_equal(params->log, "error");
    assert_int_equal(params->max_sessions, 1024);
    assert_int_equal(params->dense_limit, UINT64_C(8) << 30);
    assert_string_equal(params->libdir, "");
    assert_string_equal(params->dir, "");
    assert_int_equal(params->phases, 0);
}

static void test_defaults(void **state)
{
    struct lucid_params params = read_one(NULL, NULL, true);
    assert_defaults(&params);
    static const char *const names[] = {"LUCID_SOURCE", "LUCID_LOG",    "LUCID_MAX_SESSIONS", "LUCID_DENSE_LIMIT",
                                        "LUCID_LIBDIR", "LUCID_DIR", "LUCID_PHASES"};
    for (size_t i = 0; i < COUNT_OF(names); i++) { /* set, but to nothing */
        params = read_one(names[i], "", true);
        assert_defaults(&params);
    }
}

static void test_values(void **state)
{
    assert_string_equal(read_one("LUCID_SOURCE", "pmpi", true).source, "pmpi");
    assert_string_equal(read_one("LUCID_SOURCE", "pml", true).source, "pml");
    assert_string_equal(read_one("LUCID_LOG", "debug", true).log, "debug");
    assert_int_equal(read_one("LUCID_MAX_SESSIONS", "1", true).max_sessions, 1);
    assert_int_equal(read_one("LUCID_MAX_SESSIONS", "1000000", true).max_sessions, 1000000);
    assert_int_equal(read_one("LUCID_MAX_SESSIONS", "2k", true).max_sessions, 2048);
    assert_int_equal(read_one("LUCID_DENSE_LIMIT", "0", true).dense_limit, 0);
    assert_int_equal(read_one("LUCID_DENSE_LIMIT", "1T", true).dense_limit, UINT64_C(1) << 40);
    assert_string_equal(read_one("LUCID_LIBDIR", "/a|b c", true).libdir, "/a|b c");
    assert_string_equal(read_one("LUCID_DIR", "relative", true).dir, "relative");
    assert_int_equal(read_one("LUCID_PHASES", "1", true).phases, 1);
    assert_int_equal(read_one("LUCID_PHASES", "0", true).phases, 0);
}

static void test_bad_values(void **state)
{
    static const char *const bad[][2] = {
        {"LUCID_SOURCE", "pm"}, {"LUCID_SOURCE", "PML"}, {"LUCID_SOURCE", "pmlx"}, {"LUCID_SOURCE", "|"},
        {"LUCID_SOURCE", "auto|pml"}, {"LUCID_SOURCE", "auto|"}, {"LUCID_SOURCE", " pml"}, {"LUCID_LOG", "verbose"},
        {"LUCID_MAX_SESSIONS", "0"}, {"LUCID_MAX_SESSIONS", "1000001"}, {"LUCID_MAX_SESSIONS", "-1"},
        {"LUCID_MAX_SESSIONS", "many"}, {"LUCID_MAX_SESSIONS", "18446744073709551615"}, {"LUCID_MAX_SESSIONS", "4294967297"},
        {"LUCID_DENSE_LIMIT", "8 G"}, {"LUCID_DENSE_LIMIT", "17179869184G"}, {"LUCID_DENSE_LIMIT", "-1"},
        {"LUCID_PHASES", "yes"}, {"LUCID_PHASES", "2"}, {"LUCID_PHASES", "0|1"}, {"LUCID_PHASES", "01"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct lucid_params params = read_one(bad[i][0], bad[i][1], false);
        assert_defaults(&params);
    }
}

/* The environment of a process. */

static int with_environment(void *argument)
{
    static char source[] = "LUCID_SOURCE=pmpi";
    setenv("LUCID_LOG", "loud", 1);
    setenv("LUCID_MAX_SESSIONS", "7", 1);
    setenv("LUCID_DENSE_LIMIT", "lots", 1);
    setenv("LUCID_DIR", "/a/b", 1);
    putenv(source);
    const struct lucid_params *params = lucid_params();
    CHILD_CHECK(strcmp(params->source, "pmpi") == 0 && strcmp(params->log, "error") == 0 && strcmp(params->dir, "/a/b") == 0);
    CHILD_CHECK(params->max_sessions == 7 && params->dense_limit == (size_t)8 << 30);
    /* Read once: what happens to the environment later is without effect, and so are calls. */
    memset(source + 13, 'x', 4);
    setenv("LUCID_MAX_SESSIONS", "9", 1);
    setenv("LUCID_LOG", "louder", 1);
    CHILD_CHECK(lucid_params() == params && params->max_sessions == 7);
    CHILD_CHECK(strcmp(params->source, "pmpi") == 0);
    return 0;
}

static void test_environment(void **state)
{
    struct caught caught;
    unit_catch(&caught, with_environment, NULL);
    assert_string_equal(caught.err, "lucid: error: LUCID_LOG=loud is not valid (error|warn|info|debug): using error\n"
                                    "lucid: error: LUCID_DENSE_LIMIT=lots is not valid (bytes): using 8G\n");
    assert_string_equal(caught.out, "");
    assert_int_equal(caught.status, 0);
}

/** The table's text has a line for each parameter, and its defaults are valid. */
static void test_describe(void **state)
{
    const char *text = lucid_params_describe();
    int lines = 0, tabs = 0;
    for (const char *c = text; *c; c++) {
        tabs += *c == '\t';
        lines += *c == '\n';
    }
    assert_true(lines >= 7);
    assert_int_equal(tabs, lines * 5);
    assert_non_null(strstr(text, "LUCID_DENSE_LIMIT\tsize\t8G\tbytes\t2\t"));
    assert_int_equal(strncmp(text, "LUCID_", 6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_no_sizes),    cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_values),     cmocka_unit_test(test_bad_values), cmocka_unit_test(test_environment),
        cmocka_unit_test(test_describe),
    };
    for (char **variable = environ; *variable;) /* the caller's settings are not the test's */
        if (strncmp(*variable, "LUCID_", 6) == 0) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*variable, "="), *variable);
            unsetenv(name);
        } else {
            variable++;
        }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
