/* SPDX-License-Identifier: BSD-3-Clause */
/* A message into elements. Where the background is neutral for every bit pattern, only the exceptions are touched. Otherwise every
 * element is combined with the background and written only if that changes it: for reals nothing is neutral on both sides (0 + -0 is
 * 0, and a signalling NaN becomes a quiet one), but hardly anything changes. */
#include "sparse_combine.h"
#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_types.h"

struct target {
    const struct sparse_operator *operator;
    const struct sparse_moves *moves;
    bool message_is_right;
    unsigned char *dense; /* of the block */
};

static void combine(const struct target *target, const void *message, void *dense, void *out, size_t count)
{
    if (target->message_is_right) sparse_combine(target->operator, dense, message, out, count);
    else sparse_combine(target->operator, message, dense, out, count);
}

/* out = the elements at `count` positions, combined with the values. */
static void combine_at(const struct target *target, const void *values, const unsigned char *positions, size_t count, void *out)
{
    target->moves->take(target->dense, positions, count, target->operator->size, out);
    combine(target, values, out, out, count);
}

static void exceptions_only(const struct target *target, const struct sparse_view *view)
{
    struct sparse_scratch results;
    size_t size = target->operator->size, piece = sparse_piece(size);
    for (size_t i = 0; i < view->exceptions; i += piece) {
        size_t n = view->exceptions - i < piece ? view->exceptions - i : piece;
        combine_at(target, view->values + i * size, view->where + 2 * i, n, results.bytes);
        target->moves->put(results.bytes, view->where + 2 * i, n, size, target->dense);
    }
}

/* Piece by piece, for the exceptions meet the elements as they were before the background met them. */
static void background_and_exceptions(const struct target *target, const struct sparse_view *view)
{
    struct sparse_scratch results;
    size_t size = target->operator->size, piece = sparse_piece(size), at = 0;
    for (size_t start = 0; start < view->elements; start += piece) {
        size_t n = view->elements - start < piece ? view->elements - start : piece, end = at;
        while (end < view->exceptions && sparse_position(view->where, end) < start + n) end++;
        combine_at(target, view->values + at * size, view->where + 2 * at, end - at, results.bytes);
        sparse_absorb(target->operator, view->background, target->message_is_right, target->dense + start * size, n);
        target->moves->put(results.bytes, view->where + 2 * at, end - at, size, target->dense);
        at = end;
    }
}

/* Every element, in pieces that stay in L1. */
static void everything(const struct target *target, const struct sparse_view *view)
{
    struct sparse_scratch piece_of_message;
    uint64_t mask[SPARSE_MAX_WORDS];
    size_t size = target->operator->size, piece = sparse_piece(size);
    const unsigned char *values = view->values;
    sparse_view_mask(view, mask);
    for (size_t start = 0; start < view->elements; start += piece) {
        size_t n = view->elements - start < piece ? view->elements - start : piece;
        unsigned char *dense = target->dense + start * size;
        values += size * target->moves->expand(values, n, size, mask + start / 64, view->background, piece_of_message.bytes);
        combine(target, piece_of_message.bytes, dense, dense, n);
    }
}

static void merge_block(const struct target *target, const struct sparse_view *view)
{
    if (view->format == SPARSE_DENSE) combine(target, view->values, target->dense, target->dense, view->elements);
    else if (view->format == SPARSE_BITMAP || sparse_padded(target->operator)) everything(target, view);
    else if (sparse_neutral(target->operator, view->background, target->message_is_right)) exceptions_only(target, view);
    else background_and_exceptions(target, view);
}

void sparse_merge_dense(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, bool message_is_right,
                        void *dense, struct sparse_tally *tally)
{
    const unsigned char *from = message;
    size_t size = layout->operator->size;
    struct target target = {layout->operator, sparse_moves(size), message_is_right, dense};
    for (; blocks > 0; blocks--, first++) {
        struct sparse_view view = sparse_view_of(from);
        merge_block(&target, &view);
        sparse_tally_add(tally, view.elements, view.exceptions);
        from += view.bytes;
        target.dense += view.elements * size;
    }
}
