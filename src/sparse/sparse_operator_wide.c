/* SPDX-License-Identifier: BSD-3-Clause */
/* long double, its complex numbers, and the products of all complex numbers (C's own, with its care for infinities).
 *
 * Which NaN comes out of two is whatever the compiler made of the expression; that it is the same one wherever an element stands in
 * a vector needs every expression to be there once in the machine code. So this file is compiled without vectors and without
 * unrolling (see CMakeLists.txt), and nobody else computes these. */
#include <complex.h>

#include "sparse_operator_loops.h"

SPARSE_LOOP(sum_long_double, long double, b + a)
SPARSE_LOOP(prod_long_double, long double, b * a)
SPARSE_LOOP(max_long_double, long double, b > a ? b : a)
SPARSE_LOOP(min_long_double, long double, b < a ? b : a)
SPARSE_LOOP(sum_long_double_complex, long double complex, b + a)
SPARSE_LOOP(prod_long_double_complex, long double complex, b * a)
SPARSE_LOOP(prod_double_complex, double complex, b * a)
SPARSE_LOOP(prod_float_complex, float complex, b * a)

static sparse_apply_fn *const loops[SPARSE_TYPES][SPARSE_OPS] = {
    [SPARSE_LONG_DOUBLE] = {[SPARSE_SUM] = sum_long_double, [SPARSE_PROD] = prod_long_double,
                            [SPARSE_MAX] = max_long_double, [SPARSE_MIN] = min_long_double},
    [SPARSE_LONG_DOUBLE_COMPLEX] = {[SPARSE_SUM] = sum_long_double_complex, [SPARSE_PROD] = prod_long_double_complex},
    [SPARSE_DOUBLE_COMPLEX] = {[SPARSE_PROD] = prod_double_complex},
    [SPARSE_FLOAT_COMPLEX] = {[SPARSE_PROD] = prod_float_complex},
};

sparse_apply_fn *sparse_wide_loop(enum sparse_op op, enum sparse_type type)
{
    return loops[type][op];
}
