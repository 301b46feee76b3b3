/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_transport.c: the core's messages by public MPI, on a private duplicate of the communicator.
 *
 * A request is kept in the core's union where MPI_Request fits in it, which it does in every MPI library known to us: it is a
 * pointer or an int. A receive's size is read from its status.
 */
#include "reduce.h"

#include <limits.h>
#include <sched.h>
#include <string.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(union sparse_request), "a request fits");

static MPI_Request load(const union sparse_request *request)
{
    MPI_Request r;
    memcpy(&r, request, sizeof r);
    return r;
}

static int send_bytes(void *context, const void *buffer, size_t bytes, int peer, int tag, union sparse_request *request)
{
    struct lucid_reduce_comm *own = context;
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = PMPI_Isend(buffer, (int)bytes, MPI_BYTE, peer, tag, own->comm, &r);
    memcpy(request, &r, sizeof r);
    return rc;
}

static int receive_bytes(void *context, void *buffer, size_t capacity, int peer, int tag, union sparse_request *request)
{
    struct lucid_reduce_comm *own = context;
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = PMPI_Irecv(buffer, capacity > INT_MAX ? INT_MAX : (int)capacity, MPI_BYTE, peer, tag, own->comm, &r);
    memcpy(request, &r, sizeof r);
    return rc;
}

int lucid_reduce_test(MPI_Request *request, bool *done, MPI_Status *status)
{
    int flag = 0;
    *done = false;
    if (lucid_reduce_hook_running() && !lucid_reduce_hook_complete(*request)) return MPI_SUCCESS;
    int rc = PMPI_Test(request, &flag, status);
    *done = flag;
    return rc;
}

static int test(void *context, union sparse_request *request, bool *done, size_t *bytes)
{
    MPI_Request r = load(request);
    MPI_Status status;
    int count = 0;
    int rc = lucid_reduce_test(&r, done, &status);
    memcpy(request, &r, sizeof r);
    if (rc == MPI_SUCCESS && *done && PMPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count >= 0)
        *bytes = (size_t)count;
    return rc;
}

static void cancel(void *context, union sparse_request *request)
{
    MPI_Request r = load(request);
    PMPI_Cancel(&r);
    PMPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Not all MPI libraries leave the processor to others. */
static int idle(void *context)
{
    struct lucid_reduce_comm *own = context;
    int flag = 0;
    sched_yield();
    return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own->comm, &flag, MPI_STATUS_IGNORE);
}

static lucid_reduce_shown_fn *counts; /* since MPI_Init */

void lucid_reduce_shown_to(lucid_reduce_shown_fn *shown)
{
    counts = shown;
}

static void shown(void *context, size_t bytes, int peer, int tag)
{
    struct lucid_reduce_comm *own = context;
    if (counts) counts(own->comm, peer, tag, bytes);
}

void lucid_reduce_transport(struct lucid_reduce_comm *own)
{
    own->transport = (struct sparse_transport){.context = own, .isend = send_bytes, .irecv = receive_bytes, .test = test,
                                               .cancel = cancel, .idle = idle, .shown = shown};
    PMPI_Comm_rank(own->comm, &own->transport.rank);
    PMPI_Comm_size(own->comm, &own->transport.size);
}
