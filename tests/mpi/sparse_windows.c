/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_windows.c: long Allreduces of which everyone fills its share, or nearly: the sums are right, in place or not, one at a time or two; shares are
 * read in memory that has no name anywhere and is gone with the communicator.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_check.h"

enum { COUNT = 1100004 /* shares of one length on 2, 3 and 4 */, CALLS = 4, COMMUNICATORS = 3 };

static int rank, size;

static int share_of(int i)
{
    return (int)(((long long)i * size) / COUNT);
}

/* What a rank has. In the third call the last rank has something in the first one's share. */
static double value(int i, int owner, int call)
{
    const bool strays = call == 2 && owner == size - 1 && i == 5;
    return share_of(i) == owner || strays ? (double)(i % 1000 + owner + call) : 0;
}

static double sum_at(int i, int call)
{
    double sum = 0;
    for (int r = 0; r < size; r++) sum += value(i, r, call);
    return sum;
}

static void fill(double *vector, int call)
{
    for (int i = 0; i < COUNT; i++) vector[i] = value(i, rank, call);
}

static void check_sum(const double *out, int call)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) wrong += out[i] != sum_at(i, call);
    CHECK_EQUAL(wrong, 0);
}

static void check_call(MPI_Comm comm, double *in, double *out, int call, bool in_place)
{
    fill(in_place ? out : in, call);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    check_sum(out, call);
}

/* The first in place. */
static void check_two(MPI_Comm comm, double *in, double *out, double *other, int call)
{
    MPI_Request requests[2];
    fill(in, call);
    fill(other, call + 1);
    MPI_Iallreduce(MPI_IN_PLACE, other, COUNT, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
    MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_sum(other, call + 1);
    check_sum(out, call);
}

/* Mappings of such memory in this process. */
static int windows(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int found = 0;
    while (maps && fgets(line, sizeof line, maps)) found += strstr(line, "/memfd:lucid") != NULL;
    if (maps) fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    double *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out), *other = malloc(COUNT * sizeof *other);
    const char *expected = getenv("SPARSE_WINDOWS");
    CHECK(in && out && other);
    for (int c = 0; c < COMMUNICATORS; c++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int call = 0; call < CALLS; call++) check_call(comm, in, out, call, (c + call) % 2 == 1);
        if (expected) CHECK_EQUAL(windows(), atoi(expected) * size);
        for (int call = 0; call < CALLS; call++) check_two(comm, in, out, other, call);
        MPI_Comm_free(&comm);
        if (expected) CHECK_EQUAL(windows(), 0);
    }
    free(in), free(out), free(other);
    const int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
