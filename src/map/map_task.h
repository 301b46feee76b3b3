/* SPDX-License-Identifier: BSD-3-Clause
 * map_task.h: what is to be mapped, and one run of one algorithm on it. Fixed ranks are dealt with here, so that the algorithms
 * need not know of them.
 */
#ifndef LUCID_MAP_TASK_H
#define LUCID_MAP_TASK_H

#include "map_algorithms.h"

struct map_task {
    const struct map_graph *graph;
    const struct map_tree *tree;
    const int *fixed;    /* [process, which is its leaf]: the rank (vertex) it must have, or -1; NULL: all are free */
    const char *movable; /* [vertex]: not fixed; NULL with fixed */
};

/** Moves the fixed vertices to their leaves, by swaps. MAP_DONE or MAP_NO_MEMORY. */
int map_task_fix(const struct map_task *task, int *leaf);

/** Runs an algorithm, keeps to the fixed ranks, and says what the placement costs. The algorithm's return value. */
int map_task_run(const struct map_task *task, const struct map_algorithm *algorithm, const struct map_effort *effort, int *leaf,
                 double *cost);

/** Local search from a placement. MAP_DONE or MAP_NO_MEMORY. */
int map_task_polish(const struct map_task *task, int rounds, int *leaf, double *cost);

#endif
