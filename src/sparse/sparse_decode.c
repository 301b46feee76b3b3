/* SPDX-License-Identifier: BSD-3-Clause */
/* From a message to elements. */
#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_types.h"

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

/* A constant block: some of it over and over. */
static void stream_constant(const struct sparse_moves *moves, const struct sparse_view *view, size_t size, unsigned char *dense)
{
    struct sparse_scratch some;
    size_t piece = sparse_piece(size) < view->elements ? sparse_piece(size) : view->elements;
    moves->fill(some.bytes, piece, size, view->background);
    for (size_t start = 0; start < view->elements; start += piece) {
        size_t n = view->elements - start < piece ? view->elements - start : piece;
        sparse_kernels()->stream(dense + start * size, some.bytes, n * size);
    }
}

static void decode_past(const struct sparse_moves *moves, const struct sparse_view *view, size_t size, void *dense)
{
    uint64_t mask[SPARSE_MAX_WORDS];
    bool listed = view->format == SPARSE_POSITIONS || view->format == SPARSE_BITMAP;
    if (sparse_kernels()->stream == NULL || (listed && moves->spill == NULL)) {
        decode_block(moves, view, size, dense);
    } else if (view->format == SPARSE_CONSTANT) {
        stream_constant(moves, view, size, dense);
    } else if (view->format == SPARSE_DENSE) {
        sparse_kernels()->stream(dense, view->values, view->elements * size);
    } else {
        sparse_view_mask(view, mask);
        moves->spill(view->values, view->elements, size, mask, view->background, dense);
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

static void decode(const struct sparse_layout *layout, size_t blocks, const void *message, bool past, void *dense)
{
    const struct sparse_operator *operator = layout->operator;
    const struct sparse_moves *moves = sparse_moves(operator->size);
    bool padded = sparse_padded(operator);
    const unsigned char *from = message;
    unsigned char *to = dense;
    for (; blocks > 0; blocks--) {
        struct sparse_view view = sparse_view_of(from);
        if (padded) decode_padded(operator, &view, to);
        else if (past) decode_past(moves, &view, operator->size, to);
        else decode_block(moves, &view, operator->size, to);
        from += view.bytes;
        to += view.elements * operator->size;
    }
}

void sparse_decode(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, void *dense)
{
    decode(layout, blocks, message, false, dense);
}

void sparse_decode_past(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, void *dense)
{
    decode(layout, blocks, message, true, dense);
    sparse_fence();
}

void sparse_tally_message(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message,
                          struct sparse_tally *tally)
{
    for (const unsigned char *from = message; blocks > 0; blocks--) {
        const struct sparse_view view = sparse_view_of(from);
        sparse_tally_written(tally, &view);
        from += view.bytes;
    }
}
