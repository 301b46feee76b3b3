/* SPDX-License-Identifier: BSD-3-Clause
 * map_algorithms.h: the algorithms, each in a file of its own. All place the vertices of a graph on the leaves of a tree, as
 * many: leaf[v]. To add one: write its file, list it in lucid_map.c.
 */
#ifndef LUCID_MAP_ALGORITHMS_H
#define LUCID_MAP_ALGORITHMS_H

#include "map_sections.h"

/** Return values of an algorithm. */
enum { MAP_DONE = 0, MAP_NO_MEMORY = -1, MAP_NOT_APPLICABLE = -2 };

struct map_algorithm {
    const char *name;
    int (*place)(const struct map_graph *graph, const struct map_tree *tree, const struct map_effort *effort, int *leaf);
};

extern const struct map_algorithm map_identity, map_treematch, map_multilevel;
/** NULL where libscotch is not installed. */
const struct map_algorithm *map_scotch(void);

/**
 * Swaps the places of two vertices where that lowers J, along the edges of the graph, until nothing does any more or
 * `rounds` are over. movable[v]: whether v may be moved; NULL: all. 0, or MAP_NO_MEMORY.
 */
int map_swaps(const struct map_graph *graph, const struct map_tree *tree, int rounds, const char *movable, int *leaf);

#endif
