/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels in plain C: what every other table is compared with, and what runs where there is nothing better. */
#include <string.h>

#include "sparse_format.h"
#include "sparse_kernels.h"

/* A scan of a width that the compiler knows compares numbers. */
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

#define MOVES(width) {scan_##width, compress_##width, expand_##width, operand_##width, take_##width, put_##width, fill_##width}

void sparse_kernels_generic(struct sparse_kernels *kernels)
{
    *kernels = (struct sparse_kernels){
        .moves = {MOVES(1), MOVES(2), MOVES(4), MOVES(8), MOVES(16), MOVES(any)},
    };
}
