/* SPDX-License-Identifier: BSD-3-Clause */
/* See sim_departures.h. */
#include "sim_departures.h"

#include <stdbool.h>
#include <stdlib.h>

static bool earlier(const struct departure *a, const struct departure *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

void sim_departures_add(struct departures *departures, struct departure departure)
{
    if (departures->count == departures->room) {
        departures->room = 2 * departures->room + 64;
        departures->heap = realloc(departures->heap, departures->room * sizeof *departures->heap);
        if (!departures->heap) abort();
    }
    struct departure *heap = departures->heap;
    size_t i = departures->count++;
    departure.order = departures->order++;
    for (; i > 0 && earlier(&departure, &heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = departure;
}

struct departure sim_departures_take(struct departures *departures)
{
    struct departure *heap = departures->heap, first = heap[0], last = heap[--departures->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < departures->count; i = child) {
        if (child + 1 < departures->count && earlier(&heap[child + 1], &heap[child])) child++;
        if (!earlier(&heap[child], &last)) break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return first;
}
