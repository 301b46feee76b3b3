/* SPDX-License-Identifier: BSD-3-Clause
 * hier_schedule.h: what one rank does in one chunk of a collective operation, as a list of steps. Knows neither MPI nor Open
 * MPI: the component performs the steps by the PML, the tests perform those of many ranks in one process.
 */
#ifndef LUCID_HIER_SCHEDULE_H
#define LUCID_HIER_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "hier_layout.h"

typedef enum hier_kind { HIER_SEND, HIER_RECV, HIER_FOLD, HIER_COPY, HIER_FENCE } hier_kind_t;

/** The memory that steps work on. Offsets and counts are in elements (of the reduction family and broadcast) or in blocks. */
typedef enum hier_area { HIER_INPUT, HIER_OUTPUT, HIER_TEMP, HIER_AREAS } hier_area_t;

typedef struct hier_step {
    unsigned char kind, area, from;
    int peer;           /**< SEND and RECV: rank in the communicator */
    size_t offset;      /**< in area */
    size_t from_offset; /**< FOLD and COPY: in from */
    size_t count;
} hier_step_t;

/**
 * Steps begin in their order; a fence waits for the messages begun before it. FOLD: area = from (operator) area. Messages of a
 * schedule between two ranks match in their order; messages of schedules with different tags never match.
 */
typedef struct hier_schedule {
    hier_step_t *step;
    int count, capacity;
    int tag;     /**< number of this schedule among those of the operation, the same on all ranks that take part */
    size_t temp; /**< elements (or blocks) of HIER_TEMP that it needs */
    bool failed; /**< no memory */
} hier_schedule_t;

typedef enum hier_operation {
    HIER_BARRIER,
    HIER_BCAST,
    HIER_REDUCE,
    HIER_ALLREDUCE,
    HIER_ALLGATHER,
    HIER_GATHER,
    HIER_SCATTER,
    HIER_OPERATIONS
} hier_operation_t;

/** What the leaders of an allreduce do: up and down a tree, recursive doubling, a ring. */
typedef enum hier_exchange { HIER_TREE, HIER_DOUBLING, HIER_RING, HIER_EXCHANGES } hier_exchange_t;

/** How an operation is to be done; equal on all ranks but for layout->rank. */
typedef struct hier_plan {
    const hier_layout_t *layout;
    hier_operation_t operation;
    int root;
    bool in_place;   /**< the input is in HIER_OUTPUT (reduce, gather: at the root only; scatter: the root keeps its block) */
    size_t count;    /**< elements, or blocks of one rank cut into so many parts (allgather by streams) */
    size_t chunk;    /**< elements per chunk */
    int chunks;      /**< schedules */
    int up_radix;    /**< tree over the leaders, see hier_tree */
    int radix;       /**< tree in a node */
    hier_exchange_t exchange; /**< allreduce */
    bool direct;     /**< gather, scatter: blocks go straight between the root and their ranks; allgather: by streams */
    hier_links_t links;
} hier_plan_t;

/** Computes links and chunks from the rest. False: no memory. */
bool hier_plan_prepare(hier_plan_t *plan);
void hier_plan_cleanup(hier_plan_t *plan);
/** The steps of the index-th chunk, written over those in `schedule` (zero-initialized at first). */
void hier_plan_build(const hier_plan_t *plan, int index, hier_schedule_t *schedule);

void hier_schedule_cleanup(hier_schedule_t *schedule);
void hier_send(hier_schedule_t *s, int peer, hier_area_t area, size_t offset, size_t count);
void hier_recv(hier_schedule_t *s, int peer, hier_area_t area, size_t offset, size_t count);
void hier_fold(hier_schedule_t *s, hier_area_t from, size_t from_offset, hier_area_t area, size_t offset, size_t count);
void hier_copy(hier_schedule_t *s, hier_area_t from, size_t from_offset, hier_area_t area, size_t offset, size_t count);
void hier_fence(hier_schedule_t *s);

/* One builder per operation. */
void hier_build_barrier(const hier_plan_t *plan, hier_schedule_t *s);
void hier_build_bcast(const hier_plan_t *plan, int index, hier_schedule_t *s);
void hier_build_reduce(const hier_plan_t *plan, int index, hier_schedule_t *s);
void hier_build_allreduce(const hier_plan_t *plan, int index, hier_schedule_t *s);
void hier_build_allgather(const hier_plan_t *plan, int index, hier_schedule_t *s);
void hier_build_gather(const hier_plan_t *plan, int index, hier_schedule_t *s);
void hier_build_scatter(const hier_plan_t *plan, int index, hier_schedule_t *s);

#endif
