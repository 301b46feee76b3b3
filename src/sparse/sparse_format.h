/* SPDX-License-Identifier: BSD-3-Clause */
/* What a block looks like on the wire (docs/dev/sparse-blocks.md has the table). Numbers are in the machine's byte order. */
#ifndef LUCID_SPARSE_FORMAT_H
#define LUCID_SPARSE_FORMAT_H

#include <string.h>

#include "sparse_block.h"

#define SPARSE_VERSION 1
#define SPARSE_MAX_BLOCK 65536 /* elements: a position has 16 bits */
#define SPARSE_MAX_WORDS (SPARSE_MAX_BLOCK / 64)

struct sparse_header {
    uint8_t version, format, size, zero;
    uint32_t elements, exceptions;
    uint32_t bytes; /* of the block, with this header */
};
#define SPARSE_HEADER sizeof(struct sparse_header)
_Static_assert(sizeof(struct sparse_header) == 16, "the header on the wire");

/* A block that was checked, or was just written. */
struct sparse_view {
    enum sparse_format format;
    size_t elements, exceptions, bytes;
    const unsigned char *background; /* not for dense */
    const unsigned char *where;      /* positions or bitmap */
    const unsigned char *values;
};

static inline size_t sparse_words(size_t elements)
{
    return (elements + 63) / 64;
}

static inline size_t sparse_position(const unsigned char *positions, size_t i)
{
    uint16_t position;
    memcpy(&position, positions + 2 * i, sizeof position);
    return position;
}

/* Bytes of a block, with the header. */
size_t sparse_block_bytes(enum sparse_format format, size_t elements, size_t exceptions, size_t size);

/* The shortest format; of two equal ones the one that is faster to work with. */
enum sparse_format sparse_shortest(size_t elements, size_t exceptions, size_t size);

struct sparse_header sparse_header_read(const void *message);

/* Writes the header and returns where in the block everything goes. */
struct sparse_view sparse_view_begin(enum sparse_format format, size_t elements, size_t exceptions, size_t size, void *message);

struct sparse_view sparse_view_of(const void *message);

/* Whether the exceptions are a list, which may be empty. */
static inline bool sparse_listed(const struct sparse_view *view)
{
    return view->format == SPARSE_CONSTANT || view->format == SPARSE_POSITIONS;
}

/* Sets the bits of so many positions of a list. */
void sparse_set_bits(const void *positions, size_t count, uint64_t *mask);

/* The exceptions as a bitmap; all ones for dense. */
void sparse_view_mask(const struct sparse_view *view, uint64_t *mask);

/* `n` bits of a mask, up to 64, from bit `by` of its first word on; some may lie in the next word. */
static inline uint64_t sparse_mask_bits(const uint64_t *mask, size_t by, size_t n)
{
    const uint64_t low = mask[0] >> by, high = by + n > 64 ? mask[1] << (64 - by) : 0;
    return (low | high) & (n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0));
}

/* The bits of a mask that may have any alignment. */
static inline size_t sparse_mask_count(const void *mask, size_t words)
{
    const unsigned char *at = mask;
    size_t count = 0;
    for (uint64_t word; words > 0; words--, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        count += (size_t)__builtin_popcountll(word);
    }
    return count;
}

/* Elements of block `index`. */
static inline size_t sparse_block_elements(const struct sparse_layout *layout, size_t index)
{
    return sparse_layout_start(layout, index + 1) - sparse_layout_start(layout, index);
}

static inline void sparse_tally_add(struct sparse_tally *tally, size_t elements, size_t exceptions)
{
    if (!tally) return;
    tally->elements += elements;
    tally->exceptions += exceptions;
}

static inline void sparse_tally_written(struct sparse_tally *tally, const struct sparse_view *view)
{
    if (!tally) return;
    sparse_tally_add(tally, view->elements, view->exceptions);
    tally->blocks[view->format]++;
}

/* Scratch space of the functions that go through a block in pieces: as many elements as fit, in whole words of a mask. */
#define SPARSE_SCRATCH 16384
struct sparse_scratch {
    _Alignas(64) unsigned char bytes[SPARSE_SCRATCH];
};
static inline size_t sparse_piece(size_t size)
{
    return SPARSE_SCRATCH / size / 64 * 64;
}

#endif
