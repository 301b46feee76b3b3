/* SPDX-License-Identifier: BSD-3-Clause
 * map_multilevel.c: recursive multisection along the tree, then local search by swaps along the graph's edges.
 *
 * When: always, but best on irregular or shuffled patterns. Cost: O(edges * log(leaves)) for the multisection; a round of
 * swaps costs O(sum over vertices of neighbouring groups * leaves of a group * degree).
 */
#include "map_algorithms.h"

static int place(const struct map_graph *graph, const struct map_tree *tree, const struct map_effort *effort, int *leaf)
{
    if (map_sections(graph, tree, effort, leaf) != 0) return MAP_NO_MEMORY;
    return map_swaps(graph, tree, effort->rounds, NULL, leaf);
}

const struct map_algorithm map_multilevel = {"multilevel", place};
