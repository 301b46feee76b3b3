/* SPDX-License-Identifier: BSD-3-Clause
 * demo_tally.c ELEMENTS ROUNDS: a Monte Carlo tally, as transport codes have it. In every round each rank hits one bin in a hundred of
 * a histogram of doubles, and MPI_Reduce adds the histograms up. Rank 0 prints a checksum, and the median of the slowest rank's
 * seconds per reduction. Whether Lucid is there it does not know.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONE_IN = 100, WARM = 2 }; /* the first rounds make connections */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void hit(double *bins, size_t n, uint64_t round, uint64_t rank)
{
    memset(bins, 0, n * sizeof *bins);
    for (uint64_t event = 0; event < n / ONE_IN; event++)
        bins[mixed(event * 1048583 + round * 8191 + rank * 131) % n] += (double)(event % 9 + 1);
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double reduce(const double *mine, double *sum, size_t n)
{
    double seconds, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = -MPI_Wtime();
    MPI_Reduce(mine, sum, (int)n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    seconds += MPI_Wtime();
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t n = argc == 3 ? (size_t)atol(argv[1]) : 0;
    int rounds = argc == 3 ? atoi(argv[2]) : 0;
    if (n < ONE_IN || rounds < 1) MPI_Abort(MPI_COMM_WORLD, 2);
    double *mine = calloc(n, sizeof *mine), *sum = calloc(n, sizeof *sum), *seconds = calloc((size_t)rounds, sizeof *seconds), check = 0;
    if (!mine || !sum || !seconds) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int round = -WARM; round < rounds; round++) {
        hit(mine, n, (uint64_t)(round + WARM), (uint64_t)rank);
        double took = reduce(mine, sum, n);
        if (round >= 0) seconds[round] = took;
        for (size_t i = 0; rank == 0 && i < n; i++) check += sum[i] * (double)(i % 13);
    }
    qsort(seconds, (size_t)rounds, sizeof *seconds, compare);
    if (rank == 0) printf("checksum %.0f\nseconds per reduction %.6f\n", check, seconds[rounds / 2]);
    free(mine), free(sum), free(seconds);
    MPI_Finalize();
    return 0;
}
