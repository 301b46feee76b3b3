/* SPDX-License-Identifier: BSD-3-Clause
 * whole_forever.c FILE               reduces for ever. Every rank writes its process id to FILE.RANK when it is at it.
 * whole_forever.c FILE done            the same 200 times, and one line of output
 * whole_forever.c FILE RANK HOW        the same, but after 200 times RANK ends: kill (SIGKILL), abort (MPI_Abort), exit (without
 *                                      MPI_Finalize)
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = 20000, STEPS = 200 };

static int numbers[NUMBERS], sums[NUMBERS];

static void write_down(const char *file, int rank)
{
    char path[4096], ready[4096 + 8];
    snprintf(path, sizeof path, "%s.%d", file, rank);
    snprintf(ready, sizeof ready, "%s.new", path);
    FILE *stream = fopen(ready, "w");
    if (!stream || fprintf(stream, "%d\n", (int)getpid()) < 0 || fclose(stream) != 0 || rename(ready, path) != 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
}

static void end(const char *how)
{
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "exit") == 0) exit(3);
}

int main(int argc, char **argv)
{
    int rank, victim = argc == 4 ? atoi(argv[2]) : -1, forever = argc != 3;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int step = 0; forever || step < STEPS; step++) {
        numbers[step % NUMBERS] = rank + step;
        MPI_Allreduce(numbers, sums, NUMBERS, MPI_INT, MPI_SUM, comm);
        if (step == 10) write_down(argv[1], rank);
        if (step == STEPS && rank == victim) end(argv[3]);
    }
    if (rank == 0) printf("sum %d\n", sums[7]);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
