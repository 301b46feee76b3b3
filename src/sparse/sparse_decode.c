/* SPDX-License-Identifier: BSD-3-Clause */
/* From a message to elements. A vector that is larger than caches are is made piece by piece in L1 and streamed past them: a plain
 * store would read every line of it before it is overwritten. */
#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_types.h"

#define STREAM_FROM ((size_t)32 * 1024 * 1024) /* bytes of the whole vector */

static void decode_block(const struct sparse_moves *moves, const struct sparse_view *view, size_t size, void *dense)
{
    uint64_t mask[SPARSE_MAX_WORDS];
    switch (view->format) {
    case SPARSE_DENSE: memcpy(dense, view->values, view->elements * size); return;
    case SPARSE_BITMAP:
        sparse_view_mask(view, mask);
        moves->expand(view->values, view->elements, size, mask, view->background, dense);
        return;
    default:
        moves->fill(dense, view->elements, size, view->background);
        if (view->format == SPARSE_POSITIONS) moves->put(view->values, view->where, view->exceptions, size, dense);
    }
}

/* What lies between the data of an element is the program's: it stays. */
static void decode_padded(const struct sparse_operator *operator, const struct sparse_view *view, unsigned char *dense)
{
    const struct sparse_moves *moves = sparse_moves(operator->size);
    struct sparse_scratch copy;
    uint64_t mask[SPARSE_MAX_WORDS];
    size_t size = operator->size, piece = sparse_piece(size);
    const unsigned char *values = view->values;
    const void *background = view->format == SPARSE_DENSE ? view->values : view->background;
    sparse_view_mask(view, mask);
    for (size_t start = 0; start < view->elements; start += piece) {
        size_t n = view->elements - start < piece ? view->elements - start : piece;
        values += size * moves->expand(values, n, size, mask + start / 64, background, copy.bytes);
        sparse_copy_data(operator, copy.bytes, dense + start * size, n);
    }
}

/* Of the exceptions from number `from` on, those before element `end`: their places in the piece that begins with `start`. */
static size_t places_in_piece(const struct sparse_view *view, size_t from, size_t start, size_t end, unsigned char *places)
{
    size_t n = 0;
    for (; from + n < view->exceptions; n++) {
        size_t position = sparse_position(view->where, from + n);
        if (position >= end) break;
        uint16_t place = (uint16_t)(position - start);
        memcpy(places + 2 * n, &place, sizeof place);
    }
    return n;
}

static void stream_positions(const struct sparse_kernels *kernels, const struct sparse_moves *moves, const struct sparse_view *view,
                             size_t size, unsigned char *dense)
{
    struct sparse_scratch made;
    unsigned char places[2 * SPARSE_SCRATCH];
    size_t piece = sparse_piece(size), at = 0;
    for (size_t start = 0; start < view->elements; start += piece) {
        size_t n = view->elements - start < piece ? view->elements - start : piece;
        size_t exceptions = places_in_piece(view, at, start, start + n, places);
        moves->fill(made.bytes, n, size, view->background);
        moves->put(view->values + at * size, places, exceptions, size, made.bytes);
        kernels->stream(made.bytes, n * size, dense + start * size);
        at += exceptions;
    }
}

static void stream_bitmap(const struct sparse_kernels *kernels, const struct sparse_moves *moves, const struct sparse_view *view,
                          size_t size, unsigned char *dense)
{
    struct sparse_scratch made;
    uint64_t mask[SPARSE_MAX_WORDS];
    size_t piece = sparse_piece(size);
    const unsigned char *values = view->values;
    sparse_view_mask(view, mask);
    for (size_t start = 0; start < view->elements; start += piece) {
        size_t n = view->elements - start < piece ? view->elements - start : piece;
        values += size * moves->expand(values, n, size, mask + start / 64, view->background, made.bytes);
        kernels->stream(made.bytes, n * size, dense + start * size);
    }
}

static void stream_block(const struct sparse_kernels *kernels, const struct sparse_moves *moves, const struct sparse_view *view,
                         size_t size, unsigned char *dense)
{
    if (view->format == SPARSE_DENSE) kernels->stream(view->values, view->elements * size, dense);
    else if (view->format == SPARSE_BITMAP) stream_bitmap(kernels, moves, view, size, dense);
    else stream_positions(kernels, moves, view, size, dense); /* constant: none */
}

void sparse_decode(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, void *dense)
{
    const struct sparse_operator *operator = layout->operator;
    const struct sparse_kernels *kernels = sparse_kernels();
    const struct sparse_moves *moves = sparse_moves(operator->size);
    const bool padded = sparse_padded(operator);
    const bool stream = !padded && kernels->stream && layout->count >= STREAM_FROM / operator->size;
    const unsigned char *from = message;
    unsigned char *to = dense;
    for (; blocks > 0; blocks--, first++) {
        struct sparse_view view = sparse_view_of(from);
        if (padded) decode_padded(operator, &view, to);
        else if (stream) stream_block(kernels, moves, &view, operator->size, to);
        else decode_block(moves, &view, operator->size, to);
        from += view.bytes;
        to += view.elements * operator->size;
    }
}
