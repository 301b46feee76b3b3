/* SPDX-License-Identifier: BSD-3-Clause
 * map_graph.c: see map_graph.h.
 */
#include "map_graph.h"

#include <stdlib.h>
#include <string.h>

int map_graph_make(struct map_graph *graph, int n, size_t entries, int with_size)
{
    size_t some = entries ? entries : 1;
    *graph = (struct map_graph){.n = n};
    graph->start = calloc((size_t)n + 1, sizeof *graph->start);
    graph->to = malloc(some * sizeof *graph->to);
    graph->weight = malloc(some * sizeof *graph->weight);
    graph->size = with_size ? malloc((size_t)(n ? n : 1) * sizeof *graph->size) : NULL;
    if (graph->start && graph->to && graph->weight && (graph->size || !with_size)) return 0;
    map_graph_free(graph);
    return -1;
}

void map_graph_free(struct map_graph *graph)
{
    free(graph->start);
    free(graph->to);
    free(graph->weight);
    free(graph->size);
    *graph = (struct map_graph){0};
}

/** Counts, then places, both directions of every entry off the diagonal. */
static void spread(struct map_graph *graph, const struct lucid_matrix *matrix, const uint64_t *value, uint64_t divisor)
{
    size_t *fill = graph->start;
    for (int row = 0; row < matrix->size; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
            int column = matrix->column[i];
            if (column == row || value[i] == 0) continue;
            int64_t weight = (int64_t)(value[i] / divisor + (value[i] < divisor));
            size_t at = fill[row]++, back = fill[column]++;
            graph->to[at] = column;
            graph->to[back] = row;
            graph->weight[at] = graph->weight[back] = weight;
        }
}

/** Adds up the entries of a vertex that lead to the same neighbour; last: scratch of n elements. */
static void merge_parallel(struct map_graph *graph, size_t *last)
{
    size_t out = 0, begin = 0;
    for (int v = 0; v < graph->n; v++) last[v] = SIZE_MAX;
    for (int v = 0; v < graph->n; v++) {
        size_t first = out, end = graph->start[v + 1];
        for (size_t i = begin; i < end; i++) {
            int to = graph->to[i];
            if (last[to] != SIZE_MAX && last[to] >= first && last[to] < out && graph->to[last[to]] == to) {
                graph->weight[last[to]] += graph->weight[i];
                continue;
            }
            last[to] = out;
            graph->to[out] = to;
            graph->weight[out++] = graph->weight[i];
        }
        begin = end;
        graph->start[v + 1] = out;
    }
}

int map_graph_from_matrix(struct map_graph *graph, const struct lucid_matrix *matrix, enum map_weight weight)
{
    const uint64_t *value = weight == MAP_BYTES ? matrix->bytes : matrix->count;
    long double total = 0;
    size_t entries = 0;
    for (int row = 0; row < matrix->size; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
            if (matrix->column[i] != row && value[i] > 0) {
                total += 2 * (long double)value[i];
                entries += 2;
            }
    uint64_t divisor = (uint64_t)(total / 0x1p52L) + 1;
    if (map_graph_make(graph, matrix->size, entries, 0) != 0) return -1;
    size_t *scratch = malloc(((size_t)matrix->size + 1) * sizeof *scratch);
    if (!scratch) {
        map_graph_free(graph);
        return -1;
    }
    for (int row = 0; row < matrix->size; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
            if (matrix->column[i] != row && value[i] > 0) {
                graph->start[row + 1]++;
                graph->start[matrix->column[i] + 1]++;
            }
    for (int v = 0; v < graph->n; v++) graph->start[v + 1] += graph->start[v];
    spread(graph, matrix, value, divisor); /* start[v] is now where v ends */
    memmove(graph->start + 1, graph->start, (size_t)graph->n * sizeof *graph->start);
    graph->start[0] = 0;
    merge_parallel(graph, scratch);
    free(scratch);
    return 0;
}

int map_graph_induce(const struct map_graph *graph, const int *v, int n, int *position, const int *member, int id,
                     struct map_graph *sub)
{
    size_t entries = 0;
    for (int i = 0; i < n; i++) {
        position[v[i]] = i;
        entries += graph->start[v[i] + 1] - graph->start[v[i]];
    }
    if (map_graph_make(sub, n, entries, graph->size != NULL) != 0) return -1;
    size_t out = 0;
    for (int i = 0; i < n; i++) {
        for (size_t e = graph->start[v[i]]; e < graph->start[v[i] + 1]; e++) {
            if (member[graph->to[e]] != id) continue;
            sub->to[out] = position[graph->to[e]];
            sub->weight[out++] = graph->weight[e];
        }
        sub->start[i + 1] = out;
        if (sub->size) sub->size[i] = graph->size[v[i]];
    }
    return 0;
}
