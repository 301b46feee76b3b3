/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_format.h. Also what can be told of a message without working on it: whether it is well-formed, and its length. */
#include "sparse_format.h"

#include "sparse_kernels.h"

size_t sparse_block_bytes(enum sparse_format format, size_t elements, size_t exceptions, size_t size)
{
    switch (format) {
    case SPARSE_CONSTANT: return SPARSE_HEADER + size;
    case SPARSE_POSITIONS: return SPARSE_HEADER + size + exceptions * (2 + size);
    case SPARSE_BITMAP: return SPARSE_HEADER + size + 8 * sparse_words(elements) + exceptions * size;
    default: return SPARSE_HEADER + elements * size;
    }
}

enum sparse_format sparse_shortest(size_t elements, size_t exceptions, size_t size)
{
    static const enum sparse_format by_speed[] = {SPARSE_DENSE, SPARSE_BITMAP, SPARSE_POSITIONS};
    enum sparse_format best = SPARSE_DENSE;
    if (exceptions == 0) return SPARSE_CONSTANT;
    for (size_t i = 1; i < 3; i++)
        if (sparse_block_bytes(by_speed[i], elements, exceptions, size) < sparse_block_bytes(best, elements, exceptions, size))
            best = by_speed[i];
    return best;
}

struct sparse_header sparse_header_read(const void *message)
{
    struct sparse_header header;
    memcpy(&header, message, sizeof header);
    return header;
}

static struct sparse_view place(const struct sparse_header *header, const void *message)
{
    struct sparse_view view = {header->format, header->elements, header->exceptions, header->bytes, NULL, NULL, NULL};
    const unsigned char *at = (const unsigned char *)message + SPARSE_HEADER;
    if (view.format != SPARSE_DENSE) {
        view.background = at;
        at += header->size;
    }
    view.where = at;
    if (view.format == SPARSE_POSITIONS) at += 2 * view.exceptions;
    if (view.format == SPARSE_BITMAP) at += 8 * sparse_words(view.elements);
    view.values = at;
    return view;
}

struct sparse_view sparse_view_begin(enum sparse_format format, size_t elements, size_t exceptions, size_t size, void *message)
{
    if (format == SPARSE_DENSE) exceptions = elements;
    struct sparse_header header = {
        .version = SPARSE_VERSION, .format = (uint8_t)format, .size = (uint8_t)size, .elements = (uint32_t)elements,
        .exceptions = (uint32_t)exceptions, .bytes = (uint32_t)sparse_block_bytes(format, elements, exceptions, size)};
    memcpy(message, &header, sizeof header);
    return place(&header, message);
}

struct sparse_view sparse_view_of(const void *message)
{
    struct sparse_header header = sparse_header_read(message);
    return place(&header, message);
}

static inline void set_bit(const void *positions, size_t i, uint64_t *mask)
{
    const size_t position = sparse_position(positions, i);
    mask[position / 64] |= UINT64_C(1) << position % 64;
}

/* From four places of the list on, for who sets a bit of a word waits for the one before in the same word. */
void sparse_set_bits(const void *positions, size_t count, uint64_t *mask)
{
    const size_t quarter = count / 4;
    for (size_t i = 0; i < quarter; i++)
        for (size_t k = 0; k < 4; k++) set_bit(positions, k * quarter + i, mask);
    for (size_t i = 4 * quarter; i < count; i++) set_bit(positions, i, mask);
}

void sparse_view_mask(const struct sparse_view *view, uint64_t *mask)
{
    size_t words = sparse_words(view->elements);
    switch (view->format) {
    case SPARSE_BITMAP: memcpy(mask, view->where, 8 * words); return;
    case SPARSE_DENSE:
        memset(mask, 0xff, 8 * words);
        if (view->elements % 64) mask[words - 1] = (UINT64_C(1) << view->elements % 64) - 1;
        return;
    default:
        memset(mask, 0, 8 * words);
        if (view->format == SPARSE_POSITIONS) sparse_set_bits(view->where, view->exceptions, mask);
    }
}

/* Every pair by itself, so that a compiler looks at several at once. */
static bool positions_rise(const struct sparse_view *view)
{
    uint16_t falls = 0;
    for (size_t i = 1; i < view->exceptions; i++) {
        const uint16_t before = (uint16_t)sparse_position(view->where, i - 1), here = (uint16_t)sparse_position(view->where, i);
        falls |= here <= before;
    }
    return falls == 0 && sparse_position(view->where, view->exceptions - 1) < view->elements;
}

static bool bitmap_counts(const struct sparse_view *view)
{
    size_t words = sparse_words(view->elements);
    uint64_t last;
    memcpy(&last, view->where + 8 * (words - 1), sizeof last);
    return sparse_kernels()->count(view->where, words) == view->exceptions &&
           (view->elements % 64 == 0 || last >> view->elements % 64 == 0);
}

/* Bytes of a well-formed block of `elements` elements at the start of `left` bytes, or 0. */
static size_t check_block(const void *message, size_t left, size_t elements, size_t size)
{
    if (left < SPARSE_HEADER) return 0;
    struct sparse_header header = sparse_header_read(message);
    if (header.version != SPARSE_VERSION || header.format > SPARSE_DENSE || header.size != size || header.zero != 0 ||
        header.elements != elements || header.exceptions > elements)
        return 0;
    if (header.bytes > left || header.bytes != sparse_block_bytes(header.format, elements, header.exceptions, size)) return 0;
    struct sparse_view view = place(&header, message);
    bool fine = header.format == SPARSE_CONSTANT    ? header.exceptions == 0
                : header.format == SPARSE_POSITIONS ? header.exceptions > 0 && positions_rise(&view)
                : header.format == SPARSE_BITMAP    ? header.exceptions > 0 && bitmap_counts(&view)
                                                    : header.exceptions == elements;
    return fine ? header.bytes : 0;
}

bool sparse_check(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, size_t bytes)
{
    const unsigned char *at = message;
    if (first > layout->blocks || blocks > layout->blocks - first) return false;
    for (size_t i = first; i < first + blocks; i++) {
        size_t span = check_block(at, bytes, sparse_block_elements(layout, i), layout->operator->size);
        if (span == 0) return false;
        at += span;
        bytes -= span;
    }
    return bytes == 0;
}

size_t sparse_span(const struct sparse_layout *layout, const void *message, size_t blocks)
{
    const unsigned char *at = message;
    for (; blocks > 0; blocks--) at += sparse_header_read(at).bytes;
    return (size_t)(at - (const unsigned char *)message);
}
