/* SPDX-License-Identifier: BSD-3-Clause */
/* The slices of a reduction on their way through its algorithm, a few at a time, each lane's one behind the other. */
#ifndef LUCID_SPARSE_LANES_H
#define LUCID_SPARSE_LANES_H

#include "sparse_plan.h"

struct sparse_lanes {
    enum sparse_algorithm algorithm;
    size_t slices;
    bool confirms; /* ranks that send wait for those that receive, at the end */
    struct sparse_slice lane[SPARSE_LANES];
    size_t next[SPARSE_LANES]; /* the slice that a lane is at, or will begin */
    bool busy[SPARSE_LANES];
};

/* Nothing runs yet. `memory`: sparse_plan_memory() bytes; `tag` and those behind it, one per lane. */
void sparse_lanes_begin(struct sparse_lanes *lanes, const struct sparse_plan *plan, enum sparse_algorithm algorithm, bool dense,
                        char *memory, int tag, struct sparse_record *record);

/* Goes on as far as it can. */
enum sparse_status sparse_lanes_run(struct sparse_lanes *lanes, const struct sparse_plan *plan);

/* Where the result lies if it is not yet in the output, which must not be written where the input still is; or NULL. */
char *sparse_lanes_parked(const struct sparse_lanes *lanes, const struct sparse_plan *plan, char *memory);

/* After shares that were none: the input as it was. */
void sparse_lanes_restore(struct sparse_lanes *lanes, const struct sparse_plan *plan);

/* Ends everything under way. */
void sparse_lanes_cancel(struct sparse_lanes *lanes);

#endif
