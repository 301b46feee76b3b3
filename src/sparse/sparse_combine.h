/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator on whole vectors, by the best kernel there is. */
#ifndef LUCID_SPARSE_COMBINE_H
#define LUCID_SPARSE_COMBINE_H

#include "sparse_operator.h"

/* out = left op right, element by element. `out` is `left`, `right`, or overlaps neither. Padding of `out` is left as it happens.
 * */
void sparse_combine(const struct sparse_operator *operator, const void *left, const void *right, void *out, size_t count);

/* Whether value op x, or x op value when `on_right`, is x for every x of any bits. */
bool sparse_neutral(const struct sparse_operator *operator, const void *value, bool on_right);

/* Whether it is so for these elements; false also where finding out is not worth it. */
bool sparse_unchanged(const struct sparse_operator *operator, const void *value, bool on_right, const void *dense, size_t count);

#endif
