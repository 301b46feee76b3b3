/* SPDX-License-Identifier: BSD-3-Clause */
/* The operators' expressions as three-address loops, for the file that includes this to be compiled for its instruction set: every
 * expression has one result whatever the compiler makes of it, so all of them give the same bits. Defines
 * fill_combinations(struct sparse_kernels *). */
#include "sparse_expressions.h"
#include "sparse_kernels.h"

/* `out` may be `left` or `right`, which carries nothing from one element to the next. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* nor is anything lost without vectors, as in a build for debugging */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define COMBINE_LOOP(name, element, expression)                                              \
    static void name(const void *left, const void *right, void *out, size_t count)           \
    {                                                                                        \
        typedef element anywhere SPARSE_ANYWHERE;                                            \
        const anywhere *l = left, *r = right;                                                \
        anywhere *o = out;                                                                   \
        INDEPENDENT                                                                          \
        for (size_t i = 0; i < count; i++) {                                                 \
            const element a = l[i], b = r[i];                                                \
            o[i] = (expression);                                                             \
        }                                                                                    \
    }
SPARSE_INTEGERS(COMBINE_LOOP)
SPARSE_REALS(COMBINE_LOOP)

#define COMPLEX_SUM(type)                                                                             \
    static void sum_##type##_complex(const void *left, const void *right, void *out, size_t count)    \
    {                                                                                                 \
        sum_##type(left, right, out, 2 * count);                                                      \
    }
COMPLEX_SUM(float)
COMPLEX_SUM(double)

/* Looks at some cache lines at a time, to stop early where elements do change. */
#define STRIDE 64
#define UNCHANGED_LOOP(name, element, expression)                                                        \
    static inline element name##_of(element a, element b)                                                \
    {                                                                                                    \
        return (expression);                                                                             \
    }                                                                                                    \
    static inline bool name##_same(element value, bool on_right, const void *dense, size_t count)        \
    {                                                                                                    \
        typedef element anywhere SPARSE_ANYWHERE;                                                        \
        const anywhere *x = dense;                                                                       \
        BITS_OF(element) changes = 0, p, q;                                                              \
        for (size_t i = 0; i < count; i++) {                                                             \
            element was = x[i], is = on_right ? name##_of(was, value) : name##_of(value, was);           \
            memcpy(&p, &was, sizeof p);                                                                  \
            memcpy(&q, &is, sizeof q);                                                                   \
            changes |= p ^ q;                                                                            \
        }                                                                                                \
        return changes == 0;                                                                             \
    }                                                                                                    \
    static inline bool name##_side(element value, bool on_right, const void *dense, size_t count)        \
    {                                                                                                    \
        const unsigned char *at = dense;                                                                 \
        for (; count >= STRIDE; count -= STRIDE, at += STRIDE * sizeof(element)) {                       \
            sparse_read_ahead(at, STRIDE * sizeof(element));                                             \
            if (!name##_same(value, on_right, at, STRIDE)) return false;                                 \
        }                                                                                                \
        return name##_same(value, on_right, at, count);                                                  \
    }                                                                                                    \
    static bool name##_unchanged(const void *value, bool on_right, const void *dense, size_t count)      \
    {                                                                                                    \
        element number;                                                                                  \
        memcpy(&number, value, sizeof number);                                                           \
        return on_right ? name##_side(number, true, dense, count) : name##_side(number, false, dense, count); \
    }
/* The same for what stands before and behind each element, of which either may be missing, while it is copied. */
#define CARRY_LOOP(name, element, expression)                                                            \
    static inline bool name##_copied(const element *before, const element *behind, const void *from,     \
                                     void *to, size_t count)                                             \
    {                                                                                                    \
        typedef element anywhere SPARSE_ANYWHERE;                                                        \
        const anywhere *x = from;                                                                        \
        anywhere *o = to;                                                                                \
        BITS_OF(element) changes = 0, p, q, r;                                                           \
        INDEPENDENT                                                                                      \
        for (size_t i = 0; i < count; i++) {                                                             \
            const element was = x[i], left = before ? name##_of(*before, was) : was,                     \
                          right = behind ? name##_of(was, *behind) : was;                                \
            memcpy(&p, &was, sizeof p);                                                                  \
            memcpy(&q, &left, sizeof q);                                                                 \
            memcpy(&r, &right, sizeof r);                                                                \
            changes |= (p ^ q) | (p ^ r);                                                                \
            o[i] = was;                                                                                  \
        }                                                                                                \
        return changes == 0;                                                                             \
    }                                                                                                    \
    SPARSE_INLINE bool name##_carried(const element *before, const element *behind, const void *from,    \
                                      void *to, size_t count)                                            \
    {                                                                                                    \
        const unsigned char *at = from;                                                                  \
        unsigned char *out = to;                                                                         \
        const size_t step = STRIDE * sizeof(element);                                                    \
        for (; count >= STRIDE; count -= STRIDE, at += step, out += step) {                              \
            sparse_read_ahead(at, step);                                                                 \
            if (!name##_copied(before, behind, at, out, STRIDE)) return false;                           \
        }                                                                                                \
        return name##_copied(before, behind, at, out, count);                                            \
    }                                                                                                    \
    static bool name##_carry(const void *before, const void *behind, const void *from, void *to,         \
                             size_t count)                                                               \
    {                                                                                                    \
        element a = 0, b = 0;                                                                            \
        if (before) memcpy(&a, before, sizeof a);                                                        \
        if (behind) memcpy(&b, behind, sizeof b);                                                        \
        if (!before) return name##_carried(NULL, &b, from, to, count);                                   \
        if (!behind) return name##_carried(&a, NULL, from, to, count);                                   \
        return name##_carried(&a, &b, from, to, count);                                                  \
    }
