/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_transport.c: the core's messages over Open MPI's PML, on the communicator itself. Their tags are those
 * of blocking reductions or reserved among those of nonblocking collectives, so that they meet nobody else's.
 */
#include "coll_sparse.h"

static int send_bytes(void *context, const void *buffer, size_t bytes, int peer, int tag, union sparse_request *request)
{
    return mca_pml.pml_isend(buffer, bytes, &ompi_mpi_byte.dt, peer, tag, MCA_PML_BASE_SEND_STANDARD, context,
                             (ompi_request_t **)&request->pointer);
}

static int receive_bytes(void *context, void *buffer, size_t capacity, int peer, int tag, union sparse_request *request)
{
    return mca_pml.pml_irecv(buffer, capacity, &ompi_mpi_byte.dt, peer, tag, context, (ompi_request_t **)&request->pointer);
}

bool coll_sparse_arrived(const union sparse_request *request)
{
    const ompi_request_t *pending = request->pointer;
    return REQUEST_COMPLETE(pending);
}

/* Makes no progress by itself: it may run inside opal_progress. */
static int test(void *context, union sparse_request *request, bool *done, size_t *bytes)
{
    ompi_request_t *pending = request->pointer;
    *done = REQUEST_COMPLETE(pending);
    if (!*done) return OMPI_SUCCESS;
    opal_atomic_rmb();
    *bytes = pending->req_status._ucount;
    int rc = pending->req_status.MPI_ERROR;
    if (pending != &ompi_request_empty) ompi_request_free(&pending);
    return rc;
}

/* A receive that nothing has matched is cancelled; everything else is waited for, because its buffer is in use. */
static void cancel(void *context, union sparse_request *request)
{
    ompi_request_t *pending = request->pointer;
    ompi_request_cancel(pending);
    ompi_request_wait(&pending, MPI_STATUS_IGNORE);
}

void coll_sparse_transport(ompi_communicator_t *comm, struct sparse_transport *transport)
{
    *transport = (struct sparse_transport){.rank = ompi_comm_rank(comm), .size = ompi_comm_size(comm), .context = comm,
                                           .isend = send_bytes, .irecv = receive_bytes, .test = test, .cancel = cancel,
                                           .shown = coll_sparse_tell_shown};
}
