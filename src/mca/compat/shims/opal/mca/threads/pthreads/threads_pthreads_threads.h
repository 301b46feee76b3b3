/* SPDX-License-Identifier: BSD-3-Clause
 * See threads_pthreads_mutex.h beside this file: threads.
 */
#ifndef LUCID_SHIM_THREADS_PTHREADS_THREADS_H
#define LUCID_SHIM_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "opal/mca/threads/pthreads/threads_pthreads.h"
#include "opal/mca/threads/threads.h"

#define OPAL_THREAD_YIELD_WHEN_IDLE_DEFAULT false

static inline void opal_thread_yield(void)
{
    (void)sched_yield();
}

#endif
