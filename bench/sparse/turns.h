/* SPDX-License-Identifier: BSD-3-Clause
 * turns.h: in which order routines run in each repetition. What runs before leaves its marks in caches and memory: after our dense form on
 * 4 ranks the library's routine takes a sixth longer than after itself, and among random orders of a hundred repetitions one routine
 * came behind it 82 times and another 110. Williams' balanced design (1949): in every 2n repetitions of n routines each
 * comes behind each of the others equally often, and has every place equally often. */
#ifndef LUCID_BENCH_TURNS_H
#define LUCID_BENCH_TURNS_H

#include <stdint.h>

static inline uint64_t turns_mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The same as a number in [0, 1). */
static inline double turns_uniform(uint64_t x)
{
    return (double)(turns_mixed(x) >> 11) / 9007199254740992.0;
}

/* Puts `n` routines into their order in a repetition; the same at all ranks. Names change from one 2n repetitions to the next. */
static inline void turns_arrange(int *order, int n, int repetition)
{
    int names[n], row = repetition % (2 * n), cycle = repetition / (2 * n);
    for (int k = 0; k < n; k++) names[k] = order[k];
    for (int k = n - 1; k > 0; k--) {
        int other = (int)(turns_mixed((uint64_t)cycle * 64 + (uint64_t)k + 12345) % (uint64_t)(k + 1)), kept = names[k];
        names[k] = names[other];
        names[other] = kept;
    }
    for (int k = 0; k < n; k++) {
        int zigzag = k % 2 ? (k + 1) / 2 : n - k / 2; /* 0, 1, n - 1, 2, n - 2 ... */
        order[row < n ? k : n - 1 - k] = names[(zigzag + row) % n];
    }
}

#endif
