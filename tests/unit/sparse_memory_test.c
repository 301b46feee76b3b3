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
        assert_int_equal(sparse_memory_improves(memory, 8 * MIB), !cases[i].large);
        assert_false(sparse_memory_improves(memory, MIB));
        sparse_memory_give(memory);
        sparse_memory_forget();
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

static bool is_there(const char *memory)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), middle = (uintptr_t)(memory + 4 * MIB) / page * page;
    bool there = msync((void *)middle, page, MS_ASYNC) == 0;
    assert_true(there || errno == ENOMEM);
    return there;
}

/** The last one stays for the next, unless that needs more, or much less. */
static void test_it_is_gone_when_given_back(void **state)
{
    char *memory = sparse_memory_take(8 * MIB, true), *second = sparse_memory_take(12 * MIB, true);
    assert_non_null(memory);
    assert_non_null(second);
    sparse_memory_give(memory);
    assert_true(is_there(memory));
    sparse_memory_give(second);
    assert_false(is_there(memory));
    assert_ptr_equal(sparse_memory_take(7 * MIB, true), second);
    sparse_memory_give(second);
    sparse_memory_give(sparse_memory_take(8 * MIB, false));
    assert_true(is_there(second));
    memory = sparse_memory_take(13 * MIB, true);
    assert_ptr_not_equal(memory, second);
    sparse_memory_give(memory);
    second = sparse_memory_take(5 * MIB, true);
    assert_ptr_not_equal(memory, second);
    assert_false(is_there(memory));
    sparse_memory_give(second);
    sparse_memory_forget();
    assert_false(is_there(second));
    sparse_memory_forget();
}

/** What a process has in large pages is bounded, and what is given back counts no more. */
static void test_not_too_much_in_large_pages(void **state)
{
    if (!has_large_pages()) skip();
    void *memory[10];
    for (int round = 0; round < 3; round++) {
        size_t large = 0;
        for (size_t i = 0; i < COUNT_OF(memory); i++) {
            memory[i] = sparse_memory_take(10 * MIB, true);
            assert_non_null(memory[i]);
            large += wants_large_pages(memory[i]);
        }
        assert_int_equal(large, 6);
        assert_false(wants_large_pages(memory[6]));
        assert_false(sparse_memory_improves(memory[6], 10 * MIB));
        for (size_t i = 0; i < COUNT_OF(memory); i++) sparse_memory_give(memory[i]);
    }
    sparse_memory_forget();
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
        cmocka_unit_test(test_not_too_much_in_large_pages),
        cmocka_unit_test(test_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
