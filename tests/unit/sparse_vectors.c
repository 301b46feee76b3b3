/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_vectors.c: see sparse_vectors.h.
 */
#include "sparse_vectors.h"

#include <float.h>
#include <math.h>

#include "unit.h"

static const size_t user_sizes[] = {1, 3, 4, 8, 12, 16, 24, 32, 40, 64};
#define USERS COUNT_OF(user_sizes)

/* Neither commutative nor with an identity; every byte of the result depends on both sides. */
static void user_function(const void *in, void *inout, size_t count, void *context)
{
    const size_t size = *(const size_t *)context;
    const unsigned char *a = in;
    unsigned char *b = inout;
    for (size_t i = 0; i < count * size; i++) b[i] = (unsigned char)(3 * a[i] + (b[i] ^ 0x5a) * (a[i] | 1) + i % size);
}

bool vectors_operator(unsigned at, struct sparse_operator *operator, const char **name)
{
    static char text[64];
    *name = text;
    for (int op = 0; op < SPARSE_OPS; op++)
        for (int type = 0; type < SPARSE_TYPES; type++) {
            if (!sparse_operator_predefined((enum sparse_op)op, (enum sparse_type)type, operator) || at-- > 0) continue;
            snprintf(text, sizeof text, "operator %d type %d", op, type);
            return true;
        }
    if (at >= USERS) return false;
    snprintf(text, sizeof text, "user function of %zu bytes", user_sizes[at]);
    return sparse_operator_user(user_function, (void *)&user_sizes[at], user_sizes[at], false, operator);
}

static double special_real(uint64_t *state)
{
    static const uint64_t payloads[] = {UINT64_C(0x7ff8000000000001), UINT64_C(0xfff8000000abcdef), UINT64_C(0x7ff0000000000001),
                                        UINT64_C(0xfff4000000000123), UINT64_C(0x7ff7ffffffffffff)};
    static const double numbers[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, 5e-324, -5e-324,
                                     2.2e-308, 1.7e308, -1.7e308, 1e-45, 3e38};
    uint64_t r = unit_random(state);
    double x;
    if (r % 3 == 0) {
        memcpy(&x, &payloads[r / 3 % COUNT_OF(payloads)], sizeof x);
        return x;
    }
    return numbers[r / 3 % COUNT_OF(numbers)];
}

/* NaNs of both kinds with payloads survive only if they are made as bits. */
static float special_float(uint64_t *state)
{
    static const uint32_t bits[] = {0x7fc00001, 0xffc0abcd, 0x7f800001, 0xffa00123, 0x7fbfffff, 0x00000001, 0x80000001, 0x80000000,
                                    0, 0x7f800000, 0xff800000, 0x3f800000, 0xbf800000, 0x7f7fffff};
    float x;
    memcpy(&x, &bits[unit_random(state) % COUNT_OF(bits)], sizeof x);
    return x;
}

static bool all_floats(enum sparse_type type)
{
    return type == SPARSE_FLOAT || type == SPARSE_FLOAT_COMPLEX || type == SPARSE_2REAL;
}

static bool all_doubles(enum sparse_type type)
{
    return type == SPARSE_DOUBLE || type == SPARSE_DOUBLE_COMPLEX || type == SPARSE_2DOUBLE_PRECISION;
}

static bool long_doubles(enum sparse_type type)
{
    return type == SPARSE_LONG_DOUBLE || type == SPARSE_LONG_DOUBLE_COMPLEX || type == SPARSE_LONG_DOUBLE_INT;
}

/* An element with what its type makes special, or (kind 0) plain ones; padding is random throughout. */
static void make_element(const struct sparse_operator *operator, bool special, uint64_t *state, unsigned char *to)
{
    size_t size = operator->size;
    bool reals = all_floats(operator->type) || all_doubles(operator->type) || long_doubles(operator->type);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t r = unit_random(state);
        memcpy(to + i, &r, size - i < 8 ? size - i : 8);
    }
    if (!reals && operator->type != SPARSE_FLOAT_INT && operator->type != SPARSE_DOUBLE_INT) {
        static const unsigned char extremes[] = {0, 0xff, 0x7f, 0x80, 1, 2};
        if (special) memset(to, extremes[unit_random(state) % COUNT_OF(extremes)], size);
        return;
    }
    bool floats = all_floats(operator->type) || operator->type == SPARSE_FLOAT_INT;
    bool pair = operator->type == SPARSE_FLOAT_INT || operator->type == SPARSE_DOUBLE_INT ||
                operator->type == SPARSE_LONG_DOUBLE_INT;
    size_t step = floats ? 4 : long_doubles(operator->type) ? sizeof(long double) : 8;
    for (size_t i = 0; i + step <= size && !(pair && i > 0); i += step) {
        double real = special ? special_real(state) : (double)(int64_t)unit_random(state) / 1e6;
        float single = special ? special_float(state) : (float)real;
        long double wide = special ? (long double)real : (long double)real * 1.000000000000001L;
        if (floats) memcpy(to + i, &single, sizeof single);
        else if (step == 8) memcpy(to + i, &real, sizeof real);
        else memcpy(to + i, &wide, sizeof wide < 10 ? sizeof wide : 10);
    }
}

