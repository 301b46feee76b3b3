/* SPDX-License-Identifier: BSD-3-Clause
 * map_pairs.h: refinement of a division into many blocks of fixed sizes.
 */
#ifndef LUCID_MAP_PAIRS_H
#define LUCID_MAP_PAIRS_H

#include "map_graph.h"
#include "map_random.h"

/**
 * Improves block[v] in 0 ... blocks - 1 without changing any block's size: pairs of neighbouring blocks are bisected anew by
 * local search, round after round while something improves, at most `rounds`. 0, or -1 without memory.
 */
int map_pairs_refine(const struct map_graph *graph, int *block, int blocks, int rounds, struct map_random random);

#endif
