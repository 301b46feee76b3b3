/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_boards.c: sparse vectors, which the ranks of a node read in each other's memory: the sums are right whoever comes when, also of calls of which most
 * ranks wait for nobody, of long vectors, and of some that are dense; and that memory is gone with the communicator.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api_check.h"
#include "sparse_mapped.h"

enum { MOST = 40000, LONG = 400000, ROUNDS = 60, IN_A_ROW = 5, COMMUNICATORS = 2 };

static int rank, size;
static double *in, *out;

/* What a rank has there. */
static double value(int i, int owner, int call)
{
    const unsigned mixed = (unsigned)(i * 7 + owner * 31 + call) * 2654435761u >> 16;
    return mixed % (call % 20 == 19 ? 1 : 61) == 0 ? (double)(mixed % 100 + 1) : 0;
}

static double sum(int i, int call)
{
    double sum = 0;
    for (int r = 0; r < size; r++) sum += value(i, r, call);
    return sum;
}

static void fill(double *vector, int count, int call)
{
    for (int i = 0; i < count; i++) vector[i] = value(i, rank, call);
}

static void check_sums(int from, int count, int call)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) wrong += out[i] != sum(from + i, call);
    CHECK_EQUAL(wrong, 0);
}

/* Some come late. */
static void come(int call)
{
    if ((call + rank) % 7 == 0) usleep(300);
}

static void check_reduce(MPI_Comm comm, int count, int call, int root)
{
    const bool in_place = rank == root && call % 3 == 0;
    fill(in_place ? out : in, count, call);
    come(call);
    MPI_Reduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_DOUBLE, MPI_SUM, root, comm);
    if (rank == root) check_sums(0, count, call);
}

static void check_allreduce(MPI_Comm comm, int count, int call)
{
    const bool in_place = call % 2 == 0;
    fill(in_place ? out : in, count, call);
    come(call);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    check_sums(0, count, call);
}

static void check_scatter(MPI_Comm comm, int each, int call)
{
    fill(in, each * size, call);
    come(call);
    MPI_Reduce_scatter_block(in, out, each, MPI_DOUBLE, MPI_SUM, comm);
    check_sums(rank * each, each, call);
}

static void check_round(MPI_Comm comm, int round)
{
    for (int i = 0; i < IN_A_ROW; i++) check_reduce(comm, 9000 + round, IN_A_ROW * round + i, round % size);
    check_reduce(comm, MOST, round, (round + 1) % size);
    check_allreduce(comm, 8200 + 100 * round, round);
    check_scatter(comm, 9000 / size + round, round);
    if (round % 10 > 6) check_allreduce(comm, LONG, round); /* the last one is dense, and there is no room for several slices of it */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    in = malloc(LONG * sizeof *in), out = malloc(LONG * sizeof *out);
    const char *words = getenv("SPARSE_WORDS");
    CHECK(in && out);
    if (words && !sparse_looks_after_failures()) return skip_test("this MPI library does not look after failed processes");
    for (int c = 0; c < COMMUNICATORS; c++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int round = 0; round < ROUNDS; round++) check_round(comm, round);
        CHECK_EQUAL(sparse_mapped(), words ? 0 : size);
        MPI_Comm_free(&comm);
        CHECK_EQUAL(sparse_mapped(), 0);
    }
    free(in), free(out);
    const int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
