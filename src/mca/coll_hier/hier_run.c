/* SPDX-License-Identifier: BSD-3-Clause
 * hier_run.c: performs plans by the PML, on the communicator's own context. A few chunks are under way at a time; each goes on
 * when the messages before its next fence are done.
 */
#include <stdlib.h>
#include <string.h>

#include "hier_run.h"

#include "opal/datatype/opal_datatype.h"
#include "opal/runtime/opal_progress.h"

/* Gone at once, so that a request would be a waste. Of more, ob1's blocking send waits until the network has taken ob1's copy. */
static const size_t tiny_bytes = 128;

static char *address(const hier_running_t *running, const hier_slot_t *slot, int area, size_t offset)
{
    const hier_memory_t *memory = &running->job.area[area];
    char *base = area == HIER_TEMP ? slot->temp - slot->temp_gap : memory->base;
    ptrdiff_t lower, extent;
    if (offset == 0) return base;
    ompi_datatype_get_extent(memory->type, &lower, &extent);
    return base + (ptrdiff_t)(offset * memory->unit) * extent;
}

static int add_request(hier_slot_t *slot, ompi_request_t **request)
{
    if (slot->requests == slot->request_capacity) {
        int more = slot->request_capacity ? 2 * slot->request_capacity : 8;
        ompi_request_t **grown = realloc(slot->request, sizeof *grown * (size_t)more);
        if (!grown) return OMPI_ERR_OUT_OF_RESOURCE;
        slot->request = grown;
        slot->request_capacity = more;
    }
    slot->request[slot->requests] = MPI_REQUEST_NULL;
    *request = NULL;
    return OMPI_SUCCESS;
}

static int communicate(hier_running_t *running, hier_slot_t *slot, const hier_step_t *step)
{
    const hier_memory_t *memory = &running->job.area[step->area];
    size_t count = step->count * memory->unit, size;
    char *data = address(running, slot, step->area, step->offset);
    int tag = running->job.tag - (int)(slot - running->slot);
    ompi_request_t *request;
    ompi_datatype_type_size(memory->type, &size);
    if (step->kind == HIER_SEND) {
        running->messages++;
        if (running->may_wait && count * size <= tiny_bytes)
            return MCA_PML_CALL(send(data, count, memory->type, step->peer, tag, MCA_PML_BASE_SEND_STANDARD, running->job.comm));
    }
    int rc = add_request(slot, &request);
    if (rc != OMPI_SUCCESS) return rc;
    if (step->kind == HIER_SEND)
        rc = MCA_PML_CALL(isend(data, count, memory->type, step->peer, tag, MCA_PML_BASE_SEND_STANDARD, running->job.comm,
                                &request));
    else
        rc = MCA_PML_CALL(irecv(data, count, memory->type, step->peer, tag, running->job.comm, &request));
    if (rc == OMPI_SUCCESS) slot->request[slot->requests++] = request;
    return rc;
}

static int copy(const hier_running_t *running, const hier_slot_t *slot, const hier_step_t *step)
{
    const hier_memory_t *from = &running->job.area[step->from], *to = &running->job.area[step->area];
    char *source = address(running, slot, step->from, step->from_offset);
    char *target = address(running, slot, step->area, step->offset);
    if (from->type == to->type && from->unit == to->unit)
        return ompi_datatype_copy_content_same_ddt(to->type, step->count * to->unit, target, source);
    for (size_t i = 0; i < step->count; i++) { /* block by block: their counts fit an int */
        int rc = ompi_datatype_sndrcv(address(running, slot, step->from, step->from_offset + i), (int32_t)from->unit, from->type,
                                      address(running, slot, step->area, step->offset + i), (int32_t)to->unit, to->type);
        if (rc != OMPI_SUCCESS) return rc;
    }
    return OMPI_SUCCESS;
}

