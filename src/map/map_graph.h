/* SPDX-License-Identifier: BSD-3-Clause
 * map_graph.h: the graph that mapping works on: symmetric, weighted, without loops. Knows no MPI.
 */
#ifndef LUCID_MAP_GRAPH_H
#define LUCID_MAP_GRAPH_H

#include <lucid_types.h>
#include <stddef.h>
#include <stdint.h>

/** Adjacency in compressed rows: the neighbours of v are to[start[v]] ... to[start[v + 1] - 1], without order. */
struct map_graph {
    int n;
    size_t *start;
    int *to;
    int64_t *weight; /* > 0; all weights together stay below 2^53, so that no sum of them overflows */
    int *size;       /* vertices of the finest graph in a coarse vertex; NULL: 1 each */
};

/** What of a matrix counts as weight. */
enum map_weight { MAP_BYTES, MAP_MESSAGES };

/**
 * Builds the graph of C + C^T without the diagonal. Weights are scaled down by one common factor where their sum would not
 * stay below 2^53 (the scaled weight of an edge is at least 1). 0, or -1 without memory.
 */
int map_graph_from_matrix(struct map_graph *graph, const struct lucid_matrix *matrix, enum map_weight weight);

/** Allocates arrays for n vertices and `entries` neighbours; with_size: also `size`. 0, or -1 without memory. */
int map_graph_make(struct map_graph *graph, int n, size_t entries, int with_size);
void map_graph_free(struct map_graph *graph);

/**
 * The subgraph induced by the vertices v[0 ... n - 1], renumbered in that order, which are those with member[v] == id.
 * position: scratch of graph->n elements. 0, or -1 without memory.
 */
int map_graph_induce(const struct map_graph *graph, const int *v, int n, int *position, const int *member, int id,
                     struct map_graph *sub);

#endif
