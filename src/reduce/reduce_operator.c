/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_operator.c: what MPI's operators and datatypes are to the sparse core, by public MPI.
 */
#include "reduce.h"

#include <limits.h>

/* The family of a datatype that has one and the core's type of those that have none. */
struct known_type {
    MPI_Datatype type;
    int is;
};

static int look_up(const struct known_type *known, size_t n, MPI_Datatype type, int otherwise)
{
    for (size_t i = 0; type != MPI_DATATYPE_NULL && i < n; i++) /* a library may have no such Fortran type */
        if (type == known[i].type) return known[i].is;
    return otherwise;
}

static int family_of(MPI_Datatype type)
{
    const struct known_type known[] = {
        {MPI_SIGNED_CHAR, SPARSE_SIGNED}, {MPI_SHORT, SPARSE_SIGNED}, {MPI_INT, SPARSE_SIGNED}, {MPI_LONG, SPARSE_SIGNED},
        {MPI_LONG_LONG, SPARSE_SIGNED}, {MPI_INT8_T, SPARSE_SIGNED}, {MPI_INT16_T, SPARSE_SIGNED},
        {MPI_INT32_T, SPARSE_SIGNED}, {MPI_INT64_T, SPARSE_SIGNED}, {MPI_AINT, SPARSE_SIGNED}, {MPI_OFFSET, SPARSE_SIGNED},
        {MPI_COUNT, SPARSE_SIGNED}, {MPI_INTEGER, SPARSE_SIGNED}, {MPI_UNSIGNED_CHAR, SPARSE_UNSIGNED},
        {MPI_UNSIGNED_SHORT, SPARSE_UNSIGNED}, {MPI_UNSIGNED, SPARSE_UNSIGNED}, {MPI_UNSIGNED_LONG, SPARSE_UNSIGNED},
        {MPI_UNSIGNED_LONG_LONG, SPARSE_UNSIGNED}, {MPI_UINT8_T, SPARSE_UNSIGNED}, {MPI_UINT16_T, SPARSE_UNSIGNED},
        {MPI_UINT32_T, SPARSE_UNSIGNED}, {MPI_UINT64_T, SPARSE_UNSIGNED}, {MPI_FLOAT, SPARSE_REAL},
        {MPI_DOUBLE, SPARSE_REAL}, {MPI_REAL, SPARSE_REAL}, {MPI_DOUBLE_PRECISION, SPARSE_REAL},
        {MPI_C_FLOAT_COMPLEX, SPARSE_COMPLEX}, {MPI_C_DOUBLE_COMPLEX, SPARSE_COMPLEX}, {MPI_COMPLEX, SPARSE_COMPLEX},
        {MPI_DOUBLE_COMPLEX, SPARSE_COMPLEX}, {MPI_LOGICAL, SPARSE_LOGICAL}, {MPI_C_BOOL, SPARSE_BOOLEAN},
        {MPI_BYTE, SPARSE_OCTET}, {MPI_INTEGER1, SPARSE_SIGNED}, {MPI_INTEGER2, SPARSE_SIGNED}, {MPI_INTEGER4, SPARSE_SIGNED},
        {MPI_INTEGER8, SPARSE_SIGNED}, {MPI_REAL4, SPARSE_REAL}, {MPI_REAL8, SPARSE_REAL}, {MPI_COMPLEX8, SPARSE_COMPLEX},
        {MPI_COMPLEX16, SPARSE_COMPLEX}, {MPI_CXX_BOOL, SPARSE_BOOLEAN}, {MPI_CXX_FLOAT_COMPLEX, SPARSE_COMPLEX},
        {MPI_CXX_DOUBLE_COMPLEX, SPARSE_COMPLEX},
    };
    return look_up(known, sizeof known / sizeof *known, type, -1);
}