static int perform(hier_running_t *running, hier_slot_t *slot, const hier_step_t *step)
{
    if (step->kind == HIER_SEND || step->kind == HIER_RECV) return communicate(running, slot, step);
    if (step->kind == HIER_COPY) return copy(running, slot, step);
    if (step->count > 0)
        ompi_op_reduce(running->job.op, address(running, slot, step->from, step->from_offset),
                       address(running, slot, step->area, step->offset), (int)step->count, running->job.area[step->area].type);
    return OMPI_SUCCESS;
}

/* Whether the messages begun are done; an error of theirs is the slot's. */
static bool is_done(const hier_running_t *running, hier_slot_t *slot, int *rc)
{
    if (!running->may_wait)
        for (int i = 0; i < slot->requests; i++)
            if (!REQUEST_COMPLETE(slot->request[i])) return false;
    if (slot->requests > 0) *rc = ompi_request_wait_all((size_t)slot->requests, slot->request, MPI_STATUSES_IGNORE);
    slot->requests = 0;
    return true;
}

static int start(hier_running_t *running, hier_slot_t *slot)
{
    const hier_memory_t *memory = &running->job.area[HIER_TEMP];
    hier_plan_build(&running->job.plan, slot->chunk, &slot->schedule);
    if (slot->schedule.failed) return OMPI_ERR_OUT_OF_RESOURCE;
    slot->active = true;
    slot->at = 0;
    if (slot->schedule.temp == 0) return OMPI_SUCCESS;
    size_t bytes = (size_t)opal_datatype_span(&memory->type->super, slot->schedule.temp * memory->unit, &slot->temp_gap);
    if (bytes <= slot->temp_bytes) return OMPI_SUCCESS;
    free(slot->temp);
    slot->temp = malloc(bytes);
    slot->temp_bytes = slot->temp ? bytes : 0;
    return slot->temp ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

/* One slot, as far as it can go. *moved: it did something. */
static int advance(hier_running_t *running, hier_slot_t *slot, bool *moved)
{
    int rc = OMPI_SUCCESS;
    if (!slot->active) {
        if (slot->chunk >= running->job.plan.chunks) return OMPI_SUCCESS;
        *moved = true;
        if ((rc = start(running, slot)) != OMPI_SUCCESS) return rc;
    }
    for (; slot->at < slot->schedule.count; slot->at++) {
        const hier_step_t *step = &slot->schedule.step[slot->at];
        if (step->kind == HIER_FENCE) {
            if (slot->requests > 0 && !is_done(running, slot, &rc)) return OMPI_SUCCESS;
        } else {
            rc = perform(running, slot, step);
        }
        *moved = true;
        if (rc != OMPI_SUCCESS) return rc;
    }
    if (slot->requests > 0 && !is_done(running, slot, &rc)) return OMPI_SUCCESS;
    slot->active = false;
    slot->chunk += running->slots;
    running->done++;
    *moved = true;
    return rc;
}

int lucid_hier_advance(hier_running_t *running, bool *moved)
{
    *moved = false;
    for (int i = 0; i < running->slots; i++) {
        int rc = advance(running, &running->slot[i], moved);
        if (rc != OMPI_SUCCESS) return rc;
    }
    return OMPI_SUCCESS;
}

static bool is_packed(const ompi_datatype_t *type, size_t count)
{
    ptrdiff_t lower, extent;
    size_t size;
    ompi_datatype_get_extent(type, &lower, &extent);
    ompi_datatype_type_size(type, &size);
    return lower == 0 && extent == (ptrdiff_t)size && ompi_datatype_is_contiguous_memory_layout(type, (int32_t)count);
}

static int move_packed(const hier_job_t *job, bool out)
{
    size_t size;
    ompi_datatype_type_size(job->user.type, &size);
    int32_t bytes = (int32_t)(size * job->user.unit);
    int32_t count = (int32_t)job->user.unit;
    if (out) return ompi_datatype_sndrcv(job->user.base, count, job->user.type, job->packed, bytes, &ompi_mpi_packed.dt);
    return ompi_datatype_sndrcv(job->packed, bytes, &ompi_mpi_packed.dt, job->user.base, count, job->user.type);
}

/* OUTPUT as bytes. Of a broadcast only the root's is of use yet, of an allgather the own block. */
static int make_bytes(hier_job_t *job)
{
    hier_memory_t *output = &job->area[HIER_OUTPUT];
    size_t size, ranks = job->plan.operation == HIER_ALLGATHER ? (size_t)job->plan.layout->size : 1;
    ompi_datatype_type_size(output->type, &size);
    job->user = (hier_memory_t){output->base, output->type, job->plan.count * ranks};
    if (!is_packed(output->type, job->user.unit)) {
        job->packed = malloc(size * job->user.unit);
        if (!job->packed) return OMPI_ERR_OUT_OF_RESOURCE;
        int rc = move_packed(job, true);
        if (rc != OMPI_SUCCESS) return rc;
        output->base = job->packed;
    }
    *output = (hier_memory_t){output->base, &ompi_mpi_byte.dt, 1};
    job->plan.count *= size;
    job->plan.chunk = job->segment;
    return OMPI_SUCCESS;
}

/* A ring has its messages' size, not its chunks', from the settings. */
static void cut_ring(hier_job_t *job)
{
    size_t size;
    if (job->plan.operation != HIER_ALLREDUCE || job->plan.exchange != HIER_RING) return;
    ompi_datatype_type_size(job->area[HIER_OUTPUT].type, &size);
    size_t elements = job->segment * (size_t)job->plan.layout->nodes / (size ? size : 1);
    job->plan.chunk = elements ? elements : 1;
}

int lucid_hier_prepare(hier_running_t *running, const hier_job_t *job, int most)
{
    memset(running, 0, sizeof *running);
    running->job = *job;
    int rc = job->as_bytes ? make_bytes(&running->job) : OMPI_SUCCESS;
    if (rc != OMPI_SUCCESS) return rc;
    cut_ring(&running->job);
    if (!hier_plan_prepare(&running->job.plan)) return OMPI_ERR_OUT_OF_RESOURCE;
    int chunks = running->job.plan.chunks, window = lucid_hier.window;
    if (running->job.plan.operation == HIER_ALLGATHER && window < 2 * job->plan.layout->nodes) window = 2 * job->plan.layout->nodes;
    if (window > most) window = most;
    running->slots = chunks < window ? chunks : window;
    running->slot = running->slots == 1 ? &running->only : calloc((size_t)running->slots, sizeof *running->slot);
    for (int i = 0; running->slot && i < running->slots; i++) running->slot[i].chunk = i;
    return running->slot ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

/* After an error messages may still be under way, so what they use is left to them. */
int lucid_hier_finish(hier_running_t *running, int rc)
{
    if (rc == OMPI_SUCCESS && running->job.packed) {
        rc = move_packed(&running->job, false);
        free(running->job.packed);
    }
    hier_count(messages, running->messages);
    hier_plan_cleanup(&running->job.plan);
    for (int i = 0; i < running->slots && running->slot && rc == OMPI_SUCCESS; i++) {
        hier_schedule_cleanup(&running->slot[i].schedule);
        free(running->slot[i].temp);
        free(running->slot[i].request);
    }
    if (running->slot != &running->only && rc == OMPI_SUCCESS) free(running->slot);
    return rc;
}

/* Chunks overtake each other, so those under way have a tag each: of all that blocking collectives have, which come in one order and
 * return with all their receives matched. The counter of nonblocking ones differs between ranks while MPI_Comm_idup is under way. */
enum { FIRST_TAG = MCA_COLL_BASE_TAG_ALLGATHER, TAGS = FIRST_TAG - MCA_COLL_BASE_TAG_SCATTERV + 1 };

int lucid_hier_run(hier_job_t *job)
{
    hier_running_t running;
    int rc = lucid_hier_prepare(&running, job, TAGS);
    running.may_wait = running.slots == 1;
    running.job.tag = running.slots > 1 ? FIRST_TAG : lucid_hier_tag(job->plan.operation);
    while (rc == OMPI_SUCCESS && running.done < running.job.plan.chunks) {
        bool moved;
        rc = lucid_hier_advance(&running, &moved);
        if (!moved) opal_progress();
    }
    return lucid_hier_finish(&running, rc);
}
