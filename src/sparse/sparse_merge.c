/* SPDX-License-Identifier: BSD-3-Clause */
/* Two messages into one. The exceptions of the result are the union of both sides': for each the two operands are laid out side by
 * side, the missing one being that side's background, and the operator runs over them. Those that turn out to be the new background
 * are dropped when that drops at least half. */
#include "sparse_combine.h"
#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_types.h"

struct side {
    struct sparse_view view;
    const unsigned char *values; /* the next one */
    _Alignas(64) uint64_t mask[SPARSE_MAX_WORDS];
};

struct merger {
    const struct sparse_operator *operator;
    const struct sparse_moves *moves;
    struct side left, right;
    _Alignas(64) uint64_t all[SPARSE_MAX_WORDS];
};

/* `count` elements from `start` on as they are: in place where they lie in the message, else in `room`. */
static const void *elements_of(const struct merger *merger, struct side *side, size_t start, size_t count, void *room)
{
    size_t size = merger->operator->size;
    const unsigned char *at = side->values;
    if (side->view.format == SPARSE_DENSE) {
        side->values += count * size;
        return at;
    }
    side->values += size * merger->moves->expand(at, count, size, side->mask + start / 64, side->view.background, room);
    return room;
}

static struct sparse_view merge_to_dense(struct merger *merger, void *out)
{
    const struct sparse_operator *operator = merger->operator;
    size_t elements = merger->left.view.elements, size = operator->size, piece = sparse_piece(size);
    struct sparse_view view = sparse_view_begin(SPARSE_DENSE, elements, elements, size, out);
    struct sparse_scratch left;
    for (size_t start = 0; start < elements; start += piece) {
        size_t n = elements - start < piece ? elements - start : piece;
        unsigned char *to = (unsigned char *)view.values + start * size;
        const void *a = elements_of(merger, &merger->left, start, n, left.bytes);
        const void *b = elements_of(merger, &merger->right, start, n, to);
        sparse_combine(operator, a, b, to, n);
    }
    sparse_clear_padding(operator, (void *)view.values, elements);
    return view;
}

/* The exceptions of the result, packed, for the union in merger->all. */
static void combine_exceptions(struct merger *merger, size_t count, unsigned char *to)
{
    const struct sparse_operator *operator = merger->operator;
    size_t size = operator->size, words = sparse_words(merger->left.view.elements), piece = sparse_piece(size) / 64;
    struct sparse_scratch left;
    for (size_t w = 0; w < words; w += piece) {
        size_t n = words - w < piece ? words - w : piece, packed = sparse_mask_count(merger->all + w, n);
        struct side *sides[2] = {&merger->left, &merger->right};
        unsigned char *room[2] = {left.bytes, to};
        for (int i = 0; i < 2; i++)
            sides[i]->values += size * merger->moves->operand(sides[i]->values, n, size, sides[i]->mask + w, merger->all + w,
                                                              sides[i]->view.background, packed, room[i]);
        sparse_combine(operator, left.bytes, to, to, packed);
        to += packed * size;
    }
    sparse_clear_padding(operator, to - count * size, count);
}

/* Keeps those exceptions (bits of merger->all) that `keep`, a bit for each of them, names. */
static void keep_exceptions(struct merger *merger, const uint64_t *keep)
{
    size_t words = sparse_words(merger->left.view.elements), at = 0;
    for (size_t w = 0; w < words; w++) {
        uint64_t kept = 0;
        for (uint64_t left = merger->all[w]; left; left &= left - 1, at++)
            if (keep[at / 64] >> at % 64 & 1) kept |= left & -left;
        merger->all[w] = kept;
    }
}

/* Drops exceptions that are equal to the background, if there are enough of them. Returns how many are left. */
static size_t drop_equal(struct merger *merger, const void *background, unsigned char *values, size_t count)
{
    uint64_t *keep = merger->left.mask; /* not needed any more */
    size_t size = merger->operator->size;
    size_t differ = merger->moves->scan(values, count, size, background, keep);
    if (differ > count / 2) return count;
    if (differ > 0) {
        keep_exceptions(merger, keep);
        merger->moves->compress(values, count, size, keep, differ, values);
    } else {
        memset(merger->all, 0, sizeof merger->all);
    }
    return differ;
}

static struct sparse_view merge_sparse(struct merger *merger, size_t count, void *out)
{
    const struct sparse_operator *operator = merger->operator;
    unsigned char background[SPARSE_MAX_SIZE];
    size_t elements = merger->left.view.elements, size = operator->size;
    enum sparse_format format = sparse_shortest(elements, count, size);
    struct sparse_view view = sparse_view_begin(format, elements, count, size, out);
    sparse_combine(operator, merger->left.view.background, merger->right.view.background, (void *)view.background, 1);
    sparse_clear_padding(operator, (void *)view.background, 1);
    if (count == 0) return view;
    memcpy(background, view.background, size);
    combine_exceptions(merger, count, (void *)view.values);
    size_t left = drop_equal(merger, background, (void *)view.values, count);
    if (left < count) {
        const unsigned char *values = view.values;
        view = sparse_view_begin(sparse_shortest(elements, left, size), elements, left, size, out);
        memmove((void *)view.values, values, left * size);
    }
    if (view.format == SPARSE_POSITIONS) sparse_positions_write(merger->all, sparse_words(elements), (void *)view.where);
    if (view.format == SPARSE_BITMAP) memcpy((void *)view.where, merger->all, 8 * sparse_words(elements));
    return view;
}

static void side_begin(struct side *side, const unsigned char *message)
{
    side->view = sparse_view_of(message);
    side->values = side->view.values;
    sparse_view_mask(&side->view, side->mask);
}

static struct sparse_view merge_block(struct merger *merger, const unsigned char *left, const unsigned char *right, bool force_dense,
                                      void *out)
{
    size_t size = merger->operator->size, count = 0;
    side_begin(&merger->left, left);
    side_begin(&merger->right, right);
    size_t elements = merger->left.view.elements;
    bool dense = force_dense || merger->left.view.format == SPARSE_DENSE || merger->right.view.format == SPARSE_DENSE;
    for (size_t w = 0; !dense && w < sparse_words(elements); w++) {
        merger->all[w] = merger->left.mask[w] | merger->right.mask[w];
        count += (size_t)__builtin_popcountll(merger->all[w]);
    }
    if (dense || sparse_shortest(elements, count, size) == SPARSE_DENSE) return merge_to_dense(merger, out);
    return merge_sparse(merger, count, out);
}

size_t sparse_merge(const struct sparse_layout *layout, size_t first, size_t blocks, const void *left, const void *right,
                    bool force_dense, void *out, struct sparse_tally *tally)
{
    struct merger merger;
    const unsigned char *a = left, *b = right;
    unsigned char *to = out;
    merger.operator = layout->operator;
    merger.moves = sparse_moves(layout->operator->size);
    for (; blocks > 0; blocks--) {
        struct sparse_view view = merge_block(&merger, a, b, force_dense, to);
        sparse_tally_written(tally, &view);
        a += merger.left.view.bytes;
        b += merger.right.view.bytes;
        to += view.bytes;
    }
    return (size_t)(to - (unsigned char *)out);
}
