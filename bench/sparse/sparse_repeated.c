/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_repeated.c: one reduction again and again, as an unmodified program calls it; the median of the second half of the calls.
 *
 * sparse_repeated CALL BYTES DENSITY CALLS [ROW]
 *   CALL: reduce, allreduce, reduce_scatter_block; BYTES: of a rank's vector of doubles; DENSITY: of random positions, or "part": every
 *   rank fills its part; ROW: on communicators of so many ranks, all at once. Rank 0 prints milliseconds: the slowest rank's.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

static MPI_Comm comm = MPI_COMM_WORLD; /* on which is reduced */
static const char *const calls[] = {"reduce", "allreduce", "reduce_scatter_block"};

static void fill(double *vector, size_t n, const char *density, int rank, int size)
{
    bool parts = strcmp(density, "part") == 0;
    double share = atof(density);
    for (size_t i = 0; i < n; i++) {
        uint64_t own = ((uint64_t)(rank + 1) << 44) + i;
        bool out = parts ? i * (size_t)size / n == (size_t)rank : turns_uniform(own) < share;
        vector[i] = out ? 1 + turns_uniform(own + 1) : 0;
    }
}

static double timed(int call, const double *in, double *out, int n, int size)
{
    double spent, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    spent = -MPI_Wtime();
    if (call == 0) MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, comm);
    else if (call == 1) MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
    else MPI_Reduce_scatter_block(in, out, n / size, MPI_DOUBLE, MPI_SUM, comm);
    spent += MPI_Wtime();
    MPI_Reduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int first, rank, size, call = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &first);
    if (argc < 5 || argc > 6 || atoi(argv[4]) < 2 || (argc == 6 && atoi(argv[5]) < 1)) {
        if (first == 0) fprintf(stderr, "usage: sparse_repeated CALL BYTES DENSITY CALLS [ROW]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (argc == 6) MPI_Comm_split(MPI_COMM_WORLD, first / atoi(argv[5]), first, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    while (call < 2 && strcmp(argv[1], calls[call])) call++;
    int repeats = atoi(argv[4]), half = repeats / 2;
    size_t n = strtoull(argv[2], NULL, 10) / sizeof(double) / (size_t)size * (size_t)size;
    double *in = malloc(n * sizeof *in), *out = calloc(n, sizeof *out), *seconds = malloc((size_t)repeats * sizeof *seconds);
    if (!in || !out || !seconds) MPI_Abort(MPI_COMM_WORLD, 2);
    fill(in, n, argv[3], rank, size);
    for (int i = 0; i < repeats; i++) seconds[i] = timed(call, in, out, (int)n, size);
    qsort(seconds + half, (size_t)(repeats - half), sizeof *seconds, ascending);
    if (first == 0) printf("%.6f\n", 1e3 * seconds[half + (repeats - half) / 2]);
    free(in), free(out), free(seconds);
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
