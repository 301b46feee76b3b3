/* SPDX-License-Identifier: BSD-3-Clause
 * hier_coll.c: the blocking operations: what goes to the module below, and which plan the rest gets. Every decision goes by what is
 * the same on all ranks: sizes of messages, the operator, the layout.
 */
#include <limits.h>

#include "hier.h"

int lucid_hier_tag(hier_operation_t operation)
{
    static const int tags[HIER_OPERATIONS] = {
        [HIER_BARRIER] = MCA_COLL_BASE_TAG_BARRIER,     [HIER_BCAST] = MCA_COLL_BASE_TAG_BCAST,
        [HIER_REDUCE] = MCA_COLL_BASE_TAG_REDUCE,       [HIER_ALLREDUCE] = MCA_COLL_BASE_TAG_ALLREDUCE,
        [HIER_ALLGATHER] = MCA_COLL_BASE_TAG_ALLGATHER, [HIER_GATHER] = MCA_COLL_BASE_TAG_GATHER,
        [HIER_SCATTER] = MCA_COLL_BASE_TAG_SCATTER,
    };
    return tags[operation];
}

static hier_job_t job_of(hier_operation_t operation, int root, ompi_communicator_t *comm)
{
    hier_job_t job = {.comm = comm};
    job.plan.operation = operation;
    job.plan.root = root;
    job.plan.radix = lucid_hier.radix;
    job.plan.up_radix = lucid_hier.up_radix;
    for (int area = 0; area < HIER_AREAS; area++) job.area[area] = (hier_memory_t){NULL, &ompi_mpi_byte.dt, 1};
    return job;
}

/* All areas hold elements of one type. */
static void set_elements(hier_job_t *job, const void *input, void *output, size_t count, ompi_datatype_t *type)
{
    job->plan.in_place = input == MPI_IN_PLACE;
    job->plan.count = job->plan.chunk = count;
    for (int area = 0; area < HIER_AREAS; area++) job->area[area].type = type;
    job->area[HIER_INPUT].base = job->plan.in_place ? output : (char *)input;
    job->area[HIER_OUTPUT].base = output;
}

static hier_memory_t blocks(const void *base, size_t count, ompi_datatype_t *type)
{
    return (hier_memory_t){(char *)base, type, count};
}

/* Elements in a segment of so many bytes. */
static size_t elements(size_t bytes, size_t type_size)
{
    return bytes > type_size ? bytes / type_size : 1;
}

static size_t size_of(const ompi_datatype_t *type)
{
    size_t size;
    ompi_datatype_type_size(type, &size);
    return size;
}

/* Whether the module's layout serves; on the way to the first one the job may be performed. */
static bool ready(mca_coll_base_module_t *base, hier_job_t *job, bool *performed, int *rc)
{
    hier_module_t *module = (hier_module_t *)base;
    *performed = false;
    *rc = OMPI_SUCCESS;
    if (module->state == HIER_NEW) *rc = lucid_hier_first(module, job, performed);
    job->plan.layout = module->layout;
    return module->state == HIER_READY || *performed || *rc != OMPI_SUCCESS;
}

static int perform(hier_job_t *job, bool performed, int rc)
{
    hier_count(calls, 1);
    return performed || rc != OMPI_SUCCESS ? rc : lucid_hier_run(job);
}

/* ---- barrier, broadcast, reductions --------------------------------------------------------------------------------- */

hier_job_t lucid_hier_barrier_job(ompi_communicator_t *comm)
{
    hier_job_t job = job_of(HIER_BARRIER, 0, comm);
    job.plan.up_radix = lucid_hier.sync_radix;
    return job;
}

static int barrier(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    hier_job_t job = lucid_hier_barrier_job(comm);
    bool performed;
    int rc;
    if (!ready(module, &job, &performed, &rc)) return HIER_PASS(module, barrier, comm);
    return perform(&job, performed, rc);
}

