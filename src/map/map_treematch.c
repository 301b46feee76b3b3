/* SPDX-License-Identifier: BSD-3-Clause
 * map_treematch.c: TreeMatch: processes are grouped bottom-up by affinity, as many as the level's arity; groups become the
 * processes of the next level. Written from the published algorithm.
 *
 * Large arities are grouped in steps of their prime factors. Groups are found greedily along the heaviest edges; equal
 * ones keep the initial order, so that a numbering with locality stays what it is where it is good. The tree has to be
 * regular. Cost: O(edges * log(edges)) per step, log(leaves) steps.
 * Source: Jeannot, Mercier and Tessier, "Process placement in multicore clusters: algorithmic issues and practical
 * techniques", IEEE TPDS 25(4), 2014.
 */
#include "map_algorithms.h"

#include <stdlib.h>
#include <string.h>

struct edge {
    int64_t weight;
    int a, b;
};

static int compare(const void *x, const void *y)
{
    const struct edge *p = x, *q = y;
    if (p->weight != q->weight) return p->weight > q->weight ? -1 : 1;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/** All edges, the heaviest first. */
static struct edge *sorted_edges(const struct map_graph *graph, size_t *count)
{
    struct edge *edges = malloc((graph->start[graph->n] / 2 + 1) * sizeof *edges);
    size_t n = 0;
    if (!edges) return NULL;
    for (int v = 0; v < graph->n; v++)
        for (size_t e = graph->start[v]; e < graph->start[v + 1]; e++)
            if (graph->to[e] > v) edges[n++] = (struct edge){graph->weight[e], v, graph->to[e]};
    qsort(edges, n, sizeof *edges, compare);
    *count = n;
    return edges;
}

/** The free vertex with the most weight to the group, or the first free one. */
static int best_joiner(const struct map_graph *graph, const int *members, int n, const int *group, int64_t *tie, int *from)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        for (size_t e = graph->start[members[i]]; e < graph->start[members[i] + 1]; e++) {
            int u = graph->to[e];
            if (group[u] < 0) tie[u] += graph->weight[e];
        }
    for (int i = 0; i < n; i++)
        for (size_t e = graph->start[members[i]]; e < graph->start[members[i] + 1]; e++) {
            int u = graph->to[e];
            if (group[u] < 0 && (best < 0 || tie[u] > tie[best] || (tie[u] == tie[best] && u < best))) best = u;
        }
    for (int i = 0; i < n; i++)
        for (size_t e = graph->start[members[i]]; e < graph->start[members[i] + 1]; e++) tie[graph->to[e]] = 0;
    while (best < 0 && group[*from] >= 0) ++*from;
    return best >= 0 ? best : *from;
}

/** Puts the vertices into groups of `arity`, numbered by their first member. */
static int make_groups(const struct map_graph *graph, int arity, int *group)
{
    size_t count;
    int made = 0, from = 0, members[64];
    struct edge *edges = sorted_edges(graph, &count);
    int64_t *tie = calloc((size_t)graph->n, sizeof *tie);
    if (!edges || !tie) {
        free(edges);
        free(tie);
        return -1;
    }
    for (int v = 0; v < graph->n; v++) group[v] = -1;
    for (size_t e = 0; made < graph->n / arity; e++) {
        int n = 0;
        if (e < count && (group[edges[e].a] >= 0 || group[edges[e].b] >= 0)) continue;
        if (e < count) {
            members[n++] = edges[e].a;
            members[n++] = edges[e].b;
        } else {
            while (group[from] >= 0) from++;
            members[n++] = from;
        }
        for (int i = 0; i < n; i++) group[members[i]] = made;
        while (n < arity) {
            int v = best_joiner(graph, members, n, group, tie, &from);
            group[members[n++] = v] = made;
        }
        made++;
    }
    free(edges);
    free(tie);
    return 0;
}

/** Numbers the groups in the order of their first members. */
static void order_groups(int n, int groups, int *group, int *number)
{
    int next = 0;
    for (int g = 0; g < groups; g++) number[g] = -1;
    for (int v = 0; v < n; v++) {
        if (number[group[v]] < 0) number[group[v]] = next++;
        group[v] = number[group[v]];
    }
}

