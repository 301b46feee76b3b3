/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_overtaken.c: nonblocking reductions that are under way when a blocking one on the same communicator is the first,
 * in which rates are measured: that changes nothing for those. Each communicator measures anew.
 */
#include <mpi.h>

#include "api_check.h"

enum { ROUNDS = 6, ELEMENTS = 1 << 19 }; /* 4 MiB: several slices, and as long as what is written past the caches */

static double in[ELEMENTS], out[3][ELEMENTS];
static int size;

static double sum_at(int i)
{
    return size * (double)(i % 7) + size * (size - 1) / 2;
}

static void look_at(const double *result)
{
    int wrong = 0;
    for (int i = 0; i < ELEMENTS; i++) wrong += result[i] != sum_at(i);
    CHECK(wrong == 0);
}

static void overtake(MPI_Comm comm)
{
    MPI_Request requests[2];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < ELEMENTS; k++) out[i][k] = -1;
    MPI_Iallreduce(in, out[0], ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
    MPI_Iallreduce(in, out[1], ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, &requests[1]);
    MPI_Allreduce(in, out[2], ELEMENTS, MPI_DOUBLE, MPI_SUM, comm);
    look_at(out[2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    look_at(out[0]);
    look_at(out[1]);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_rank = rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ELEMENTS; i++) in[i] = i % 7 + rank;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        overtake(comm);
        MPI_Comm_free(&comm);
    }
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
