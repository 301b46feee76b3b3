/* SPDX-License-Identifier: BSD-3-Clause
 * overlap.c: five kinds of inputs: the same positions everywhere, each rank's own, a part of the vector for every rank, nothing, and
 * positions of their own on a communicator of some ranks. Three calls of each.
 */
#include <mpi.h>
#include <stdint.h>

enum { N = 1 << 19 };
static double same[N], own[N], part[N], nothing[N], all[N];

static int chosen(uint64_t i)
{
    i = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    i = (i ^ (i >> 29)) * UINT64_C(0xBF58476D1CE4E5B9);
    return (i >> 32) % 10 == 0;
}

int main(int argc, char **argv)
{
    int rank, size, few;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Comm_size(pair, &few);
    for (int i = 0; i < N; i++) {
        same[i] = chosen((uint64_t)i) ? i + 1 : 0;
        own[i] = chosen((uint64_t)(rank + 1) << 32 | (uint64_t)i) ? i + 1 : 0;
        part[i] = (int64_t)i * size / N == rank ? i + 1 : 0;
    }
    for (int call = 0; call < 3; call++) {
        MPI_Allreduce(same, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Scan(own, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce(part, all, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Exscan(nothing, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce_scatter_block(own, all, N / few, MPI_DOUBLE, MPI_SUM, pair);
    }
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
