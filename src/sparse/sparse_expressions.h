/* SPDX-License-Identifier: BSD-3-Clause */
/* What the operators make of two elements, written once: `a` is the lower rank's element (`in` of an MPI operator), `b` the
 * other's. The expressions are those of the C loops in Open MPI's base operators and in MPICH. LOOP(name, element, expression)
 * makes a loop of one; SPARSE_PLAIN_TABLE has the names by type and operator, the same loop for all types to whose bits it does
 * the same.
 *
 * Integers: sums and products are those of the unsigned type, so that they wrap around as on every two's complement machine,
 * without undefined behaviour; those of 8 and 16 bits are made in 32, since C would make them in `int`.
 *
 * Reals: C leaves open which NaN comes out of two, and a compiler answers it by how it happens to order the operands of an
 * instruction: differently in the vector part and in the rest of one loop. Here the NaN of the lower rank comes out, quiet. Where
 * at most one operand is a NaN, as in nearly all of life, this is what every loop gives. MAX and MIN choose by a comparison, as
 * the C loops of the MPI libraries do: with a NaN on either side the lower rank's element comes out, and so it does between +0
 * and -0. */
#ifndef LUCID_SPARSE_EXPRESSIONS_H
#define LUCID_SPARSE_EXPRESSIONS_H

#include <string.h>

#include "sparse_operator.h"

/* Vectors may have any alignment, and an element is what its address says it is. */
#define SPARSE_ANYWHERE __attribute__((aligned(1), may_alias))

static inline float sparse_quiet_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits |= UINT32_C(1) << 22;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

static inline double sparse_quiet_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits |= UINT64_C(1) << 51;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

#define SPARSE_MODULAR(LOOP, bits, wide)                                               \
    LOOP(sum##bits, uint##bits##_t, (uint##bits##_t)((wide)a + (wide)b))               \
    LOOP(prod##bits, uint##bits##_t, (uint##bits##_t)((wide)b * (wide)a))              \
    LOOP(land##bits, uint##bits##_t, (uint##bits##_t)(b != 0 && a != 0))               \
    LOOP(lor##bits, uint##bits##_t, (uint##bits##_t)(b != 0 || a != 0))                \
    LOOP(lxor##bits, uint##bits##_t, (uint##bits##_t)((b != 0) ^ (a != 0)))            \
    LOOP(band##bits, uint##bits##_t, (uint##bits##_t)(b & a))                          \
    LOOP(bor##bits, uint##bits##_t, (uint##bits##_t)(b | a))                           \
    LOOP(bxor##bits, uint##bits##_t, (uint##bits##_t)(b ^ a))

#define SPARSE_ORDERED(LOOP, type)                  \
    LOOP(max_##type, type##_t, b > a ? b : a)       \
    LOOP(min_##type, type##_t, b < a ? b : a)

#define SPARSE_INTEGERS(LOOP)             \
    SPARSE_MODULAR(LOOP, 8, uint32_t)     \
    SPARSE_MODULAR(LOOP, 16, uint32_t)    \
    SPARSE_MODULAR(LOOP, 32, uint32_t)    \
    SPARSE_MODULAR(LOOP, 64, uint64_t)    \
    SPARSE_ORDERED(LOOP, int8)            \
    SPARSE_ORDERED(LOOP, int16)           \
    SPARSE_ORDERED(LOOP, int32)           \
    SPARSE_ORDERED(LOOP, int64)           \
    SPARSE_ORDERED(LOOP, uint8)           \
    SPARSE_ORDERED(LOOP, uint16)          \
    SPARSE_ORDERED(LOOP, uint32)          \
    SPARSE_ORDERED(LOOP, uint64)

#define SPARSE_REAL(LOOP, type)                                          \
    LOOP(sum_##type, type, a != a ? sparse_quiet_##type(a) : a + b)      \
    LOOP(prod_##type, type, a != a ? sparse_quiet_##type(a) : a * b)     \
    LOOP(max_##type, type, b > a ? b : a)                                \
    LOOP(min_##type, type, b < a ? b : a)

#define SPARSE_REALS(LOOP)          \
    SPARSE_REAL(LOOP, float)        \
    SPARSE_REAL(LOOP, double)

#define SPARSE_LOGIC_ROW(bits) [SPARSE_LAND] = land##bits, [SPARSE_LOR] = lor##bits, [SPARSE_LXOR] = lxor##bits
#define SPARSE_BITS_ROW(bits) [SPARSE_BAND] = band##bits, [SPARSE_BOR] = bor##bits, [SPARSE_BXOR] = bxor##bits
#define SPARSE_INTEGER_ROW(type, bits)                                                                             \
    {[SPARSE_SUM] = sum##bits, [SPARSE_PROD] = prod##bits, [SPARSE_MAX] = max_##type, [SPARSE_MIN] = min_##type,   \
     SPARSE_LOGIC_ROW(bits), SPARSE_BITS_ROW(bits)}
#define SPARSE_REAL_ROW(type) \
    {[SPARSE_SUM] = sum_##type, [SPARSE_PROD] = prod_##type, [SPARSE_MAX] = max_##type, [SPARSE_MIN] = min_##type}

/* [type][operator] */
#define SPARSE_PLAIN_TABLE                                                                                         \
    {                                                                                                              \
        [SPARSE_INT8] = SPARSE_INTEGER_ROW(int8, 8), [SPARSE_INT16] = SPARSE_INTEGER_ROW(int16, 16),               \
        [SPARSE_INT32] = SPARSE_INTEGER_ROW(int32, 32), [SPARSE_INT64] = SPARSE_INTEGER_ROW(int64, 64),            \
        [SPARSE_UINT8] = SPARSE_INTEGER_ROW(uint8, 8), [SPARSE_UINT16] = SPARSE_INTEGER_ROW(uint16, 16),           \
        [SPARSE_UINT32] = SPARSE_INTEGER_ROW(uint32, 32), [SPARSE_UINT64] = SPARSE_INTEGER_ROW(uint64, 64),        \
        [SPARSE_BOOL] = {SPARSE_LOGIC_ROW(8)}, [SPARSE_LOGICAL8] = {SPARSE_LOGIC_ROW(8)},                          \
        [SPARSE_LOGICAL16] = {SPARSE_LOGIC_ROW(16)}, [SPARSE_LOGICAL32] = {SPARSE_LOGIC_ROW(32)},                  \
        [SPARSE_LOGICAL64] = {SPARSE_LOGIC_ROW(64)}, [SPARSE_BYTE] = {SPARSE_BITS_ROW(8)},                         \
        [SPARSE_FLOAT] = SPARSE_REAL_ROW(float), [SPARSE_DOUBLE] = SPARSE_REAL_ROW(double),                        \
        [SPARSE_FLOAT_COMPLEX] = {[SPARSE_SUM] = sum_float_complex},                                               \
        [SPARSE_DOUBLE_COMPLEX] = {[SPARSE_SUM] = sum_double_complex},                                             \
    }

#endif
