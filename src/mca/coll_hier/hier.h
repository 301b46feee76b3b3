/* SPDX-License-Identifier: BSD-3-Clause
 * hier.h: the parts of coll/hier that stand on Open MPI: a module per communicator, jobs that perform plans, the job's map.
 */
#ifndef LUCID_HIER_H
#define LUCID_HIER_H

#include LUCID_COMPAT_HEADER

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ompi/mca/coll/base/base.h"
#include "ompi/op/op.h"

#include "hier_schedule.h"
#include "mca_settled.h"

/* Collective operations that the component has. */
#define HIER_SLOTS(X)                                                                          \
    X(barrier) X(bcast) X(reduce) X(allreduce) X(allgather) X(gather) X(scatter)               \
    X(ibarrier) X(ibcast) X(iallreduce)

/** What served a communicator before this component. */
typedef struct hier_previous {
#define X(slot)                                           \
    mca_coll_base_module_##slot##_fn_t coll_##slot;       \
    mca_coll_base_module_t *coll_##slot##_module;
    HIER_SLOTS(X)
#undef X
} hier_previous_t;

/** NEW: nothing known. READY: all ranks have the same layout. ASIDE: everything goes to the module below. */
typedef enum hier_state { HIER_NEW, HIER_READY, HIER_ASIDE } hier_state_t;

typedef struct hier_module {
    lucid_settling_module_t super;
    hier_previous_t previous;
    hier_state_t state;
    hier_layout_t *layout; /**< shared, see hier_layouts_get; its sockets are not changed */
} hier_module_t;
OBJ_CLASS_DECLARATION(hier_module_t);

/** What is taken over from the parameters LUCID_HIER_* as it is (params.def tells what they mean). */
#define HIER_SETTINGS(X)                                                                                                   \
    X(priority) X(radix) X(up_radix) X(sync_radix) X(window) X(sockets) X(shared_map) X(shared_layouts) X(nonblocking)     \
    X(bcast_chain) X(bcast_segment) X(reduce_chain) X(reduce_segment) X(allreduce_tree) X(allreduce_ring)                  \
    X(allreduce_piece) X(allgather_stream) X(allgather_segment) X(gather_direct) X(scatter_direct) X(scatter_tree)         \
    X(first_limit)

typedef enum hier_topology { HIER_PREDICT, HIER_DISCOVER } hier_topology_t;

typedef struct hier_settings {
    hier_topology_t topology;
    int priority, radix, up_radix, sync_radix, window, shared_layouts;
    bool sockets, shared_map, nonblocking;
    size_t bcast_chain, reduce_chain, allreduce_tree, allreduce_ring, allgather_stream, gather_direct, scatter_direct;
    size_t scatter_tree, first_limit;
    size_t bcast_segment, reduce_segment, allreduce_piece, allgather_segment;
    char *test_nodes;
    int test_fault;
} hier_settings_t;
extern hier_settings_t lucid_hier;

/** Counters, which are MPI_T performance variables too. */
#define HIER_COUNTERS(X)                                                                                                   \
    X(predicted, "Communicators whose layout was computed locally and needed no agreement or passed it")                   \
    X(discovered, "Communicators whose layout was discovered by messages")                                                 \
    X(aside, "Communicators left to other components: no hierarchy in them")                                               \
    X(agreements, "Agreements on the layout, which travel with a first operation")                                         \
    X(calls, "Collective operations performed")                                                                            \
    X(passed, "Collective operations handed to the module below")                                                          \
    X(in_space, "Layouts that lie in memory shared by the node's processes")                                               \
    X(messages, "Messages sent by collective operations")                                                                  \
    X(setup_messages, "Messages sent by agreements and discoveries, operations that travelled with them included")
typedef struct hier_counters {
#define X(name, help) unsigned long long name;
    HIER_COUNTERS(X)
#undef X
} hier_counters_t;
extern hier_counters_t lucid_hier_counters;
#define hier_count(name, by) __atomic_fetch_add(&lucid_hier_counters.name, (unsigned long long)(by), __ATOMIC_RELAXED)

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_hier_component;

/* ---- modules (hier_module.c) ---------------------------------------------------------------------------------------- */
mca_coll_base_module_t *lucid_hier_query(ompi_communicator_t *comm, int *priority);

