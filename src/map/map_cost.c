/* SPDX-License-Identifier: BSD-3-Clause
 * map_cost.c: see map_cost.h. Sums are long double: 65,536 ranks x 10^15 bytes x a distance of 10^6 stay exact to 1 in 10^19.
 */
#include "map_cost.h"

#include <stdlib.h>

double map_cost_of_graph(const struct map_graph *graph, const struct map_tree *tree, const int *leaf)
{
    long double sum = 0;
    for (int v = 0; v < graph->n; v++)
        for (size_t e = graph->start[v]; e < graph->start[v + 1]; e++)
            if (graph->to[e] > v) sum += (long double)graph->weight[e] * map_tree_distance(tree, leaf[v], leaf[graph->to[e]]);
    return (double)sum;
}

/** a + b, or the largest number. */
static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

int map_cost_of_matrix(const struct lucid_matrix *matrix, enum map_weight weight, const struct map_tree *tree,
                       const int *leaf, lucid_map_cost_t *cost)
{
    const uint64_t *value = weight == MAP_BYTES ? matrix->bytes : matrix->count;
    const int *node = tree->group[0];
    uint64_t *link = calloc((size_t)(tree->leaves ? tree->leaves : 1), sizeof *link);
    long double sum = 0;
    if (!link) return -1;
    *cost = (lucid_map_cost_t){0};
    for (int row = 0; row < matrix->size; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
            int from = leaf[row], to = leaf[matrix->column[i]];
            sum += (long double)value[i] * map_tree_distance(tree, from, to);
            if (node[from] == node[to]) continue;
            cost->between_bytes = add(cost->between_bytes, matrix->bytes[i]);
            link[node[from]] = add(link[node[from]], matrix->bytes[i]);
            link[node[to]] = add(link[node[to]], matrix->bytes[i]);
        }
    for (int i = 0; i < tree->leaves; i++)
        if (link[i] > cost->link_bytes) cost->link_bytes = link[i];
    cost->cost = (double)sum;
    free(link);
    return 0;
}
