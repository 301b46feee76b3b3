/* SPDX-License-Identifier: BSD-3-Clause
 * hier_first.c: a communicator's first operation. Trees that follow from a layout deadlock where the ranks disagree on it, so the
 * agreement runs over a binomial tree of rank numbers, on which they cannot disagree: up with a hash of every rank's layout, down
 * with the verdict. A small operation travels in the same messages: 2 (p - 1) of them, and its result is right whatever
 * the verdict. Once the whole job has agreed, communicators of its ranks need no agreement any more.
 */
#include <stdlib.h>
#include <string.h>

#include "hier.h"

typedef struct header {
    uint64_t number;  /* hash of the layout, 0: none */
    uint64_t sockets; /* sum over the ranks: 0 if every node's ranks have seen the same sockets */
    uint64_t verdict;
    uint64_t padding; /* what follows may want 16 bytes */
} header_t;

typedef struct sweep {
    hier_job_t *job; /* NULL: nothing travels along */
    ompi_communicator_t *comm;
    int size, v; /* ranks, and this one counted from the root */
    size_t bytes; /* of a block, or of the whole vector */
    char *data;   /* header, then blocks by v, or the vector */
} sweep_t;

enum { HEADER = sizeof(header_t) };

static hier_operation_t operation_of(const sweep_t *sweep)
{
    return sweep->job ? sweep->job->plan.operation : HIER_BARRIER;
}

static int root_of(const sweep_t *sweep)
{
    return sweep->job ? sweep->job->plan.root : 0;
}

static bool has_blocks(hier_operation_t operation)
{
    return operation == HIER_ALLGATHER || operation == HIER_GATHER || operation == HIER_SCATTER;
}

static bool folds(hier_operation_t operation)
{
    return operation == HIER_REDUCE || operation == HIER_ALLREDUCE;
}

static size_t blocks_below(const sweep_t *sweep, int v, int span)
{
    return (size_t)(span < sweep->size - v ? span : sweep->size - v);
}

static size_t bytes_up(const sweep_t *sweep, int v, int span)
{
    hier_operation_t operation = operation_of(sweep);
    if (folds(operation)) return sweep->bytes;
    return operation == HIER_ALLGATHER || operation == HIER_GATHER ? sweep->bytes * blocks_below(sweep, v, span) : 0;
}

static size_t bytes_down(const sweep_t *sweep, int v, int span)
{
    hier_operation_t operation = operation_of(sweep);
    if (operation == HIER_BCAST || operation == HIER_ALLREDUCE) return sweep->bytes;
    if (operation == HIER_ALLGATHER) return sweep->bytes * (size_t)sweep->size;
    return operation == HIER_SCATTER ? sweep->bytes * blocks_below(sweep, v, span) : 0;
}

/* ---- between the user's buffers and packed bytes -------------------------------------------------------------------- */

static char *user_block(const hier_job_t *job, hier_area_t area, size_t block)
{
    const hier_memory_t *memory = &job->area[area];
    ptrdiff_t lower, extent;
    ompi_datatype_get_extent(memory->type, &lower, &extent);
    return memory->base + (ptrdiff_t)(block * memory->unit) * extent;
}

static size_t user_count(const sweep_t *sweep, hier_area_t area)
{
    return has_blocks(operation_of(sweep)) ? sweep->job->area[area].unit : sweep->job->plan.count;
}

static char *packed(const sweep_t *sweep, int v)
{
    return sweep->data + HEADER + (has_blocks(operation_of(sweep)) ? sweep->bytes * (size_t)v : 0);
}

static void take(const sweep_t *sweep, hier_area_t area, int block, int v)
{
    (void)ompi_datatype_sndrcv(user_block(sweep->job, area, (size_t)block), (int32_t)user_count(sweep, area),
                               sweep->job->area[area].type, packed(sweep, v), (int32_t)sweep->bytes, &ompi_mpi_packed.dt);
}

static void give(const sweep_t *sweep, hier_area_t area, int block, int v)
{
    (void)ompi_datatype_sndrcv(packed(sweep, v), (int32_t)sweep->bytes, &ompi_mpi_packed.dt,
                               user_block(sweep->job, area, (size_t)block), (int32_t)user_count(sweep, area),
                               sweep->job->area[area].type);
}

static int rank_at(const sweep_t *sweep, int v)
{
    return (v + root_of(sweep)) % sweep->size;
}

static void take_own(const sweep_t *sweep)
{
    hier_operation_t operation = operation_of(sweep);
    const hier_job_t *job = sweep->job;
    int rank = rank_at(sweep, sweep->v);
    if (operation == HIER_BCAST && sweep->v == 0) take(sweep, HIER_OUTPUT, 0, 0);
    if (folds(operation)) take(sweep, job->plan.in_place ? HIER_OUTPUT : HIER_INPUT, 0, 0);
    if (operation == HIER_ALLGATHER || (operation == HIER_GATHER && job->plan.in_place)) take(sweep, HIER_OUTPUT, rank, sweep->v);
    if (operation == HIER_GATHER && !job->plan.in_place) take(sweep, HIER_INPUT, 0, sweep->v);
    if (operation == HIER_SCATTER && sweep->v == 0)
        for (int v = 0; v < sweep->size; v++) take(sweep, HIER_INPUT, rank_at(sweep, v), v);
}

