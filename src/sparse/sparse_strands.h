/* SPDX-License-Identifier: BSD-3-Clause */
/* Two lists of positions merged in two places at once. A merge is a chain: which entry comes next is known only after the one before.
 * Cut at the same position, the lists make two strands that do not wait for each other. */
#ifndef LUCID_SPARSE_STRANDS_H
#define LUCID_SPARSE_STRANDS_H

#include "sparse_format.h"
#include "sparse_kernels.h"

/* The entries of either list that are next, and where they end; entries of the result before the strand, if both lists had nothing in
 * common, and up to now. */
struct sparse_strand {
    size_t left, left_end, right, right_end, start, count;
};

/* Entries of a list that come before `position`. */
static inline size_t sparse_entries_before(const struct sparse_list *list, size_t position)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sparse_position(list->positions, middle) < position) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Both have about as many entries of the longer list. */
static inline void sparse_strands(const struct sparse_list *left, const struct sparse_list *right, struct sparse_strand *low,
                                  struct sparse_strand *high)
{
    const struct sparse_list *longer = left->count > right->count ? left : right;
    size_t position = longer->count > 0 ? sparse_position(longer->positions, longer->count / 2) : 0;
    size_t l = sparse_entries_before(left, position), r = sparse_entries_before(right, position);
    *low = (struct sparse_strand){.left_end = l, .right_end = r};
    *high = (struct sparse_strand){l, left->count, r, right->count, l + r, l + r};
}

/* So many entries can be taken off a strand before one of its lists ends. */
SPARSE_INLINE size_t sparse_steps(const struct sparse_strand *s)
{
    size_t left = s->left_end - s->left, right = s->right_end - s->right;
    return left < right ? left : right;
}

#endif
