/* SPDX-License-Identifier: BSD-3-Clause
 * jacobi.c: the temperature of a plate, by Jacobi's method; its rows are dealt to the ranks, each talks to the two next to it.
 * After ten iterations the ranks are put where their messages are, once, if that pays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lucid_place.h> /* brings mpi.h and lucid.h */

enum { ROWS = 32, COLUMNS = 4096, WATCHED = 10, ITERATIONS = 500 };

typedef double plate_t[ROWS + 2][COLUMNS]; /* a rank's rows, and a neighbour's row above and below */

static void iterate(MPI_Comm comm, plate_t old, plate_t new)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(old[1], COLUMNS, MPI_DOUBLE, above, 0, old[ROWS + 1], COLUMNS, MPI_DOUBLE, below, 0, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(old[ROWS], COLUMNS, MPI_DOUBLE, below, 0, old[0], COLUMNS, MPI_DOUBLE, above, 0, comm, MPI_STATUS_IGNORE);
    for (int i = 1; i <= ROWS; i++)
        for (int j = 1; j < COLUMNS - 1; j++)
            new[i][j] = 0.25 * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]);
}

static double sum(plate_t plate)
{
    double all = 0;
    for (int i = 1; i <= ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) all += plate[i][j];
    return all;
}

/* The communicator for the iterations that remain: the session tells who talks to whom. */
static MPI_Comm reorder(lucid_session_t session, plate_t plate)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *new_rank = malloc((size_t)size * sizeof *new_rank);
    lucid_reorder_options_t options = {
        .recorded = WATCHED, .remaining = ITERATIONS - WATCHED, .moved_bytes = sizeof(plate_t), .k = new_rank};
    lucid_decision_t decision = {.reordered = 0};
    MPI_Comm comm = MPI_COMM_WORLD; /* and so it stays if reordering does not pay */
    int code = lucid_comm_reorder(MPI_COMM_WORLD, session, &options, &comm, &decision);
    if (decision.reordered) lucid_redistribute(plate, (ROWS + 2) * COLUMNS, MPI_DOUBLE, new_rank, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s: %s\n", decision.reordered ? "reordered" : "not reordered",
               code == LUCID_SUCCESS ? decision.reason : lucid_error_string(code));
        if (decision.reordered)
            printf("predicted communication of an iteration: %.1f ms before, %.1f ms after\n", 1e3 * decision.before,
                   1e3 * decision.after);
    }
    free(new_rank);
    return comm;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    plate_t *plates = calloc(2, sizeof *plates);
    for (int j = 0; rank == 0 && j < COLUMNS; j++) plates[0][0][j] = plates[1][0][j] = 100; /* degrees at the upper edge */

    lucid_session_t session = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    lucid_init();
    lucid_session_start(MPI_COMM_WORLD, "jacobi", &session);
    for (int i = 0; i < ITERATIONS; i++) {
        if (i == WATCHED) { /* an even number: the newest temperatures are in plates[0] */
            lucid_session_suspend(session);
            comm = reorder(session, plates[0]);
            memcpy(plates[1], plates[0], sizeof *plates); /* for the edges, which no iteration writes */
            lucid_session_free(session);
        }
        iterate(comm, plates[i % 2], plates[(i + 1) % 2]);
    }
    double mine = sum(plates[ITERATIONS % 2]), all;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d x %d points on %d ranks: after %d iterations the mean temperature is %.6f degrees\n", size * ROWS, COLUMNS, size,
               ITERATIONS, all / ((double)size * ROWS * COLUMNS));
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    free(plates);
    lucid_finalize();
    MPI_Finalize();
    return 0;
}
