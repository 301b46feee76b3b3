/* SPDX-License-Identifier: BSD-3-Clause
 * hier_icoll.c: barrier, broadcast and allreduce without blocking: the same plans, driven by Open MPI's progress engine.
 *
 * A nonblocking operation must not wait, so it never agrees on a layout: before the communicator's first blocking operation, which
 * comes at the same place on all ranks, the module below has it. (A layout that was agreed on for other communicators does not
 * count: ranks may order operations on different communicators differently as long as they do not block.)
 */
#include <pthread.h>
#include <stdlib.h>

#include "hier_run.h"
#include "mca_request.h"

#include "opal/runtime/opal_progress.h"

typedef struct hier_request {
    lucid_request_t super;
    hier_running_t running;
    struct hier_request *next; /* among those under way */
    bool taken;                /* a thread is at it */
} hier_request_t;
OBJ_CLASS_DECLARATION(hier_request_t);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hier_request_t *_Atomic under_way;
static bool registered;

static void construct(hier_request_t *request)
{
    request->next = NULL;
    request->taken = false;
}

OBJ_CLASS_INSTANCE(hier_request_t, lucid_request_t, construct, NULL);

/* The next one after `last` that no other thread is at; its taker lets it go by drop or finish. */
static hier_request_t *take_after(hier_request_t *last)
{
    pthread_mutex_lock(&lock);
    hier_request_t *request = last ? last->next : under_way;
    if (last) last->taken = false;
    while (request && request->taken) request = request->next;
    if (request) request->taken = true;
    pthread_mutex_unlock(&lock);
    return request;
}

static void leave(hier_request_t *request)
{
    pthread_mutex_lock(&lock);
    if (under_way == request) {
        under_way = request->next;
    } else {
        hier_request_t *before = under_way;
        while (before->next != request) before = before->next;
        before->next = request->next;
    }
    pthread_mutex_unlock(&lock);
}

/* True: done, well or badly. */
static bool go_on(hier_request_t *request)
{
    hier_running_t *running = &request->running;
    bool moved;
    int rc = lucid_hier_advance(running, &moved);
    if (rc == OMPI_SUCCESS && running->done < running->job.plan.chunks) return false;
    request->super.super.req_status.MPI_ERROR = lucid_hier_finish(running, rc);
    return true;
}

/* One call deals with each request once; a request that is done leaves before its owner can free it. */
static int progress(void)
{
    static _Thread_local bool inside; /* messages begun from here may call the engine */
    int done = 0;
    if (inside || !under_way) return 0;
    inside = true;
    hier_request_t *request = take_after(NULL);
    while (request) {
        if (!go_on(request)) {
            request = take_after(request);
            continue;
        }
        leave(request);
        ompi_request_complete(&request->super.super, true);
        done++;
        request = take_after(NULL);
    }
    inside = false;
    return done;
}

static void enter(hier_request_t *request)
{
    pthread_mutex_lock(&lock);
    if (!registered) opal_progress_register(progress);
    registered = true;
    request->next = under_way; /* the order does not matter: their tags differ */
    under_way = request;
    pthread_mutex_unlock(&lock);
}

void lucid_hier_start_close(void)
{
    if (registered) opal_progress_unregister(progress);
    registered = false;
}

enum { MOST = 1024 }; /* chunks under way, with a tag each */

/* The MPI layer keeps the operator and the types: the request is one of the kind that it expects. */
int lucid_hier_start(const hier_job_t *job, ompi_request_t **out)
{
    hier_request_t *request = OBJ_NEW(hier_request_t);
    *out = MPI_REQUEST_NULL;
    if (!request) return OMPI_ERR_OUT_OF_RESOURCE;
    ompi_request_t *base = &request->super.super;
    lucid_request_begin(&request->super, job->comm);
    int rc = lucid_hier_prepare(&request->running, job, MOST);
    if (rc == OMPI_SUCCESS) {
        hier_running_t *running = &request->running;
        running->job.tag = ompi_coll_base_nbc_reserve_tags(job->comm, running->slots);
        if (go_on(request))
            ompi_request_complete(base, false);
        else
            enter(request);
        *out = base;
        return OMPI_SUCCESS;
    }
    (void)lucid_hier_finish(&request->running, rc);
    OMPI_REQUEST_FINI(base);
    OBJ_RELEASE(request);
    return rc;
}

static bool serves(const mca_coll_base_module_t *module)
{
    return ((const hier_module_t *)module)->state == HIER_READY;
}

/* The agreement on the context id of a child that is made by MPI_Comm_idup, whose steps come before the communicator's first
 * blocking operation on one rank and after it on another. */
static bool is_agreement(size_t count, const ompi_datatype_t *type)
{
    return count == 1 && type == &ompi_mpi_int.dt;
}

static int start(const mca_coll_base_module_t *module, hier_job_t *job, ompi_request_t **request)
{
    job->plan.layout = ((const hier_module_t *)module)->layout;
    hier_count(calls, 1);
    return lucid_hier_start(job, request);
}

static int ibarrier(ompi_communicator_t *comm, ompi_request_t **request, mca_coll_base_module_t *module)
{
    if (!serves(module)) return HIER_PASS(module, ibarrier, comm, request);
    hier_job_t job = lucid_hier_barrier_job(comm);
    return start(module, &job, request);
}

static int ibcast(void *buffer, lucid_ompi_count_t count, ompi_datatype_t *type, int root, ompi_communicator_t *comm,
                  ompi_request_t **request, mca_coll_base_module_t *module)
{
    size_t bytes;
    ompi_datatype_type_size(type, &bytes); /* the ranks' types may differ, but not what they amount to */
    if (!serves(module) || bytes * (size_t)count == sizeof(int))
        return HIER_PASS(module, ibcast, buffer, count, type, root, comm, request);
    hier_job_t job = lucid_hier_bcast_job(buffer, (size_t)count, type, root, comm);
    return start(module, &job, request);
}

static int iallreduce(const void *sbuf, void *rbuf, lucid_ompi_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                      ompi_communicator_t *comm, ompi_request_t **request, mca_coll_base_module_t *module)
{
    if (!serves(module) || !ompi_op_is_commute(op) || is_agreement((size_t)count, type))
        return HIER_PASS(module, iallreduce, sbuf, rbuf, count, type, op, comm, request);
    hier_job_t job = lucid_hier_allreduce_job(sbuf, rbuf, (size_t)count, type, op, comm);
    return start(module, &job, request);
}

void lucid_hier_fill_nonblocking(mca_coll_base_module_t *module)
{
    module->coll_ibarrier = ibarrier;
    module->coll_ibcast = ibcast;
    module->coll_iallreduce = iallreduce;
}
