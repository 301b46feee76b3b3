/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on a hypercube, see sparse_nodes.h. With p = 2^s + r ranks the first 2r form pairs (2i, 2i + 1), one of each stands
 * aside, so that every place of the cube stands for consecutive ranks. Rabenseifner and Traeff, EuroPVM/MPI 2004, discuss the
 * alternatives. */
#include "sparse_nodes.h"

static int number_at(const struct sparse_fold *fold, int self)
{
    if (self >= fold->extra) return self + fold->extra;
    return fold->root == 2 * self + 1 ? fold->root : 2 * self;
}

void sparse_fold_init(struct sparse_fold *fold, int number, int size, int root, int stride)
{
    *fold = (struct sparse_fold){.cube = 1, .stride = stride, .partner = -1, .root = root};
    while (fold->cube <= size / 2) {
        fold->cube *= 2;
        fold->steps++;
    }
    fold->extra = size - fold->cube;
    if (number >= 2 * fold->extra) {
        fold->self = number - fold->extra;
        return;
    }
    fold->self = number_at(fold, number / 2) == number ? number / 2 : -1;
    fold->partner = stride * (number ^ 1);
}

int sparse_fold_rank(const struct sparse_fold *fold, int self)
{
    return fold->stride * number_at(fold, self);
}

int sparse_fold_place(const struct sparse_fold *fold, int rank)
{
    const int number = rank / fold->stride;
    return number < 2 * fold->extra ? number / 2 : number - fold->extra;
}

int sparse_fold_position(const struct sparse_fold *fold, int self)
{
    int position = 0;
    for (int k = 0; k < fold->steps; k++) position |= (self >> k & 1) << (fold->steps - 1 - k);
    return position;
}
