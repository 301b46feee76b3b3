/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops: moves, which know the width of an element, and combinations, which know an operator on a type. There is a
 * table of them for each instruction set; every table gives the same bits as the generic one. A mask has a bit for each of
 * `count` elements, in 64-bit words, the first element lowest, and zeros behind the last. Vectors may have any alignment. */
#ifndef LUCID_SPARSE_KERNELS_H
#define LUCID_SPARSE_KERNELS_H

#include <string.h>

#include "sparse_operator.h"

#define SPARSE_INLINE __attribute__((always_inline)) static inline

/* A processor stops reading ahead at the end of a page, and has to look up where the next one is. A loop over a long vector, in steps of
 * up to SPARSE_PAGE bytes, asks for the first lines of the page that is so many ahead, once a page: all of its lines take a third
 * longer than none on a Zen 4. Behind the vector that is in vain and does no harm. */
enum { SPARSE_PAGE = 4096, SPARSE_PAGES_AHEAD = 2 };

SPARSE_INLINE void sparse_touch_page(const void *at)
{
    __builtin_prefetch(at);
    __builtin_prefetch((const void *)((uintptr_t)at + 64));
}

SPARSE_INLINE void sparse_read_ahead(const void *at, size_t step)
{
    const uintptr_t here = (uintptr_t)at, page = here / SPARSE_PAGE * SPARSE_PAGE;
    if (here - page < step) sparse_touch_page((const void *)(page + SPARSE_PAGES_AHEAD * SPARSE_PAGE));
}

/* The numbers of a word's bits, of which `at` is the first's, one by one. Returns how many there are. */
SPARSE_INLINE size_t sparse_list_bits(uint64_t word, size_t at, unsigned char *positions)
{
    size_t n = 0;
    for (; word; word &= word - 1, n++) {
        const uint16_t position = (uint16_t)(at + (size_t)__builtin_ctzll(word));
        memcpy(positions + 2 * n, &position, sizeof position);
    }
    return n;
}

/* Sets the mask where elements differ from `background`; returns how many do. */
typedef size_t sparse_scan_fn(const void *dense, size_t count, size_t size, const void *background, uint64_t *mask);
/* The same, and their numbers, of which `first` is the first, at `positions`, where there is room for `count`. NULL: it is not faster than one
 * after the other. */
typedef size_t sparse_list_fn(const void *dense, size_t count, size_t size, const void *background, size_t first, uint64_t *mask,
                              unsigned char *positions);
/* Packs the masked elements, of which there are `room`, into `values`, which may be `dense` itself. */
typedef void sparse_compress_fn(const void *dense, size_t count, size_t size, const uint64_t *mask, size_t room, void *values);
/* dense = masked ? next value : background. Returns the values used. */
typedef size_t sparse_expand_fn(const void *values, size_t count, size_t size, const uint64_t *mask, const void *background,
                                void *dense);
/* The same past the caches: `dense` is not read first, and is not in a cache afterwards. Its caller ends with sparse_fence(). NULL: there is
 * nothing faster than without. */
typedef sparse_expand_fn sparse_spill_fn;
/* For every element of `all`, in order: own ? next value : background. `own` is a part of `all`, which has `room` elements in
 * `words` words. Returns the values used. */
typedef size_t sparse_operand_fn(const void *values, size_t words, size_t size, const uint64_t *own, const uint64_t *all,
                                 const void *background, size_t room, void *out);
/* out = dense[positions]; dense[positions] = values. */
typedef void sparse_take_fn(const void *dense, const unsigned char *positions, size_t count, size_t size, void *out);
typedef void sparse_put_fn(const void *values, const unsigned char *positions, size_t count, size_t size, void *dense);
/* One side's exceptions as positions and values. */
struct sparse_list {
    const unsigned char *positions, *values;
    const void *background;
    size_t count;
};
/* The union of both lists' positions, in order, and for each the value or background of either side. Returns how many they are; there
 * is room for both lists one behind the other. */
typedef size_t sparse_pair_fn(const struct sparse_list *left, const struct sparse_list *right, size_t size,
                              unsigned char *positions, void *left_values, void *right_values);
typedef void sparse_fill_fn(void *dense, size_t count, size_t size, const void *background);

struct sparse_moves {
    sparse_scan_fn *scan;
    sparse_list_fn *list;
    sparse_compress_fn *compress;
    sparse_expand_fn *expand;
    sparse_spill_fn *spill;
    sparse_operand_fn *operand;
    sparse_take_fn *take;
    sparse_put_fn *put;
    sparse_pair_fn *pair;
    sparse_fill_fn *fill;
};

/* out = left op right; out may be left or right. */
typedef void sparse_combine_fn(const void *left, const void *right, void *out, size_t count);
/* Whether value op dense, or dense op value when `on_right`, is dense, bit by bit, for all elements. */
typedef bool sparse_unchanged_fn(const void *value, bool on_right, const void *dense, size_t count);
/* to = from. Whether before op from, and from op behind, are from, bit by bit, for all elements; if not, `to` may be
 * written in part. Either may be NULL, but not both. */
typedef bool sparse_carry_fn(const void *before, const void *behind, const void *from, void *to, size_t count);
/* The bits of a mask, which may have any alignment. */
typedef size_t sparse_count_fn(const void *mask, size_t words);
/* The positions of the bits of a mask, of which there are `room`. */
typedef void sparse_locate_fn(const uint64_t *mask, size_t words, size_t room, unsigned char *positions);

/* Copies past the caches. Its caller ends with sparse_fence(). NULL: there is no way past them. */
typedef void sparse_stream_fn(void *to, const void *from, size_t bytes);
/* Whoever sees what is written behind it sees what was written past the caches before. It waits for that, so it is for the end of a vector.
 * NULL: there is no way past them. */
typedef void sparse_fence_fn(void);

enum sparse_width {
    SPARSE_WIDTH_1, SPARSE_WIDTH_2, SPARSE_WIDTH_4, SPARSE_WIDTH_8, SPARSE_WIDTH_16, SPARSE_WIDTH_ANY, SPARSE_WIDTHS
};

struct sparse_kernels {
    const char *name;
    struct sparse_moves moves[SPARSE_WIDTHS];
    sparse_count_fn *count;
    sparse_locate_fn *locate;
    sparse_stream_fn *stream;
    sparse_fence_fn *fence;
    /* NULL: the operator's own loop. */
    sparse_combine_fn *combine[SPARSE_OPS][SPARSE_TYPES];
    /* NULL: not worth asking. */
    sparse_unchanged_fn *unchanged[SPARSE_OPS][SPARSE_TYPES];
    sparse_carry_fn *carry[SPARSE_OPS][SPARSE_TYPES];
};

/* The table in use. */
const struct sparse_kernels *sparse_kernels(void);

static inline void sparse_fence(void)
{
    sparse_fence_fn *fence = sparse_kernels()->fence;
    if (fence) fence();
}

/* The moves for elements of `size` bytes in the table in use. */
const struct sparse_moves *sparse_moves(size_t size);

/* Each fills in what it does better than what is there. */
void sparse_kernels_generic(struct sparse_kernels *kernels);
void sparse_kernels_avx2(struct sparse_kernels *kernels);
void sparse_kernels_avx512(struct sparse_kernels *kernels);
void sparse_kernels_neon(struct sparse_kernels *kernels);

#endif
