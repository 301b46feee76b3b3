/* SPDX-License-Identifier: BSD-3-Clause
 * mca_request.c: see mca_request.h.
 */
#include "mca_request.h"

static int cancel(ompi_request_t *request, int complete)
{
    return MPI_ERR_REQUEST;
}

static int release(ompi_request_t **request)
{
    if (!REQUEST_COMPLETE(*request)) return MPI_ERR_REQUEST;
    OMPI_REQUEST_FINI(*request);
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static void construct(lucid_request_t *request)
{
    request->super.req_type = OMPI_REQUEST_COLL;
    request->super.req_status._cancelled = 0;
    request->super.req_free = release;
    request->super.req_cancel = cancel;
}

OBJ_CLASS_INSTANCE(lucid_request_t, ompi_coll_base_nbc_request_t, construct, NULL);

void lucid_request_begin(lucid_request_t *request, ompi_communicator_t *comm)
{
    OMPI_REQUEST_INIT(&request->super, false);
    request->super.req_mpi_object.comm = comm;
    request->super.req_state = OMPI_REQUEST_ACTIVE;
    request->super.req_status.MPI_ERROR = OMPI_SUCCESS;
}