/** The graph of the groups. */
static int aggregate(const struct map_graph *graph, const int *group, int groups, struct map_graph *result)
{
    size_t *slot = malloc((size_t)groups * sizeof *slot), out = 0;
    int *begin = calloc((size_t)groups + 2, sizeof *begin), *member = malloc((size_t)graph->n * sizeof *member);
    int rc = slot && begin && member ? map_graph_make(result, groups, graph->start[graph->n], 0) : -1;
    if (rc == 0) {
        for (int v = 0; v < graph->n; v++) begin[group[v] + 2]++;
        for (int g = 0; g < groups; g++) begin[g + 2] += begin[g + 1];
        for (int v = 0; v < graph->n; v++) member[begin[group[v] + 1]++] = v;
        for (int g = 0; g < groups; g++) slot[g] = SIZE_MAX;
        for (int g = 0; g < groups; g++) {
            size_t first = out;
            for (int i = begin[g]; i < begin[g + 1]; i++)
                for (size_t e = graph->start[member[i]]; e < graph->start[member[i] + 1]; e++) {
                    int to = group[graph->to[e]];
                    if (to == g) continue;
                    if (slot[to] == SIZE_MAX || slot[to] < first) {
                        slot[to] = out;
                        result->to[out] = to;
                        result->weight[out++] = 0;
                    }
                    result->weight[slot[to]] += graph->weight[e];
                }
            result->start[g + 1] = out;
        }
    }
    free(slot);
    free(begin);
    free(member);
    return rc;
}

/** Groups of a level, all of one size; -1 if they are not. */
static int even_groups(const struct map_tree *tree, int level)
{
    int groups = level == tree->levels - 1 ? tree->leaves : tree->group[level][tree->leaves - 1] + 1;
    if (tree->leaves % groups != 0) return -1;
    for (int i = 0; i < tree->leaves; i++)
        if (tree->group[level][i] != (int)((int64_t)i * groups / tree->leaves)) return -1;
    return groups;
}

/**
 * Arities of the levels, innermost first, in prime factors; the outermost groups are all equally far from each other, so
 * they stay in order. Returns their number, or -1 if the tree is not regular.
 */
static int find_factors(const struct map_tree *tree, int *factor)
{
    int n = 0, inner = even_groups(tree, tree->levels - 1);
    for (int level = tree->levels - 1; level > 0; level--) {
        int outer = even_groups(tree, level - 1);
        if (inner < 0 || outer < 0 || inner % outer != 0) return -1;
        for (int rest = inner / outer, p = 2; rest > 1; p = p * p > rest ? rest : p + 1)
            while (rest > 1 && rest % p == 0) {
                factor[n++] = p;
                rest /= p;
            }
        inner = outer;
    }
    return n;
}

/** One step: groups of p, everybody's position refined by his place in the group. */
static int step(struct map_graph *graph, int p, int *top, int n, int *order)
{
    int groups = graph->n / p, rc = -1;
    int *group = malloc((size_t)graph->n * sizeof *group), *number = malloc((size_t)graph->n * sizeof *number);
    struct map_graph next = {0};
    if (group && number && p <= 64 && make_groups(graph, p, group) == 0) {
        order_groups(graph->n, groups, group, number);
        rc = aggregate(graph, group, groups, &next);
    }
    if (rc == 0) {
        for (int g = 0; g < groups; g++) number[g] = 0;
        int *place = order; /* [vertex of this step]: its place in the group */
        for (int v = 0; v < graph->n; v++) place[v] = number[group[v]]++;
        for (int v = 0; v < n; v++) {
            int of = top[v];
            order[n + v] += place[of] * order[2 * n];
            top[v] = group[of];
        }
        order[2 * n] *= p;
        map_graph_free(graph);
        *graph = next;
    }
    free(group);
    free(number);
    return rc;
}

static int place(const struct map_graph *graph, const struct map_tree *tree, const struct map_effort *effort, int *leaf)
{
    (void)effort;
    int n = graph->n, factor[64], factors = find_factors(tree, factor), rc = 0;
    if (factors < 0) return MAP_NOT_APPLICABLE;
    struct map_graph level;
    int *top = malloc((size_t)n * sizeof *top);
    int *order = calloc((size_t)n * 2 + 1, sizeof *order); /* places in groups; positions so far; size of a group so far */
    if (!top || !order || map_graph_make(&level, n, graph->start[n], 0) != 0) {
        free(top);
        free(order);
        return MAP_NO_MEMORY;
    }
    memcpy(level.start, graph->start, ((size_t)n + 1) * sizeof *level.start);
    memcpy(level.to, graph->to, graph->start[n] * sizeof *level.to);
    memcpy(level.weight, graph->weight, graph->start[n] * sizeof *level.weight);
    order[2 * n] = 1;
    for (int v = 0; v < n; v++) top[v] = v;
    for (int i = 0; rc == 0 && i < factors; i++) {
        if (factor[i] > 64) rc = MAP_NOT_APPLICABLE;
        else rc = step(&level, factor[i], top, n, order);
    }
    for (int v = 0; rc == 0 && v < n; v++) leaf[v] = order[n + v] + top[v] * order[2 * n];
    map_graph_free(&level);
    free(top);
    free(order);
    return rc;
}

const struct map_algorithm map_treematch = {"treematch", place};
