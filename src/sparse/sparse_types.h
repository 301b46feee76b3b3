/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the data are within an element: long double and some pairs have bytes between that no one may read for data or write. */
#ifndef LUCID_SPARSE_TYPES_H
#define LUCID_SPARSE_TYPES_H

#include "sparse_operator.h"

/* Bytes [0, first) and [second, end) of an element are data. */
struct sparse_shape {
    unsigned size, first, second, end;
};

/* The shape of a predefined type; size 0 for SPARSE_OPAQUE. */
const struct sparse_shape *sparse_shape(enum sparse_type type);

/* Whether elements have bytes that are not data. */
bool sparse_padded(const struct sparse_operator *operator);

/* Zeroes the bytes that are not data, so that equal elements have equal bytes. */
void sparse_clear_padding(const struct sparse_operator *operator, void *elements, size_t count);

/* Copies the data and leaves the bytes between as they are. */
void sparse_copy_data(const struct sparse_operator *operator, const void *from, void *to, size_t count);

#endif
