/* SPDX-License-Identifier: BSD-3-Clause
 * map_pairs.c: see map_pairs.h.
 *
 * A pair's subproblem is the bisection of its two blocks with exact sizes; what leaves the pair costs the same on either
 * side, so it does not enter. Cost of a round: O(edges of the blocks that are active * log).
 * Source: the active-block scheduling of Holtgrewe, Sanders and Schulz, "Engineering a scalable high quality graph
 * partitioner", IPDPS 2010.
 */
#include "map_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "map_fm.h"

struct pairs {
    const struct map_graph *graph;
    int *block;
    int blocks;
    int *start;    /* [block]: where its members begin */
    int *member;   /* vertices, by block */
    int *position; /* [vertex]: in the pair at hand, or -1 */
    int64_t *tie;  /* [block]: weight between it and the block at hand */
    int *near;     /* blocks with a tie */
    char *active, *next_active;
    struct map_fm_scratch fm;
    struct map_graph pair; /* of the largest pair's capacity */
    signed char *side;
};

static void release(struct pairs *p)
{
    free(p->start);
    free(p->member);
    free(p->position);
    free(p->tie);
    free(p->near);
    free(p->active);
    free(p->next_active);
    free(p->side);
    map_graph_free(&p->pair);
    map_fm_scratch_free(&p->fm);
}

/** The largest numbers of vertices and of neighbours that two blocks have together, at most. */
static void largest_pair(const struct pairs *p, int *vertices, size_t *entries)
{
    int most = 0;
    size_t most_entries = 0;
    for (int b = 0; b < p->blocks; b++) {
        size_t sum = 0;
        for (int i = p->start[b]; i < p->start[b + 1]; i++)
            sum += p->graph->start[p->member[i] + 1] - p->graph->start[p->member[i]];
        if (p->start[b + 1] - p->start[b] > most) most = p->start[b + 1] - p->start[b];
        if (sum > most_entries) most_entries = sum;
    }
    *vertices = 2 * most;
    *entries = 2 * most_entries;
}

static int prepare(struct pairs *p)
{
    size_t n = (size_t)p->graph->n, k = (size_t)p->blocks;
    p->start = calloc(k + 2, sizeof *p->start);
    p->member = malloc((n + 1) * sizeof *p->member);
    p->position = malloc((n + 1) * sizeof *p->position);
    p->tie = calloc(k, sizeof *p->tie);
    p->near = malloc(k * sizeof *p->near);
    p->active = malloc(k);
    p->next_active = calloc(k, 1);
    if (!p->start || !p->member || !p->position || !p->tie || !p->near || !p->active || !p->next_active) return -1;
    memset(p->active, 1, k);
    for (size_t v = 0; v < n; v++) p->position[v] = -1;
    for (size_t v = 0; v < n; v++) p->start[p->block[v] + 2]++;
    for (size_t b = 0; b < k; b++) p->start[b + 2] += p->start[b + 1];
    for (size_t v = 0; v < n; v++) p->member[p->start[p->block[v] + 1]++] = (int)v;
    int vertices;
    size_t entries;
    largest_pair(p, &vertices, &entries);
    p->side = malloc((size_t)vertices + 1);
    return p->side && map_graph_make(&p->pair, vertices, entries, 0) == 0 && map_fm_scratch_make(&p->fm, vertices) == 0 ? 0 : -1;
}

/** Writes the subgraph of blocks a and b to p->pair. */
static void extract(struct pairs *p, int a, int b)
{
    const int block[2] = {a, b};
    struct map_graph *pair = &p->pair;
    size_t out = 0;
    int n = 0;
    for (int k = 0; k < 2; k++)
        for (int i = p->start[block[k]]; i < p->start[block[k] + 1]; i++) {
            p->side[n] = (signed char)k;
            p->position[p->member[i]] = n++;
        }
    pair->n = n;
    for (int k = 0, at = 0; k < 2; k++)
        for (int i = p->start[block[k]]; i < p->start[block[k] + 1]; i++) {
            int v = p->member[i];
            for (size_t e = p->graph->start[v]; e < p->graph->start[v + 1]; e++) {
                int to = p->position[p->graph->to[e]];
                if (to < 0) continue;
                pair->to[out] = to;
                pair->weight[out++] = p->graph->weight[e];
            }
            pair->start[++at] = out;
        }
}

/** Puts the members back, by side. */
static void put_back(struct pairs *p, int a, int b, int changed)
{
    int sizes[2] = {p->start[a + 1] - p->start[a], p->start[b + 1] - p->start[b]}, fill[2] = {p->start[a], p->start[b]};
    int n = sizes[0] + sizes[1], *vertices = p->fm.moves; /* free again */
    memcpy(vertices, p->member + p->start[a], (size_t)sizes[0] * sizeof *vertices);
    memcpy(vertices + sizes[0], p->member + p->start[b], (size_t)sizes[1] * sizeof *vertices);
    for (int i = 0; i < n; i++) {
        int v = vertices[i], side = p->side[i];
        p->position[v] = -1;
        if (!changed) continue;
        p->member[fill[side]++] = v;
        p->block[v] = side == 0 ? a : b;
    }
}

static int refine_pair(struct pairs *p, int a, int b)
{
    int size = p->start[a + 1] - p->start[a];
    extract(p, a, b);
    struct map_fm_goal goal = {size, 0, 3, 16 + p->pair.n / 4};
    int64_t gained = map_fm(&p->pair, p->side, &goal, &p->fm);
    put_back(p, a, b, gained > 0);
    if (gained > 0) p->next_active[a] = p->next_active[b] = 1;
    return gained > 0;
}

/** Blocks behind a that have edges to a: p->near; returns their number. */
static int neighbours(struct pairs *p, int a)
{
    int n = 0;
    for (int i = p->start[a]; i < p->start[a + 1]; i++) {
        int v = p->member[i];
        for (size_t e = p->graph->start[v]; e < p->graph->start[v + 1]; e++) {
            int b = p->block[p->graph->to[e]];
            if (b <= a || p->tie[b]) continue;
            p->tie[b] = 1;
            p->near[n++] = b;
        }
    }
    for (int i = 0; i < n; i++) p->tie[p->near[i]] = 0;
    return n;
}

static int run_round(struct pairs *p, struct map_random *random)
{
    int improved = 0, offset = map_random_below(random, p->blocks);
    for (int i = 0; i < p->blocks; i++) {
        int a = (i + offset) % p->blocks, n = neighbours(p, a);
        for (int j = 0; j < n; j++) {
            int b = p->near[j];
            if (p->active[a] || p->active[b]) improved |= refine_pair(p, a, b);
        }
    }
    memcpy(p->active, p->next_active, (size_t)p->blocks);
    memset(p->next_active, 0, (size_t)p->blocks);
    return improved;
}

int map_pairs_refine(const struct map_graph *graph, int *block, int blocks, int rounds, struct map_random random)
{
    struct pairs p = {.graph = graph, .block = block, .blocks = blocks};
    int rc = blocks < 2 ? 0 : prepare(&p);
    if (rc == 0 && blocks >= 2)
        while (rounds-- > 0 && run_round(&p, &random)) continue;
    release(&p);
    return rc;
}
