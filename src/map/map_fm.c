/* SPDX-License-Identifier: BSD-3-Clause
 * map_fm.c: Fiduccia-Mattheyses refinement of a bisection with exact sizes.
 *
 * A pass moves single vertices, the best gain first, from the side that is too large, or from either while the sizes are
 * right; each vertex once. The best state on the way is kept. Only vertices at the cut enter the heaps, so that a pass
 * costs O(cut vertices * degree * log) rather than O(n).
 * Source: Fiduccia and Mattheyses, "A linear-time heuristic for improving network partitions", DAC 1982.
 */
#include "map_fm.h"

#include <limits.h>
#include <stdlib.h>

enum { ABSENT = -1, MOVED = -2 };

int map_fm_scratch_make(struct map_fm_scratch *s, int capacity)
{
    size_t n = (size_t)(capacity ? capacity : 1);
    *s = (struct map_fm_scratch){.capacity = capacity};
    s->gain = malloc(n * sizeof *s->gain);
    s->heap[0] = malloc(n * sizeof *s->heap[0]);
    s->heap[1] = malloc(n * sizeof *s->heap[1]);
    s->position = malloc(n * sizeof *s->position);
    s->moves = malloc(n * sizeof *s->moves);
    if (s->gain && s->heap[0] && s->heap[1] && s->position && s->moves) return 0;
    map_fm_scratch_free(s);
    return -1;
}

void map_fm_scratch_free(struct map_fm_scratch *s)
{
    free(s->gain);
    free(s->heap[0]);
    free(s->heap[1]);
    free(s->position);
    free(s->moves);
    *s = (struct map_fm_scratch){0};
}

struct pass {
    const struct map_graph *graph;
    signed char *side;
    const struct map_fm_goal *goal;
    struct map_fm_scratch *s;
    int count[2]; /* vertices in each heap */
    int64_t size; /* of side 0 */
};

static inline int64_t size_of(const struct map_graph *graph, int v)
{
    return graph->size ? graph->size[v] : 1;
}

static void sift_up(struct pass *p, int h, int at)
{
    int *heap = p->s->heap[h], v = heap[at];
    while (at > 0 && p->s->gain[heap[(at - 1) / 2]] < p->s->gain[v]) {
        heap[at] = heap[(at - 1) / 2];
        p->s->position[heap[at]] = at;
        at = (at - 1) / 2;
    }
    heap[at] = v;
    p->s->position[v] = at;
}

static void sift_down(struct pass *p, int h, int at)
{
    int *heap = p->s->heap[h], v = heap[at], n = p->count[h];
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && p->s->gain[heap[child + 1]] > p->s->gain[heap[child]]) child++;
        if (p->s->gain[heap[child]] <= p->s->gain[v]) break;
        heap[at] = heap[child];
        p->s->position[heap[at]] = at;
    }
    heap[at] = v;
    p->s->position[v] = at;
}

static void push(struct pass *p, int v)
{
    int h = p->side[v], at = p->count[h]++;
    p->s->heap[h][at] = v;
    p->s->position[v] = at;
    sift_up(p, h, at);
}

static void pop(struct pass *p, int h)
{
    int *heap = p->s->heap[h], last = heap[--p->count[h]];
    p->s->position[heap[0]] = ABSENT;
    if (p->count[h] == 0) return;
    heap[0] = last;
    sift_down(p, h, 0);
}

/** What the cut loses when v changes sides; *at_cut: whether v has a neighbour on the other one. */
static int64_t gain_of(const struct pass *p, int v, int *at_cut)
{
    const struct map_graph *graph = p->graph;
    int64_t gain = 0;
    *at_cut = 0;
    for (size_t e = graph->start[v]; e < graph->start[v + 1]; e++) {
        int other = p->side[graph->to[e]] != p->side[v];
        *at_cut |= other;
        gain += other ? graph->weight[e] : -graph->weight[e];
    }
    return gain;
}

