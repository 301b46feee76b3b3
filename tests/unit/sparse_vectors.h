/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_vectors.h: what the tests of src/sparse share: every operator on every type, vectors of every kind, and comparisons that
 * look at the data of an element only.
 */
#ifndef LUCID_SPARSE_VECTORS_H
#define LUCID_SPARSE_VECTORS_H

#include "sparse_block.h"

enum pattern {
    RANDOM, RANDOM_HALF, SAME, DISJOINT, CLUSTERED, CONSTANT, ALL_DIFFERENT, SPECIAL, FEW_VALUES, PIECES, PATTERNS
};

/** Every pair that MPI defines, and a user function that has no identity and is not commutative, for some sizes. `at` counts up
 * from 0; false at the end. `name` is for messages. */
bool vectors_operator(unsigned at, struct sparse_operator *operator, const char **name);

/** A vector of the pattern. `side` (0, 1) makes backgrounds and positions different for the two operands, where the pattern has
 * it so. */
void vectors_fill(const struct sparse_operator *operator, enum pattern pattern, unsigned side, uint64_t seed, size_t count,
                  void *vector);

/** Whether byte `at` of an element is data: by the type's own members, not by what src/sparse thinks. */
bool vectors_is_data(const struct sparse_operator *operator, size_t at);

/** The first element that differs in its data, or `count`. */
size_t vectors_differ(const struct sparse_operator *operator, const void *a, const void *b, size_t count);

/** The first element whose padding differs, or `count`. */
size_t vectors_padding_differs(const struct sparse_operator *operator, const void *a, const void *b, size_t count);

/** out = left op right by the operator's own loop, one element at a time. */
void vectors_reference(const struct sparse_operator *operator, const void *left, const void *right, size_t count, void *out);

/** Whether LUCID_SIMD wants kernels that this processor lacks; says so then. */
bool vectors_lack_kernels(void);

/** Memory with `size` bytes that end where the memory ends, at an odd address if `odd`; to be freed by vectors_free(). */
void *vectors_alloc(size_t size, unsigned odd);
void vectors_free(void *memory, unsigned odd);

#endif
