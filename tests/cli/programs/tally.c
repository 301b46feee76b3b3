/* SPDX-License-Identifier: BSD-3-Clause
 * tally.c: adds up a sparse vector of 200,000 doubles, ten times, and says what came out.
 */
#include <mpi.h>
#include <stdio.h>

enum { N = 200000, STEP = 1000 };
static double mine[N], all[N];

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = rank; i < N; i += STEP) mine[i] = i % 7 + 1;
    for (int round = 0; round < 10; round++) MPI_Allreduce(mine, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) sum += all[i];
    if (rank == 0) printf("sum %.0f of %d\n", sum, size);
    MPI_Finalize();
    return 0;
}
