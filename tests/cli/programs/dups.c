/* SPDX-License-Identifier: BSD-3-Clause
 * dups.c: two dups that make a barrier, one that does nothing and is freed, and the first one's child. Argument: how many further
 * dups make a barrier.
 */
#include <mpi.h>
#include <stdlib.h>

static void use_further(int count)
{
    for (int i = 0; i < count; i++) {
        MPI_Comm further;
        MPI_Comm_dup(MPI_COMM_WORLD, &further);
        MPI_Comm_set_name(further, "further");
        MPI_Barrier(further);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm used[2], idle, child;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &used[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &used[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &idle);
    MPI_Comm_set_name(used[0], "first");
    MPI_Comm_set_name(used[1], "second");
    MPI_Comm_set_name(idle, "idle");
    MPI_Comm_dup(used[0], &child);
    MPI_Comm_set_name(child, "child");
    MPI_Barrier(used[0]);
    MPI_Barrier(used[1]);
    use_further(argc > 1 ? atoi(argv[1]) : 0);
    MPI_Comm_free(&idle);
    MPI_Finalize();
    return 0;
}