/** All vertices enter small graphs' heaps: with few, an inner one may be the best to buy balance with. */
static void fill_heaps(struct pass *p)
{
    int everything = p->graph->n <= 256;
    p->count[0] = p->count[1] = 0;
    p->size = 0;
    for (int v = 0; v < p->graph->n; v++) {
        int at_cut;
        p->s->gain[v] = gain_of(p, v, &at_cut);
        p->s->position[v] = ABSENT;
        if (p->side[v] == 0) p->size += size_of(p->graph, v);
        if (at_cut || everything) push(p, v);
    }
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/** The side to move from, or -1. Moves that lead further out of balance than one vertex of the other side are not made. */
static int choose(const struct pass *p)
{
    int64_t excess = p->size - p->goal->size;
    if (excess > p->goal->tolerance) return p->count[0] ? 0 : -1;
    if (excess < -p->goal->tolerance) return p->count[1] ? 1 : -1;
    if (!p->count[0] || !p->count[1]) return p->count[0] ? 0 : p->count[1] ? 1 : -1;
    int64_t from0 = p->s->gain[p->s->heap[0][0]], from1 = p->s->gain[p->s->heap[1][0]];
    if (from0 != from1) return from0 > from1 ? 0 : 1;
    return excess >= 0 ? 0 : 1;
}

static void move(struct pass *p, int v)
{
    const struct map_graph *graph = p->graph;
    int from = p->side[v];
    p->side[v] = (signed char)!from;
    p->size += from == 0 ? -size_of(graph, v) : size_of(graph, v);
    p->s->gain[v] = -p->s->gain[v];
    for (size_t e = graph->start[v]; e < graph->start[v + 1]; e++) {
        int u = graph->to[e];
        int64_t change = 2 * graph->weight[e];
        if (p->side[u] == from) {
            p->s->gain[u] += change;
            if (p->s->position[u] == ABSENT) push(p, u);
            else if (p->s->position[u] >= 0) sift_up(p, p->side[u], p->s->position[u]);
        } else {
            p->s->gain[u] -= change;
            if (p->s->position[u] >= 0) sift_down(p, p->side[u], p->s->position[u]);
        }
    }
}

static void undo(struct pass *p, int from, int to)
{
    for (int i = from - 1; i >= to; i--) {
        int v = p->s->moves[i];
        p->side[v] = (signed char)!p->side[v];
    }
}

/** One pass. *valid: whether the sizes are within the tolerance, before and after. */
static int64_t run_pass(struct pass *p, int *valid)
{
    int64_t sum = 0, best = *valid ? 0 : INT64_MIN, best_off;
    int moves = 0, kept = 0;
    fill_heaps(p);
    best_off = distance(p->size, p->goal->size);
    *valid = best_off <= p->goal->tolerance;
    best = *valid ? 0 : INT64_MIN;
    while (moves - kept < p->goal->patience || !*valid) {
        int h = choose(p);
        if (h < 0) break;
        int v = p->s->heap[h][0];
        pop(p, h);
        p->s->position[v] = MOVED;
        sum += p->s->gain[v];
        move(p, v);
        p->s->moves[moves++] = v;
        int64_t off = distance(p->size, p->goal->size);
        int fits = off <= p->goal->tolerance;
        if (fits ? !*valid || sum > best || (sum == best && off < best_off) : !*valid && off < best_off) {
            if (fits) {
                *valid = 1;
                best = sum;
            }
            best_off = off;
            kept = moves;
        }
    }
    undo(p, moves, kept);
    return *valid ? best : 0;
}

int64_t map_fm(const struct map_graph *graph, signed char *side, const struct map_fm_goal *goal,
               struct map_fm_scratch *scratch)
{
    struct pass p = {.graph = graph, .side = side, .goal = goal, .s = scratch};
    int64_t total = 0;
    for (int i = 0; i < goal->passes; i++) {
        int valid = 0;
        int64_t gained = run_pass(&p, &valid);
        total += gained;
        if (valid && gained <= 0 && i > 0) break;
        if (valid && gained == 0) break;
    }
    return total;
}
