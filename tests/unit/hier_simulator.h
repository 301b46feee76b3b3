/* SPDX-License-Identifier: BSD-3-Clause
 * hier_simulator.h: performs the steps of all ranks of a plan in one process. Elements are 64-bit numbers, the operator is the sum.
 * A message is a rendezvous: the sender waits for the receiver, and the data is taken as late as it may be; what is to be received
 * is spoilt at once. So a plan that needs buffering hangs here, and one that touches memory in use computes nonsense.
 */
#ifndef LUCID_HIER_SIMULATOR_H
#define LUCID_HIER_SIMULATOR_H

#include "hier_schedule.h"

typedef struct hier_world {
    int size, window;
    hier_plan_t *plan;  /* [size], prepared */
    uint64_t **input;   /* [size]; NULL where a rank has none */
    uint64_t **output;  /* [size] */
    size_t unit[HIER_AREAS]; /* elements per offset and count */
    uint64_t *random;   /* state of unit_random: which rank goes on */
    size_t messages;    /* sent */
} hier_world_t;

/** Runs to the end; false: no rank can go on. */
bool hier_world_run(hier_world_t *world);

#endif
