/* SPDX-License-Identifier: BSD-3-Clause
 * overhead_peers: what a message costs its sender when each one goes to another peer than the one before. Rank 0 sends to
 * the ranks 1 ... --peers in turn; the others receive. Only rank 0's sending is timed, in windows of --window messages that
 * fit the library's buffers; between the windows the receivers get the time to empty them.
 *
 * --peers K      peers in turn                    --windows W    per block
 * --pairs P      of blocks (off, on)              --sessions S   0: both blocks are alike
 * --cpu C        rank 0 is pinned to
 *
 * Output of rank 0: as that of overhead_self.
 */
#define _GNU_SOURCE
#include "overhead_clock.h"
#include "overhead_session.h"

enum { WINDOW_LIMIT = 256 };

static int rank, peers, window;

static void send_window(void)
{
    static const int64_t out = 1;
    MPI_Request request[WINDOW_LIMIT];
    for (int i = 0; i < window; i++)
        MPI_Isend(&out, 1, MPI_INT64_T, 1 + i % peers, 0, MPI_COMM_WORLD, &request[i]);
    MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
}

static void receive_window(void)
{
    int64_t in;
    for (int i = rank - 1; i < window; i += peers)
        MPI_Recv(&in, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/** ns per message at rank 0. */
static struct overhead_time timed(int windows, int on)
{
    struct overhead_time sum = {0, 0};
    if (on) overhead_sessions_on(1);
    for (int w = 0; w < windows; w++) {
        if (rank == 0) {
            struct overhead_time since = overhead_now();
            send_window();
            overhead_add(&sum, since);
        } else if (rank <= peers) {
            receive_window();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (on) overhead_sessions_on(0);
    const double messages = (double)windows * window;
    return (struct overhead_time){sum.cpu / messages, sum.wall / messages};
}

static void measure(int windows, int pairs)
{
    for (int p = 0; p < pairs; p++) {
        struct overhead_time t[2];
        for (int half = 0; half < 2; half++) {
            const int on = half ^ (p & 1);
            t[on] = timed(windows, on);
        }
        if (rank == 0) printf("pair %.3f %.3f %.3f %.3f\n", t[0].cpu, t[1].cpu, t[0].wall, t[1].wall);
    }
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peers = overhead_number(argc, argv, "--peers", "1");
    window = overhead_number(argc, argv, "--window", "64");
    if (peers < 1 || peers >= size || window < 1 || window > WINDOW_LIMIT) overhead_fail("--peers below the number of ranks");
    if (rank == 0) overhead_check(overhead_pin(overhead_number(argc, argv, "--cpu", "-1")), "sched_setaffinity");
    overhead_sessions_make(overhead_number(argc, argv, "--sessions", "0"));
    measure(overhead_number(argc, argv, "--windows", "50"), overhead_number(argc, argv, "--pairs", "20"));
    if (rank == 0)
        printf("counted %llu source %s\n", (unsigned long long)overhead_counted(LUCID_KINDS_USER), overhead_source());
    MPI_Finalize();
    return 0;
}
