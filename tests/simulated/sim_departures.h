/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are to set out, in the order of time: a heap. */
#ifndef LUCID_SIM_DEPARTURES_H
#define LUCID_SIM_DEPARTURES_H

#include <stddef.h>
#include <stdint.h>

struct departure {
    double time;
    int from, to;
    void *message, *request;
    uint64_t order; /* of those of one time */
};

struct departures {
    struct departure *heap;
    size_t count, room;
    uint64_t order;
};

/* Keeps one; those of one time leave in the order in which they were added. */
void sim_departures_add(struct departures *departures, struct departure departure);

/* Takes the first one out, which is heap[0]. */
struct departure sim_departures_take(struct departures *departures);

#endif
