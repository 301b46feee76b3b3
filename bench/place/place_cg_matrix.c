/* SPDX-License-Identifier: BSD-3-Clause
 * place_cg_matrix.c: see place_cg_matrix.h. Written from the specification of the NAS Parallel Benchmarks (Bailey et al.,
 * RNR-94-007, section 2.4, and the description of makea): a sum of outer products of random sparse vectors, weighted by a
 * geometric sequence from 1 down to rcond, plus rcond - shift on the diagonal. Random numbers: x <- 5^13 x mod 2^46,
 * from 314159265.
 */
#include "place_cg_matrix.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "place_bench.h"

enum { MOST_NONZER = 32 };
#define RCOND 0.1
#define MULTIPLIER UINT64_C(1220703125)

struct vector {
    int n;
    int index[MOST_NONZER];
    double value[MOST_NONZER];
};

struct triple {
    int row, column, order;
    double value;
};

struct triples {
    struct triple *at;
    size_t n, room;
};

static double next_random(uint64_t *seed)
{
    const uint64_t mask = (UINT64_C(1) << 46) - 1;
    *seed = (uint64_t)((unsigned __int128)*seed * MULTIPLIER) & mask;
    return ldexp((double)*seed, -46);
}

static int find(const struct vector *v, int index)
{
    int i = 0;
    while (i < v->n && v->index[i] != index) i++;
    return i;
}

/** A vector of nonzer random elements at random places, and 0.5 at `own`. */
static void random_vector(uint64_t *seed, const struct cg_class *kind, int own, struct vector *v)
{
    int power = 1;
    while (power < kind->na) power *= 2;
    for (v->n = 0; v->n < kind->nonzer;) {
        double value = next_random(seed);
        int index = (int)(power * next_random(seed));
        if (index >= kind->na || find(v, index) < v->n) continue;
        v->index[v->n] = index;
        v->value[v->n++] = value;
    }
    int at = find(v, own);
    v->index[at] = own;
    v->value[at] = 0.5;
    if (at == v->n) v->n++;
}

static void keep(struct triples *t, const struct cg_block *b, int row, int column, double value)
{
    if (row < b->row0 || row >= b->row1 || column < b->col0 || column >= b->col1) return;
    if (t->n == t->room) {
        t->room = t->room ? 2 * t->room : 4096;
        t->at = realloc(t->at, t->room * sizeof *t->at);
        place_need(t->at != NULL, "out of memory");
    }
    t->at[t->n] = (struct triple){row - b->row0, column - b->col0, (int)t->n, value};
    t->n++;
}

static int compare(const void *a, const void *b)
{
    const struct triple *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/** Adds up what falls on one place. */
static void compress(struct triples *t, int rows, struct cg_matrix *matrix)
{
    qsort(t->at, t->n, sizeof *t->at, compare);
    matrix->rows = rows;
    matrix->entries = 0;
    matrix->start = place_allocate(((size_t)rows + 1) * sizeof *matrix->start);
    matrix->column = place_allocate(t->n * sizeof *matrix->column);
    matrix->value = place_allocate(t->n * sizeof *matrix->value);
    for (size_t i = 0; i < t->n; i++) {
        const struct triple *here = &t->at[i];
        if (i == 0 || here->row != here[-1].row || here->column != here[-1].column) {
            matrix->column[matrix->entries++] = here->column;
            matrix->start[here->row + 1] = matrix->entries;
        }
        matrix->value[matrix->entries - 1] += here->value;
    }
    for (int row = 0; row < rows; row++)
        if (matrix->start[row + 1] < matrix->start[row]) matrix->start[row + 1] = matrix->start[row];
}

void cg_matrix_make(const struct cg_class *kind, const struct cg_block *block, struct cg_matrix *matrix)
{
    uint64_t seed = 314159265;
    struct triples triples = {0};
    struct vector v;
    double size = 1, ratio = pow(RCOND, 1.0 / kind->na);
    place_need(kind->nonzer < MOST_NONZER, "the class has too many elements in a row");
    (void)next_random(&seed); /* the benchmark draws one number before the matrix */
    for (int i = 0; i < kind->na; i++, size *= ratio) {
        random_vector(&seed, kind, i, &v);
        for (int c = 0; c < v.n; c++)
            for (int r = 0; r < v.n; r++) keep(&triples, block, v.index[r], v.index[c], v.value[r] * (size * v.value[c]));
    }
    for (int i = 0; i < kind->na; i++) keep(&triples, block, i, i, RCOND - kind->shift);
    compress(&triples, block->row1 - block->row0, matrix);
    free(triples.at);
}

void cg_matrix_free(struct cg_matrix *matrix)
{
    free(matrix->start);
    free(matrix->column);
    free(matrix->value);
    *matrix = (struct cg_matrix){0};
}
