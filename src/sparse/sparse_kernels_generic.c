/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels in plain C: what every other table is compared with, and what runs where there is nothing better. */
#include "sparse_combine_loops.h"
#include "sparse_format.h"
#include "sparse_strands.h"

#define WIDTH(name) name##_1
#define SIZE 1
#include "sparse_moves_loops.h"
#define WIDTH(name) name##_2
#define SIZE 2
#include "sparse_moves_loops.h"
#define WIDTH(name) name##_4
#define SIZE 4
#include "sparse_moves_loops.h"
#define WIDTH(name) name##_8
#define SIZE 8
#include "sparse_moves_loops.h"
#define WIDTH(name) name##_16
#define SIZE 16
#include "sparse_moves_loops.h"
#define WIDTH(name) name##_any
#define SIZE size
#include "sparse_moves_loops.h"

#define MOVES(width)                                                                                                 \
    {scan_##width, NULL, compress_##width, expand_##width, NULL, operand_##width, take_##width, put_##width, pair_##width, \
     fill_##width}

/* Four bits at a time without asking how many there are; what is too much is written over by the next. */
static void locate(const uint64_t *mask, size_t words, size_t room, unsigned char *positions)
{
    const unsigned char *end = positions + 2 * room;
    for (size_t w = 0; w < words; w++) {
        uint64_t left = mask[w];
        unsigned char *next = positions + 2 * (size_t)__builtin_popcountll(left);
        for (; left; positions += 8) {
            for (int i = 0; i < 4 && positions + 2 * i < end; i++) {
                uint16_t position = (uint16_t)(64 * w + (left ? (size_t)__builtin_ctzll(left) : 0));
                memcpy(positions + 2 * i, &position, sizeof position);
                left &= left - 1;
            }
        }
        positions = next;
    }
}

void sparse_kernels_generic(struct sparse_kernels *kernels)
{
    *kernels = (struct sparse_kernels){
        .moves = {MOVES(1), MOVES(2), MOVES(4), MOVES(8), MOVES(16), MOVES(any)},
        .count = sparse_mask_count,
        .locate = locate,
    };
    fill_combinations(kernels);
}
