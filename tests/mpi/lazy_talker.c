/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_talker.c: coll/talker, a component that communicates when it is set up, as hcoll and ucc do: every process of a new
 * communicator sends a message round and waits for its neighbour's. It serves barriers. Performance variable coll_talker_setups.
 */
#include LUCID_COMPAT_HEADER

#include "opal/mca/base/mca_base_pvar.h"

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_talker_component;

static unsigned long long setups;

static int round_trip(ompi_communicator_t *comm, int tag)
{
    int size = ompi_comm_size(comm), rank = ompi_comm_rank(comm);
    char out = 0, in = 0;
    for (int distance = 1; distance < size; distance *= 2) {
        ompi_request_t *request;
        int rc = MCA_PML_CALL(irecv(&in, 1, &ompi_mpi_byte.dt, (rank + size - distance) % size, tag, comm, &request));
        if (rc != OMPI_SUCCESS) return rc;
        rc = MCA_PML_CALL(send(&out, 1, &ompi_mpi_byte.dt, (rank + distance) % size, tag, MCA_PML_BASE_SEND_STANDARD, comm));
        if (rc != OMPI_SUCCESS) return rc;
        rc = ompi_request_wait(&request, MPI_STATUS_IGNORE);
        if (rc != OMPI_SUCCESS) return rc;
    }
    return OMPI_SUCCESS;
}

static int barrier(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return round_trip(comm, MCA_COLL_BASE_TAG_BARRIER);
}

static int enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    setups++;
    return round_trip(comm, MCA_COLL_BASE_TAG_ALLTOALL);
}

static mca_coll_base_module_t *comm_query(ompi_communicator_t *comm, int *priority)
{
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
    mca_coll_base_module_t *module = OBJ_NEW(mca_coll_base_module_t);
    module->coll_module_enable = enable;
    module->coll_barrier = barrier;
    *priority = 90;
    return module;
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    return OMPI_SUCCESS;
}

static int register_parameters(void)
{
    (void)mca_base_component_pvar_register(&mca_coll_talker_component.collm_version, "setups", "modules set up", OPAL_INFO_LVL_9,
                                           MCA_BASE_PVAR_CLASS_LEVEL, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
                                           MCA_BASE_VAR_BIND_NO_OBJECT, MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS,
                                           NULL, NULL, NULL, &setups);
    return OMPI_SUCCESS;
}

const mca_coll_base_component_t mca_coll_talker_component = {
    .collm_version = {LUCID_OMPI_COLL_VERSION, .mca_component_name = "talker",
                      MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
                      .mca_register_component_params = register_parameters},
    .collm_data = LUCID_OMPI_COLL_DATA,
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};
