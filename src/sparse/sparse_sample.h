/* SPDX-License-Identifier: BSD-3-Clause */
/* Guessing the most common element from a few. */
#ifndef LUCID_SPARSE_SAMPLE_H
#define LUCID_SPARSE_SAMPLE_H

#include "sparse_operator.h"

#define SPARSE_SAMPLES 64

/* The most common of `count` <= SPARSE_SAMPLES elements without padding: how many there are, and in `first` where one is. */
size_t sparse_plurality(const unsigned char *elements, size_t count, size_t size, size_t *first);

/* Looks at up to SPARSE_SAMPLES elements of a block (at all of them, if there are no more) and copies the most common one to
 * `background`. Returns how many of those looked at it was; 0 if it is not worth looking at the others. */
size_t sparse_background(const struct sparse_operator *operator, const void *dense, size_t count, void *background);

#endif
