/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_threads.c: MPI_THREAD_MULTIPLE. Every thread has a communicator of its own and makes others from it, with idup, too, whose
 * steps any thread may run; all groups are one, so that modules would be shared if that were allowed.
 */
#include <pthread.h>

#include "lazy_check.h"

#define THREADS 4
#define ROUNDS 25

static int rank, size;
static MPI_Comm own[THREADS];

static void *work(void *argument)
{
    MPI_Comm *parent = argument;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm made[2];
        MPI_Request request;
        int mine = rank + round, sum = 0, largest = 0;
        CHECK_OK(MPI_Comm_idup(*parent, &made[0], &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_dup(made[0], &made[1]));
        CHECK_OK(MPI_Iallreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, made[1], &request));
        CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, made[0]));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_EQUAL(sum, size * (size - 1) / 2 + size * round);
        CHECK_EQUAL(largest, size - 1 + round);
        CHECK_OK(MPI_Barrier(made[1]));
        CHECK_OK(MPI_Comm_free(&made[0]));
        CHECK_OK(MPI_Comm_free(&made[1]));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread[THREADS];
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    if (provided < MPI_THREAD_MULTIPLE) return skip_test("no MPI_THREAD_MULTIPLE");
    lazy_check_presence();
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&thread[i], NULL, work, &own[i]), 0);
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) CHECK_OK(MPI_Comm_free(&own[i]));
    if (lazy_is_on()) CHECK_EQUAL(lazy_counter("shared"), 0);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
