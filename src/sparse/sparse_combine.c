/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_combine.h. */
#include "sparse_combine.h"

#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_types.h"

static bool aligned(const void *at)
{
    return (uintptr_t)at % 16 == 0;
}

/* inout = in op inout, through aligned copies: user functions are compiled for vectors that are aligned. */
static void apply_aligned(const struct sparse_operator *operator, const unsigned char *in, unsigned char *inout, size_t count)
{
    struct sparse_scratch a, b;
    size_t size = operator->size, piece = SPARSE_SCRATCH / size;
    for (size_t start = 0; start < count; start += piece) {
        size_t n = count - start < piece ? count - start : piece;
        memcpy(a.bytes, in + start * size, n * size);
        memcpy(b.bytes, inout + start * size, n * size);
        operator->apply(a.bytes, b.bytes, n, operator->context);
        memcpy(inout + start * size, b.bytes, n * size);
    }
}

static void apply(const struct sparse_operator *operator, const void *in, void *inout, size_t count)
{
    if (operator->op == SPARSE_USER && !(aligned(in) && aligned(inout))) apply_aligned(operator, in, inout, count);
    else operator->apply(in, inout, count, operator->context);
}

/* left = left op right */
static void apply_leftwards(const struct sparse_operator *operator, unsigned char *left, const unsigned char *right, size_t count)
{
    struct sparse_scratch result;
    size_t size = operator->size, piece = SPARSE_SCRATCH / size;
    for (size_t start = 0; start < count; start += piece) {
        size_t n = count - start < piece ? count - start : piece;
        memcpy(result.bytes, right + start * size, n * size);
        apply(operator, left + start * size, result.bytes, n);
        sparse_copy_data(operator, result.bytes, left + start * size, n);
    }
}

void sparse_combine(const struct sparse_operator *operator, const void *left, const void *right, void *out, size_t count)
{
    sparse_combine_fn *kernel = sparse_kernels()->combine[operator->op][operator->type];
    if (count == 0) return;
    if (kernel) {
        kernel(left, right, out, count);
    } else if (out == left) {
        apply_leftwards(operator, out, right, count);
    } else {
        if (out != right) memcpy(out, right, count * operator->size);
        apply(operator, left, out, count);
    }
}

bool sparse_unchanged(const struct sparse_operator *operator, const void *value, bool on_right, const void *dense, size_t count)
{
    sparse_unchanged_fn *kernel = sparse_kernels()->unchanged[operator->op][operator->type];
    return kernel && kernel(value, on_right, dense, count);
}

/* An integer element as a number; little-endian or not. */
static uint64_t integer(const struct sparse_operator *operator, const void *value)
{
    union {
        uint8_t one;
        uint16_t two;
        uint32_t four;
        uint64_t eight;
    } number;
    memcpy(&number, value, operator->size);
    switch (operator->size) {
    case 1: return number.one;
    case 2: return number.two;
    case 4: return number.four;
    default: return number.eight;
    }
}

/* Reals: -inf op x for MAX is x, whatever x is, where -inf is on the right; on the left it takes the place of a NaN. So for MIN. */
static bool real_neutral(const struct sparse_operator *operator, const void *value, bool on_right)
{
    double number = 0;
    float single = 0;
    if (!on_right) return false;
    if (operator->type == SPARSE_FLOAT) {
        memcpy(&single, value, sizeof single);
        number = single;
    } else if (operator->type == SPARSE_DOUBLE) {
        memcpy(&number, value, sizeof number);
    }
    return (operator->op == SPARSE_MAX && number == -__builtin_inf()) || (operator->op == SPARSE_MIN && number == __builtin_inf());
}

bool sparse_neutral(const struct sparse_operator *operator, const void *value, bool on_right)
{
    if (operator->type == SPARSE_FLOAT || operator->type == SPARSE_DOUBLE) return real_neutral(operator, value, on_right);
    if (operator->type > SPARSE_UINT64 && operator->type != SPARSE_BYTE) return false;
    const uint64_t number = integer(operator, value), all = UINT64_MAX >> (64 - 8 * operator->size);
    const bool is_signed = operator->type <= SPARSE_INT64;
    switch (operator->op) {
    case SPARSE_SUM:
    case SPARSE_BOR:
    case SPARSE_BXOR: return number == 0;
    case SPARSE_PROD: return number == 1;
    case SPARSE_BAND: return number == all;
    case SPARSE_MAX: return number == (is_signed ? all / 2 + 1 : 0);
    case SPARSE_MIN: return number == (is_signed ? all / 2 : all);
    default: return false; /* logicals make 1 of any other number */
    }
}
