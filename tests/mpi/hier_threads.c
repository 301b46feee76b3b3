/* SPDX-License-Identifier: BSD-3-Clause
 * hier_threads.c: threads with a communicator each, in orders that differ between the ranks, so that agreements, tables of
 * layouts and nonblocking operations of several communicators are under way at once.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 60 };
static MPI_Comm comms[THREADS];
static int rank, size;
static _Atomic int failures;

static void expect(long got, long wanted, const char *what)
{
    if (got == wanted) return;
    failures++;
    fprintf(stderr, "rank %d: %s: %ld, but %ld expected\n", rank, what, got, wanted);
}

static void *work(void *argument)
{
    int t = (int)(size_t)argument;
    long *big = malloc(sizeof *big * 40000);
    for (int i = 0; i < ROUNDS; i++) {
        long own = rank + i + 100 * t, sum = 0, total = (long)size * (size - 1) / 2 + (long)size * (i + 100 * t);
        int root = (i + t) % size;
        MPI_Request request;
        MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comms[t]);
        expect(sum, total, "allreduce");
        sum = 0;
        MPI_Iallreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comms[t], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(sum, total, "iallreduce");
        for (int k = 0; k < 40000; k++) big[k] = rank == root ? k + i : -1;
        MPI_Ibcast(big, i % 10 ? 100 : 40000, MPI_LONG, root, comms[t], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(big[i % 10 ? 99 : 39999], (i % 10 ? 99 : 39999) + i, "ibcast");
        MPI_Barrier(comms[t]);
    }
    free(big);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, all;
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("SKIP: no MPI_THREAD_MULTIPLE\n");
        return 77;
    }
    for (int t = 0; t < THREADS; t++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, work, (void *)(size_t)((t + rank) % THREADS));
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&comms[t]);
    int own = failures;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
