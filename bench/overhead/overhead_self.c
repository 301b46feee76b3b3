/* SPDX-License-Identifier: BSD-3-Clause
 * overhead_self: what a message to oneself costs, in blocks with no session active and with --sessions active ones, one
 * after the other in alternating order.
 *
 * --messages N   of 8 bytes per block             --pairs P      of blocks (off, on)
 * --sessions S   0: both blocks are alike         --thread single|multiple
 * --cpu C        to be pinned to; -1: none        --only off|on  (for counting instructions) leaves the other blocks out
 *
 * Output: "pair <off cpu> <on cpu> <off wall> <on wall>", ns per message, P lines; "switch <us>" for continuing and suspending
 * all sessions once; "counted <n> source <name>".
 */
#define _GNU_SOURCE
#include "overhead_clock.h"
#include "overhead_session.h"

/* Not inlined: an instruction counter finds it by its name. */
__attribute__((noinline)) void overhead_block(long messages)
{
    int64_t in = 0, out = 1;
    for (long i = 0; i < messages; i++) {
        MPI_Request request[2];
        MPI_Irecv(&in, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(&out, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
}

/** ns per message. */
static struct overhead_time timed(long messages, int on)
{
    struct overhead_time sum = {0, 0};
    if (on) overhead_sessions_on(1);
    overhead_block(messages < 200 ? messages : 200); /* caches and branches as in the midst of a run */
    struct overhead_time since = overhead_now();
    overhead_block(messages);
    overhead_add(&sum, since);
    if (on) overhead_sessions_on(0);
    return (struct overhead_time){sum.cpu / (double)messages, sum.wall / (double)messages};
}

static void measure(long messages, int pairs, const char *only)
{
    for (int p = 0; p < pairs; p++) {
        struct overhead_time t[2] = {{0, 0}, {0, 0}};
        for (int half = 0; half < 2; half++) {
            const int on = half ^ (p & 1);
            if (*only && strcmp(only, on ? "on" : "off") != 0) continue;
            t[on] = timed(messages, on);
        }
        printf("pair %.3f %.3f %.3f %.3f\n", t[0].cpu, t[1].cpu, t[0].wall, t[1].wall);
    }
}

/** Prints what it takes to continue and to suspend the sessions once, in us of processor time. */
static void measure_switching(int times)
{
    struct overhead_time sum = {0, 0}, since = overhead_now();
    if (sessions.n == 0) return;
    for (int i = 0; i < times; i++) {
        overhead_sessions_on(1);
        overhead_sessions_on(0);
    }
    overhead_add(&sum, since);
    printf("switch %.3f\n", sum.cpu / 1e3 / times);
}

int main(int argc, char **argv)
{
    const int multiple = strcmp(overhead_option(argc, argv, "--thread", "single"), "multiple") == 0;
    const int wanted = multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int provided;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    if (provided < wanted) overhead_fail("MPI_Init_thread with that level");
    overhead_check(overhead_pin(overhead_number(argc, argv, "--cpu", "-1")), "sched_setaffinity");
    overhead_sessions_make(overhead_number(argc, argv, "--sessions", "0"));
    measure(atol(overhead_option(argc, argv, "--messages", "20000")), overhead_number(argc, argv, "--pairs", "20"),
            overhead_option(argc, argv, "--only", ""));
    measure_switching(500);
    printf("counted %llu source %s\n", (unsigned long long)overhead_counted(LUCID_KINDS_P2P), overhead_source());
    MPI_Finalize();
    return 0;
}
