/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_parts.c: what an Allreduce of which everyone fills its part takes by hand, over this MPI's messages: a program that knows whose
 * part is whose sends every part from where it is to where it belongs, looks once whether the rest is zero and whether adding zero
 * changes what came, and agrees on nothing. In turns with the library's routine, Lucid's and Lucid's in dense form.
 *
 * sparse_parts BYTES REPEATS     BYTES: of a rank's vector of doubles
 *   Rank 0 prints medians in milliseconds, the slowest rank's. Needs coll/sparse (LUCID_SPARSE_PRIORITY).
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

enum { ROUTINES = 6, KNOWN = 3, LEARNING = 50, MOST = 64 };
static const struct routine {
    const char *name, *sparse;
    size_t piece; /* elements of a message; 0: MPI_Allreduce */
} routines[ROUTINES] = {{"library", "off", 0}, {"lucid", "auto", 0}, {"twin", "always,dense", 0},
                        {"parts of 128 KiB", "off", 1 << 14}, {"of 512 KiB", "off", 1 << 16}, {"of 1 MiB", "off", 1 << 17}};
static int rank, size;

static int all_zero(const double *v, size_t n)
{
    uint64_t any = 0;
    for (size_t i = 0; i + 8 <= n; i += 8) {
        for (size_t k = 0; k < 8; k++) {
            uint64_t bits;
            memcpy(&bits, v + i + k, sizeof bits);
            any |= bits;
        }
    }
    return any == 0;
}

static int stays(const double *v, size_t n)
{
    uint64_t changes = 0, was, is;
    for (size_t i = 0; i < n; i++) {
        const double sum = v[i] + 0.0;
        memcpy(&was, v + i, sizeof was);
        memcpy(&is, &sum, sizeof is);
        changes |= was ^ is;
    }
    return changes == 0;
}

/* `n` elements of every part, from `at` on. */
static int exchange(const double *in, double *out, size_t part, size_t at, size_t n, MPI_Comm comm)
{
    MPI_Request requests[2 * MOST];
    int right = 1, others = size - 1, which;
    for (int d = 1; d < size; d++) {
        int from = (rank + d) % size, to = (rank + size - d) % size;
        MPI_Irecv(out + (size_t)from * part + at, (int)n, MPI_DOUBLE, from, 1, comm, &requests[d - 1]);
        MPI_Isend(in + (size_t)rank * part + at, (int)n, MPI_DOUBLE, to, 1, comm, &requests[others + d - 1]);
    }
    for (int d = 1; d < size; d++) right &= all_zero(in + (size_t)((rank + d) % size) * part + at, n);
    memcpy(out + (size_t)rank * part + at, in + (size_t)rank * part + at, n * sizeof *out);
    for (int d = 1; d < size; d++) {
        MPI_Waitany(others, requests, &which, MPI_STATUS_IGNORE);
        right &= stays(out + (size_t)((rank + 1 + which) % size) * part + at, n);
    }
    MPI_Waitall(others, requests + others, MPI_STATUSES_IGNORE);
    return right;
}

static void reduce(const struct routine *routine, const double *in, double *out, size_t part, MPI_Comm comm)
{
    int right = 1;
    if (routine->piece == 0) MPI_Allreduce(in, out, (int)(part * (size_t)size), MPI_DOUBLE, MPI_SUM, comm);
    for (size_t at = 0; routine->piece > 0 && at < part; at += routine->piece)
        right &= exchange(in, out, part, at, part - at < routine->piece ? part - at : routine->piece, comm);
    if (!right) MPI_Abort(MPI_COMM_WORLD, 3);
}

static double timed(const struct routine *routine, const double *in, double *out, size_t part, MPI_Comm comm)
{
    double spent, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    spent = -MPI_Wtime();
    reduce(routine, in, out, part, comm);
    spent += MPI_Wtime();
    MPI_Allreduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static MPI_Comm communicator(const char *sparse)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "lucid_sparse", sparse);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const double *in, double *out, double *reference, size_t part, int repeats)
{
    MPI_Comm comms[ROUTINES];
    const size_t bytes = part * (size_t)size * sizeof *out;
    double *seconds = malloc(ROUTINES * (size_t)repeats * sizeof *seconds);
    if (!seconds) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int r = 0; r < ROUTINES; r++) {
        comms[r] = communicator(routines[r].sparse);
        for (int i = 0; i < (r < KNOWN ? LEARNING : 2); i++) reduce(&routines[r], in, out, part, comms[r]);
        if (r == 0) memcpy(reference, out, bytes);
        if (memcmp(reference, out, bytes) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
    }
    for (int i = 0; i < repeats; i++) {
        int order[ROUTINES];
        for (int r = 0; r < ROUTINES; r++) order[r] = r;
        turns_arrange(order, ROUTINES, i);
        for (int k = 0; k < ROUTINES; k++)
            seconds[order[k] * repeats + i] = timed(&routines[order[k]], in, out, part, comms[order[k]]);
    }
    for (int r = 0; r < ROUTINES; r++) {
        qsort(seconds + r * repeats, (size_t)repeats, sizeof *seconds, ascending);
        if (rank == 0) printf("%s %.2f%s", routines[r].name, 1e3 * seconds[r * repeats + repeats / 2], r + 1 < ROUTINES ? ", " : "\n");
        MPI_Comm_free(&comms[r]);
    }
    free(seconds);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3 || atoi(argv[2]) < 1 || size > MOST) {
        if (rank == 0) fprintf(stderr, "usage: sparse_parts BYTES REPEATS, on 64 ranks at most\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const size_t part = strtoull(argv[1], NULL, 10) / sizeof(double) / (size_t)size / 8 * 8, n = part * (size_t)size;
    double *in = calloc(n, sizeof *in), *out = malloc(n * sizeof *out), *reference = malloc(n * sizeof *reference);
    if (!in || !out || !reference) MPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t i = 0; i < n; i++) in[i] = i / part == (size_t)rank ? 1 + (double)(i % 97) : 0; /* all pages are touched */
    memset(out, 0, n * sizeof *out);
    measure(in, out, reference, part, atoi(argv[2]));
    free(in), free(out), free(reference);
    MPI_Finalize();
    return 0;
}
