/* SPDX-License-Identifier: BSD-3-Clause */
/* How a reduction is cut: into slices that go through the algorithm one behind the other, slices into parts. */
#ifndef LUCID_SPARSE_PLAN_H
#define LUCID_SPARSE_PLAN_H

#include "sparse_slice.h"

enum { SPARSE_LANES = 2 };

/* One reduction, before it is known which algorithm runs. */
struct sparse_plan {
    const struct sparse_call *call;
    const size_t *offset;  /* REDUCE_SCATTER: elements before each rank's share, and all */
    size_t elements;       /* of the whole vector */
    size_t slices;         /* at first; an algorithm that needs more room per slice has more of them */
    size_t lanes;          /* slices under way at a time */
    size_t areas, tables;  /* bytes per lane */
    size_t result, parked; /* bytes of this rank's share; of the room for one that must not be written where the input still is */
};

/* Sizes for every algorithm of the call's kind. */
void sparse_plan_init(struct sparse_plan *plan, const struct sparse_call *call, const size_t *offset, size_t elements,
                      size_t slice_bytes);

/* Bytes that the plan wants in one piece. */
size_t sparse_plan_memory(const struct sparse_plan *plan);

/* Slices of an algorithm, so that its messages fit the areas. */
size_t sparse_plan_slices(const struct sparse_plan *plan, enum sparse_algorithm algorithm, bool dense);

/* Makes a lane in its memory (areas + tables bytes), and then cuts slice `index` of `slices` for it. */
void sparse_plan_lane(const struct sparse_plan *plan, enum sparse_algorithm algorithm, size_t slices, char *memory,
                      struct sparse_slice *lane);
void sparse_plan_cut(const struct sparse_plan *plan, enum sparse_algorithm algorithm, size_t slices, size_t index,
                     struct sparse_slice *lane);

/* Cuts group `index` of lane->group slices, for an algorithm that takes all of them itself. */
void sparse_plan_cut_group(struct sparse_slice *lane, size_t index);

#endif
