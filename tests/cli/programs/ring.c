/* SPDX-License-Identifier: BSD-3-Clause
 * ring.c: every rank sends the next one 10 messages of 1000 bytes (phase 1), then all reduce one double (phase 2).
 *   ring [exit CODE] [kill] [abandon] [cat] [fill FILE]
 * ends with CODE, kills its last rank, leaves without MPI_Finalize, copies its input, fills the disk with FILE.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void communicate(int rank, int size)
{
    char out[1000] = {0}, in[1000];
    double mine = rank, sum = 0;
    MPI_Pcontrol(1);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(out, 1000, MPI_BYTE, (rank + 1) % size, 0, in, 1000, MPI_BYTE, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pcontrol(2);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    if (rank == 0) printf("sum %g of %d\n", sum, size);
}

static void copy_input(void)
{
    int c;
    while ((c = getchar()) != EOF) putchar(c);
    fflush(stdout);
}

static void fill(const char *path)
{
    static char block[65536];
    FILE *file = fopen(path, "w");
    if (!file) return;
    setvbuf(file, NULL, _IONBF, 0);
    while (fwrite(block, 1, sizeof block, file) == sizeof block) continue;
    for (size_t n = sizeof block; n > 0; n /= 2) (void)!fwrite(block, 1, n, file);
    (void)fclose(file);
}

int main(int argc, char **argv)
{
    int rank, size, code = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    communicate(rank, size);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "exit") == 0 && i + 1 < argc) code = atoi(argv[++i]);
        else if (strcmp(argv[i], "kill") == 0 && rank == size - 1) raise(SIGKILL);
        else if (strcmp(argv[i], "abandon") == 0) _Exit(0);
        else if (strcmp(argv[i], "cat") == 0 && rank == 0) copy_input();
        else if (strcmp(argv[i], "fill") == 0 && i + 1 < argc && rank == 0) fill(argv[++i]);
    }
    MPI_Finalize();
    return code;
}
