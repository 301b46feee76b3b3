/* SPDX-License-Identifier: BSD-3-Clause
 * allocations.c: see allocations.h. The linker's --wrap leads the objects' calls here.
 */
#include "allocations.h"

#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *block);

static atomic_long live, peak;
static atomic_long left = LONG_MAX;

static long weight(void *block)
{
    return block ? (long)(malloc_usable_size(block) + sizeof(size_t)) : 0;
}

static void account(long change)
{
    long now = atomic_fetch_add(&live, change) + change;
    long highest = atomic_load(&peak);
    while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now)) {}
}

static bool refused(void)
{
    return atomic_load(&left) != LONG_MAX && atomic_fetch_sub(&left, 1) <= 0;
}

void *__wrap_malloc(size_t size)
{
    void *block = refused() ? NULL : __real_malloc(size);
    account(weight(block));
    return block;
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *block = refused() ? NULL : __real_calloc(n, size);
    account(weight(block));
    return block;
}

void *__wrap_realloc(void *old, size_t size)
{
    if (refused()) return NULL;
    long before = weight(old);
    void *block = __real_realloc(old, size);
    if (block) account(weight(block) - before);
    return block;
}

void __wrap_free(void *block)
{
    account(-weight(block));
    __real_free(block);
}

long allocations_live(void)
{
    return atomic_load(&live);
}

long allocations_peak(void)
{
    return atomic_load(&peak);
}

void allocations_restart(void)
{
    atomic_store(&peak, atomic_load(&live));
}

void allocations_fail_after(long n)
{
    atomic_store(&left, n);
}

void allocations_fail_never(void)
{
    atomic_store(&left, LONG_MAX);
}
