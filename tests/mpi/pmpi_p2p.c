/* SPDX-License-Identifier: BSD-3-Clause
 * Every way to send is counted once, with the packed size, to the right rank of MPI_COMM_WORLD.
 */
#include "pmpi_row.h"

enum { COUNT = 13, TAG = 7 };

static int right, left; /* in a ring over MPI_COMM_WORLD */
static double out[COUNT * 4], in[COUNT * 4];
static MPI_Request receive;

static void post(void)
{
    MPI_Irecv(in, COUNT * 4, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &receive);
    PMPI_Barrier(MPI_COMM_WORLD); /* ready sends may begin */
}

static void arrive(void)
{
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
}

typedef int blocking_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int nonblocking_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void blocking(const char *what, blocking_fn *send)
{
    post();
    row_begin();
    send(out, COUNT, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD);
    row_expect(LUCID_KIND_P2P, right, 1, COUNT * sizeof(double));
    arrive();
    row_end(what);
}

static void nonblocking(const char *what, nonblocking_fn *send)
{
    MPI_Request request;
    post();
    row_begin();
    send(out, COUNT, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &request);
    row_expect(LUCID_KIND_P2P, right, 1, COUNT * sizeof(double));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    arrive();
    row_end(what);
}

static void sendrecv(void)
{
    row_begin();
    MPI_Sendrecv(out, COUNT, MPI_DOUBLE, right, TAG, in, COUNT, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(out, COUNT, MPI_FLOAT, right, TAG, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    row_expect(LUCID_KIND_P2P, right, 2, COUNT * (sizeof(double) + sizeof(float)));
#ifdef TEST_HAS_ISENDRECV
    MPI_Request requests[2];
    MPI_Isendrecv(out, 2, MPI_DOUBLE, right, TAG, in, 2, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isendrecv_replace(out + 9, 3, MPI_DOUBLE, right, TAG, left, TAG, MPI_COMM_WORLD, &requests[1]);
    row_expect(LUCID_KIND_P2P, right, 2, 5 * sizeof(double));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#endif
    row_end("sendrecv");
}

#ifdef TEST_HAS_LARGE_COUNTS
static void large_counts(void)
{
    MPI_Request request;
    const MPI_Count count = COUNT;
    post();
    row_begin();
    MPI_Isend_c(out, count, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    arrive();
    MPI_Sendrecv_c(out, count, MPI_DOUBLE, right, TAG, in, count, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast_c(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    row_expect(LUCID_KIND_P2P, right, 2, 2 * COUNT * sizeof(double));
    for (int i = 1; i < row_size && row_rank == 0; i++) row_expect(LUCID_KIND_BCAST, i, 1, COUNT * sizeof(double));
    row_end("large counts");
}
#endif

static void derived_types(void)
{
    MPI_Datatype gaps, absolute;
    const int lengths[2] = {1, 2};
    MPI_Aint places[2];
    MPI_Type_vector(5, 2, 4, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Get_address(&out[3], &places[0]);
    MPI_Get_address(&out[7], &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &absolute);
    MPI_Type_commit(&absolute);
    row_begin();
    MPI_Sendrecv(out, 1, gaps, right, TAG, in, 10, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    row_expect(LUCID_KIND_P2P, right, 1, 10 * sizeof(double));
    post();
    MPI_Send(MPI_BOTTOM, 1, absolute, right, TAG, MPI_COMM_WORLD);
    arrive();
    row_expect(LUCID_KIND_P2P, right, 1, 3 * sizeof(double));
    row_end("derived types");
    MPI_Type_free(&gaps);
    MPI_Type_free(&absolute);
}

static void nothing_and_nobody(void)
{
    MPI_Request request;
    row_begin();
    MPI_Send(out, COUNT, MPI_DOUBLE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Send_init(out, COUNT, MPI_DOUBLE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    row_end("MPI_PROC_NULL");
    post();
    row_begin();
    MPI_Send(NULL, 0, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD);
    row_expect(LUCID_KIND_P2P, right, 1, 0);
    arrive();
    row_end("count 0");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    row_begin();
    CHECK(MPI_Send(out, 1, MPI_DOUBLE, row_size, TAG, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Send(out, -1, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD) != MPI_SUCCESS);
    row_end("failed sends");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void itself(void)
{
    double one = 1;
    row_begin();
    MPI_Sendrecv(out, 1, MPI_DOUBLE, 0, TAG, &one, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 2, MPI_DOUBLE, row_rank, TAG, in, 2, MPI_DOUBLE, row_rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    row_expect(LUCID_KIND_P2P, row_rank, 2, 3 * sizeof(double));
    row_end("itself");
}

/* Ranks of another communicator are translated: reversed, halved, and those of a remote group. */
static void communicators(void)
{
    MPI_Comm reversed, half, inter;
    int rank, size, color = row_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -row_rank, &reversed);
    row_begin();
    MPI_Comm_rank(reversed, &rank);
    MPI_Sendrecv(out, 1, MPI_INT, (rank + 1) % row_size, TAG, in, 1, MPI_INT, (rank + row_size - 1) % row_size, TAG,
                 reversed, MPI_STATUS_IGNORE);
    row_expect(LUCID_KIND_P2P, left, 1, sizeof(int));
    row_end("reversed");
    MPI_Comm_split(MPI_COMM_WORLD, color, row_rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    row_begin();
    MPI_Sendrecv(out, 1, MPI_INT, (rank + 1) % size, TAG, in, 1, MPI_INT, (rank + size - 1) % size, TAG, half,
                 MPI_STATUS_IGNORE);
    row_expect(LUCID_KIND_P2P, (rank + 1) % size * 2 + color, 1, sizeof(int));
    row_end("half");
    if (row_size > 1) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - color, TAG, &inter);
        row_begin();
        if (row_rank / 2 * 2 + 1 < row_size) { /* has a partner: the same rank of the other group */
            MPI_Sendrecv(out, 3, MPI_INT, rank, TAG, in, 3, MPI_INT, rank, TAG, inter, MPI_STATUS_IGNORE);
            row_expect(LUCID_KIND_P2P, row_rank ^ 1, 1, 3 * sizeof(int));
        }
        row_end("inter-communicator");
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
}

int main(int argc, char **argv)
{
    static char buffer[64 * 1024];
    int size = (int)sizeof buffer;
    void *attached = buffer;
    MPI_Init(&argc, &argv);
    row_open();
    right = (row_rank + 1) % row_size;
    left = (row_rank + row_size - 1) % row_size;
    MPI_Buffer_attach(buffer, size);
    if (row_size > 1) { /* a blocking send to oneself may wait for ever */
        blocking("send", MPI_Send);
        blocking("ssend", MPI_Ssend);
        blocking("rsend", MPI_Rsend);
    }
    blocking("bsend", MPI_Bsend);
    nonblocking("isend", MPI_Isend);
    nonblocking("issend", MPI_Issend);
    nonblocking("irsend", MPI_Irsend);
    nonblocking("ibsend", MPI_Ibsend);
    sendrecv();
#ifdef TEST_HAS_LARGE_COUNTS
    large_counts();
#endif
    derived_types();
    nothing_and_nobody();
    itself();
    communicators();
    row_begin();
    PMPI_Sendrecv(out, 1, MPI_INT, right, TAG, in, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    row_end("calls of other tools");
    MPI_Buffer_detach(&attached, &size);
    row_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
