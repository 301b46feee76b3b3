/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_help.c: a thread of the program that waits for requests, or tests some, steps the nonblocking reductions under way itself.
 *
 * Where our thread does that (reduce_engine.c), most programs do nothing meanwhile but wait. Two threads of one process would then take
 * turns at the library's progress, on processors that others need: the one that waits does it better alone.
 */
#include "reduce.h"

enum { ROUNDS = 8 }; /* between two looks at requests that are others' */

static atomic_int helpers;

bool lucid_reduce_helped(void)
{
    return atomic_load_explicit(&helpers, memory_order_relaxed) > 0;
}

static MPI_Request request_of(const struct lucid_reduce_wait *wait, int i)
{
    return wait->fortran ? PMPI_Request_f2c(wait->fortran[i]) : wait->requests[i];
}

/* Null requests are complete, which is nothing to wait for where one is wanted. What is no request is for the call to find. A generalized
 * request of the program's may be queried here, and again by the call, as the standard has it (MPI 4.0, 13.2). */
static bool is_over(const struct lucid_reduce_wait *wait)
{
    int left = 0;
    for (int i = 0; i < wait->number; i++) {
        const MPI_Request request = request_of(wait, i);
        int complete = 0;
        if (request == MPI_REQUEST_NULL) continue;
        if (request == (MPI_Request)0 || PMPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS) return true;
        if (complete && !wait->all) return true;
        if (!complete && wait->all) return false;
        left += !complete;
    }
    return left == 0;
}

static bool can_help(void)
{
    return lucid_reduce_engine() == LUCID_REDUCE_THREAD && lucid_reduce_active() > 0;
}

void lucid_reduce_help(const struct lucid_reduce_wait *wait)
{
    size_t left;
    unsigned rounds = 0;
    if (!can_help() || (!wait->requests && !wait->fortran)) return;
    atomic_fetch_add(&helpers, 1);
    do {
        const bool some = lucid_reduce_step(&left) > 0;
        if ((some || rounds % ROUNDS == 0) && is_over(wait)) break;
        rounds++;
    } while (left > 0);
    atomic_fetch_sub(&helpers, 1);
}

void lucid_reduce_help_once(void)
{
    size_t left;
    if (can_help()) (void)lucid_reduce_step(&left);
}
