/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_windows.c: Allreduces of which everyone fills its share, or nearly: the sums are right, in place or not, one at a time or two, long or short; shares
 * are read in memory that has no name anywhere and is gone with the communicator.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api_check.h"
#include "sparse_mapped.h"

enum { COUNT = 1100004 /* shares of one length on 2, 3 and 4 */, SHORT = 9000, FEW = 4 /* ranks whose long shares are read */, CALLS = 4, SHORT_CALLS = 60, COMMUNICATORS = 3 };

static int rank, size;

/* Elements before a rank's share. */
static int before(int r, int count)
{
    return count / size * r + count % size * r / size;
}

/* What the owner of an element has there. */
static double value(int i, int owner, int call)
{
    return (double)(i % 1000 + owner + call);
}

/* In the third call the last rank has something in the first one's share, there. */
enum { STRAY = 5 };
static bool strays(int call)
{
    return call == 2;
}

static void fill(double *vector, int call, int count)
{
    memset(vector, 0, (size_t)count * sizeof *vector);
    for (int i = before(rank, count); i < before(rank + 1, count); i++) vector[i] = value(i, rank, call);
    if (strays(call) && rank == size - 1) vector[STRAY] = value(STRAY, rank, call);
}

static void check_sum(const double *out, int call, int count)
{
    int wrong = 0;
    for (int r = 0; r < size; r++)
        for (int i = before(r, count); i < before(r + 1, count); i++)
            wrong += out[i] != value(i, r, call) + (strays(call) && i == STRAY ? value(i, size - 1, call) : 0);
    CHECK_EQUAL(wrong, 0);
}

static void check_call(MPI_Comm comm, double *in, double *out, int count, int call, bool in_place)
{
    fill(in_place ? out : in, call, count);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    check_sum(out, call, count);
}

/* Ranks come to each at different times. */
static void check_short(MPI_Comm comm, double *in, double *out)
{
    for (int call = 0; call < SHORT_CALLS; call++) {
        if ((call + rank) % 5 == 0) usleep(200);
        check_call(comm, in, out, SHORT + call, call % 20, call % 3 == 0);
    }
}

/* The first in place. */
static void check_two(MPI_Comm comm, double *in, double *out, double *other, int call)
{
    MPI_Request requests[2];
    fill(in, call, COUNT);
    fill(other, call + 1, COUNT);
    MPI_Iallreduce(MPI_IN_PLACE, other, COUNT, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
    MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_sum(other, call + 1, COUNT);
    check_sum(out, call, COUNT);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    double *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out), *other = malloc(COUNT * sizeof *other);
    const char *expected = getenv("SPARSE_WINDOWS"), *words = getenv("SPARSE_WORDS");
    CHECK(in && out && other);
    if (words && !sparse_looks_after_failures()) return skip_test("this MPI library does not look after failed processes");
    for (int c = 0; c < COMMUNICATORS; c++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int call = 0; call < CALLS; call++) check_call(comm, in, out, COUNT, call, (c + call) % 2 == 1);
        if (expected) CHECK_EQUAL(sparse_mapped(), size <= FEW ? atoi(expected) * size : 0);
        check_short(comm, in, out);
        if (expected) CHECK_EQUAL(sparse_mapped(), ((size <= FEW) + (words == NULL)) * atoi(expected) * size);
        for (int call = 0; call < CALLS; call++) check_two(comm, in, out, other, call);
        MPI_Comm_free(&comm);
        if (expected) CHECK_EQUAL(sparse_mapped(), 0);
    }
    free(in), free(out), free(other);
    const int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
