/* SPDX-License-Identifier: BSD-3-Clause
 * Persistent and partitioned sends count when they are started (partitions: when they are ready), also those that were
 * made before the first session; and a handle that is used again counts as what it is now.
 */
#include "pmpi_row.h"

enum { TAG = 3, STARTS = 3, MANY = 40 };

static int right, left;
static double out[64], in[64];

typedef int init_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void start_each(const char *what, MPI_Request *send)
{
    for (int i = 0; i < STARTS; i++) {
        MPI_Request receive;
        MPI_Irecv(in, 64, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &receive);
        PMPI_Barrier(MPI_COMM_WORLD);
        if (i != 1) row_begin();
        if (i == 1) MPI_Start(send); /* nobody listens */
        else MPI_Startall(1, send);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(send, MPI_STATUS_IGNORE);
        if (i == 1) continue;
        row_expect(LUCID_KIND_P2P, right, 1, 5 * sizeof(double));
        row_end(what);
    }
}

static void made_now(const char *what, init_fn *init)
{
    MPI_Request send;
    init(out, 5, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &send);
    start_each(what, &send);
    MPI_Request_free(&send);
}

/* The library may give a freed handle to the next request, here a receive. */
static void handle_used_again(void)
{
    for (int i = 0; i < 4; i++) {
        MPI_Request send, receive, message;
        MPI_Send_init(out, 5, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &send);
        MPI_Request_free(&send);
        MPI_Recv_init(in, 5, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &receive);
        row_begin();
        MPI_Start(&receive);
        MPI_Isend(out, 1, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &message);
        row_expect(LUCID_KIND_P2P, right, 1, sizeof(double));
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(&message, MPI_STATUS_IGNORE);
        row_end("a handle used again");
        MPI_Request_free(&receive);
    }
}

static void many_at_once(void)
{
    MPI_Request sends[MANY], receives[MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Send_init(out, i, MPI_BYTE, right, TAG + i, MPI_COMM_WORLD, &sends[i]);
        MPI_Recv_init(in, i, MPI_BYTE, left, TAG + i, MPI_COMM_WORLD, &receives[i]);
    }
    row_begin();
    MPI_Startall(MANY, receives);
    MPI_Startall(MANY, sends);
    row_expect(LUCID_KIND_P2P, right, MANY, MANY * (MANY - 1) / 2);
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, receives, MPI_STATUSES_IGNORE);
    row_end("startall");
    for (int i = 0; i < MANY; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
}

/* A buffered send is complete for the program while the library still sends: restarted then, it may get another handle. */
static void restarted_early(void)
{
    enum { LARGE = 100000 };
    char *data = calloc(LARGE, 1), *room = malloc(8 * (LARGE + MPI_BSEND_OVERHEAD));
    int size = 8 * (LARGE + MPI_BSEND_OVERHEAD);
    MPI_Request send, receives[4];
    MPI_Buffer_attach(room, size);
    MPI_Bsend_init(data, LARGE, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &send);
    row_begin();
    for (int i = 0; i < 4; i++) {
        MPI_Start(&send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    row_expect(LUCID_KIND_P2P, right, 4, 4 * LARGE);
    PMPI_Barrier(MPI_COMM_WORLD);
    char *space = malloc(4 * LARGE);
    for (int i = 0; i < 4; i++) MPI_Irecv(space + i * LARGE, LARGE, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &receives[i]);
    MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&room, &size);
    row_end("restarted early");
    MPI_Request_free(&send);
    free(space);
    free(data);
    free(room);
}

#ifdef TEST_HAS_PSEND
static void partitioned(void)
{
    enum { PARTS = 8, EACH = 4 };
    MPI_Request requests[2];
    int two[2] = {6, 7};
    static int sent[PARTS * EACH], got[PARTS * EACH];
    MPI_Psend_init(sent, PARTS, EACH, MPI_INT, right, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(got, PARTS, EACH, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    row_begin();
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[0]);
    MPI_Pready_range(1, 5, requests[0]);
    MPI_Pready_list(2, two, requests[0]);
    row_expect(LUCID_KIND_P2P, right, PARTS, PARTS * EACH * sizeof(int));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    row_end("partitioned");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
#endif

int main(int argc, char **argv)
{
    MPI_Request early, reversed_send;
    MPI_Comm reversed;
    static char buffer[1 << 16];
    void *attached = buffer;
    int size = (int)sizeof buffer, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &row_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &row_size);
    right = (row_rank + 1) % row_size;
    left = (row_rank + row_size - 1) % row_size;
    MPI_Send_init(out, 5, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &early); /* before lucid_init() */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -row_rank, &reversed);
    MPI_Comm_rank(reversed, &rank);
    MPI_Send_init(out, 5, MPI_DOUBLE, row_size - 1 - right, TAG, reversed, &reversed_send);
    row_open();
    MPI_Buffer_attach(buffer, size);
    start_each("made before the first session", &early);
    MPI_Request_free(&early);
    made_now("send_init", MPI_Send_init);
    made_now("bsend_init", MPI_Bsend_init);
    made_now("ssend_init", MPI_Ssend_init);
    made_now("rsend_init", MPI_Rsend_init);
    MPI_Buffer_detach(&attached, &size);
    handle_used_again();
    many_at_once();
    restarted_early();
#ifdef TEST_HAS_PSEND
    partitioned();
#endif
    row_begin();
    MPI_Start(&reversed_send);
    row_expect(LUCID_KIND_P2P, right, 1, 5 * sizeof(double));
    MPI_Recv(in, 5, MPI_DOUBLE, row_size - 1 - left, TAG, reversed, MPI_STATUS_IGNORE);
    MPI_Wait(&reversed_send, MPI_STATUS_IGNORE);
    row_end("persistent on a reversed communicator");
    MPI_Request_free(&reversed_send);
    MPI_Comm_free(&reversed);
    row_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
