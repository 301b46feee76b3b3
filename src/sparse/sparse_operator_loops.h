/* SPDX-License-Identifier: BSD-3-Clause */
/* How the loops of the operators are written: inout[i] = in[i] op inout[i], the lower rank's element on the left. */
#ifndef LUCID_SPARSE_OPERATOR_LOOPS_H
#define LUCID_SPARSE_OPERATOR_LOOPS_H

#include "sparse_expressions.h"

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
sparse_apply_fn *sparse_plain_loop(enum sparse_op op, enum sparse_type type);
sparse_apply_fn *sparse_wide_loop(enum sparse_op op, enum sparse_type type);
sparse_apply_fn *sparse_pair_loop(enum sparse_op op, enum sparse_type type);

#endif
