/* SPDX-License-Identifier: BSD-3-Clause
 * map_cost.h: what a placement costs.
 */
#ifndef LUCID_MAP_COST_H
#define LUCID_MAP_COST_H

#include <lucid_map.h>

#include "map_graph.h"
#include "map_tree.h"

/** J of a placement leaf[v] of a symmetric graph: every edge once. */
double map_cost_of_graph(const struct map_graph *graph, const struct map_tree *tree, const int *leaf);

/** All figures, of the unscaled, directed matrix. 0, or -1 without memory. */
int map_cost_of_matrix(const struct lucid_matrix *matrix, enum map_weight weight, const struct map_tree *tree,
                       const int *leaf, lucid_map_cost_t *cost);

#endif
