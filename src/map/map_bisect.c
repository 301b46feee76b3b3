/* SPDX-License-Identifier: BSD-3-Clause
 * map_bisect.c: multilevel bisection into exact sizes.
 *
 * Coarsening by matching heavy edges, several grown starts on the coarsest graph, refinement on the way back; the last
 * refinement is exact. Cost: O(edges) per level, O(edges) in all.
 * Source: Hendrickson and Leland, "A multilevel algorithm for partitioning graphs", SC 1995; the rating of edges is
 * "expansion*2" of Holtgrewe, Sanders and Schulz, "Engineering a scalable high quality graph partitioner", IPDPS 2010.
 */
#include "map_bisect.h"

#include <stdlib.h>
#include <string.h>

#include "map_coarsen.h"
#include "map_fm.h"

enum { COARSEST = 60, LEVELS = 40, TRIES = 4 };

struct hierarchy {
    struct map_graph graph[LEVELS]; /* graph[0] is the caller's */
    int *coarse[LEVELS];            /* vertex of the next level */
    int levels;
};

static void hierarchy_free(struct hierarchy *h)
{
    for (int i = 0; i < h->levels; i++) {
        free(h->coarse[i]);
        if (i > 0) map_graph_free(&h->graph[i]);
    }
}

static int build(struct hierarchy *h, const struct map_graph *graph, struct map_random *random)
{
    h->graph[0] = *graph;
    h->levels = 1;
    h->coarse[0] = NULL;
    while (h->levels < LEVELS && h->graph[h->levels - 1].n > COARSEST) {
        struct map_graph *fine = &h->graph[h->levels - 1];
        int limit = graph->n / (COARSEST / 3) + 1;
        int *coarse = malloc((size_t)fine->n * sizeof *coarse);
        if (!coarse) return -1;
        h->coarse[h->levels - 1] = coarse;
        if (map_coarsen(fine, limit, random, coarse, &h->graph[h->levels]) != 0) return -1;
        h->coarse[h->levels] = NULL;
        h->levels++;
        if (h->graph[h->levels - 1].n > fine->n - fine->n / 12) break;
    }
    return 0;
}

/** Weight of the cut. */
static int64_t cut_of(const struct map_graph *graph, const signed char *side)
{
    int64_t cut = 0;
    for (int v = 0; v < graph->n; v++)
        for (size_t e = graph->start[v]; e < graph->start[v + 1]; e++)
            if (side[v] != side[graph->to[e]]) cut += graph->weight[e];
    return cut / 2;
}

static int largest(const struct map_graph *graph)
{
    int size = 1;
    for (int v = 0; graph->size && v < graph->n; v++)
        if (graph->size[v] > size) size = graph->size[v];
    return size;
}

/** Grows side 0 from a random vertex, always by the vertex that cuts least, until it has the size. gain: scratch. */
static void grow(const struct map_graph *graph, int64_t size, struct map_random *random, int64_t *gain, signed char *side)
{
    int64_t have = 0;
    memset(side, 1, (size_t)graph->n);
    for (int v = 0; v < graph->n; v++) {
        gain[v] = 0;
        for (size_t e = graph->start[v]; e < graph->start[v + 1]; e++) gain[v] -= graph->weight[e];
    }
    int next = map_random_below(random, graph->n), touched = 0;
    while (have < size) {
        for (int v = 0; touched && v < graph->n; v++)
            if (side[v] == 1 && (next < 0 || gain[v] > gain[next])) next = v;
        if (next < 0) break;
        side[next] = 0;
        touched = 1;
        have += graph->size ? graph->size[next] : 1;
        for (size_t e = graph->start[next]; e < graph->start[next + 1]; e++) gain[graph->to[e]] += 2 * graph->weight[e];
        next = -1;
    }
}

static int start(const struct map_graph *graph, int size, int tries, struct map_random *random,
                 struct map_fm_scratch *scratch, signed char *side)
{
    int64_t best = -1, tolerance = largest(graph) - 1;
    signed char *trial = malloc((size_t)graph->n);
    int64_t *gain = malloc((size_t)graph->n * sizeof *gain);
    struct map_fm_goal goal = {size, tolerance, 6, graph->n};
    for (int i = 0; trial && gain && i < tries; i++) {
        grow(graph, size, random, gain, trial);
        (void)map_fm(graph, trial, &goal, scratch);
        int64_t cut = cut_of(graph, trial);
        if (best >= 0 && cut >= best) continue;
        best = cut;
        memcpy(side, trial, (size_t)graph->n);
    }
    free(trial);
    free(gain);
    return best >= 0 ? 0 : -1;
}

static int solve(const struct hierarchy *h, int size, int tries, struct map_random *random, signed char *side)
{
    int n = h->graph[0].n, level = h->levels - 1;
    struct map_fm_scratch scratch;
    signed char *fine = malloc((size_t)n);
    if (map_fm_scratch_make(&scratch, n) != 0 || !fine) {
        free(fine);
        return -1;
    }
    int rc = start(&h->graph[level], size, tries, random, &scratch, side);
    for (; rc == 0 && level > 0; level--) {
        const struct map_graph *graph = &h->graph[level - 1];
        for (int v = 0; v < graph->n; v++) fine[v] = side[h->coarse[level - 1][v]];
        memcpy(side, fine, (size_t)graph->n);
        struct map_fm_goal goal = {size, largest(graph) - 1, 8, 150 + graph->n / 20};
        (void)map_fm(graph, side, &goal, &scratch);
    }
    map_fm_scratch_free(&scratch);
    free(fine);
    return rc;
}

/** Whatever refinement has left: the sizes have to be right. */
static void settle(const struct map_graph *graph, int size, signed char *side)
{
    int have = 0;
    for (int v = 0; v < graph->n; v++) have += side[v] == 0;
    for (int v = 0; v < graph->n && have != size; v++) {
        int wanted = have > size;
        if (side[v] == wanted) continue;
        side[v] = (signed char)wanted;
        have += wanted ? -1 : 1;
    }
}

int map_bisect(const struct map_graph *graph, int size, int effort, struct map_random random, signed char *side)
{
    int64_t best = -1;
    signed char *trial = malloc((size_t)(graph->n ? graph->n : 1));
    if (!trial) return -1;
    for (int i = 0; i < effort; i++) {
        struct hierarchy h = {.levels = 0};
        int rc = build(&h, graph, &random);
        if (rc == 0) rc = solve(&h, size, TRIES, &random, trial);
        hierarchy_free(&h);
        if (rc != 0) {
            free(trial);
            return -1;
        }
        settle(graph, size, trial);
        int64_t cut = cut_of(graph, trial);
        if (best >= 0 && cut >= best) continue;
        best = cut;
        memcpy(side, trial, (size_t)graph->n);
    }
    free(trial);
    return 0;
}
