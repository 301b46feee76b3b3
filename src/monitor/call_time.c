/* SPDX-License-Identifier: BSD-3-Clause
 * call_time.c: the time that this process's threads spend in MPI between MPI_Init and MPI_Finalize (LUCID_TIME). Counted are
 * the outermost calls that can take time: those that send, wait, probe, create or access. Two readings of a clock per call.
 */
#include <stdatomic.h>
#include <time.h>

#include "calls.h"

bool lucid_timing;
static _Atomic uint64_t spent; /* nanoseconds */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void lucid_call_began(void)
{
    if (lucid_thread.timed++ == 0) lucid_thread.began = now();
}

void lucid_call_ended(void)
{
    if (--lucid_thread.timed == 0) atomic_fetch_add_explicit(&spent, now() - lucid_thread.began, memory_order_relaxed);
}

double lucid_time_in_mpi(void)
{
    return 1e-9 * (double)atomic_load_explicit(&spent, memory_order_relaxed);
}
