/* SPDX-License-Identifier: BSD-3-Clause
 * parts.c: reductions on communicators of some of four processes: the rows and columns of a grid, at one place; three of the processes in
 * another order; pairs of which every process has two, and comes to them in its own order; all processes in another order; more lengths
 * than are kept, and then one call of all. The communicators are gone in the end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 15 };
static double in[N], out[N];
static double sum;

/* What four processes have put there. */
static void add(const double *result)
{
    for (int i = 0; i < 4; i++) sum += result[100 + i];
}

static MPI_Comm some(int n, const int *ranks)
{
    MPI_Group world, group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, ranks, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return comm;
}

static __attribute__((noinline)) void along(MPI_Comm line)
{
    MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, line);
    add(out);
}

static void grid(int rank)
{
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    for (int round = 0; round < 4; round++) {
        along(row);
        along(column);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

static void three(int rank)
{
    MPI_Comm comm = some(3, (int[]){3, 1, 0});
    if (comm == MPI_COMM_NULL) return;
    for (int round = 0; round < 4; round++) MPI_Reduce(in, out, N, MPI_DOUBLE, MPI_MAX, 1, comm);
    if (rank == 1) add(out);
    MPI_Comm_free(&comm);
}

static __attribute__((noinline)) void within(MPI_Comm pair)
{
    if (pair != MPI_COMM_NULL && MPI_Scan(in, out, N, MPI_DOUBLE, MPI_SUM, pair) != MPI_SUCCESS) abort();
}

static void pairs(void)
{
    MPI_Comm pair[] = {some(2, (int[]){0, 1}), some(2, (int[]){1, 2}), some(2, (int[]){0, 2})};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3; i++) {
            within(pair[i]);
            if (pair[i] != MPI_COMM_NULL) add(out);
        }
    for (int i = 0; i < 3; i++)
        if (pair[i] != MPI_COMM_NULL) MPI_Comm_free(&pair[i]);
}

static void backwards(int rank)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Exscan(in, out, N, MPI_DOUBLE, MPI_SUM, comm);
    if (rank < 3) add(out); /* the first has no result */
    MPI_Comm_free(&comm);
}

static void many_lengths(int rank)
{
    MPI_Comm row;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    for (int i = 0; i < 70; i++) {
        MPI_Reduce_scatter_block(in, out, N / 2 - 8 * i, MPI_DOUBLE, MPI_SUM, row);
        add(out);
    }
    MPI_Comm_free(&row);
    MPI_Allreduce(MPI_IN_PLACE, in, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    add(in);
}

int main(int argc, char **argv)
{
    int rank, size;
    double all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 4) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = rank; i < N; i += 100) in[i] = i;
    grid(rank);
    three(rank);
    pairs();
    backwards(rank);
    many_lengths(rank);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.0f\n", all);
    MPI_Finalize();
    return 0;
}
