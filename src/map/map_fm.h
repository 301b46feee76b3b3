/* SPDX-License-Identifier: BSD-3-Clause
 * map_fm.h: refinement of a bisection.
 */
#ifndef LUCID_MAP_FM_H
#define LUCID_MAP_FM_H

#include "map_graph.h"

/** Scratch of map_fm(), for graphs of up to `capacity` vertices. */
struct map_fm_scratch {
    int capacity;
    int64_t *gain;
    int *heap[2];
    int *position; /* in its heap, or -1: not in one, or -2: moved in this pass */
    int *moves;
};

int map_fm_scratch_make(struct map_fm_scratch *scratch, int capacity);
void map_fm_scratch_free(struct map_fm_scratch *scratch);

/** What map_fm() is to keep. */
struct map_fm_goal {
    int64_t size;      /* of side 0 */
    int64_t tolerance; /* the size may differ by this much; 0 with vertices of size 1: exact */
    int passes;
    int patience; /* moves without a new best after which a pass ends */
};

/**
 * Improves a bisection (side[v] is 0 or 1) by passes of Fiduccia-Mattheyses moves with hill climbing, and brings it within the
 * tolerance if it is not. Returns by how much the weight of the cut fell (negative if balance had to be bought).
 */
int64_t map_fm(const struct map_graph *graph, signed char *side, const struct map_fm_goal *goal,
               struct map_fm_scratch *scratch);

#endif
