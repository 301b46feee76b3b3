/* SPDX-License-Identifier: BSD-3-Clause */
/* Two messages into one. The exceptions of the result are the union of both sides': for each the two operands are laid out side by
 * side, the missing one being that side's background, and the operator runs over them. Those that turn out to be the new background
 * are dropped when that drops at least half. Where both sides are few positions, their lists are merged; otherwise masks are. */
#include "sparse_combine.h"
#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_strands.h"
#include "sparse_types.h"

#define MOST_LISTED (SPARSE_MAX_BLOCK / 8) /* a list of more than half of it would be longer than a bitmap */

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
    unsigned char positions[2 * MOST_LISTED];
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
        size_t n = words - w < piece ? words - w : piece, packed = sparse_kernels()->count(merger->all + w, n);
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

/* Which of the exceptions differ from the background: how many, or `count` if too few are equal for dropping those. */
static size_t worth_keeping(const struct merger *merger, const void *background, const void *values, size_t count, uint64_t *keep)
{
    size_t differ = merger->moves->scan(values, count, merger->operator->size, background, keep);
    return differ > count / 2 ? count : differ;
}

static void combine_backgrounds(const struct merger *merger, const struct sparse_view *view)
{
    const struct sparse_operator *operator = merger->operator;
    sparse_combine(operator, merger->left.view.background, merger->right.view.background, (void *)view->background, 1);
    sparse_clear_padding(operator, (void *)view->background, 1);
}

/* The view for fewer exceptions than were expected, with the values moved to where they belong. */
static struct sparse_view view_for(const struct sparse_view *wide, size_t count, size_t size, void *out)
{
    struct sparse_view view = sparse_view_begin(sparse_shortest(wide->elements, count, size), wide->elements, count, size, out);
    if (view.values != wide->values && count > 0) memmove((void *)view.values, wide->values, count * size);
    return view;
}

/* The union of merger->all, of `count` exceptions. */
static struct sparse_view merge_masks(struct merger *merger, size_t count, void *out)
{
    size_t elements = merger->left.view.elements, size = merger->operator->size, words = sparse_words(elements);
    uint64_t *keep = merger->left.mask; /* not needed any more */
    struct sparse_view view = sparse_view_begin(sparse_shortest(elements, count, size), elements, count, size, out);
    combine_backgrounds(merger, &view);
    combine_exceptions(merger, count, (void *)view.values);
    size_t left = worth_keeping(merger, view.background, view.values, count, keep);
    if (left < count) {
        keep_exceptions(merger, keep);
        merger->moves->compress(view.values, count, size, keep, left, (void *)view.values);
        view = view_for(&view, left, size, out);
    }
    if (view.format == SPARSE_POSITIONS) sparse_kernels()->locate(merger->all, words, left, (void *)view.where);
    if (view.format == SPARSE_BITMAP) memcpy((void *)view.where, merger->all, 8 * words);
    return view;
}

/* The `count` positions as the view's format wants them. */
static void place_positions(const struct sparse_view *view, const unsigned char *positions, size_t count, uint64_t *mask)
{
    size_t words = sparse_words(view->elements);
    if (view->format == SPARSE_POSITIONS) memcpy((void *)view->where, positions, 2 * count);
    if (view->format != SPARSE_BITMAP) return;
    memset(mask, 0, 8 * words);
    sparse_set_bits(positions, count, mask);
    memcpy((void *)view->where, mask, 8 * words);
}

/* Takes the entries off the front of a list that come before `position`. */
static struct sparse_list front(struct sparse_list *list, size_t position, size_t size)
{
    struct sparse_list some = *list;
    some.count = sparse_entries_before(list, position);
    list->count -= some.count;
    list->positions += 2 * some.count;
    list->values += some.count * size;
    return some;
}

/* Up to which position both lists together have `room` entries or fewer, but some. */
static size_t up_to(const struct sparse_list *left, const struct sparse_list *right, size_t room)
{
    size_t half = room / 2, a = SIZE_MAX, b = SIZE_MAX;
    if (left->count + right->count <= room) return SIZE_MAX;
    if (left->count > half) a = sparse_position(left->positions, half);
    if (right->count > half) b = sparse_position(right->positions, half);
    return a < b ? a : b;
}

/* Lists of positions; `most` exceptions if they are disjoint. */
static struct sparse_view merge_lists(struct merger *merger, size_t most, void *out)
{
    const struct sparse_operator *operator = merger->operator;
    const struct sparse_view *l = &merger->left.view, *r = &merger->right.view;
    struct sparse_list left = {l->where, l->values, l->background, l->exceptions};
    struct sparse_list right = {r->where, r->values, r->background, r->exceptions};
    struct sparse_scratch left_values;
    size_t elements = l->elements, size = operator->size, piece = sparse_piece(size), count = 0;
    struct sparse_view view = sparse_view_begin(sparse_shortest(elements, most, size), elements, most, size, out);
    unsigned char *positions = merger->positions, *values = (void *)view.values;
    combine_backgrounds(merger, &view);
    while (left.count + right.count > 0) {
        unsigned char *to = values + count * size;
        size_t end = up_to(&left, &right, piece);
        struct sparse_list a = front(&left, end, size), b = front(&right, end, size);
        size_t n = merger->moves->pair(&a, &b, size, positions + 2 * count, left_values.bytes, to);
        sparse_combine(operator, left_values.bytes, to, to, n);
        count += n;
    }
    sparse_clear_padding(operator, values, count);
    size_t kept = worth_keeping(merger, view.background, values, count, merger->all);
    if (kept < count) {
        merger->moves->compress(values, count, size, merger->all, kept, values);
        sparse_moves(2)->compress(positions, count, 2, merger->all, kept, positions);
    }
    if (kept < most) view = view_for(&view, kept, size, out);
    place_positions(&view, positions, kept, merger->right.mask);
    return view;
}

static void side_begin(struct side *side, const unsigned char *message)
{
    side->view = sparse_view_of(message);
    side->values = side->view.values;
}

static struct sparse_view merge_block(struct merger *merger, const unsigned char *left, const unsigned char *right,
                                      bool force_dense, void *out)
{
    struct sparse_view *l = &merger->left.view, *r = &merger->right.view;
    size_t size = merger->operator->size;
    side_begin(&merger->left, left);
    side_begin(&merger->right, right);
    size_t elements = l->elements, words = sparse_words(elements), most = l->exceptions + r->exceptions;
    if (!force_dense && sparse_listed(l) && sparse_listed(r) && most <= MOST_LISTED && sparse_shortest(elements, most, size) != SPARSE_DENSE)
        return merge_lists(merger, most, out);
    sparse_view_mask(l, merger->left.mask);
    sparse_view_mask(r, merger->right.mask);
    bool dense = force_dense || l->format == SPARSE_DENSE || r->format == SPARSE_DENSE;
    for (size_t w = 0; w < words; w++) merger->all[w] = merger->left.mask[w] | merger->right.mask[w];
    size_t count = dense ? elements : sparse_kernels()->count(merger->all, words);
    if (dense || sparse_shortest(elements, count, size) == SPARSE_DENSE) return merge_to_dense(merger, out);
    return merge_masks(merger, count, out);
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
