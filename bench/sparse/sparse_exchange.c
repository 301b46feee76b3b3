/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_exchange.c: two ranks on different nodes that exchange a message: MPI_Sendrecv, the receive posted before the send, and the send
 * before the receive (sparse_slice.h, sparse_swap). Public MPI alone.
 *
 * sparse_exchange OUT.csv REPEATS
 *   The ranks next to each other in pairs, all pairs at a time, orders in turns (turns.h). A row of OUT.csv is one repetition: the
 * slowest rank's seconds. Messages of 64 KiB to 4 MiB: shorter ones go at once (btl_tcp_eager_limit).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

enum { LEAST = 1 << 16, MOST = 1 << 22, ORDERS = 3 };
enum order { SENDRECV, RECEIVE_FIRST, SEND_FIRST };
static const char *const names[ORDERS] = {"sendrecv", "receive first", "send first"};

static char given[MOST], taken[MOST];

static void exchange(enum order order, int bytes, int peer)
{
    MPI_Request requests[2];
    if (order == SENDRECV) {
        MPI_Sendrecv(given, bytes, MPI_BYTE, peer, 0, taken, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (order == SEND_FIRST) MPI_Isend(given, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(taken, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
    if (order == RECEIVE_FIRST) MPI_Isend(given, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static double slowest(enum order order, int bytes, int peer)
{
    double all;
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    exchange(order, bytes, peer);
    seconds = MPI_Wtime() - seconds;
    MPI_Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *out = argc == 3 && rank == 0 ? fopen(argv[1], "w") : NULL;
    if (argc != 3 || size % 2 || (rank == 0 && !out)) {
        if (rank == 0) fprintf(stderr, "usage: sparse_exchange OUT.csv REPEATS, on an even number of ranks; OUT.csv must be writable\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memset(given, rank, sizeof given);
    if (rank == 0) fprintf(out, "ranks,bytes,order,repetition,seconds\n");
    for (int bytes = LEAST; bytes <= MOST; bytes *= 2)
        for (int i = -1; i < atoi(argv[2]); i++) {
            int order[ORDERS] = {SENDRECV, RECEIVE_FIRST, SEND_FIRST};
            turns_arrange(order, ORDERS, i < 0 ? 0 : i);
            for (int k = 0; k < ORDERS; k++) {
                const double seconds = slowest((enum order)order[k], bytes, rank ^ 1);
                if (taken[bytes - 1] != (char)(rank ^ 1)) MPI_Abort(MPI_COMM_WORLD, 3);
                if (rank == 0 && i >= 0) fprintf(out, "%d,%d,%s,%d,%.9f\n", size, bytes, names[order[k]], i, seconds);
            }
        }
    if (rank == 0 && fclose(out) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
