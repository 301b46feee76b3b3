/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reduction does with two elements, without MPI: the predefined operators on the predefined types as plain C loops, which
 * are the reference everything else is compared with bit by bit, and user functions that were declared element-wise.
 *
 * `apply` follows MPI: inout[i] = in[i] op inout[i], where in comes from the lower rank. It is a pure function of the two
 * elements. */
#ifndef LUCID_SPARSE_OPERATOR_H
#define LUCID_SPARSE_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sparse_op {
    SPARSE_SUM, SPARSE_PROD, SPARSE_MAX, SPARSE_MIN, SPARSE_LAND, SPARSE_LOR, SPARSE_LXOR, SPARSE_BAND, SPARSE_BOR, SPARSE_BXOR,
    SPARSE_MAXLOC, SPARSE_MINLOC, SPARSE_USER, SPARSE_OPS
};

/* Element types by what they are in memory, whatever C, C++ or Fortran calls them. */
enum sparse_type {
    SPARSE_INT8, SPARSE_INT16, SPARSE_INT32, SPARSE_INT64, SPARSE_UINT8, SPARSE_UINT16, SPARSE_UINT32, SPARSE_UINT64,
    SPARSE_FLOAT, SPARSE_DOUBLE, SPARSE_LONG_DOUBLE, SPARSE_FLOAT_COMPLEX, SPARSE_DOUBLE_COMPLEX, SPARSE_LONG_DOUBLE_COMPLEX,
    SPARSE_BOOL,                                                      /* C _Bool, C++ bool */
    SPARSE_LOGICAL8, SPARSE_LOGICAL16, SPARSE_LOGICAL32, SPARSE_LOGICAL64, /* Fortran */
    SPARSE_BYTE,
    SPARSE_FLOAT_INT, SPARSE_DOUBLE_INT, SPARSE_LONG_INT, SPARSE_2INT, SPARSE_SHORT_INT, SPARSE_LONG_DOUBLE_INT, /* C pairs */
    SPARSE_2REAL, SPARSE_2DOUBLE_PRECISION,                           /* Fortran pairs; 2INTEGER is SPARSE_2INT */
    SPARSE_OPAQUE,                                                    /* the user function's */
    SPARSE_TYPES
};

/* What MPI's datatypes have in common with the core's types, but for their size. */
enum sparse_family {
    SPARSE_SIGNED, SPARSE_UNSIGNED, SPARSE_REAL, SPARSE_COMPLEX, SPARSE_LOGICAL, SPARSE_BOOLEAN, SPARSE_OCTET
};

/* The type of that family and size, or SPARSE_TYPES: kinds of Fortran that C has not (REAL*2, REAL*16, INTEGER*16). Long double
 * has no family: its size does not tell it from others. */
enum sparse_type sparse_type_of(enum sparse_family family, size_t size);

typedef void sparse_apply_fn(const void *in, void *inout, size_t count, void *context);

struct sparse_operator {
    enum sparse_op op;
    enum sparse_type type;
    size_t size; /* bytes from one element to the next, at most SPARSE_MAX_SIZE */
    bool commutative;
    sparse_apply_fn *apply;
    void *context;
};

#define SPARSE_MAX_SIZE 64

/* Fills `operator` for a predefined pair. Returns false where MPI defines no such pair (MPI_ERR_OP is then the library's to
 * raise). */
bool sparse_operator_predefined(enum sparse_op op, enum sparse_type type, struct sparse_operator *operator);

/* A user function over elements of `size` bytes; false when the size is 0 or above SPARSE_MAX_SIZE. */
bool sparse_operator_user(sparse_apply_fn *apply, void *context, size_t size, bool commutative, struct sparse_operator *operator);

#endif
