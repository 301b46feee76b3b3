/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers of every width, logicals, bytes, float and double, and the sums of complex numbers, which are sums of their parts. */
#include "sparse_operator_loops.h"

SPARSE_INTEGERS(SPARSE_LOOP)
SPARSE_REALS(SPARSE_LOOP)

#define COMPLEX_SUM(type)                                                                      \
    static void sum_##type##_complex(const void *in, void *inout, size_t count, void *context) \
    {                                                                                          \
        sum_##type(in, inout, 2 * count, context);                                             \
    }
COMPLEX_SUM(float)
COMPLEX_SUM(double)

static sparse_apply_fn *const loops[SPARSE_TYPES][SPARSE_OPS] = SPARSE_PLAIN_TABLE;

sparse_apply_fn *sparse_plain_loop(enum sparse_op op, enum sparse_type type)
{
    return loops[type][op];
}
