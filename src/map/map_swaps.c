/* SPDX-License-Identifier: BSD-3-Clause
 * map_swaps.c: local search for the sparse quadratic assignment problem: swap two vertices' places where J falls.
 *
 * The candidates for a vertex are those that sit in the innermost group (of more than one leaf) of one of its neighbours,
 * where that neighbour is further away than the group is wide. Only vertices whose surroundings have changed are looked
 * at again.
 * Source: the communication-graph neighbourhood N_C of Schulz and Träff, "Better process mapping and sparse quadratic
 * assignment", SEA 2017.
 */
#include "map_algorithms.h"

#include <stdlib.h>
#include <string.h>

struct search {
    const struct map_graph *graph;
    const struct map_tree *tree;
    const char *movable;
    int *leaf;   /* [vertex] */
    int *vertex; /* [leaf] */
    int *first;  /* [leaf]: the first leaf of its innermost group */
    int *end;    /* [leaf]: behind the last */
    int *seen;   /* [leaf]: the vertex that has tried the group that begins there */
    char *dirty; /* [vertex] */
};

/** What J loses when v moves to the leaf `to` while all others stay; `but`: a vertex to leave out. */
static double gain_of(const struct search *s, int v, int to, int but)
{
    const struct map_graph *graph = s->graph;
    double gain = 0;
    for (size_t e = graph->start[v]; e < graph->start[v + 1]; e++) {
        int u = graph->to[e];
        if (u == but) continue;
        gain += (double)graph->weight[e] *
                (map_tree_distance(s->tree, s->leaf[v], s->leaf[u]) - map_tree_distance(s->tree, to, s->leaf[u]));
    }
    return gain;
}

static void swap(struct search *s, int v, int u)
{
    int at = s->leaf[v], to = s->leaf[u];
    s->leaf[v] = to;
    s->leaf[u] = at;
    s->vertex[to] = v;
    s->vertex[at] = u;
    const int both[2] = {v, u};
    for (int i = 0; i < 2; i++) {
        s->dirty[both[i]] = 1;
        for (size_t e = s->graph->start[both[i]]; e < s->graph->start[both[i] + 1]; e++) s->dirty[s->graph->to[e]] = 1;
    }
}

/** The best partner in the group that begins at leaf `first`, if better than *best. */
static void try_group(const struct search *s, int v, int first, double *best, int *partner)
{
    for (int to = first; to < s->end[first]; to++) {
        int u = s->vertex[to];
        if (u == v || (s->movable && !s->movable[u])) continue;
        double gain = gain_of(s, v, to, u);
        if (gain <= *best) continue; /* the partner's own gain is rarely positive: look no further */
        gain += gain_of(s, u, s->leaf[v], v);
        if (gain <= *best) continue;
        *best = gain;
        *partner = u;
    }
}

static int improve(struct search *s, int v)
{
    double best = 0.5; /* weights are integers: less is rounding */
    int partner = -1;
    for (size_t e = s->graph->start[v]; e < s->graph->start[v + 1]; e++) {
        int first = s->first[s->leaf[s->graph->to[e]]];
        if (first == s->first[s->leaf[v]] || s->seen[first] == v) continue;
        s->seen[first] = v;
        try_group(s, v, first, &best, &partner);
    }
    for (size_t e = s->graph->start[v]; e < s->graph->start[v + 1]; e++) s->seen[s->first[s->leaf[s->graph->to[e]]]] = -1;
    if (partner < 0) return 0;
    swap(s, v, partner);
    return 1;
}

/** The innermost level whose groups have more than one leaf. */
static int group_level(const struct map_tree *tree)
{
    for (int level = tree->levels - 1; level > 0; level--)
        for (int i = 1; i < tree->leaves; i++)
            if (tree->group[level][i] == tree->group[level][i - 1]) return level;
    return 0;
}

static int prepare(struct search *s)
{
    int n = s->graph->n, level = group_level(s->tree);
    s->vertex = malloc((size_t)n * 4 * sizeof *s->vertex);
    s->dirty = malloc((size_t)n);
    if (!s->vertex || !s->dirty) return -1;
    s->first = s->vertex + n;
    s->end = s->first + n;
    s->seen = s->end + n;
    for (int i = 0; i < n; i++) {
        s->vertex[s->leaf[i]] = i;
        s->seen[i] = -1;
        s->first[i] = i > 0 && s->tree->group[level][i] == s->tree->group[level][i - 1] ? s->first[i - 1] : i;
    }
    for (int i = n - 1; i >= 0; i--) s->end[i] = i + 1 < n && s->first[i + 1] == s->first[i] ? s->end[i + 1] : i + 1;
    memset(s->dirty, 1, (size_t)n);
    return 0;
}

int map_swaps(const struct map_graph *graph, const struct map_tree *tree, int rounds, const char *movable, int *leaf)
{
    struct search s = {.graph = graph, .tree = tree, .movable = movable, .leaf = leaf};
    if (graph->n < 2) return MAP_DONE;
    int rc = prepare(&s);
    for (int swaps = 1; rc == 0 && swaps > 0 && rounds-- > 0;) {
        swaps = 0;
        for (int v = 0; v < graph->n; v++) {
            if (!s.dirty[v] || (movable && !movable[v])) continue;
            s.dirty[v] = 0;
            swaps += improve(&s, v);
        }
    }
    free(s.vertex);
    free(s.dirty);
    return rc == 0 ? MAP_DONE : MAP_NO_MEMORY;
}
