/* SPDX-License-Identifier: BSD-3-Clause
 * communicators.c: makes 1,000 communicators, as a program does whose every solver, window and file has one, and uses a few.
 * `lucid run --startup` makes those cheap that are not used. Nothing of Lucid is in this program.
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 1000, USED = 10 };

static MPI_Comm comms[COUNT];

int main(int argc, char **argv)
{
    int rank, size, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD); /* not the first operation's cost is to be seen here, but the communicators' */

    double start = MPI_Wtime();
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < COUNT; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    double seconds = MPI_Wtime() - start;
    size_t bytes = mallinfo2().uordblks - before;

    for (int i = 0; i < USED; i++) {
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[i * COUNT / USED]);
        total += sum;
    }
    if (rank == 0) {
        printf("%d communicators of %d ranks, %d of them used: total %d\n", COUNT, size, USED, total);
        printf("making one took %.2f ms and %.2f kB of memory\n", 1e3 * seconds / COUNT, (double)bytes / 1e3 / COUNT);
    }
    for (int i = 0; i < COUNT; i++) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
