/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator on whole vectors, by the best kernel there is. */
#ifndef LUCID_SPARSE_COMBINE_H
#define LUCID_SPARSE_COMBINE_H

#include "sparse_operator.h"

/* out = left op right, element by element. `out` is `left`, `right`, or overlaps neither. Padding of `out` is left as it happens. */
void sparse_combine(const struct sparse_operator *operator, const void *left, const void *right, void *out, size_t count);

/* dense = value op dense, or dense op value when `on_right`, for every element. Padding in `dense` stays. */
void sparse_absorb(const struct sparse_operator *operator, const void *value, bool on_right, void *dense, size_t count);

/* Whether sparse_absorb() with this value changes nothing, whatever bits `dense` has. */
bool sparse_neutral(const struct sparse_operator *operator, const void *value, bool on_right);

#endif