hier_job_t lucid_hier_bcast_job(void *buffer, size_t count, ompi_datatype_t *type, int root, ompi_communicator_t *comm)
{
    hier_job_t job = job_of(HIER_BCAST, root, comm);
    size_t bytes = size_of(type) * count;
    set_elements(&job, NULL, buffer, count, type);
    if (bytes < lucid_hier.bcast_chain || bytes > INT_MAX) return job;
    job.plan.up_radix = 1;
    job.as_bytes = true;
    job.segment = lucid_hier.bcast_segment;
    return job;
}

static int bcast(void *buffer, lucid_ompi_count_t count, ompi_datatype_t *type, int root, ompi_communicator_t *comm,
                 mca_coll_base_module_t *module)
{
    hier_job_t job = lucid_hier_bcast_job(buffer, (size_t)count, type, root, comm);
    bool performed;
    int rc;
    if (!ready(module, &job, &performed, &rc)) return HIER_PASS(module, bcast, buffer, count, type, root, comm);
    return perform(&job, performed, rc);
}

static int reduce(const void *sbuf, void *rbuf, lucid_ompi_count_t count, ompi_datatype_t *type, ompi_op_t *op, int root,
                  ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    hier_job_t job = job_of(HIER_REDUCE, root, comm);
    bool performed;
    int rc;
    if (!ompi_op_is_commute(op)) return HIER_PASS(module, reduce, sbuf, rbuf, count, type, op, root, comm);
    set_elements(&job, sbuf, rbuf, (size_t)count, type);
    job.op = op;
    if (size_of(type) * (size_t)count >= lucid_hier.reduce_chain) {
        job.plan.up_radix = 1;
        job.plan.chunk = elements(lucid_hier.reduce_segment, size_of(type));
    }
    if (!ready(module, &job, &performed, &rc)) return HIER_PASS(module, reduce, sbuf, rbuf, count, type, op, root, comm);
    return perform(&job, performed, rc);
}

hier_job_t lucid_hier_allreduce_job(const void *sbuf, void *rbuf, size_t count, ompi_datatype_t *type, ompi_op_t *op,
                                    ompi_communicator_t *comm)
{
    hier_job_t job = job_of(HIER_ALLREDUCE, 0, comm);
    set_elements(&job, sbuf, rbuf, count, type);
    job.op = op;
    size_t bytes = size_of(type) * count;
    job.plan.exchange = bytes < lucid_hier.allreduce_tree   ? HIER_TREE
                        : bytes < lucid_hier.allreduce_ring ? HIER_DOUBLING
                                                            : HIER_RING;
    if (job.plan.exchange == HIER_TREE) job.plan.up_radix = lucid_hier.sync_radix;
    job.segment = lucid_hier.allreduce_piece;
    return job;
}

static int allreduce(const void *sbuf, void *rbuf, lucid_ompi_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                     ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    if (!ompi_op_is_commute(op)) return HIER_PASS(module, allreduce, sbuf, rbuf, count, type, op, comm);
    hier_job_t job = lucid_hier_allreduce_job(sbuf, rbuf, (size_t)count, type, op, comm);
    bool performed;
    int rc;
    if (!ready(module, &job, &performed, &rc)) return HIER_PASS(module, allreduce, sbuf, rbuf, count, type, op, comm);
    return perform(&job, performed, rc);
}

/* ---- blocks --------------------------------------------------------------------------------------------------------- */

static bool streams(size_t bytes, ompi_communicator_t *comm)
{
    return bytes >= lucid_hier.allgather_stream && bytes * (size_t)ompi_comm_size(comm) <= INT_MAX;
}

