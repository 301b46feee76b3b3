/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_operator.c: what an operator and a datatype of Open MPI are to the sparse core.
 *
 * Predefined operators run as the core's plain C loops; a user function runs as itself, through ompi_op_reduce, and only when the
 * program has declared it element-wise (lucid_op_set_elementwise).
 */
#include "coll_sparse.h"

#include <limits.h>

#include "ompi/op/op.h"

static enum sparse_op op_of(const ompi_op_t *op)
{
    static const enum sparse_op ops[OMPI_OP_NUM_OF_TYPES] = {
        [OMPI_OP_NULL] = SPARSE_OPS,      [OMPI_OP_MAX] = SPARSE_MAX,       [OMPI_OP_MIN] = SPARSE_MIN,
        [OMPI_OP_SUM] = SPARSE_SUM,       [OMPI_OP_PROD] = SPARSE_PROD,     [OMPI_OP_LAND] = SPARSE_LAND,
        [OMPI_OP_BAND] = SPARSE_BAND,     [OMPI_OP_LOR] = SPARSE_LOR,       [OMPI_OP_BOR] = SPARSE_BOR,
        [OMPI_OP_LXOR] = SPARSE_LXOR,     [OMPI_OP_BXOR] = SPARSE_BXOR,     [OMPI_OP_MAXLOC] = SPARSE_MAXLOC,
        [OMPI_OP_MINLOC] = SPARSE_MINLOC, [OMPI_OP_REPLACE] = SPARSE_OPS,
    };
    return op->op_type < OMPI_OP_NUM_OF_TYPES ? ops[op->op_type] : SPARSE_OPS;
}

/* Open MPI's own table says which C type's function serves a datatype, whatever its name in C, C++ or Fortran. Kinds of
 * Fortran that C has not (REAL*16, INTEGER*16, REAL*2) stay with the library. */
static enum sparse_type type_of(const ompi_datatype_t *type, size_t size)
{
    if (type->id < 0 || type->id >= OMPI_DATATYPE_MAX_PREDEFINED) return SPARSE_TYPES;
    switch (ompi_op_ddt_map[type->id]) {
    case OMPI_OP_BASE_TYPE_INT8_T: case OMPI_OP_BASE_TYPE_INT16_T: case OMPI_OP_BASE_TYPE_INT32_T: case OMPI_OP_BASE_TYPE_INT64_T:
    case OMPI_OP_BASE_TYPE_INTEGER: case OMPI_OP_BASE_TYPE_INTEGER1: case OMPI_OP_BASE_TYPE_INTEGER2:
    case OMPI_OP_BASE_TYPE_INTEGER4: case OMPI_OP_BASE_TYPE_INTEGER8: case OMPI_OP_BASE_TYPE_LONG:
        return sparse_type_of(SPARSE_SIGNED, size);
    case OMPI_OP_BASE_TYPE_UINT8_T: case OMPI_OP_BASE_TYPE_UINT16_T: case OMPI_OP_BASE_TYPE_UINT32_T:
    case OMPI_OP_BASE_TYPE_UINT64_T: case OMPI_OP_BASE_TYPE_UNSIGNED_LONG:
        return sparse_type_of(SPARSE_UNSIGNED, size);
    case OMPI_OP_BASE_TYPE_FLOAT: case OMPI_OP_BASE_TYPE_DOUBLE: case OMPI_OP_BASE_TYPE_REAL: case OMPI_OP_BASE_TYPE_REAL4:
    case OMPI_OP_BASE_TYPE_REAL8: case OMPI_OP_BASE_TYPE_DOUBLE_PRECISION:
        return sparse_type_of(SPARSE_REAL, size);
    case OMPI_OP_BASE_TYPE_LONG_DOUBLE: return SPARSE_LONG_DOUBLE;
    case OMPI_OP_BASE_TYPE_LOGICAL: return sparse_type_of(SPARSE_LOGICAL, size);
    case OMPI_OP_BASE_TYPE_BOOL: return sparse_type_of(SPARSE_BOOLEAN, size);
    case OMPI_OP_BASE_TYPE_C_FLOAT_COMPLEX: return SPARSE_FLOAT_COMPLEX;
    case OMPI_OP_BASE_TYPE_C_DOUBLE_COMPLEX: return SPARSE_DOUBLE_COMPLEX;
    case OMPI_OP_BASE_TYPE_C_LONG_DOUBLE_COMPLEX: return SPARSE_LONG_DOUBLE_COMPLEX;
    case OMPI_OP_BASE_TYPE_BYTE: return SPARSE_BYTE;
    case OMPI_OP_BASE_TYPE_2REAL: return size == 2 * sizeof(float) ? SPARSE_2REAL : SPARSE_TYPES;
    case OMPI_OP_BASE_TYPE_2DOUBLE_PRECISION: return size == 2 * sizeof(double) ? SPARSE_2DOUBLE_PRECISION : SPARSE_TYPES;
    case OMPI_OP_BASE_TYPE_2INTEGER: return size == 2 * sizeof(int) ? SPARSE_2INT : SPARSE_TYPES;
    case OMPI_OP_BASE_TYPE_FLOAT_INT: return SPARSE_FLOAT_INT;
    case OMPI_OP_BASE_TYPE_DOUBLE_INT: return SPARSE_DOUBLE_INT;
    case OMPI_OP_BASE_TYPE_LONG_INT: return SPARSE_LONG_INT;
    case OMPI_OP_BASE_TYPE_2INT: return SPARSE_2INT;
    case OMPI_OP_BASE_TYPE_SHORT_INT: return SPARSE_SHORT_INT;
    case OMPI_OP_BASE_TYPE_LONG_DOUBLE_INT: return SPARSE_LONG_DOUBLE_INT;
    default: return SPARSE_TYPES;
    }
}

