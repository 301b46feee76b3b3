/* SPDX-License-Identifier: BSD-3-Clause */
/* The rates of this machine: the block functions at work on vectors of doubles that do not fit L2, each the best of a few
 * times. Sums of doubles stand for all operators; others are slower, here and in the MPI library. */
#include <stdlib.h>
#include <string.h>

#include "sparse_block.h"
#include "sparse_measure.h"
#include "sparse_model.h"

enum { ELEMENTS = 1 << 18, TIMES = 4, FEW = 100, SOME = 10 /* one of so many is an exception */ };

struct bench {
    struct sparse_operator operator;
    struct sparse_layout layout;
    char *dense, *left, *right, *out;
    size_t left_bytes, right_bytes, out_bytes;
};

static void fill(struct bench *b, unsigned one_in, uint64_t seed)
{
    double *vector = (double *)b->dense;
    const uint32_t below = UINT32_MAX / one_in; /* no division: every process waits for this */
    for (size_t i = 0; i < ELEMENTS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        vector[i] = seed >> 32 < below ? 1.0 + (double)i : 0.0;
    }
}

static size_t encode(struct bench *b, bool dense, char *message)
{
    return sparse_encode(&b->layout, 0, b->layout.blocks, b->dense, dense, message, NULL);
}

static void scan_once(struct bench *b)
{
    b->out_bytes = encode(b, false, b->out);
}

static void copy_once(struct bench *b)
{
    sparse_decode(&b->layout, 0, b->layout.blocks, b->left, b->dense);
}

static void merge_once(struct bench *b)
{
    b->out_bytes = sparse_merge(&b->layout, 0, b->layout.blocks, b->left, b->right, false, b->out, NULL);
}

static void add_once(struct bench *b)
{
    sparse_merge_dense(&b->layout, 0, b->layout.blocks, b->left, false, b->dense, NULL);
}

static double best_of(struct bench *b, void (*work)(struct bench *))
{
    double best = 0;
    for (int i = 0; i < TIMES; i++) {
        double begin = sparse_seconds(), took;
        work(b);
        took = sparse_seconds() - begin;
        if (i == 1 || took < best) best = took; /* the first one touches new memory */
    }
    return best > 1e-9 ? best : 1e-9;
}

static void measure(struct bench *b, struct sparse_rates *rates)
{
    double bytes = ELEMENTS * sizeof(double);
    fill(b, FEW, 1);
    rates->scan = bytes / best_of(b, scan_once);
    b->left_bytes = encode(b, false, b->left);
    rates->copy = bytes / best_of(b, copy_once);
    fill(b, SOME, 2);
    b->left_bytes = encode(b, false, b->left);
    fill(b, SOME, 3);
    b->right_bytes = encode(b, false, b->right);
    double took = best_of(b, merge_once);
    rates->merge = (double)(b->left_bytes + b->right_bytes + b->out_bytes) / took;
    b->left_bytes = encode(b, true, b->left);
    rates->add = bytes / best_of(b, add_once);
}

bool sparse_rates_calibrate(struct sparse_rates *rates)
{
    struct bench b = {0};
    if (!sparse_operator_predefined(SPARSE_SUM, SPARSE_DOUBLE, &b.operator)) return false;
    sparse_layout_init(&b.layout, &b.operator, ELEMENTS, 1);
    size_t bound = sparse_bound(&b.layout, 0, b.layout.blocks);
    b.dense = malloc(ELEMENTS * sizeof(double));
    b.left = malloc(bound);
    b.right = malloc(bound);
    b.out = malloc(bound);
    bool fine = b.dense && b.left && b.right && b.out;
    if (fine) measure(&b, rates);
    free(b.dense);
    free(b.left);
    free(b.right);
    free(b.out);
    return fine;
}