static int allgather(const void *sbuf, lucid_ompi_count_t scount, ompi_datatype_t *stype, void *rbuf, lucid_ompi_count_t rcount,
                     ompi_datatype_t *rtype, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    hier_job_t job = job_of(HIER_ALLGATHER, 0, comm);
    ptrdiff_t lower, extent;
    bool performed;
    int rc = OMPI_SUCCESS;
    job.area[HIER_OUTPUT] = job.area[HIER_TEMP] = blocks(rbuf, (size_t)rcount, rtype);
    if (((hier_module_t *)module)->state == HIER_ASIDE)
        return HIER_PASS(module, allgather, sbuf, scount, stype, rbuf, rcount, rtype, comm);
    ompi_datatype_get_extent(rtype, &lower, &extent);
    if (sbuf != MPI_IN_PLACE)
        rc = ompi_datatype_sndrcv(sbuf, (int32_t)scount, stype, (char *)rbuf + extent * ompi_comm_rank(comm) * (ptrdiff_t)rcount,
                                  (int32_t)rcount, rtype);
    if (rc != OMPI_SUCCESS) return rc;
    if (!ready(module, &job, &performed, &rc))
        return HIER_PASS(module, allgather, MPI_IN_PLACE, 0, rtype, rbuf, rcount, rtype, comm);
    if (!performed && rc == OMPI_SUCCESS && streams(size_of(rtype) * (size_t)rcount, comm)) {
        if (job.plan.layout->nodes > 32) return HIER_PASS(module, allgather, MPI_IN_PLACE, 0, rtype, rbuf, rcount, rtype, comm);
        job.plan.direct = true;
        job.as_bytes = true;
        job.plan.count = (size_t)rcount;
        job.segment = lucid_hier.allgather_segment;
    }
    return perform(&job, performed, rc);
}

/* Where sizes are those of a block: the root's type at the root, the rank's own elsewhere; their signatures are the same. */
static bool reaches(const hier_memory_t *memory, unsigned limit)
{
    return size_of(memory->type) * memory->unit >= limit;
}

static int gather(const void *sbuf, lucid_ompi_count_t scount, ompi_datatype_t *stype, void *rbuf, lucid_ompi_count_t rcount,
                  ompi_datatype_t *rtype, int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    hier_job_t job = job_of(HIER_GATHER, root, comm);
    bool performed, at_root = ompi_comm_rank(comm) == root;
    int rc;
    job.plan.in_place = sbuf == MPI_IN_PLACE;
    if (!job.plan.in_place) job.area[HIER_INPUT] = blocks(sbuf, (size_t)scount, stype);
    if (at_root) job.area[HIER_OUTPUT] = blocks(rbuf, (size_t)rcount, rtype);
    job.area[HIER_TEMP] = at_root ? job.area[HIER_OUTPUT] : job.area[HIER_INPUT];
    job.plan.direct = reaches(&job.area[HIER_TEMP], lucid_hier.gather_direct);
    if (!ready(module, &job, &performed, &rc))
        return HIER_PASS(module, gather, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
    return perform(&job, performed, rc);
}

static int scatter(const void *sbuf, lucid_ompi_count_t scount, ompi_datatype_t *stype, void *rbuf, lucid_ompi_count_t rcount,
                   ompi_datatype_t *rtype, int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    hier_job_t job = job_of(HIER_SCATTER, root, comm);
    bool performed, at_root = ompi_comm_rank(comm) == root;
    int rc;
    job.plan.in_place = rbuf == MPI_IN_PLACE;
    if (at_root) job.area[HIER_INPUT] = blocks(sbuf, (size_t)scount, stype);
    if (!job.plan.in_place) job.area[HIER_OUTPUT] = blocks(rbuf, (size_t)rcount, rtype);
    job.area[HIER_TEMP] = at_root ? job.area[HIER_INPUT] : job.area[HIER_OUTPUT];
    job.plan.direct = reaches(&job.area[HIER_TEMP], lucid_hier.scatter_direct);
    if (reaches(&job.area[HIER_TEMP], lucid_hier.scatter_tree)) job.plan.up_radix = ompi_comm_size(comm); /* from the root */
    if (!ready(module, &job, &performed, &rc))
        return HIER_PASS(module, scatter, sbuf, scount, stype, rbuf, rcount, rtype, root, comm);
    return perform(&job, performed, rc);
}

void lucid_hier_fill(mca_coll_base_module_t *module)
{
    module->coll_barrier = barrier;
    module->coll_bcast = bcast;
    module->coll_reduce = reduce;
    module->coll_allreduce = allreduce;
    module->coll_allgather = allgather;
    module->coll_gather = gather;
    module->coll_scatter = scatter;
}
