/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_memory_test.c: memory for messages is as large as asked for, gone when given back, and in large pages where
 * they are asked for. */
#include "sparse_memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define MIB ((size_t)1 << 20)

/** Whether the kernel was asked for large pages at `memory`. */
static bool wants_large_pages(const void *memory)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    bool inside = false, wanted = false;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) inside = begin <= (uintptr_t)memory && (uintptr_t)memory < end;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0) wanted = strstr(line, " hg") != NULL;
    }
    (void)fclose(maps);
    return wanted;
}

static bool has_large_pages(void)
{
    return access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0;
}

static void test_all_of_it_can_be_used(void **state)
{
    static const size_t sizes[] = {0, 1, 4096, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 5 * MIB + 123, 16 * MIB};
    for (size_t i = 0; i < 2 * COUNT_OF(sizes); i++) {
        size_t bytes = sizes[i / 2];
        unsigned char *memory = sparse_memory_take(bytes, i % 2);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        memset(memory, 0xa5, bytes);
        for (size_t at = 0; at < bytes; at += 4096) assert_int_equal(memory[at], 0xa5);
        sparse_memory_give(memory);
    }
    sparse_memory_give(NULL);
}

static void test_large_pages_where_asked_for(void **state)
{
    if (!has_large_pages()) skip();
    static const struct { size_t bytes; bool wanted, large; } cases[] = {
        {8 * MIB, true, true}, {2 * MIB, true, true}, {8 * MIB, false, false}, {MIB, true, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        void *memory = sparse_memory_take(cases[i].bytes, cases[i].wanted);
        assert_non_null(memory);
        assert_int_equal(wants_large_pages(memory), cases[i].large);
        sparse_memory_give(memory);
    }
}

/** Clearing a large page takes long: it is done before anything is timed. */
static void test_large_pages_are_there_at_once(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char there[16];
    char *memory = sparse_memory_take(8 * MIB, true);
    assert_non_null(memory);
    for (size_t mib = 1; mib < 8; mib++) {
        uintptr_t at = (uintptr_t)(memory + mib * MIB) / page * page;
        assert_int_equal(mincore((void *)at, COUNT_OF(there) * page, there), 0);
        for (size_t i = 0; i < COUNT_OF(there); i++) assert_true(there[i] & 1);
    }
    sparse_memory_give(memory);
}

static void test_it_is_gone_when_given_back(void **state)
{
    char *memory = sparse_memory_take(8 * MIB, true);
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), middle = (uintptr_t)(memory + 4 * MIB) / page * page;
    assert_non_null(memory);
    assert_int_equal(msync((void *)middle, page, MS_ASYNC), 0);
    sparse_memory_give(memory);
    assert_int_equal(msync((void *)middle, page, MS_ASYNC), -1);
    assert_int_equal(errno, ENOMEM);
}

static void test_too_much(void **state)
{
    assert_null(sparse_memory_take(SIZE_MAX, true));
    assert_null(sparse_memory_take(SIZE_MAX - 64, false));
#ifndef LUCID_SANITIZED /* its malloc ends the program */
    assert_null(sparse_memory_take(SIZE_MAX / 4, true));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of_it_can_be_used),
        cmocka_unit_test(test_large_pages_where_asked_for),
        cmocka_unit_test(test_large_pages_are_there_at_once),
        cmocka_unit_test(test_it_is_gone_when_given_back),
        cmocka_unit_test(test_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
