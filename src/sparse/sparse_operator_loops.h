/* SPDX-License-Identifier: BSD-3-Clause */
/* How the loops of the operators are written: one function for a whole vector around one expression for an element, where `a` is
 * the element of `in` (the lower rank's) and `b` that of `inout`. The expressions are those of the C loops in Open MPI's base
 * operators and in MPICH. */
#ifndef LUCID_SPARSE_OPERATOR_LOOPS_H
#define LUCID_SPARSE_OPERATOR_LOOPS_H

#include "sparse_operator.h"

/* Vectors may have any alignment, and an element is what its address says it is. */
#define SPARSE_ANYWHERE __attribute__((aligned(1), may_alias))

#define SPARSE_LOOP(name, element, expression)                                       \
    static void name(const void *in, void *inout, size_t count, void *context)       \
    {                                                                                \
        typedef element anywhere SPARSE_ANYWHERE;                                    \
        const anywhere *from = in;                                                   \
        anywhere *to = inout;                                                        \
        for (size_t i = 0; i < count; i++) {                                         \
            const element a = from[i], b = to[i];                                    \
            to[i] = (expression);                                                    \
        }                                                                            \
    }

/* The loops of a family of types, or NULL where MPI defines no such pair. */
sparse_apply_fn *sparse_integer_loop(enum sparse_op op, enum sparse_type type);
sparse_apply_fn *sparse_real_loop(enum sparse_op op, enum sparse_type type);
sparse_apply_fn *sparse_wide_loop(enum sparse_op op, enum sparse_type type);
sparse_apply_fn *sparse_pair_loop(enum sparse_op op, enum sparse_type type);

#endif
