/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_engine.c: who steps nonblocking reductions while the program computes, or waits in MPI for something else.
 *
 * A generalized request does not progress by itself, and a process that waits in MPI_Recv owes its peers the progress of what
 * it has begun. There are two safe ways: the library's own progress calls us (MPICH), or a thread of ours, which needs
 * MPI_THREAD_MULTIPLE. Where there is neither at all processes, nonblocking calls are the library's.
 */
#include "reduce.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "../core/log.h"

/* Fruitless rounds before the thread pauses; all times in ns. */
enum { PATIENCE = 200, PAUSE = 20000, FIRST_NAP = 50000, LAST_NAP = 3200000 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum lucid_reduce_engine engine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool there;
static atomic_bool stopping;

enum lucid_reduce_engine lucid_reduce_engine(void)
{
    return engine;
}

static void sleep_for(long ns)
{
    const struct timespec time = {0, ns};
    nanosleep(&time, NULL);
}

/* Where processors are scarce, a thread that asks all the time takes them away from those that have the answer. */
static void pause_after(unsigned fruitless)
{
    if (fruitless < PATIENCE) sched_yield();
    else sleep_for(PAUSE);
}

static bool wait_for_work(void)
{
    pthread_mutex_lock(&lock);
    while (!stopping && lucid_reduce_active() == 0) pthread_cond_wait(&work, &lock);
    bool go_on = !stopping;
    pthread_mutex_unlock(&lock);
    return go_on;
}

/* Steps calls while nobody else does; whether that was of use. */
static bool work_alone(void)
{
    bool some = false;
    unsigned fruitless = 0;
    size_t left;
    while (!stopping && lucid_reduce_active() > 0 && !lucid_reduce_helped()) {
        fruitless = lucid_reduce_step(&left) > 0 ? 0 : fruitless + 1;
        some |= fruitless == 0 || fruitless >= PATIENCE;
        if (left > 0) pause_after(fruitless);
    }
    return some;
}

/* Most programs wait for what they have begun, and step it themselves (reduce_help.c). To be woken for each call takes more than that saves:
 * the thread sleeps a little before it looks, and the longer the more often it has come for nothing. */
static void *run(void *unused)
{
    long nap = FIRST_NAP;
    while (wait_for_work()) {
        sleep_for(nap);
        if (work_alone()) nap = FIRST_NAP;
        else if (nap < LAST_NAP) nap *= 2;
    }
    return NULL;
}

/* The program's signals are not this thread's. */
static bool start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    there = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return there;
}

/* What this process can do. The thread is started here, where it can still be done without. */
static enum lucid_reduce_engine mine(void)
{
    int level = MPI_THREAD_SINGLE;
    if (lucid_reduce_hook_there()) return LUCID_REDUCE_HOOK;
    PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE && start_thread() ? LUCID_REDUCE_THREAD : LUCID_REDUCE_NO_ENGINE;
}

/* Who only measures sends nothing while the program runs, and starts no thread. */
static void find_engine(void)
{
    if (!lucid_params()->sparse_nonblocking || strcmp(lucid_params()->sparse, "on") != 0) return;
    const int own = (int)mine(), both[2] = {own, -own};
    int least[2] = {0, 0};
    if (PMPI_Allreduce(both, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS && least[0] == -least[1])
        engine = (enum lucid_reduce_engine)own;
}

void lucid_reduce_open(lucid_reduce_shown_fn *shown)
{
    lucid_reduce_shown_to(shown);
    if (lucid_reduce_wanted()) pthread_once(&once, find_engine);
}

void lucid_reduce_wake(void)
{
    if (engine == LUCID_REDUCE_HOOK && !lucid_reduce_hook_start())
        lucid_error("MPIX_Async_start failed: a nonblocking reduction may not end; set LUCID_SPARSE_NONBLOCKING=0");
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
}

void lucid_reduce_poke(unsigned before)
{
    if (engine == LUCID_REDUCE_HOOK) lucid_reduce_hook_progress();
    else pause_after(before);
}

void lucid_reduce_engine_stop(void)
{
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
    if (there) pthread_join(thread, NULL);
    there = false;
    engine = LUCID_REDUCE_NO_ENGINE; /* the program may still reduce, where MPI_Finalize deletes attributes */
}
