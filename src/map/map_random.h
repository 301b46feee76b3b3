/* SPDX-License-Identifier: BSD-3-Clause
 * map_random.h: a small generator (splitmix64). Every part of a mapping has its own, seeded by where it stands in the
 * recursion, so that the result does not depend on the number of threads.
 */
#ifndef LUCID_MAP_RANDOM_H
#define LUCID_MAP_RANDOM_H

#include <stdint.h>

struct map_random {
    uint64_t state;
};

static inline uint64_t map_random_next(struct map_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/** 0 ... n - 1, n > 0. */
static inline int map_random_below(struct map_random *random, int n)
{
    return (int)((map_random_next(random) >> 32) * (uint64_t)n >> 32);
}

/** A generator of its own for part `index` of what this one serves. */
static inline struct map_random map_random_child(struct map_random random, uint64_t index)
{
    struct map_random child = {random.state ^ (index + 1) * UINT64_C(0xD6E8FEB86659FD93)};
    (void)map_random_next(&child);
    return child;
}

#endif
