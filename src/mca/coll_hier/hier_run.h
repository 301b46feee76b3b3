/* SPDX-License-Identifier: BSD-3-Clause
 * hier_run.h: a job under way.
 */
#ifndef LUCID_HIER_RUN_H
#define LUCID_HIER_RUN_H

#include "hier.h"

/** A chunk under way, and what it needs. */
typedef struct hier_slot {
    hier_schedule_t schedule;
    int chunk; /**< of every so many as there are slots one is this slot's, so that chunks of one tag follow each other */
    bool active;
    int at;
    ompi_request_t **request;
    int requests, request_capacity;
    char *temp;
    size_t temp_bytes;
    ptrdiff_t temp_gap;
} hier_slot_t;

typedef struct hier_running {
    hier_job_t job;
    bool may_wait; /**< may wait for a message: one chunk, and a blocking call */
    int done, slots;
    unsigned messages;
    hier_slot_t only, *slot;
} hier_running_t;

/** Takes over the job, with at most so many chunks under way. After an error lucid_hier_finish is still due. */
int lucid_hier_prepare(hier_running_t *running, const hier_job_t *job, int most);
/** Goes as far as it can. Not to be called from two threads at a time for one job. */
int lucid_hier_advance(hier_running_t *running, bool *moved);
int lucid_hier_finish(hier_running_t *running, int rc);

#endif
