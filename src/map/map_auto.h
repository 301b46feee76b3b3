/* SPDX-License-Identifier: BSD-3-Clause
 * map_auto.h: the portfolio.
 */
#ifndef LUCID_MAP_AUTO_H
#define LUCID_MAP_AUTO_H

#include "map_task.h"

struct map_auto_limits {
    int attempts; /* of multilevel, at most */
    double end;   /* on map_auto_clock(): no attempt begins that is likely to end later; the first ones always begin */
};

/** Seconds on a clock that only goes forward. */
double map_auto_clock(void);

/**
 * Runs several algorithms and keeps the best placement: leaf, its cost, the name of the algorithm. On entry they describe the
 * best one known. MAP_DONE or MAP_NO_MEMORY.
 */
int map_auto(const struct map_task *task, const struct map_effort *effort, const struct map_auto_limits *limits, int *leaf,
             double *cost, const char **name);

#endif
