/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers of every width, logicals and bytes. Sums and products are those of the unsigned type, so that they wrap around as
 * every MPI library's do on two's complement machines, without undefined behaviour. Products of 8 and 16 bits are made in 32,
 * since C would make them in `int`. */
#include "sparse_operator_loops.h"

#define MODULAR(bits, wide)                                                                   \
    SPARSE_LOOP(sum##bits, uint##bits##_t, (uint##bits##_t)((wide)a + (wide)b))               \
    SPARSE_LOOP(prod##bits, uint##bits##_t, (uint##bits##_t)((wide)b * (wide)a))              \
    SPARSE_LOOP(land##bits, uint##bits##_t, (uint##bits##_t)(b && a))                         \
    SPARSE_LOOP(lor##bits, uint##bits##_t, (uint##bits##_t)(b || a))                          \
    SPARSE_LOOP(lxor##bits, uint##bits##_t, (uint##bits##_t)((b ? 1 : 0) ^ (a ? 1 : 0)))      \
    SPARSE_LOOP(band##bits, uint##bits##_t, (uint##bits##_t)(b & a))                          \
    SPARSE_LOOP(bor##bits, uint##bits##_t, (uint##bits##_t)(b | a))                           \
    SPARSE_LOOP(bxor##bits, uint##bits##_t, (uint##bits##_t)(b ^ a))

#define ORDERED(type)                                      \
    SPARSE_LOOP(max_##type, type##_t, b > a ? b : a)       \
    SPARSE_LOOP(min_##type, type##_t, b < a ? b : a)

MODULAR(8, uint32_t)
MODULAR(16, uint32_t)
MODULAR(32, uint32_t)
MODULAR(64, uint64_t)
ORDERED(int8)
ORDERED(int16)
ORDERED(int32)
ORDERED(int64)
ORDERED(uint8)
ORDERED(uint16)
ORDERED(uint32)
ORDERED(uint64)

#define LOGIC(bits) [SPARSE_LAND] = land##bits, [SPARSE_LOR] = lor##bits, [SPARSE_LXOR] = lxor##bits
#define BITS(bits) [SPARSE_BAND] = band##bits, [SPARSE_BOR] = bor##bits, [SPARSE_BXOR] = bxor##bits
#define INTEGER(type, bits)                                                                                        \
    {[SPARSE_SUM] = sum##bits, [SPARSE_PROD] = prod##bits, [SPARSE_MAX] = max_##type, [SPARSE_MIN] = min_##type,   \
     LOGIC(bits), BITS(bits)}

static sparse_apply_fn *const loops[SPARSE_TYPES][SPARSE_OPS] = {
    [SPARSE_INT8] = INTEGER(int8, 8),
    [SPARSE_INT16] = INTEGER(int16, 16),
    [SPARSE_INT32] = INTEGER(int32, 32),
    [SPARSE_INT64] = INTEGER(int64, 64),
    [SPARSE_UINT8] = INTEGER(uint8, 8),
    [SPARSE_UINT16] = INTEGER(uint16, 16),
    [SPARSE_UINT32] = INTEGER(uint32, 32),
    [SPARSE_UINT64] = INTEGER(uint64, 64),
    [SPARSE_BOOL] = {LOGIC(8)},
    [SPARSE_LOGICAL8] = {LOGIC(8)},
    [SPARSE_LOGICAL16] = {LOGIC(16)},
    [SPARSE_LOGICAL32] = {LOGIC(32)},
    [SPARSE_LOGICAL64] = {LOGIC(64)},
    [SPARSE_BYTE] = {BITS(8)},
};

sparse_apply_fn *sparse_integer_loop(enum sparse_op op, enum sparse_type type)
{
    return loops[type][op];
}
