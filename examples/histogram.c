/* SPDX-License-Identifier: BSD-3-Clause
 * histogram.c: hits in a detector of four million cells. Every rank sees some showers of its own, and adds up its histogram with
 * the others': nearly all of it is zeros, and `lucid run --sparse` sends and adds only the rest. The first hit of every cell
 * is found by an operator of the program's own, which says that it works element by element.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <lucid_sparse.h> /* brings mpi.h */

enum { CELLS = 1 << 22, SHOWERS = 20, HITS = 1000, NEVER = 0 };

/* Small and the same everywhere: what is drawn depends on the rank alone. */
static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % below);
}

/* A shower hits cells near its centre. */
static void record(int rank, int32_t *hits, int32_t *first)
{
    uint64_t state = (uint64_t)rank + 1;
    for (int shower = 0; shower < SHOWERS; shower++) {
        uint32_t centre = draw(&state, CELLS - 1024);
        for (int i = 1; i <= HITS; i++) {
            uint32_t cell = centre + draw(&state, 32) * draw(&state, 32);
            hits[cell]++;
            if (first[cell] == NEVER) first[cell] = shower * HITS + i;
        }
    }
}

/* The earlier of two times. */
static void earlier(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int32_t *a = in;
    int32_t *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++)
        if (b[i] == NEVER || (a[i] != NEVER && a[i] < b[i])) b[i] = a[i];
}

int main(int argc, char **argv)
{
    int rank, hit = 0, fullest = 0;
    int64_t hits_in_all = 0, times = 0;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int32_t *hits = calloc(CELLS, sizeof *hits), *first = calloc(CELLS, sizeof *first);
    record(rank, hits, first);
    MPI_Op_create(earlier, 1, &op);
    lucid_op_set_elementwise(op);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, hits, CELLS, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, first, CELLS, MPI_INT32_T, op, MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;

    for (int i = 0; i < CELLS; i++) {
        hits_in_all += hits[i];
        times += first[i];
        if (hits[i] > 0) hit++;
        if (hits[i] > hits[fullest]) fullest = i;
    }
    if (rank == 0) {
        printf("%lld hits in %d of %d cells; cell %d has most of them, %d\n", (long long)hits_in_all, hit, CELLS, fullest,
               hits[fullest]);
        printf("sum of the times of first hits: %lld\n", (long long)times);
        printf("two reductions of 16.8 MB took %.3f s\n", seconds);
    }
    MPI_Op_free(&op);
    free(hits);
    free(first);
    MPI_Finalize();
    return 0;
}
