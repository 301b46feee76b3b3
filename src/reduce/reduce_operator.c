/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_operator.c: what MPI's operators and datatypes are to the sparse core, by public MPI.
 */
#include "reduce.h"

#include <limits.h>

struct known_type {
    MPI_Datatype type;
    int family; /* of the core's types */
};

enum { SIGNED, UNSIGNED, REAL, COMPLEX, LOGICAL, BOOLEAN, OCTET, PAIR };

static enum sparse_type sized(size_t size, enum sparse_type one, enum sparse_type two, enum sparse_type four, enum sparse_type eight)
{
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : size == 8 ? eight : SPARSE_TYPES;
}

static enum sparse_type of_family(int family, size_t size)
{
    switch (family) {
    case SIGNED: return sized(size, SPARSE_INT8, SPARSE_INT16, SPARSE_INT32, SPARSE_INT64);
    case UNSIGNED: return sized(size, SPARSE_UINT8, SPARSE_UINT16, SPARSE_UINT32, SPARSE_UINT64);
    case LOGICAL: return sized(size, SPARSE_LOGICAL8, SPARSE_LOGICAL16, SPARSE_LOGICAL32, SPARSE_LOGICAL64);
    case REAL: return sized(size, SPARSE_TYPES, SPARSE_TYPES, SPARSE_FLOAT, SPARSE_DOUBLE);
    case COMPLEX: return size == 8 ? SPARSE_FLOAT_COMPLEX : size == 16 ? SPARSE_DOUBLE_COMPLEX : SPARSE_TYPES;
    case BOOLEAN: return size == sizeof(bool) ? SPARSE_BOOL : SPARSE_TYPES;
    default: return SPARSE_BYTE;
    }
}

/* Kinds of Fortran that C has not (REAL*16, REAL*2, INTEGER*16) stay with the library, as does what is not predefined. */
static int family_of(MPI_Datatype type)
{
    const struct known_type known[] = {
        {MPI_SIGNED_CHAR, SIGNED}, {MPI_SHORT, SIGNED}, {MPI_INT, SIGNED}, {MPI_LONG, SIGNED}, {MPI_LONG_LONG, SIGNED},
        {MPI_INT8_T, SIGNED}, {MPI_INT16_T, SIGNED}, {MPI_INT32_T, SIGNED}, {MPI_INT64_T, SIGNED}, {MPI_AINT, SIGNED},
        {MPI_OFFSET, SIGNED}, {MPI_COUNT, SIGNED}, {MPI_INTEGER, SIGNED},
        {MPI_UNSIGNED_CHAR, UNSIGNED}, {MPI_UNSIGNED_SHORT, UNSIGNED}, {MPI_UNSIGNED, UNSIGNED}, {MPI_UNSIGNED_LONG, UNSIGNED},
        {MPI_UNSIGNED_LONG_LONG, UNSIGNED}, {MPI_UINT8_T, UNSIGNED}, {MPI_UINT16_T, UNSIGNED}, {MPI_UINT32_T, UNSIGNED},
        {MPI_UINT64_T, UNSIGNED},
        {MPI_FLOAT, REAL}, {MPI_DOUBLE, REAL}, {MPI_REAL, REAL}, {MPI_DOUBLE_PRECISION, REAL},
        {MPI_C_FLOAT_COMPLEX, COMPLEX}, {MPI_C_DOUBLE_COMPLEX, COMPLEX}, {MPI_COMPLEX, COMPLEX}, {MPI_DOUBLE_COMPLEX, COMPLEX},
        {MPI_LOGICAL, LOGICAL}, {MPI_C_BOOL, BOOLEAN}, {MPI_BYTE, OCTET},
    };
    for (size_t i = 0; type != MPI_DATATYPE_NULL && i < sizeof known / sizeof *known; i++)
        if (type == known[i].type) return known[i].family;
    return PAIR;
}

static enum sparse_type pair_of(MPI_Datatype type)
{
    const struct {
        MPI_Datatype type;
        enum sparse_type is;
    } known[] = {{MPI_FLOAT_INT, SPARSE_FLOAT_INT}, {MPI_DOUBLE_INT, SPARSE_DOUBLE_INT}, {MPI_LONG_INT, SPARSE_LONG_INT},
                 {MPI_2INT, SPARSE_2INT}, {MPI_SHORT_INT, SPARSE_SHORT_INT}, {MPI_LONG_DOUBLE_INT, SPARSE_LONG_DOUBLE_INT},
                 {MPI_2REAL, SPARSE_2REAL}, {MPI_2DOUBLE_PRECISION, SPARSE_2DOUBLE_PRECISION}, {MPI_2INTEGER, SPARSE_2INT},
                 {MPI_LONG_DOUBLE, SPARSE_LONG_DOUBLE}, {MPI_C_LONG_DOUBLE_COMPLEX, SPARSE_LONG_DOUBLE_COMPLEX}};
    for (size_t i = 0; type != MPI_DATATYPE_NULL && i < sizeof known / sizeof *known; i++)
        if (type == known[i].type) return known[i].is;
    return SPARSE_TYPES;
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

static bool user_operator(MPI_Op op, MPI_Datatype type, size_t size, struct lucid_reduce_user *user, struct sparse_operator *operator)
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
    enum sparse_type kind = family == PAIR ? pair_of(type) : of_family(family, size);
    return kind < SPARSE_OPAQUE && sparse_operator_predefined(known, kind, operator) && operator->size == size;
}
