/* SPDX-License-Identifier: BSD-3-Clause
 * hier_spawn.c: a communicator over two jobs, of which neither knows the other's map: its layout is discovered by messages.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "hier_counter.h"

static int failures;

static void use(MPI_Comm comm)
{
    int rank, size, sum, *all;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    all = malloc(sizeof *all * (size_t)size);
    for (int root = 0; root < size; root++) {
        int value = rank == root ? 1000 + root : -1, own = rank * rank;
        MPI_Bcast(&value, 1, MPI_INT, root, comm);
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, root, comm);
        failures += value != 1000 + root || sum != (size - 1) * size * (2 * size - 1) / 6;
        for (int i = 0; i < size && rank == root; i++) failures += all[i] != i * i;
    }
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, other, both;
    int total;
    MPI_Init(&argc, &argv);
    if (hier_counters_open() != 0) {
        printf("SKIP: coll/hier is not there\n");
        return 77;
    }
    MPI_Comm_get_parent(&parent);
    int child = parent != MPI_COMM_NULL;
    if (child)
        other = parent;
    else
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    use(MPI_COMM_WORLD);
    MPI_Intercomm_merge(other, child, &both);
    use(both);
    if (hier_counter("discovered") != 1) {
        fprintf(stderr, "%s: %ld communicators discovered, but 1 expected\n", child ? "child" : "parent",
                hier_counter("discovered"));
        failures++;
    }
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, both);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
    hier_counters_close();
    MPI_Finalize();
    return total != 0;
}
