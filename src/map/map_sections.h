/* SPDX-License-Identifier: BSD-3-Clause
 * map_sections.h: recursive multisection along the tree.
 */
#ifndef LUCID_MAP_SECTIONS_H
#define LUCID_MAP_SECTIONS_H

#include "map_graph.h"
#include "map_tree.h"

struct map_effort {
    int starts;  /* of each bisection */
    int rounds;  /* of refinement between siblings */
    int threads; /* how many may be used; the result does not depend on it */
    uint64_t seed;
};

/** Places the graph's vertices on the tree's leaves, as many: leaf[v]. 0, or -1 without memory. */
int map_sections(const struct map_graph *graph, const struct map_tree *tree, const struct map_effort *effort, int *leaf);

#endif
