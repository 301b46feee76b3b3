/* SPDX-License-Identifier: BSD-3-Clause
 * swing.c: one place that reduces thin and full vectors in turns, one that reduces full ones, and one with an operator of its own.
 */
#include <mpi.h>

enum { N = 1 << 20 };
static double thin[N], full[N], all[N];
static double *volatile turns[2] = {full, thin}; /* a compiler might make a call of its own for each */

static void larger(void *in, void *inout, int *count, MPI_Datatype *type)
{
    double *a = in, *b = inout;
    for (int i = 0; i < *count; i++) b[i] = a[i] > b[i] ? a[i] : b[i];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++) full[i] = i + rank + 1;
    for (int i = rank; i < N; i += 10007) thin[i] = 1;
    MPI_Op_create(larger, 1, &op);
    for (int i = 0; i < 20; i++) MPI_Allreduce(turns[i % 2], all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++) MPI_Reduce_scatter_block(full, all, N / size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) MPI_Reduce(full, all, N, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
