/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_types.h. */
#include "sparse_types.h"

#include <complex.h>
#include <float.h>
#include <string.h>

#include "sparse_pairs.h"

/* x86's long double: 10 bytes of data in 16 (in 12 with 32 bits). */
#if LDBL_MANT_DIG == 64
#define LONG_DOUBLE_DATA 10
#else
#define LONG_DOUBLE_DATA sizeof(long double)
#endif
#define WHOLE(type) {sizeof(type), sizeof(type), sizeof(type), sizeof(type)}
#define DATA_OF(type) _Generic((type)0, long double: LONG_DOUBLE_DATA, default: sizeof(type))

static const struct sparse_shape shapes[SPARSE_TYPES] = {
    [SPARSE_INT8] = WHOLE(int8_t), [SPARSE_INT16] = WHOLE(int16_t),
    [SPARSE_INT32] = WHOLE(int32_t), [SPARSE_INT64] = WHOLE(int64_t),
    [SPARSE_UINT8] = WHOLE(uint8_t), [SPARSE_UINT16] = WHOLE(uint16_t),
    [SPARSE_UINT32] = WHOLE(uint32_t), [SPARSE_UINT64] = WHOLE(uint64_t),
    [SPARSE_FLOAT] = WHOLE(float), [SPARSE_DOUBLE] = WHOLE(double),
    [SPARSE_FLOAT_COMPLEX] = WHOLE(float complex), [SPARSE_DOUBLE_COMPLEX] = WHOLE(double complex),
    [SPARSE_LONG_DOUBLE] = {sizeof(long double), LONG_DOUBLE_DATA, sizeof(long double), sizeof(long double)},
    [SPARSE_LONG_DOUBLE_COMPLEX] = {sizeof(long double complex), LONG_DOUBLE_DATA, sizeof(long double),
                                    sizeof(long double) + LONG_DOUBLE_DATA},
    [SPARSE_BOOL] = WHOLE(uint8_t), [SPARSE_LOGICAL8] = WHOLE(uint8_t), [SPARSE_LOGICAL16] = WHOLE(uint16_t),
    [SPARSE_LOGICAL32] = WHOLE(uint32_t), [SPARSE_LOGICAL64] = WHOLE(uint64_t), [SPARSE_BYTE] = WHOLE(uint8_t),
#define PAIR(TYPE, name, value, location)                                                                                  \
    [SPARSE_##TYPE] = {sizeof(struct sparse_##name), DATA_OF(value), offsetof(struct sparse_##name, k),                    \
                       offsetof(struct sparse_##name, k) + sizeof(location)},
    SPARSE_PAIRS(PAIR)
};

const struct sparse_shape *sparse_shape(enum sparse_type type)
{
    return &shapes[type];
}

bool sparse_padded(const struct sparse_operator *operator)
{
    const struct sparse_shape *shape = sparse_shape(operator->type);
    return shape->first < shape->second || shape->end < shape->size;
}

void sparse_clear_padding(const struct sparse_operator *operator, void *elements, size_t count)
{
    const struct sparse_shape *shape = sparse_shape(operator->type);
    unsigned char *at = elements;
    if (!sparse_padded(operator)) return;
    for (; count > 0; count--, at += shape->size) {
        if (shape->second > shape->first) memset(at + shape->first, 0, shape->second - shape->first);
        if (shape->size > shape->end) memset(at + shape->end, 0, shape->size - shape->end);
    }
}

void sparse_copy_data(const struct sparse_operator *operator, const void *from, void *to, size_t count)
{
    const struct sparse_shape *shape = sparse_shape(operator->type);
    const unsigned char *source = from;
    unsigned char *target = to;
    if (!sparse_padded(operator)) {
        if (count > 0) memmove(to, from, count * operator->size);
        return;
    }
    for (; count > 0; count--, source += shape->size, target += shape->size) {
        memcpy(target, source, shape->first);
        if (shape->end > shape->second) memcpy(target + shape->second, source + shape->second, shape->end - shape->second);
    }
}

static enum sparse_type sized(size_t size, enum sparse_type one, enum sparse_type two, enum sparse_type four, enum sparse_type eight)
{
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : size == 8 ? eight : SPARSE_TYPES;
}

enum sparse_type sparse_type_of(enum sparse_family family, size_t size)
{
    switch (family) {
    case SPARSE_SIGNED: return sized(size, SPARSE_INT8, SPARSE_INT16, SPARSE_INT32, SPARSE_INT64);
    case SPARSE_UNSIGNED: return sized(size, SPARSE_UINT8, SPARSE_UINT16, SPARSE_UINT32, SPARSE_UINT64);
    case SPARSE_LOGICAL: return sized(size, SPARSE_LOGICAL8, SPARSE_LOGICAL16, SPARSE_LOGICAL32, SPARSE_LOGICAL64);
    case SPARSE_REAL: return size == 4 ? SPARSE_FLOAT : size == 8 ? SPARSE_DOUBLE : SPARSE_TYPES;
    case SPARSE_COMPLEX: return size == 8 ? SPARSE_FLOAT_COMPLEX : size == 16 ? SPARSE_DOUBLE_COMPLEX : SPARSE_TYPES;
    case SPARSE_BOOLEAN: return size == sizeof(bool) ? SPARSE_BOOL : SPARSE_TYPES;
    case SPARSE_OCTET: return size == 1 ? SPARSE_BYTE : SPARSE_TYPES;
    }
    return SPARSE_TYPES;
}
