/* SPDX-License-Identifier: BSD-3-Clause */
/* How a vector is cut. */
#include "sparse_format.h"

#define BLOCK_BYTES ((size_t)256 * 1024) /* input, message and output of a block lie in L2 together */

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/* Blocks of equal size (the last may be shorter), a multiple of `parts` of them, so that owners of equal numbers of blocks own
 * about as many elements; on whole words of a bitmap where that leaves a block for everyone. */
static size_t block_for(size_t count, size_t parts, size_t most)
{
    parts *= divide_up(divide_up(count, parts), most);
    size_t block = divide_up(count, parts), whole = divide_up(block, 64) * 64;
    if (whole <= most && divide_up(count, whole) >= parts) return whole;
    return divide_up(count, block) >= parts ? block : count / parts;
}

void sparse_layout_init(struct sparse_layout *layout, const struct sparse_operator *operator, size_t count, size_t parts)
{
    size_t most = BLOCK_BYTES / operator->size / 64 * 64;
    if (most > SPARSE_MAX_BLOCK) most = SPARSE_MAX_BLOCK;
    if (parts == 0) parts = 1;
    if (parts > count) parts = count > 0 ? count : 1;
    size_t block = count > 0 ? block_for(count, parts, most) : 1;
    *layout = (struct sparse_layout){.operator = operator, .count = count, .block = block, .blocks = divide_up(count, block)};
}

size_t sparse_layout_start(const struct sparse_layout *layout, size_t index)
{
    return index < layout->blocks ? index * layout->block : layout->count;
}

size_t sparse_bound(const struct sparse_layout *layout, size_t first, size_t blocks)
{
    size_t elements = sparse_layout_start(layout, first + blocks) - sparse_layout_start(layout, first);
    return elements * layout->operator->size + blocks * SPARSE_HEADER;
}
