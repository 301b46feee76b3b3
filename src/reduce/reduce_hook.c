/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_hook.c: MPICH calls functions of the program from its own progress (MPIX_Async_start, since 4.2): wherever a process
 * waits in MPI, its nonblocking reductions go on. Other libraries have nothing like it.
 *
 * Such a function must not make progress itself: a request is looked at first (MPIX_Request_is_complete) and only then tested.
 */
#include "reduce.h"

static _Thread_local bool running;

bool lucid_reduce_hook_running(void)
{
    return running;
}

#if defined(LUCID_MPIX_ASYNC)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool started;

bool lucid_reduce_hook_there(void)
{
    return true;
}

/* The hook stays until nothing is under way; who enlists a call after that starts it again. */
static int step(MPIX_Async_thing thing)
{
    size_t left;
    if (running) return MPIX_ASYNC_NOPROGRESS;
    running = true;
    (void)lucid_reduce_step(&left);
    running = false;
    pthread_mutex_lock(&lock);
    bool idle = lucid_reduce_active() == 0;
    if (idle) started = false;
    pthread_mutex_unlock(&lock);
    return idle ? MPIX_ASYNC_DONE : MPIX_ASYNC_NOPROGRESS;
}

bool lucid_reduce_hook_start(void)
{
    pthread_mutex_lock(&lock);
    bool first = !started;
    started = true;
    pthread_mutex_unlock(&lock);
    return !first || PMPIX_Async_start(step, NULL, MPIX_STREAM_NULL) == MPI_SUCCESS;
}

void lucid_reduce_hook_progress(void)
{
    PMPIX_Stream_progress(MPIX_STREAM_NULL);
}

bool lucid_reduce_hook_complete(MPI_Request request)
{
    return request == MPI_REQUEST_NULL || PMPIX_Request_is_complete(request);
}

#else

bool lucid_reduce_hook_there(void)
{
    return false;
}

bool lucid_reduce_hook_start(void)
{
    return false;
}

void lucid_reduce_hook_progress(void)
{
}

bool lucid_reduce_hook_complete(MPI_Request request)
{
    return true;
}

#endif
