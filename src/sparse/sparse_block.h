/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks: a vector cut into pieces of at most 65,536 elements, each written as its background (one value) and its exceptions, in
 * the shortest of four formats: constant, positions (16 bit) + values, bitmap + values, dense. A run of consecutive blocks is one
 * contiguous message, so that any range of blocks of an encoded vector can be sent without a copy.
 *
 * Merging applies the operator to the two backgrounds once, and to the exceptions with the missing side filled in: computed,
 * never copied. It needs no neutral element and no commutativity; where the background is neutral it is Traeff's scheme (EuroMPI
 * 2010).
 *
 * Nothing here allocates, blocks or knows MPI; everything is thread-safe on disjoint buffers. Buffers may have any alignment. */
#ifndef LUCID_SPARSE_BLOCK_H
#define LUCID_SPARSE_BLOCK_H

#include "sparse_operator.h"

/* How one reduction cuts its vector. Every rank of a reduction must make the same. */
struct sparse_layout {
    const struct sparse_operator *operator;
    size_t count;   /* elements */
    size_t block;   /* elements of every block but the last, <= 65,536 */
    size_t blocks;
};

/* Cuts `count` elements for `parts` owners: the block fits L2, and there are at least `parts` blocks when there are as many
 * elements. */
void sparse_layout_init(struct sparse_layout *layout, const struct sparse_operator *operator, size_t count, size_t parts);

/* Elements before block `index` (index may be `blocks`: all). */
size_t sparse_layout_start(const struct sparse_layout *layout, size_t index);

enum sparse_format { SPARSE_CONSTANT, SPARSE_POSITIONS, SPARSE_BITMAP, SPARSE_DENSE };

/* What was seen on the way; counters add up. */
struct sparse_tally {
    uint64_t elements, exceptions;      /* encoded or merged */
    uint64_t blocks[4];                 /* by format written */
};

/* The most bytes that `blocks` blocks from `first` on take: dense and headers, < 0.3 % above the elements' own bytes for blocks of
 * 1,024 elements of 8 bytes and more. */
size_t sparse_bound(const struct sparse_layout *layout, size_t first, size_t blocks);

/* Writes blocks [first, first + blocks) of the vector into `message` (sparse_bound bytes). `dense` points at the element with
 * which block `first` begins. `force_dense` writes every block as dense (the twin to compare with). Returns the bytes written. */
size_t sparse_encode(const struct sparse_layout *layout, size_t first, size_t blocks, const void *dense, bool force_dense,
                     void *message, struct sparse_tally *tally);

/* Whether `bytes` bytes are a well-formed message of exactly these blocks. Everything below trusts a message that was checked. */
bool sparse_check(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, size_t bytes);

/* Bytes that the first `blocks` blocks of a message take. */
size_t sparse_span(const struct sparse_layout *layout, const void *message, size_t blocks);

/* Adds what is in a message, as if it had been merged here. */
void sparse_tally_message(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message,
                          struct sparse_tally *tally);

/* Writes the elements. */
void sparse_decode(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, void *dense);

/* The same past the caches, for a result that is longer than they are. */
void sparse_decode_past(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, void *dense);

/* dense = message op dense, or dense op message when `message_is_right`. */
void sparse_merge_dense(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, bool message_is_right,
                        void *dense, struct sparse_tally *tally);

/* How a result is written: into the caches; past them where it is not added up; or always, by pieces that are added up in L1 if the
 * vectors are few exceptions each. */
enum sparse_past { SPARSE_CACHED, SPARSE_PAST, SPARSE_PAST_BY_PIECES };

/* dense = m[0] op m[1] op ... from left to right, where m[i] lies at base + at[i]: block by block, so that what is added to stays in
 * L2. Where all but one are constants that change nothing, that one is written straight away. `at` is moved on behind the messages. */
void sparse_pile(const struct sparse_layout *layout, const void *base, size_t *at, size_t messages, enum sparse_past past, void *dense);

/* The same of `elements` values that lie in memory as they are, and so many constants before and behind them: true, and dense = values, if
 * the values are the result, bit by bit. If not, `dense` may have some of the values. It may be where they are. Not for elements with padding. */
bool sparse_pile_alone(const struct sparse_operator *operator, const void *constant, size_t before, size_t behind, const void *values,
                       size_t elements, void *dense);

/* out = left op right, all three encoded; `out` (sparse_bound bytes) overlaps neither. `left` comes from the lower ranks.
 * Returns the bytes written. */
size_t sparse_merge(const struct sparse_layout *layout, size_t first, size_t blocks, const void *left, const void *right,
                    bool force_dense, void *out, struct sparse_tally *tally);

/* A rank's elements of a vector, and whether there is nothing but zeros elsewhere. */
struct sparse_share {
    size_t from, to;
    bool alone;
};

/* Share of elements that differ from their surroundings' most common value, from `lines` cache lines spread over the vector by a
 * fixed pattern; 1 for an empty vector. A guess: it costs `lines` cache misses. Where `share` is not NULL share->alone becomes false if one of
 * the lines shows that it is, or the vector is too short to say. */
double sparse_sample(const struct sparse_operator *operator, const void *dense, size_t count, unsigned lines, struct sparse_share *share);

/* The instruction set in use ("generic", "avx2", "avx512", "neon"), chosen once from the CPU or LUCID_SIMD. */
const char *sparse_simd(void);

#endif
