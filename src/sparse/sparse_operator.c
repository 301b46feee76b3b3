/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_operator.h. */
#include "sparse_operator.h"

#include "sparse_operator_loops.h"
#include "sparse_types.h"

static sparse_apply_fn *loop_of(enum sparse_op op, enum sparse_type type)
{
    sparse_apply_fn *loop = sparse_plain_loop(op, type);
    if (!loop) loop = sparse_wide_loop(op, type);
    if (!loop) loop = sparse_pair_loop(op, type);
    return loop;
}

bool sparse_operator_predefined(enum sparse_op op, enum sparse_type type, struct sparse_operator *operator)
{
    if ((unsigned)op >= SPARSE_OPS || (unsigned)type >= SPARSE_TYPES) return false;
    sparse_apply_fn *loop = loop_of(op, type);
    if (!loop) return false;
    *operator = (struct sparse_operator){
        .op = op, .type = type, .size = sparse_shape(type)->size, .commutative = true, .apply = loop};
    return true;
}

bool sparse_operator_user(sparse_apply_fn *apply, void *context, size_t size, bool commutative, struct sparse_operator *operator)
{
    if (size == 0 || size > SPARSE_MAX_SIZE) return false;
    *operator = (struct sparse_operator){.op = SPARSE_USER, .type = SPARSE_OPAQUE, .size = size, .commutative = commutative,
                                         .apply = apply, .context = context};
    return true;
}
