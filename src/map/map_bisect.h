/* SPDX-License-Identifier: BSD-3-Clause
 * map_bisect.h: multilevel bisection into exact sizes.
 */
#ifndef LUCID_MAP_BISECT_H
#define LUCID_MAP_BISECT_H

#include "map_graph.h"
#include "map_random.h"

/**
 * Divides a graph of vertices of size 1 into side 0 of exactly `size` vertices and side 1, with a small cut.
 * effort: how many starts are tried (1: fast). 0, or -1 without memory.
 */
int map_bisect(const struct map_graph *graph, int size, int effort, struct map_random random, signed char *side);

#endif
