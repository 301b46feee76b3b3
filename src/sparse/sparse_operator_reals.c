/* SPDX-License-Identifier: BSD-3-Clause */
/* float and double, and the sums of their complex numbers, which are sums of their parts.
 *
 * C leaves open which NaN comes out of two, and a compiler answers it by how it happens to order the operands of an instruction:
 * differently in the vector part and in the rest of one loop. Here the NaN of the lower rank comes out, quiet. Where at most one
 * operand is a NaN, as in nearly all of life, this is what every loop gives. MAX and MIN choose by a comparison, as the C loops of
 * the MPI libraries do: with a NaN on either side the lower rank's element comes out, and so it does between +0 and -0. */
#include "sparse_operator_loops.h"

#include <string.h>

static inline float quiet_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits |= UINT32_C(1) << 22;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

static inline double quiet_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits |= UINT64_C(1) << 51;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

#define REAL(type)                                                        \
    SPARSE_LOOP(sum_##type, type, a != a ? quiet_##type(a) : a + b)       \
    SPARSE_LOOP(prod_##type, type, a != a ? quiet_##type(a) : a * b)      \
    SPARSE_LOOP(max_##type, type, b > a ? b : a)                          \
    SPARSE_LOOP(min_##type, type, b < a ? b : a)                          \
    static void sum_##type##_complex(const void *in, void *inout, size_t count, void *context) \
    {                                                                     \
        sum_##type(in, inout, 2 * count, context);                        \
    }

REAL(float)
REAL(double)

#define OPERATORS(type) {[SPARSE_SUM] = sum_##type, [SPARSE_PROD] = prod_##type, [SPARSE_MAX] = max_##type, [SPARSE_MIN] = min_##type}

static sparse_apply_fn *const loops[SPARSE_TYPES][SPARSE_OPS] = {
    [SPARSE_FLOAT] = OPERATORS(float),
    [SPARSE_DOUBLE] = OPERATORS(double),
    [SPARSE_FLOAT_COMPLEX] = {[SPARSE_SUM] = sum_float_complex},
    [SPARSE_DOUBLE_COMPLEX] = {[SPARSE_SUM] = sum_double_complex},
};

sparse_apply_fn *sparse_real_loop(enum sparse_op op, enum sparse_type type)
{
    return loops[type][op];
}