/* The user's function, for a datatype and an operator that the caller keeps alive while the collective runs. */
static void apply_user(const void *in, void *inout, size_t count, void *context)
{
    const struct coll_sparse_user *user = context;
    for (size_t done = 0; done < count;) {
        size_t n = count - done < INT_MAX ? count - done : INT_MAX;
        ompi_op_reduce(user->op, (char *)(uintptr_t)in + done * user->size, (char *)inout + done * user->size, (int)n, user->type);
        done += n;
    }
}

static bool declared_elementwise(const ompi_op_t *op)
{
    static _Atomic(void *) found;
    bool (*declared)(const void *) = (bool (*)(const void *))coll_sparse_lucid("lucid_op_is_elementwise", &found);
    return declared && declared(op);
}

/* Elements lie one behind the other, without holes, and begin where the buffer does: a resized type's data may lie elsewhere than its
 * bounds say. */
static bool contiguous(const ompi_datatype_t *type, size_t *size)
{
    ptrdiff_t lower, extent, true_lower, true_extent;
    opal_datatype_type_size(&type->super, size);
    opal_datatype_get_extent(&type->super, &lower, &extent);
    opal_datatype_get_true_extent(&type->super, &true_lower, &true_extent);
    return *size != 0 && lower == 0 && true_lower == 0 && extent == (ptrdiff_t)*size && true_extent == extent
           && opal_datatype_is_contiguous_memory_layout(&type->super, 2);
}

/* A predefined pair such as MPI_DOUBLE_INT has a hole at its end; the core knows its layout. */
static size_t extent_of(const ompi_datatype_t *type)
{
    ptrdiff_t lower, extent;
    opal_datatype_get_extent(&type->super, &lower, &extent);
    return lower == 0 && extent > 0 ? (size_t)extent : 0;
}

bool coll_sparse_operator(ompi_op_t *op, ompi_datatype_t *type, struct coll_sparse_user *user, struct sparse_operator *operator)
{
    size_t size = extent_of(type);
    if (ompi_op_is_intrinsic(op)) {
        if (!ompi_datatype_is_predefined(type)) return false;
        enum sparse_op known = op_of(op);
        enum sparse_type kind = type_of(type, size);
        return known < SPARSE_USER && kind < SPARSE_OPAQUE && sparse_operator_predefined(known, kind, operator)
               && operator->size == size;
    }
    if ((op->o_flags & OMPI_OP_FLAGS_JAVA_FUNC) || !contiguous(type, &size) || !declared_elementwise(op)) return false;
    *user = (struct coll_sparse_user){op, type, size};
    return sparse_operator_user(apply_user, user, size, ompi_op_is_commute(op), operator);
}