/* Pairs, and long double. */
static enum sparse_type other_type(MPI_Datatype type)
{
    const struct known_type known[] = {
        {MPI_FLOAT_INT, SPARSE_FLOAT_INT}, {MPI_DOUBLE_INT, SPARSE_DOUBLE_INT}, {MPI_LONG_INT, SPARSE_LONG_INT},
        {MPI_2INT, SPARSE_2INT}, {MPI_SHORT_INT, SPARSE_SHORT_INT}, {MPI_LONG_DOUBLE_INT, SPARSE_LONG_DOUBLE_INT},
        {MPI_2REAL, SPARSE_2REAL}, {MPI_2DOUBLE_PRECISION, SPARSE_2DOUBLE_PRECISION}, {MPI_2INTEGER, SPARSE_2INT},
        {MPI_LONG_DOUBLE, SPARSE_LONG_DOUBLE}, {MPI_C_LONG_DOUBLE_COMPLEX, SPARSE_LONG_DOUBLE_COMPLEX},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, SPARSE_LONG_DOUBLE_COMPLEX},
    };
    return (enum sparse_type)look_up(known, sizeof known / sizeof *known, type, SPARSE_TYPES);
}

static enum sparse_op op_of(MPI_Op op)
{
    const struct {
        MPI_Op op;
        enum sparse_op is;
    } known[] = {{MPI_SUM, SPARSE_SUM}, {MPI_PROD, SPARSE_PROD}, {MPI_MAX, SPARSE_MAX}, {MPI_MIN, SPARSE_MIN},
                 {MPI_LAND, SPARSE_LAND}, {MPI_LOR, SPARSE_LOR}, {MPI_LXOR, SPARSE_LXOR}, {MPI_BAND, SPARSE_BAND},
                 {MPI_BOR, SPARSE_BOR}, {MPI_BXOR, SPARSE_BXOR}, {MPI_MAXLOC, SPARSE_MAXLOC}, {MPI_MINLOC, SPARSE_MINLOC}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (op == known[i].op) return known[i].is;
    return SPARSE_USER;
}

bool lucid_reduce_predefined(MPI_Op op)
{
    return op_of(op) != SPARSE_USER;
}

static void apply_user(const void *in, void *inout, size_t count, void *context)
{
    const struct lucid_reduce_user *user = context;
    for (size_t done = 0; done < count;) {
        size_t n = count - done < INT_MAX ? count - done : INT_MAX;
        PMPI_Reduce_local((const char *)in + done * user->size, (char *)inout + done * user->size, (int)n, user->type, user->op);
        done += n;
    }
}

/* Elements one behind the other, without holes; derived types as far as their size and extents tell. */
static bool plain(MPI_Datatype type, size_t *size)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    int bytes;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes <= 0) return false;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    *size = (size_t)extent;
    return lower == 0 && true_lower == 0 && extent > 0 && extent >= true_extent;
}

static bool user_operator(MPI_Op op, MPI_Datatype type, size_t size, struct lucid_reduce_user *user,
                          struct sparse_operator *operator)
{
    int commutes = 0, bytes = 0;
    PMPI_Type_size(type, &bytes);
    if (op == MPI_OP_NULL || (size_t)bytes != size || !lucid_op_declared(op)) return false;
    if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS) return false;
    *user = (struct lucid_reduce_user){op, type, size};
    return sparse_operator_user(apply_user, user, size, commutes, operator);
}

bool lucid_reduce_operator(MPI_Op op, MPI_Datatype type, struct lucid_reduce_user *user, struct sparse_operator *operator)
{
    size_t size;
    if (!plain(type, &size)) return false;
    enum sparse_op known = op_of(op);
    if (known == SPARSE_USER) return user_operator(op, type, size, user, operator);
    int family = family_of(type);
    enum sparse_type kind = family < 0 ? other_type(type) : sparse_type_of((enum sparse_family)family, size);
    return kind < SPARSE_OPAQUE && sparse_operator_predefined(known, kind, operator) && operator->size == size;
}