static void give_result(const sweep_t *sweep)
{
    hier_operation_t operation = operation_of(sweep);
    bool root = sweep->v == 0;
    if ((operation == HIER_BCAST && !root) || operation == HIER_ALLREDUCE || (operation == HIER_REDUCE && root))
        give(sweep, HIER_OUTPUT, 0, 0);
    if (operation == HIER_ALLGATHER || (operation == HIER_GATHER && root))
        for (int v = 0; v < sweep->size; v++) give(sweep, HIER_OUTPUT, rank_at(sweep, v), v);
    if (operation == HIER_SCATTER && !(root && sweep->job->plan.in_place)) give(sweep, HIER_OUTPUT, 0, sweep->v);
}

/* ---- up and down ---------------------------------------------------------------------------------------------------- */

static int send_part(const sweep_t *sweep, int to, size_t from_block, size_t bytes, char *message)
{
    memcpy(message, sweep->data, HEADER);
    memcpy(message + HEADER, sweep->data + HEADER + from_block * sweep->bytes, bytes);
    hier_count(setup_messages, 1);
    return MCA_PML_CALL(send(message, HEADER + bytes, &ompi_mpi_byte.dt, rank_at(sweep, to),
                             lucid_hier_tag(operation_of(sweep)), MCA_PML_BASE_SEND_STANDARD, sweep->comm));
}

static int receive(const sweep_t *sweep, int from, size_t bytes, char *message)
{
    return MCA_PML_CALL(recv(message, HEADER + bytes, &ompi_mpi_byte.dt, rank_at(sweep, from),
                             lucid_hier_tag(operation_of(sweep)), sweep->comm, MPI_STATUS_IGNORE));
}

static void merge(const sweep_t *sweep, int child, size_t bytes, const char *message)
{
    header_t *own = (header_t *)sweep->data;
    const header_t *other = (const header_t *)message;
    own->verdict |= other->verdict;
    own->sockets += other->sockets;
    if (own->number != other->number) own->verdict |= HIER_DIFFERENT;
    if (folds(operation_of(sweep)))
        ompi_op_reduce(sweep->job->op, (void *)(message + HEADER), packed(sweep, 0), (int)sweep->job->plan.count,
                       sweep->job->area[HIER_OUTPUT].type);
    else
        memcpy(packed(sweep, child), message + HEADER, bytes);
}

/* The blocks of a subtree lie together, from its own on. */
static size_t first_block(const sweep_t *sweep, hier_operation_t operation, int v)
{
    return operation == HIER_GATHER || operation == HIER_SCATTER ? (size_t)v : 0;
}

static int go_up(const sweep_t *sweep, char *message, int *span)
{
    int rc = OMPI_SUCCESS, v = sweep->v, mask = 1;
    for (; mask < sweep->size && !(v & mask) && rc == OMPI_SUCCESS; mask *= 2) {
        if (v + mask >= sweep->size) continue;
        size_t bytes = bytes_up(sweep, v + mask, mask);
        rc = receive(sweep, v + mask, bytes, message);
        if (rc == OMPI_SUCCESS) merge(sweep, v + mask, bytes, message);
    }
    *span = mask;
    if (v == 0 || rc != OMPI_SUCCESS) return rc;
    size_t from = operation_of(sweep) == HIER_ALLGATHER ? (size_t)v : first_block(sweep, operation_of(sweep), v);
    return send_part(sweep, v - mask, from, bytes_up(sweep, v, mask), message);
}

static int go_down(const sweep_t *sweep, char *message, int span)
{
    int rc = OMPI_SUCCESS, v = sweep->v;
    size_t from = first_block(sweep, operation_of(sweep), v);
    if (v > 0) {
        size_t bytes = bytes_down(sweep, v, span);
        rc = receive(sweep, v - span, bytes, message);
        memcpy(sweep->data, message, HEADER);
        memcpy(sweep->data + HEADER + from * sweep->bytes, message + HEADER, bytes);
    }
    for (int mask = span / 2; mask >= 1 && rc == OMPI_SUCCESS; mask /= 2) {
        if (v + mask >= sweep->size) continue;
        size_t block = first_block(sweep, operation_of(sweep), v + mask);
        rc = send_part(sweep, v + mask, block, bytes_down(sweep, v + mask, mask), message);
    }
    return rc;
}

