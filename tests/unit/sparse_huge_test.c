/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_huge_test.c: more elements than an int counts: 2^31 + 1029 of one byte, with exceptions at the ends and around 2^31.
 * Skipped where there is no memory for it.
 */
#include <sys/mman.h>

#include "sparse_block.h"
#include "unit.h"

#define COUNT (((size_t)1 << 31) + 1029)
#define NEEDED ((unsigned long)6 << 20) /* KiB */

static const size_t places[] = {0, 1, 65535, 65536, INT32_MAX - 1, INT32_MAX, (size_t)INT32_MAX + 1, COUNT - 2, COUNT - 1};

static bool memory_is_there(void)
{
    char line[128];
    unsigned long available = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lu", &available) == 1) break;
    fclose(file);
    return available > NEEDED;
}

/** Zeros that take memory only where they are written. */
static unsigned char *zeros(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void check_places(const unsigned char *x, unsigned char value)
{
    size_t others = 0, next = 0;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        assert_int_equal(x[places[i]], value);
        for (; next < places[i]; next++) others += x[next] != 0;
        next++;
    }
    assert_int_equal(others, 0);
}

static void test_many(void **state)
{
    struct sparse_operator operator;
    struct sparse_layout layout;
    struct sparse_tally tally = {0};
    assert_true(sparse_operator_predefined(SPARSE_SUM, SPARSE_INT8, &operator));
    sparse_layout_init(&layout, &operator, COUNT, 3);
    size_t bound = sparse_bound(&layout, 0, layout.blocks);
    unsigned char *x = zeros(COUNT), *message = zeros(bound), *merged = zeros(bound);
    if (!memory_is_there() || !x || !message || !merged) skip();
    for (size_t i = 0; i < COUNT_OF(places); i++) x[places[i]] = 3;
    size_t length = sparse_encode(&layout, 0, layout.blocks, x, false, message, &tally);
    assert_true(tally.elements == COUNT && tally.exceptions == COUNT_OF(places));
    assert_int_equal(length, layout.blocks * 17 + COUNT_OF(places) * 3);
    assert_true(sparse_check(&layout, 0, layout.blocks, message, length));
    assert_int_equal(sparse_merge(&layout, 0, layout.blocks, message, message, false, merged, NULL), length);
    sparse_merge_dense(&layout, 0, layout.blocks, merged, false, x, NULL);
    check_places(x, 9);
    assert_int_equal(madvise(x, COUNT, MADV_DONTNEED), 0); /* zeros again */
    sparse_decode(&layout, 0, layout.blocks, merged, x);
    check_places(x, 6);
    munmap(x, COUNT);
    munmap(message, bound);
    munmap(merged, bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
