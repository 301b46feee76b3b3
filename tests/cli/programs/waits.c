/* SPDX-License-Identifier: BSD-3-Clause
 * waits.c: process 0 asks and waits for the answers of process 1, which thinks for 40 ms. "receive": in MPI_Recv, ten times;
 * "wait": in MPI_Wait; else once in MPI_Sendrecv, which is in MPI from before the question is out.
 */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static void ask(const char *how)
{
    int question = 1, answer = 0;
    MPI_Request request;
    if (strcmp(how, "receive") == 0) {
        MPI_Send(&question, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "wait") == 0) {
        MPI_Irecv(&answer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&question, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Sendrecv(&question, 1, MPI_INT, 1, 0, &answer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void reply(void)
{
    int number;
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    for (int there = 0; !there; usleep(1000)) MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE); /* not timed */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    usleep(40000);
    MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *how = argc > 1 ? argv[1] : "";
    for (int i = 0; i < (how[0] ? 10 : 1); i++) {
        if (rank == 0) ask(how);
        else reply();
    }
    MPI_Finalize();
    return 0;
}
