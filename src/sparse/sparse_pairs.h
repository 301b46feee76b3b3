/* SPDX-License-Identifier: BSD-3-Clause */
/* The value and location pairs of MAXLOC and MINLOC as they lie in memory: X(TYPE, name, value, location). */
#ifndef LUCID_SPARSE_PAIRS_H
#define LUCID_SPARSE_PAIRS_H

#define SPARSE_PAIRS(X)                                                \
    X(FLOAT_INT, float_int, float, int)                                \
    X(DOUBLE_INT, double_int, double, int)                             \
    X(LONG_INT, long_int, long, int)                                   \
    X(2INT, two_int, int, int)                                         \
    X(SHORT_INT, short_int, short, int)                                \
    X(LONG_DOUBLE_INT, long_double_int, long double, int)              \
    X(2REAL, two_real, float, float)                                   \
    X(2DOUBLE_PRECISION, two_double, double, double)

#define SPARSE_PAIR_STRUCT(TYPE, name, value, location) \
    struct sparse_##name {                              \
        value v;                                        \
        location k;                                     \
    };
SPARSE_PAIRS(SPARSE_PAIR_STRUCT)

#endif
