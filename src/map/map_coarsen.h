/* SPDX-License-Identifier: BSD-3-Clause
 * map_coarsen.h: one level of coarsening.
 */
#ifndef LUCID_MAP_COARSEN_H
#define LUCID_MAP_COARSEN_H

#include "map_graph.h"
#include "map_random.h"

/**
 * Matches vertices along heavy edges and contracts the pairs. No pair becomes larger than `limit`.
 * coarse: fine->n elements, set to the vertex of `result` that each belongs to. 0, or -1 without memory.
 */
int map_coarsen(const struct map_graph *fine, int limit, struct map_random *random, int *coarse, struct map_graph *result);

#endif