static bool is_exception(enum pattern pattern, unsigned side, uint64_t seed, uint64_t *state, size_t i)
{
    uint64_t same = seed ^ i * UINT64_C(0x9e3779b97f4a7c15);
    same = (same ^ same >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    switch (pattern) {
    case RANDOM: return unit_random(state) % 50 == 0;
    case RANDOM_HALF: return unit_random(state) % 2 == 0;
    case SAME: return (same >> 33) % 20 == 0;
    case DISJOINT: return (i / 100 + side) % 8 == 0;
    case CLUSTERED: return (i / 500 + 3 * side) % 9 == 0 && unit_random(state) % 4 != 0;
    case CONSTANT: return false;
    case ALL_DIFFERENT: return true;
    case SPECIAL: return unit_random(state) % 10 == 0;
    case FEW_VALUES: return unit_random(state) % 3 == 0;
    default: return i % 20000 < 7;
    }
}

static bool within(size_t at, size_t start, size_t size)
{
    return at >= start && at < start + size;
}

bool vectors_is_data(const struct sparse_operator *operator, size_t at)
{
    const size_t wide = sizeof(long double) == 16 && LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);
    switch (operator->type) {
    case SPARSE_LONG_DOUBLE:
    case SPARSE_LONG_DOUBLE_COMPLEX: return at % sizeof(long double) < wide;
    case SPARSE_LONG_DOUBLE_INT: return at < wide || within(at, sizeof(long double), sizeof(int));
    case SPARSE_DOUBLE_INT: return at < sizeof(double) + sizeof(int);
    case SPARSE_LONG_INT: return at < sizeof(long) + sizeof(int);
    case SPARSE_SHORT_INT: return at < sizeof(short) || at >= sizeof(int);
    default: return true;
    }
}

/* Which bytes of an element are data; returns whether all are. */
static bool data_of(const struct sparse_operator *operator, bool *data)
{
    bool all = true;
    for (size_t b = 0; b < operator->size; b++) all &= data[b] = vectors_is_data(operator, b);
    return all;
}

void vectors_fill(const struct sparse_operator *operator, enum pattern pattern, unsigned side, uint64_t seed, size_t count,
                  void *vector)
{
    uint64_t state = seed * 2 + side + 1, bits = seed ^ (side * 77 + 5);
    unsigned char background[SPARSE_MAX_SIZE] = {0}, few[4][SPARSE_MAX_SIZE], *at = vector;
    bool special = pattern == SPECIAL || pattern == FEW_VALUES, data[SPARSE_MAX_SIZE];
    const bool all = data_of(operator, data);
    if (bits == 0) bits = 1;
    for (int i = 0; i < 4; i++) make_element(operator, true, &bits, few[i]);
    if (seed % 3 != 0) make_element(operator, seed % 3 == 1, &bits, background);
    for (size_t i = 0; i < count; i++, at += operator->size) {
        if (pattern == PIECES && i % 3000 == 0) make_element(operator, i % 2, &bits, background);
        bool exception = is_exception(pattern, side, seed, &state, i);
        make_element(operator, special, &state, at); /* random padding for the background, too */
        if (exception && pattern == FEW_VALUES) memcpy(at, few[unit_random(&state) % 4], operator->size);
        if (exception) continue;
        for (size_t b = 0; b < operator->size && !all; b++)
            if (data[b]) at[b] = background[b];
        if (all) memcpy(at, background, operator->size);
    }
}

/* Bits of two elements that differ where `mask` has ones; elements of 8 bytes and more are compared by so many. */
static bool differs(const unsigned char *p, const unsigned char *q, const unsigned char *mask, size_t size)
{
    uint64_t a, b, m, differs = 0;
    size_t i = 0;
    for (; i + sizeof a <= size; i += sizeof a) {
        memcpy(&a, p + i, sizeof a);
        memcpy(&b, q + i, sizeof b);
        memcpy(&m, mask + i, sizeof m);
        differs |= (a ^ b) & m;
    }
    for (; i < size; i++) differs |= (p[i] ^ q[i]) & mask[i];
    return differs != 0;
}

static size_t first_difference(const struct sparse_operator *operator, const void *a, const void *b, size_t count, bool wanted)
{
    const unsigned char *p = a, *q = b;
    bool data[SPARSE_MAX_SIZE];
    unsigned char mask[SPARSE_MAX_SIZE];
    const size_t size = operator->size;
    const bool all = data_of(operator, data);
    if (wanted ? memcmp(p, q, count * size) == 0 : all) return count;
    for (size_t byte = 0; byte < size; byte++) mask[byte] = data[byte] == wanted ? 0xff : 0;
    for (size_t i = 0; i < count; i++, p += size, q += size)
        if (differs(p, q, mask, size)) return i;
    return count;
}

size_t vectors_differ(const struct sparse_operator *operator, const void *a, const void *b, size_t count)
{
    return first_difference(operator, a, b, count, true);
}

size_t vectors_padding_differs(const struct sparse_operator *operator, const void *a, const void *b, size_t count)
{
    return first_difference(operator, a, b, count, false);
}

void vectors_reference(const struct sparse_operator *operator, const void *left, const void *right, size_t count, void *out)
{
    _Alignas(64) unsigned char a[SPARSE_MAX_SIZE], b[SPARSE_MAX_SIZE];
    size_t size = operator->size;
    for (size_t i = 0; i < count; i++) {
        memcpy(a, (const unsigned char *)left + i * size, size);
        memcpy(b, (const unsigned char *)right + i * size, size);
        operator->apply(a, b, 1, operator->context);
        memcpy((unsigned char *)out + i * size, b, size);
    }
}

bool vectors_lack_kernels(void)
{
    const char *wanted = getenv("LUCID_SIMD");
    if (!wanted || !wanted[0] || strcmp(wanted, "auto") == 0 || strcmp(wanted, sparse_simd()) == 0) return false;
    printf("SKIP: this processor has no %s\n", wanted);
    return true;
}

void *vectors_alloc(size_t size, unsigned odd)
{
    unsigned char *memory = malloc(size + odd);
    assert_non_null(memory);
    return memory + odd;
}

void vectors_free(void *memory, unsigned odd)
{
    free((unsigned char *)memory - odd);
}
