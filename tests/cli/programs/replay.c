/* SPDX-License-Identifier: BSD-3-Clause
 * replay.c: reductions of which the inputs can be kept, and some that cannot be run again: at places that are not the same at
 * all ranks, of some ranks. All in three rounds; the communicators are gone in the end. With an argument: and more than is kept.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 15 };
static double in[N], out[N], other[N];
static struct pair { double value; int place; } pairs[N], extremes[N];

/* As many that every process has put something there. */
static double first(const double *result)
{
    double sum = 0;
    for (int i = 0; i < 200; i++) sum += result[i];
    return sum;
}

/* Two places, whatever a compiler makes of them. */
static __attribute__((noinline)) void here(MPI_Op op)
{
    if (MPI_Scan(in, out, N, MPI_DOUBLE, op, MPI_COMM_WORLD) != MPI_SUCCESS) abort();
}

static __attribute__((noinline)) void there(MPI_Op op)
{
    if (MPI_Scan(in, other, N, MPI_DOUBLE, op, MPI_COMM_WORLD) != MPI_SUCCESS) abort();
}

/* Rank 0 comes to them in another order than the others. */
static void crossed(int rank)
{
    void (*const places[2])(MPI_Op op) = {here, there};
    places[rank == 0](MPI_SUM);
    places[rank != 0](MPI_MAX);
}

/* Full vectors, of which each of the calls that may be kept has 16 MiB. */
static void more_than_is_kept(void)
{
    enum { LONG = 2 << 20 };
    double *full = malloc(LONG * sizeof *full), *result = malloc(LONG * sizeof *result);
    if (!full || !result) abort();
    for (int i = 0; i < LONG; i++) full[i] = 1.0 / (i + 1);
    for (int i = 0; i < 16; i++) MPI_Allreduce(full, result, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    free(full);
    free(result);
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0;
    MPI_Comm copy, half;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    int *counts = calloc((size_t)size, sizeof *counts);
    for (int i = 0; i < size; i++) counts[i] = N / size;
    counts[size - 1] += N % size - 7;
    counts[0] += 7;
    for (int i = rank; i < N; i += 100) {
        in[i] = i;
        pairs[i] = (struct pair){i + rank, rank};
    }
    for (int round = 0; round < 3; round++) {
        MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += first(out);
        MPI_Reduce(pairs, extremes, N, MPI_DOUBLE_INT, MPI_MAXLOC, size - 1, copy);
        if (rank == size - 1) sum += extremes[100].value;
        MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += first(out);
        MPI_Iallreduce(in, out, N, MPI_DOUBLE, MPI_MIN, copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum += first(out);
        MPI_Exscan(MPI_IN_PLACE, in, N, MPI_DOUBLE, MPI_MAX, copy);
        crossed(rank);
        MPI_Reduce_scatter_block(in, out, N / 4, MPI_DOUBLE, MPI_SUM, half);
        sum += first(out);
    }
    double all;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (argc > 1) more_than_is_kept();
    if (rank == 0) printf("%.0f\n", all);
    free(counts);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
