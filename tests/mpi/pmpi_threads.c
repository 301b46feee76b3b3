/* SPDX-License-Identifier: BSD-3-Clause
 * Four threads send at once, each over a communicator of its own that nobody has looked at before, with plain and with
 * persistent sends: every message is counted.
 */
#include <pthread.h>

#include "pmpi_row.h"

enum { THREADS = 4, MESSAGES = 60, ROUNDS = 15 };

static MPI_Comm comms[THREADS];

static void *work(void *arg)
{
    const int number = *(const int *)arg, to = (row_rank + 1) % row_size, from = (row_rank + row_size - 1) % row_size;
    int out[THREADS], in[THREADS];
    memset(out, 0, sizeof out);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Sendrecv(out, number + 1, MPI_INT, to, 0, in, number + 1, MPI_INT, from, 0, comms[number], MPI_STATUS_IGNORE);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request requests[2];
        MPI_Send_init(out, number + 1, MPI_INT, to, 1, comms[number], &requests[0]);
        MPI_Recv_init(in, number + 1, MPI_INT, from, 1, comms[number], &requests[1]);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    row_open();
    if (provided < MPI_THREAD_MULTIPLE) return skip_test("the MPI library offers no MPI_THREAD_MULTIPLE");
    if (threads_hang_by_themselves()) return skip_test("this MPI hangs when several threads send");
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    row_begin();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
        row_expect(LUCID_KIND_P2P, (row_rank + 1) % row_size, MESSAGES + ROUNDS,
                   (MESSAGES + ROUNDS) * (uint64_t)(i + 1) * sizeof(int));
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    row_end("threads");
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    row_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
