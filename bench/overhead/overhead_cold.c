/* SPDX-License-Identifier: BSD-3-Clause
 * overhead_cold: what MPI_Isend to oneself takes when the program has used the caches for something else since the message
 * before, with a session and with none in turn. After switching, two messages pass before the one that is timed.
 *
 * --repetitions R   per size      --cpu C   to be pinned to
 *
 * Output: "cold <kB> <ns without> <ns with>", wall clock, R lines for each amount of memory that is written in between; then
 * "counted <n> source <name>".
 */
#define _GNU_SOURCE
#include "overhead_clock.h"
#include "overhead_session.h"

enum { LINE = 64, BEFORE = 2 };
static const size_t kilobytes[] = {0, 32, 256, 1024, 4096, 16384, 65536};
enum { AMOUNTS = sizeof kilobytes / sizeof *kilobytes };

static volatile char *memory;

/** ns of the MPI_Isend. */
static double send_one(size_t bytes)
{
    static int64_t in, out = 1;
    MPI_Request request[2];
    for (size_t i = 0; i < bytes; i += LINE) memory[i]++;
    MPI_Irecv(&in, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, &request[0]);
    const double since = overhead_ns(CLOCK_MONOTONIC);
    MPI_Isend(&out, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, &request[1]);
    const double ns = overhead_ns(CLOCK_MONOTONIC) - since;
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    return ns;
}

static double measurement(size_t bytes, int on)
{
    if (on) overhead_sessions_on(1);
    for (int i = 0; i < BEFORE; i++) (void)send_one(bytes);
    const double ns = send_one(bytes);
    if (on) overhead_sessions_on(0);
    return ns;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    overhead_check(overhead_pin(overhead_number(argc, argv, "--cpu", "-1")), "sched_setaffinity");
    overhead_sessions_make(overhead_number(argc, argv, "--sessions", "1"));
    const int repetitions = overhead_number(argc, argv, "--repetitions", "200");
    char *allocated = calloc(1024, kilobytes[AMOUNTS - 1]);
    if (!allocated) overhead_fail("calloc");
    memory = allocated;
    for (int r = 0; r < repetitions; r++) {
        for (size_t k = 0; k < AMOUNTS; k++) {
            double ns[2];
            for (int half = 0; half < 2; half++) {
                const int on = half ^ (r & 1);
                ns[on] = measurement(1024 * kilobytes[k], on);
            }
            printf("cold %zu %.0f %.0f\n", kilobytes[k], ns[0], ns[1]);
        }
    }
    printf("counted %llu source %s\n", (unsigned long long)overhead_counted(LUCID_KINDS_P2P), overhead_source());
    free(allocated);
    MPI_Finalize();
    return 0;
}
