/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernels run: the best that the processor has, or those that LUCID_SIMD names. Chosen once. */
#include "sparse_kernels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "log.h"
#include "params.h"
#include "sparse_block.h"

struct instruction_set {
    const char *name;
    bool (*runs_here)(void);
    void (*fill)(struct sparse_kernels *kernels);
};

static bool always(void) { return true; }

#ifdef LUCID_SPARSE_X86
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

/* The best last. */
static const struct instruction_set sets[] = {
    {"generic", always, sparse_kernels_generic},
#ifdef LUCID_SPARSE_X86
    {"avx2", has_avx2, sparse_kernels_avx2},
    {"avx512", has_avx512, sparse_kernels_avx512},
#endif
#ifdef LUCID_SPARSE_NEON
    {"neon", always, sparse_kernels_neon},
#endif
};
#define SETS (sizeof sets / sizeof *sets)

static struct sparse_kernels table;
static _Atomic(const struct sparse_kernels *) in_use;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct instruction_set *best(void)
{
    const struct instruction_set *found = &sets[0];
    for (size_t i = 1; i < SETS; i++)
        if (sets[i].runs_here()) found = &sets[i];
    return found;
}

/* The set that LUCID_SIMD asks for. */
static const struct instruction_set *wanted(const char *name)
{
    if (strcmp(name, "auto") == 0) return best();
    for (size_t i = 0; i < SETS; i++)
        if (strcmp(name, sets[i].name) == 0 && sets[i].runs_here()) return &sets[i];
    lucid_error("LUCID_SIMD=%s cannot be used on this processor (it has %s): using generic; unset it for the best there is", name,
                best()->name);
    return &sets[0];
}

static void choose(void)
{
    const struct instruction_set *set = wanted(lucid_params()->simd);
    sparse_kernels_generic(&table);
    if (set != &sets[0]) set->fill(&table);
    table.name = set->name;
    atomic_store_explicit(&in_use, &table, memory_order_release);
}

const struct sparse_kernels *sparse_kernels(void)
{
    const struct sparse_kernels *kernels = atomic_load_explicit(&in_use, memory_order_acquire);
    if (LUCID_LIKELY(kernels != NULL)) return kernels;
    (void)pthread_once(&once, choose);
    return atomic_load_explicit(&in_use, memory_order_acquire);
}

const struct sparse_moves *sparse_moves(size_t size)
{
    const struct sparse_kernels *kernels = sparse_kernels();
    switch (size) {
    case 1: return &kernels->moves[SPARSE_WIDTH_1];
    case 2: return &kernels->moves[SPARSE_WIDTH_2];
    case 4: return &kernels->moves[SPARSE_WIDTH_4];
    case 8: return &kernels->moves[SPARSE_WIDTH_8];
    case 16: return &kernels->moves[SPARSE_WIDTH_16];
    default: return &kernels->moves[SPARSE_WIDTH_ANY];
    }
}

const char *sparse_simd(void)
{
    return sparse_kernels()->name;
}
