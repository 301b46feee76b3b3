/* SPDX-License-Identifier: BSD-3-Clause
 * scotch_plugin.c: mapping by libscotch: dual recursive bipartitioning onto a tree-shaped architecture.
 *
 * When: a peer to compare with, and for those who trust it. The machine has to be regular. Cost: linear in edges, log in
 * leaves. Weights are scaled into Scotch's integers. Source: Pellegrini, "Static mapping by dual recursive bipartitioning
 * of process and architecture graphs", SHPCC 1994.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scotch.h>

#include "../map_algorithms.h"

/** Number of inner groups per outer one and link costs, outermost first. 0, or -1 if the tree is not regular. */
static int describe(const struct map_tree *tree, SCOTCH_Num *sizes, SCOTCH_Num *links)
{
    int outer = 1;
    for (int level = 0; level < tree->levels; level++) {
        int inner = level == tree->levels - 1 ? tree->leaves : tree->group[level][tree->leaves - 1] + 1;
        if (inner % outer != 0 || tree->leaves % inner != 0) return -1;
        for (int i = 0; i < tree->leaves; i++)
            if (tree->group[level][i] != (int)((int64_t)i * inner / tree->leaves)) return -1;
        sizes[level] = inner / outer;
        links[level] = tree->cost[level] < 1 ? 1 : (SCOTCH_Num)tree->cost[level];
        outer = inner;
    }
    return 0;
}

/** Scotch wants arrays of its own integers. */
struct arrays {
    SCOTCH_Num *start, *to, *weight, *part;
};

static int copy(const struct map_graph *graph, struct arrays *a)
{
    size_t n = (size_t)graph->n, m = graph->start[n];
    int64_t most = 1;
    a->start = malloc((n + 1) * sizeof *a->start);
    a->to = malloc((m + 1) * sizeof *a->to);
    a->weight = malloc((m + 1) * sizeof *a->weight);
    a->part = malloc((n + 1) * sizeof *a->part);
    if (!a->start || !a->to || !a->weight || !a->part) return -1;
    for (size_t e = 0; e < m; e++)
        if (graph->weight[e] > most) most = graph->weight[e];
    int64_t limit = INT32_MAX / (int64_t)(m + 1) > 0 ? INT32_MAX / (int64_t)(m + 1) : 1;
    int64_t divisor = most > limit ? most / limit + 1 : 1;
    for (size_t v = 0; v <= n; v++) a->start[v] = (SCOTCH_Num)graph->start[v];
    for (size_t e = 0; e < m; e++) {
        a->to[e] = graph->to[e];
        a->weight[e] = (SCOTCH_Num)(graph->weight[e] / divisor > 0 ? graph->weight[e] / divisor : 1);
    }
    return 0;
}

/** One vertex per leaf: those that Scotch put on a taken leaf go to the free ones, in order. */
static int settle(const struct arrays *a, int n, int *leaf)
{
    char *taken = calloc((size_t)n, 1);
    int free_leaf = 0;
    if (!taken) return MAP_NO_MEMORY;
    for (int v = 0; v < n; v++) {
        leaf[v] = a->part[v] >= 0 && a->part[v] < n && !taken[a->part[v]] ? (int)a->part[v] : -1;
        if (leaf[v] >= 0) taken[leaf[v]] = 1;
    }
    for (int v = 0; v < n; v++) {
        if (leaf[v] >= 0) continue;
        while (taken[free_leaf]) free_leaf++;
        taken[free_leaf] = 1;
        leaf[v] = free_leaf;
    }
    free(taken);
    return MAP_DONE;
}

static int map(const struct map_graph *graph, const struct arrays *a, int levels, const SCOTCH_Num *sizes,
               const SCOTCH_Num *links)
{
    SCOTCH_Graph scotch;
    SCOTCH_Arch arch;
    SCOTCH_Strat strategy;
    if (SCOTCH_graphInit(&scotch) != 0) return -1;
    SCOTCH_archInit(&arch);
    SCOTCH_stratInit(&strategy);
    int rc = SCOTCH_graphBuild(&scotch, 0, graph->n, a->start, a->start + 1, NULL, NULL, a->start[graph->n], a->to, a->weight);
    if (rc == 0) rc = SCOTCH_archTleaf(&arch, levels, sizes, links);
    if (rc == 0) rc = SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATQUALITY, graph->n, 0.0);
    if (rc == 0) rc = SCOTCH_graphMap(&scotch, &arch, &strategy, a->part);
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&arch);
    SCOTCH_graphExit(&scotch);
    return rc == 0 ? 0 : -1;
}

static int place(const struct map_graph *graph, const struct map_tree *tree, const struct map_effort *effort, int *leaf)
{
    SCOTCH_Num sizes[MAP_TREE_LEVELS], links[MAP_TREE_LEVELS];
    struct arrays a = {0};
    if (describe(tree, sizes, links) != 0 || graph->start[graph->n] >= INT32_MAX / 2) return MAP_NOT_APPLICABLE;
    SCOTCH_randomSeed((SCOTCH_Num)(effort->seed & INT32_MAX));
    SCOTCH_randomReset();
    int rc = copy(graph, &a) == 0 && map(graph, &a, tree->levels, sizes, links) == 0 ? settle(&a, graph->n, leaf)
                                                                                  : MAP_NO_MEMORY;
    free(a.start);
    free(a.to);
    free(a.weight);
    free(a.part);
    return rc;
}

__attribute__((visibility("default"))) const struct map_algorithm lucid_map_scotch = {"scotch", place};
