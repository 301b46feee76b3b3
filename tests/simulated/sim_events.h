/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to happen to ranks and messages, in the order of time: a heap. */
#ifndef LUCID_SIM_EVENTS_H
#define LUCID_SIM_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct sim_event {
    double time;
    int from, to; /* ranks */
    void *message, *request;
    uint64_t order; /* of those of one time */
};

struct sim_events {
    struct sim_event *heap;
    size_t count, room;
    uint64_t order;
};

/* Keeps one; those of one time are taken in the order in which they were added. */
void sim_events_add(struct sim_events *events, struct sim_event event);

/* Takes the first one out, which is heap[0]. */
struct sim_event sim_events_take(struct sim_events *events);

#endif
