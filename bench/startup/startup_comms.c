/* SPDX-License-Identifier: BSD-3-Clause
 * startup_comms.c WAY USE COUNT: makes COUNT communicators in a WAY (dup, split, chain, group, idup), USEs each (none, barrier,
 * allreduce), frees them, and prints on rank 0 what one has cost, the largest process's: bytes of heap (and of Pss) unused and
 * used, bytes left, microseconds of a creation (median) and of a first use (mean).
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNUSED, UNUSED_PSS, USED, LEFT, CREATE, FIRST, FIGURES };

static double heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

static double pss(void)
{
    char line[256];
    double found = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Pss:", 4) == 0) found = 1024 * atof(line + 4);
    if (file != NULL) fclose(file);
    return found;
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static void make(const char *way, int i, MPI_Comm *comm, MPI_Group group)
{
    MPI_Request request;
    int rank;
    if (strcmp(way, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    if (strcmp(way, "chain") == 0) MPI_Comm_dup(i > 0 ? comm[i - 1] : MPI_COMM_WORLD, &comm[i]);
    if (strcmp(way, "group") == 0) MPI_Comm_create_group(MPI_COMM_WORLD, group, i % 256, &comm[i]);
    if (strcmp(way, "split") == 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm[i]);
    }
    if (strcmp(way, "idup") == 0) {
        MPI_Comm_idup(MPI_COMM_WORLD, &comm[i], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void use(const char *how, MPI_Comm comm)
{
    int one = 1, sum;
    if (strcmp(how, "barrier") == 0) MPI_Barrier(comm);
    if (strcmp(how, "allreduce") == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void measure(const char *way, const char *how, int n, double *figure)
{
    MPI_Comm *comm = calloc((size_t)n, sizeof(MPI_Comm)), warm;
    MPI_Group group;
    double *time = calloc((size_t)n, sizeof *time), before, before_pss, start;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_dup(MPI_COMM_WORLD, &warm);
    MPI_Barrier(warm);
    MPI_Comm_free(&warm);
    MPI_Barrier(MPI_COMM_WORLD);
    before = heap();
    before_pss = pss();
    for (int i = 0; i < n; i++) {
        start = MPI_Wtime();
        make(way, i, comm, group);
        time[i] = 1e6 * (MPI_Wtime() - start);
    }
    figure[UNUSED] = (heap() - before) / n;
    figure[UNUSED_PSS] = (pss() - before_pss) / n;
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < n; i++) use(how, comm[i]);
    figure[FIRST] = 1e6 * (MPI_Wtime() - start) / n;
    figure[USED] = (heap() - before) / n;
    for (int i = n - 1; i >= 0; i--) MPI_Comm_free(&comm[i]);
    figure[LEFT] = (heap() - before) / n;
    qsort(time, (size_t)n, sizeof *time, compare);
    figure[CREATE] = time[n / 2];
    MPI_Group_free(&group);
    free(comm);
    free(time);
}

int main(int argc, char **argv)
{
    double figure[FIGURES], largest[FIGURES];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc == 4 && atoi(argv[3]) > 0) measure(argv[1], argv[2], atoi(argv[3]), figure);
    else MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Reduce(figure, largest, FIGURES, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s,%s,%d,%s,%.0f,%.0f,%.0f,%.1f,%.2f,%.2f\n", argv[1], argv[2], size, argv[3], largest[UNUSED], largest[UNUSED_PSS],
               largest[USED], largest[LEFT], largest[CREATE], largest[FIRST]);
    MPI_Finalize();
    return 0;
}
