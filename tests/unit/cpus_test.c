/* SPDX-License-Identifier: BSD-3-Clause
 * cpus_test.c: where processes are, on a node that hwloc makes up: 2 packages of 2 NUMA nodes of 3 cores of 2 threads.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>

#include "cpus.h"
#include "unit.h"

#define NODE "package:2 numa:2 core:3 pu:2"

static struct lucid_binding locate(const char *list)
{
    char lists[1][LUCID_CPUS_TEXT];
    struct lucid_binding binding = {7, 7, 7};
    struct lucid_cpus cpus;
    snprintf(lists[0], sizeof lists[0], "%s", list);
    assert_int_equal(lucid_cpus_describe(&cpus, 1, lists, &binding), 0);
    return binding;
}

static void assert_located(const char *list, int package, int numa, int core)
{
    struct lucid_binding b = locate(list);
    if (b.package != package || b.numa != numa || b.core != core)
        fail_msg("\"%s\" is in package %d, numa %d, core %d", list, b.package, b.numa, b.core);
}

static int synthetic(void **state)
{
    setenv("HWLOC_SYNTHETIC", NODE, 1);
    setenv("HWLOC_THISSYSTEM", "0", 1);
    unsetenv("HWLOC_XMLFILE");
    return 0;
}

static void test_node(void **state)
{
    struct lucid_cpus cpus;
    memset(&cpus, 0x55, sizeof cpus);
    assert_int_equal(lucid_cpus_describe(&cpus, 0, NULL, NULL), 0);
    assert_int_equal(cpus.packages, 2);
    assert_int_equal(cpus.numa, 4);
    assert_int_equal(cpus.cores, 12);
    assert_int_equal(cpus.pus, 24);
    assert_string_equal(cpus.model, ""); /* such a node has none */
}

static void test_bound(void **state)
{
    assert_located("0", 0, 0, 0);
    assert_located("0-1", 0, 0, 0); /* both threads of a core */
    assert_located("1", 0, 0, 0);
    assert_located("7", 0, 1, 3);
    assert_located("22-23", 1, 3, 11);
    assert_located("22,23", 1, 3, 11);
}

static void test_not_confined(void **state)
{
    assert_located("1-2", 0, 0, -1);
    assert_located("0-5", 0, 0, -1);
    assert_located("0,11", 0, -1, -1);
    assert_located("11,12", -1, -1, -1);
    assert_located("0-23", -1, -1, -1);
}

static void test_unknown(void **state)
{
    assert_located("", -1, -1, -1);
    assert_located("24", -1, -1, -1); /* not on this node */
    assert_located("0,24", -1, -1, -1);
    assert_located("nonsense", -1, -1, -1);
    assert_located("-1", -1, -1, -1);
    assert_located("3-", -1, -1, -1); /* all from 3 on */
    assert_located("0-99999999999999999999", -1, -1, -1);
    assert_located("4000000000", -1, -1, -1);
}

/** hwloc alone would take 500 MB for this one. */
static int locate_far_away(void *argument)
{
    char lists[1][LUCID_CPUS_TEXT] = {"4000000000"};
    struct lucid_binding binding;
    struct lucid_cpus cpus;
    struct rusage before, after;
    CHILD_CHECK(getrusage(RUSAGE_SELF, &before) == 0);
    CHILD_CHECK(lucid_cpus_describe(&cpus, 1, lists, &binding) == 0 && binding.core == -1);
    CHILD_CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHILD_CHECK(after.ru_maxrss - before.ru_maxrss < 100 * 1024);
    return 0;
}

static void test_memory(void **state)
{
    struct caught caught;
    unit_catch(&caught, locate_far_away, NULL);
    unit_assert_silent(&caught);
}

/** Many at once, as one process of a node does it for all. */
static void test_many(void **state)
{
    char lists[24][LUCID_CPUS_TEXT];
    struct lucid_binding bindings[24];
    struct lucid_cpus cpus;
    for (int i = 0; i < 24; i++) snprintf(lists[i], sizeof lists[i], "%d", i);
    assert_int_equal(lucid_cpus_describe(&cpus, 24, lists, bindings), 0);
    for (int i = 0; i < 24; i++) {
        assert_int_equal(bindings[i].package, i / 12);
        assert_int_equal(bindings[i].numa, i / 6);
        assert_int_equal(bindings[i].core, i / 2);
    }
}

/** A node that cannot be had: everything is unknown, nothing is left as it was. */
static void test_no_node(void **state)
{
    char lists[1][LUCID_CPUS_TEXT] = {"0"};
    struct lucid_binding binding = {7, 7, 7};
    struct lucid_cpus cpus;
    memset(&cpus, 0x55, sizeof cpus);
    setenv("HWLOC_XMLFILE", "/no/such/file.xml", 1);
    unsetenv("HWLOC_SYNTHETIC");
    int rc = lucid_cpus_describe(&cpus, 1, lists, &binding);
    unsetenv("HWLOC_XMLFILE");
    if (rc == 0) return; /* this hwloc takes the real node then */
    assert_int_equal(rc, -1);
    assert_int_equal(cpus.cores, 0);
    assert_string_equal(cpus.model, "");
    assert_int_equal(binding.package, -1);
    assert_int_equal(binding.core, -1);
}

static void assert_mine(const cpu_set_t *set, const char *expected)
{
    char text[LUCID_CPUS_TEXT];
    assert_int_equal(sched_setaffinity(0, sizeof *set, set), 0);
    lucid_cpus_mine(text);
    assert_string_equal(text, expected);
}

/** This process, bound to each of the processors it may use, and to all of them. */
static void test_mine(void **state)
{
    cpu_set_t before, one;
    char text[LUCID_CPUS_TEXT], number[16];
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    lucid_cpus_mine(text);
    assert_true(text[0] != '\0' || CPU_COUNT(&before) > 30);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &before)) continue;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        snprintf(number, sizeof number, "%d", i);
        assert_mine(&one, number);
    }
    assert_mine(&before, text);
}

/** The real node has what this process runs on. */
static void test_this_node(void **state)
{
    struct lucid_cpus cpus;
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    assert_int_equal(lucid_cpus_describe(&cpus, 0, NULL, NULL), 0);
    assert_true(cpus.pus >= 1 && cpus.cores >= 0 && cpus.cores <= cpus.pus);
    assert_true(memchr(cpus.model, '\0', sizeof cpus.model) != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_node, synthetic),    cmocka_unit_test_setup(test_bound, synthetic),
        cmocka_unit_test_setup(test_not_confined, synthetic), cmocka_unit_test_setup(test_unknown, synthetic),
        cmocka_unit_test_setup(test_memory, synthetic),
        cmocka_unit_test_setup(test_many, synthetic),    cmocka_unit_test_setup(test_no_node, synthetic),
        cmocka_unit_test(test_mine),                     cmocka_unit_test(test_this_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
