/* SPDX-License-Identifier: BSD-3-Clause */
/* See sim_events.h. */
#include "sim_events.h"

#include <stdbool.h>
#include <stdlib.h>

static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

void sim_events_add(struct sim_events *events, struct sim_event event)
{
    if (events->count == events->room) {
        events->room = 2 * events->room + 64;
        events->heap = realloc(events->heap, events->room * sizeof *events->heap);
        if (!events->heap) abort();
    }
    struct sim_event *heap = events->heap;
    size_t i = events->count++;
    event.order = events->order++;
    for (; i > 0 && earlier(&event, &heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = event;
}

struct sim_event sim_events_take(struct sim_events *events)
{
    struct sim_event *heap = events->heap, first = heap[0], last = heap[--events->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < events->count; i = child) {
        if (child + 1 < events->count && earlier(&heap[child + 1], &heap[child])) child++;
        if (!earlier(&heap[child], &last)) break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return first;
}
