/* SPDX-License-Identifier: BSD-3-Clause */
/* See scale_patterns.h. Integers only, so that no compiler rounds differently. */
#include "scale_patterns.h"

#include <stdlib.h>

enum { WEIGHT = 64, NEIGHBOURS = 14, SIDE = 1 << 20 };

const char *const scale_pattern_name[] = {"stencil", "geometric", "cg"};
const char *const scale_deal_name[] = {"in order", "round robin", "random"};

struct point {
    int64_t x, y, z;
};

struct graph {
    int ranks;
    uint32_t *weight; /* ranks * ranks */
};

static void *zeroed(size_t count, size_t size)
{
    void *found = calloc(count, size);
    if (!found) abort();
    return found;
}

static uint64_t draw(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void both(struct graph *g, int a, int b, uint32_t weight)
{
    if (a == b) return;
    g->weight[(size_t)a * (size_t)g->ranks + (size_t)b] += weight;
    g->weight[(size_t)b * (size_t)g->ranks + (size_t)a] += weight;
}

static void stencil(struct graph *g)
{
    int x = g->ranks == 4096 ? 16 : 8, y = g->ranks == 256 ? 4 : 16, z = g->ranks / x / y;
    for (int v = 0; v < g->ranks; v++) {
        if (v % z + 1 < z) both(g, v, v + 1, WEIGHT);
        if (v / z % y + 1 < y) both(g, v, v + z, WEIGHT);
        if (v / z / y + 1 < x) both(g, v, v + y * z, WEIGHT);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return (p->z > q->z) - (p->z < q->z);
}

static int64_t apart(struct point p, struct point q)
{
    return (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z);
}

/* The nearest points to `v`, ascending; of two as near the one with the lower number. */
static void nearest(const struct point *point, int ranks, int v, int *found)
{
    int64_t far[NEIGHBOURS];
    int count = 0;
    for (int other = 0; other < ranks; other++) {
        int64_t here = apart(point[v], point[other]);
        if (other == v || (count == NEIGHBOURS && here >= far[count - 1])) continue;
        int i = count < NEIGHBOURS ? count++ : count - 1;
        for (; i > 0 && far[i - 1] > here; i--) {
            far[i] = far[i - 1];
            found[i] = found[i - 1];
        }
        far[i] = here;
        found[i] = other;
    }
}

/* Points in a cube, numbered by their coordinates: slabs. */
static void geometric(struct graph *g)
{
    uint64_t state = 1;
    struct point *point = zeroed((size_t)g->ranks, sizeof *point);
    for (int v = 0; v < g->ranks; v++) {
        point[v].x = (int64_t)(draw(&state) % SIDE);
        point[v].y = (int64_t)(draw(&state) % SIDE);
        point[v].z = (int64_t)(draw(&state) % SIDE);
    }
    qsort(point, (size_t)g->ranks, sizeof *point, by_place);
    for (int v = 0; v < g->ranks; v++) {
        int found[NEIGHBOURS];
        nearest(point, g->ranks, v, found);
        for (int i = 0; i < NEIGHBOURS; i++) both(g, v, found[i], (uint32_t)(draw(&state) % 127 + 1));
    }
    free(point);
}

/* A square of processes: the sum over a row by doubling, and the exchange with the transpose partner. */
static void conjugate_gradient(struct graph *g)
{
    int wide = g->ranks == 256 ? 16 : g->ranks == 1024 ? 32 : 64;
    for (int v = 0; v < g->ranks; v++) {
        int row = v / wide, column = v % wide;
        for (int far = 1; far < wide; far *= 2)
            if (!(column & far)) both(g, v, v + far, WEIGHT);
        if (row < column) both(g, v, column * wide + row, WEIGHT);
    }
}

static void deal(enum scale_deal how, int ranks, int per_node, int *place)
{
    int nodes = ranks / per_node;
    uint64_t state = 7;
    for (int v = 0; v < ranks; v++) place[v] = how == SCALE_ROUND_ROBIN ? v % nodes * per_node + v / nodes : v;
    for (int v = ranks - 1; v > 0 && how == SCALE_AT_RANDOM; v--) {
        int other = (int)(draw(&state) % (uint64_t)(v + 1)), kept = place[v];
        place[v] = place[other];
        place[other] = kept;
    }
}

static lucid_matrix_t compress(const struct graph *g, const int *place, uint64_t unit)
{
    size_t n = (size_t)g->ranks, entries = 0;
    int *who = zeroed(n, sizeof *who);
    for (size_t v = 0; v < n; v++) who[place[v]] = (int)v;
    for (size_t i = 0; i < n * n; i++) entries += g->weight[i] > 0;
    lucid_matrix_t m = {g->ranks, 0, zeroed(n + 1, sizeof(size_t)), zeroed(entries, sizeof(int)), zeroed(entries, sizeof(uint64_t)),
                        zeroed(entries, sizeof(uint64_t))};
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < n; column++) {
            uint32_t weight = g->weight[(size_t)who[row] * n + (size_t)who[column]];
            if (weight == 0) continue;
            m.column[m.entries] = (int)column;
            m.count[m.entries] = 1;
            m.bytes[m.entries++] = weight * unit;
        }
        m.row_start[row + 1] = m.entries;
    }
    free(who);
    return m;
}

lucid_matrix_t scale_pattern(enum scale_pattern pattern, enum scale_deal how, int ranks, int per_node, uint64_t unit)
{
    struct graph g = {ranks, zeroed((size_t)ranks * (size_t)ranks, sizeof(uint32_t))};
    int *place = zeroed((size_t)ranks, sizeof *place);
    if (pattern == SCALE_STENCIL) stencil(&g);
    if (pattern == SCALE_GEOMETRIC) geometric(&g);
    if (pattern == SCALE_CG) conjugate_gradient(&g);
    deal(how, ranks, per_node, place);
    lucid_matrix_t m = compress(&g, place, unit);
    free(place);
    free(g.weight);
    return m;
}