int lucid_hier_agree(ompi_communicator_t *comm, uint64_t number, uint64_t sockets, hier_job_t *carried, int *verdict)
{
    sweep_t sweep = {carried, comm, ompi_comm_size(comm), 0, 0, NULL};
    sweep.v = (ompi_comm_rank(comm) - root_of(&sweep) + sweep.size) % sweep.size;
    if (carried && operation_of(&sweep) != HIER_BARRIER) {
        hier_operation_t operation = operation_of(&sweep);
        bool input = operation == HIER_GATHER ? !carried->plan.in_place : operation == HIER_SCATTER && sweep.v == 0;
        hier_area_t area = input ? HIER_INPUT : HIER_OUTPUT;
        ompi_datatype_type_size(carried->area[area].type, &sweep.bytes);
        sweep.bytes *= user_count(&sweep, area);
    }
    size_t room = HEADER + (sweep.bytes * (has_blocks(operation_of(&sweep)) ? (size_t)sweep.size : 1) + 15) / 16 * 16;
    char *memory = calloc(2, room);
    if (!memory) return OMPI_ERR_OUT_OF_RESOURCE;
    sweep.data = memory;
    header_t header = {number, sockets, number == 0 ? HIER_NO_MAP : 0, 0};
    memcpy(sweep.data, &header, HEADER);
    if (sweep.bytes > 0) take_own(&sweep);
    int span, rc = go_up(&sweep, memory + room, &span);
    header_t *own = (header_t *)sweep.data;
    if (sweep.v == 0 && own->sockets != 0) own->verdict |= HIER_OTHER_SOCKETS;
    if (rc == OMPI_SUCCESS) rc = go_down(&sweep, memory + room, span);
    *verdict = (int)own->verdict;
    if (rc == OMPI_SUCCESS && sweep.bytes > 0) give_result(&sweep);
    free(memory);
    hier_count(agreements, 1);
    return rc;
}

/* ---- the first operation -------------------------------------------------------------------------------------------- */

/* The same on all ranks: it goes by sizes of messages, and for a fold by the type, which is the same. */
static bool may_travel(const hier_job_t *job)
{
    hier_operation_t operation = job->plan.operation;
    if (operation == HIER_BARRIER) return true;
    bool input = operation == HIER_GATHER ? !job->plan.in_place
                                          : operation == HIER_SCATTER && ompi_comm_rank(job->comm) == job->plan.root;
    const hier_memory_t *memory = &job->area[input ? HIER_INPUT : HIER_OUTPUT];
    size_t size;
    ompi_datatype_type_size(memory->type, &size);
    if (has_blocks(operation)) return size * memory->unit * (size_t)ompi_comm_size(job->comm) <= lucid_hier.first_limit;
    if (folds(operation) && !(ompi_datatype_is_predefined(memory->type) &&
                              ompi_datatype_is_contiguous_memory_layout(memory->type, (int32_t)job->plan.count)))
        return false;
    return size * job->plan.count <= lucid_hier.first_limit;
}

/* Summed up over a node's ranks to nothing: the leader takes back what each adds. */
static uint64_t socket_share(const hier_layout_t *layout)
{
    uint64_t hash = hier_layout_socket_hash(layout);
    int others = hier_node_size(layout, layout->node_of[layout->rank]) - 1;
    return layout->index_of[layout->rank] == 0 ? (uint64_t)0 - hash * (uint64_t)others : hash;
}

static int settle(hier_module_t *module, ompi_communicator_t *comm, int verdict)
{
    if (verdict & (HIER_DIFFERENT | HIER_NO_MAP)) {
        lucid_hier_layout_release(module->layout);
        module->layout = lucid_hier_discover(comm);
        if (module->layout) hier_count(discovered, 1); /* NULL on one rank is NULL on all, and then the module below serves */
        return OMPI_SUCCESS;
    }
    if (verdict & HIER_OTHER_SOCKETS) {
        hier_layout_t *plain = lucid_hier_layout(comm, module->layout->node_of, false);
        lucid_hier_layout_release(module->layout);
        module->layout = plain;
        if (!plain) return OMPI_ERR_OUT_OF_RESOURCE;
        if (ompi_comm_size(comm) == lucid_ompi_job_size()) lucid_hier.sockets = false; /* on all ranks of the job */
    }
    if (!(verdict & HIER_OTHER_SOCKETS) || !lucid_hier.sockets) lucid_hier_note_agreed(comm);
    hier_count(predicted, 1);
    return OMPI_SUCCESS;
}

int lucid_hier_first(hier_module_t *module, hier_job_t *job, bool *performed)
{
    ompi_communicator_t *comm = job->comm;
    int verdict = 0, rc = OMPI_SUCCESS;
    if (lucid_hier.topology == HIER_PREDICT) module->layout = lucid_hier_predict(comm);
    if (lucid_hier.topology == HIER_DISCOVER) {
        verdict = HIER_NO_MAP;
    } else if (!module->layout || !lucid_hier_is_agreed(comm)) {
        uint64_t number = module->layout ? module->layout->hash : 0, sockets = module->layout ? socket_share(module->layout) : 0;
        *performed = may_travel(job);
        rc = lucid_hier_agree(comm, number, sockets, *performed ? job : NULL, &verdict);
    }
    if (rc == OMPI_SUCCESS) rc = settle(module, comm, verdict);
    if (rc != OMPI_SUCCESS) return rc;
    module->state = !module->layout || hier_layout_flat(module->layout) ? HIER_ASIDE : HIER_READY;
    module->super.settled = module->state == HIER_READY;
    if (module->state == HIER_ASIDE) hier_count(aside, 1);
    return OMPI_SUCCESS;
}