#define BITS_OF(element) __typeof__(_Generic((element)0, float: (uint32_t)0, double: (uint64_t)0, default: (element)0))
#define BOTH_LOOPS(name, element, expression)  \
    UNCHANGED_LOOP(name, element, expression)  \
    CARRY_LOOP(name, element, expression)
SPARSE_REALS(BOTH_LOOPS)
SPARSE_ORDERED(BOTH_LOOPS, int32)
SPARSE_ORDERED(BOTH_LOOPS, int64)
SPARSE_ORDERED(BOTH_LOOPS, uint32)
SPARSE_ORDERED(BOTH_LOOPS, uint64)

static sparse_combine_fn *const combinations[SPARSE_TYPES][SPARSE_OPS] = SPARSE_PLAIN_TABLE;

static void fill_combinations(struct sparse_kernels *kernels)
{
    for (int op = 0; op < SPARSE_OPS; op++)
        for (int type = 0; type < SPARSE_TYPES; type++) kernels->combine[op][type] = combinations[type][op];
#define UNCHANGED(op, OP, type, TYPE)                                  \
    kernels->unchanged[OP][TYPE] = op##_##type##_unchanged;            \
    kernels->carry[OP][TYPE] = op##_##type##_carry;
#define UNCHANGED_ORDER(type, TYPE)                                    \
    UNCHANGED(max, SPARSE_MAX, type, TYPE)                             \
    UNCHANGED(min, SPARSE_MIN, type, TYPE)
#define UNCHANGED_REAL(type, TYPE)                                     \
    UNCHANGED_ORDER(type, TYPE)                                        \
    UNCHANGED(sum, SPARSE_SUM, type, TYPE)                             \
    UNCHANGED(prod, SPARSE_PROD, type, TYPE)
    UNCHANGED_REAL(float, SPARSE_FLOAT)
    UNCHANGED_REAL(double, SPARSE_DOUBLE)
    UNCHANGED_ORDER(int32, SPARSE_INT32)
    UNCHANGED_ORDER(int64, SPARSE_INT64)
    UNCHANGED_ORDER(uint32, SPARSE_UINT32)
    UNCHANGED_ORDER(uint64, SPARSE_UINT64)
}
