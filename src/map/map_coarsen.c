/* SPDX-License-Identifier: BSD-3-Clause
 * map_coarsen.c: see map_coarsen.h. Cost: O(edges).
 */
#include "map_coarsen.h"

#include <stdlib.h>

static int size_of(const struct map_graph *graph, int v)
{
    return graph->size ? graph->size[v] : 1;
}

static void shuffle(int *order, int n, struct map_random *random)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = map_random_below(random, i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/** The free neighbour with the best rating weight^2 / (size * size), or -1. */
static int partner_of(const struct map_graph *graph, int v, int limit, const int *mate)
{
    int best = -1, size = size_of(graph, v);
    double best_rating = 0;
    for (size_t e = graph->start[v]; e < graph->start[v + 1]; e++) {
        int u = graph->to[e], other = size_of(graph, u);
        if (mate[u] >= 0 || size + other > limit) continue;
        double weight = (double)graph->weight[e], rating = weight * weight / ((double)size * other);
        if (rating <= best_rating) continue;
        best_rating = rating;
        best = u;
    }
    return best;
}

/** Numbers the coarse vertices; first[c], second[c] are their fine ones. Returns their number. */
static int match(const struct map_graph *graph, int limit, const int *order, int *coarse, int *first, int *second)
{
    int n = 0;
    for (int v = 0; v < graph->n; v++) coarse[v] = -1;
    for (int i = 0; i < graph->n; i++) {
        int v = order[i];
        if (coarse[v] >= 0) continue;
        int u = partner_of(graph, v, limit, coarse);
        first[n] = v;
        second[n] = u;
        coarse[v] = n;
        if (u >= 0) coarse[u] = n;
        n++;
    }
    return n;
}

/** Appends a fine vertex's edges to coarse vertex c's, adding parallel ones up; slot[c'] is where c' stands, if behind begin. */
static size_t add_edges(const struct map_graph *fine, int v, int c, const int *coarse, struct map_graph *result, size_t begin,
                        size_t out, size_t *slot)
{
    for (size_t e = fine->start[v]; e < fine->start[v + 1]; e++) {
        int to = coarse[fine->to[e]];
        if (to == c) continue;
        if (slot[to] >= begin && slot[to] < out && result->to[slot[to]] == to) {
            result->weight[slot[to]] += fine->weight[e];
            continue;
        }
        slot[to] = out;
        result->to[out] = to;
        result->weight[out++] = fine->weight[e];
    }
    return out;
}

static void contract(const struct map_graph *fine, const int *coarse, const int *first, const int *second, size_t *slot,
                     struct map_graph *result)
{
    size_t out = 0;
    for (int c = 0; c < result->n; c++) slot[c] = SIZE_MAX;
    for (int c = 0; c < result->n; c++) {
        size_t begin = out;
        result->size[c] = size_of(fine, first[c]);
        out = add_edges(fine, first[c], c, coarse, result, begin, out, slot);
        if (second[c] >= 0) {
            result->size[c] += size_of(fine, second[c]);
            out = add_edges(fine, second[c], c, coarse, result, begin, out, slot);
        }
        result->start[c + 1] = out;
    }
}

int map_coarsen(const struct map_graph *fine, int limit, struct map_random *random, int *coarse, struct map_graph *result)
{
    size_t n = (size_t)fine->n;
    int *order = malloc(3 * n * sizeof *order);
    size_t *slot = malloc(n * sizeof *slot);
    int rc = -1;
    if (order && slot) {
        int *first = order + n, *second = first + n;
        shuffle(order, fine->n, random);
        int m = match(fine, limit, order, coarse, first, second);
        rc = map_graph_make(result, m, fine->start[fine->n], 1);
        if (rc == 0) contract(fine, coarse, first, second, slot, result);
    }
    free(order);
    free(slot);
    return rc;
}