/* ---- layouts (hier_layouts.c) --------------------------------------------------------------------------------------- */
/** The layout of comm by prediction, counted; NULL: no map, ranks of another job, or no memory. */
hier_layout_t *lucid_hier_predict(ompi_communicator_t *comm);
/** The layout out of nodes by rank (any numbers >= 0), counted. */
hier_layout_t *lucid_hier_layout(ompi_communicator_t *comm, const int *node, bool sockets);
void lucid_hier_layout_release(hier_layout_t *layout);
/** Whether all ranks of comm are known to predict the same, by an earlier agreement; and notes one. */
bool lucid_hier_is_agreed(ompi_communicator_t *comm);
void lucid_hier_note_agreed(ompi_communicator_t *comm);
/** Whether a rank of comm is on this process's node, and on its socket. */
bool lucid_hier_same_node(ompi_communicator_t *comm, int rank);
bool lucid_hier_same_socket(ompi_communicator_t *comm, int rank);
void lucid_hier_layouts_close(void);

/* ---- the job's map (hier_map.c) ------------------------------------------------------------------------------------- */
/** Nodes by rank of the job; NULL where it cannot be had. Made at the first call, kept to the end. */
const int *lucid_hier_map(int *size);
/** The node's one copy of what is the same for all its processes; NULL: there is none. See hier_space_keep. */
const void *lucid_hier_keep(const void *data, size_t bytes, uint64_t hash);
/** The node that the tests' list gives a rank of the job. */
int lucid_hier_test_node(int rank);
void lucid_hier_map_close(void);

/* ---- performing a plan (hier_run.c) --------------------------------------------------------------------------------- */
typedef struct hier_memory {
    char *base;
    ompi_datatype_t *type;
    size_t unit; /**< elements per offset and count */
} hier_memory_t;

typedef struct hier_job {
    hier_plan_t plan;
    ompi_communicator_t *comm;
    ompi_op_t *op;
    hier_memory_t area[HIER_AREAS]; /**< TEMP: type and unit only */
    int tag;                        /**< of the first of the chunks under way, the others' below it */
    /** Cut into segments of so many bytes. The ranks' types may differ where only their signatures must agree, so what is cut are
     *  packed bytes: the user's own memory where it is packed already, a copy where not. */
    bool as_bytes;
    size_t segment; /**< allreduce: bytes per message of a ring */
    char *packed;
    hier_memory_t user; /**< what packed stands for; unit: elements of all */
} hier_job_t;

int lucid_hier_run(hier_job_t *job);
/** Starts the job, which is copied; the request is done when the job is. */
int lucid_hier_start(const hier_job_t *job, ompi_request_t **request);
void lucid_hier_start_close(void);

/* ---- a communicator's first operation (hier_first.c, hier_discover.c) ----------------------------------------------- */
/** A layout that all ranks have: agreed on, or discovered. Performs the job, if it is small, on the way. */
int lucid_hier_first(hier_module_t *module, hier_job_t *job, bool *performed);
/** Whether all ranks present the same number; `carried`: a job to be performed on the way, or NULL. */
int lucid_hier_agree(ompi_communicator_t *comm, uint64_t number, uint64_t sockets, hier_job_t *carried, int *verdict);
enum { HIER_DIFFERENT = 1, HIER_NO_MAP = 2, HIER_OTHER_SOCKETS = 4 }; /* verdict, or 0 */
/** Cheetah's way: an allgather per level. */
hier_layout_t *lucid_hier_discover(ompi_communicator_t *comm);

/** Open MPI's tag of an operation. */
int lucid_hier_tag(hier_operation_t operation);

/* ---- the operations (hier_coll.c, hier_icoll.c) --------------------------------------------------------------------- */
void lucid_hier_fill(mca_coll_base_module_t *module);
void lucid_hier_fill_nonblocking(mca_coll_base_module_t *module);
hier_job_t lucid_hier_barrier_job(ompi_communicator_t *comm);
hier_job_t lucid_hier_bcast_job(void *buffer, size_t count, ompi_datatype_t *type, int root, ompi_communicator_t *comm);
hier_job_t lucid_hier_allreduce_job(const void *sbuf, void *rbuf, size_t count, ompi_datatype_t *type, ompi_op_t *op,
                                    ompi_communicator_t *comm);

/** Hands a call to the module below. */
#define HIER_PASS(module, slot, ...)                                                                                       \
    (hier_count(passed, 1),                                                                                                \
     ((hier_module_t *)(module))->previous.coll_##slot(__VA_ARGS__, ((hier_module_t *)(module))->previous.coll_##slot##_module))

#endif
