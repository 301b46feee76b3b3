/* SPDX-License-Identifier: BSD-3-Clause
 * hier_ids.c: makes communicators, uses each for an allreduce and keeps it, until no more can be made or there are `most`. Open
 * MPI numbers communicators by their context ids, which the Fortran handle shows. Prints communicators and ids per
 * communicator, every hundred.
 *   hier_ids most
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, made = 0, one = 1, sum, most = argc > 1 ? atoi(argv[1]) : 70000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm *comm = malloc(sizeof *comm * (size_t)(most + 1));
    while (made < most && MPI_Comm_dup(MPI_COMM_WORLD, &comm[made]) == MPI_SUCCESS) {
        if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm[made++]) != MPI_SUCCESS) break;
        if (rank > 0 || made % 100 != 0) continue; /* the library may abort when it runs out: the last line counts */
        printf("%d communicators, %.2f ids each\n", made,
               (double)(MPI_Comm_c2f(comm[made - 1]) - MPI_Comm_c2f(comm[0])) / (made - 1));
        fflush(stdout);
    }
    if (made < most) MPI_Abort(MPI_COMM_WORLD, 0); /* out of ids, nothing works any more, and freeing neither */
    for (int i = 0; i < made; i++) MPI_Comm_free(&comm[i]);
    MPI_Finalize();
    return 0;
}
