/* SPDX-License-Identifier: BSD-3-Clause
 * apart.h: how far two processors are from each other, in nanoseconds until one sees what the other has written. A hypervisor moves virtual
 * processors: two that share a cache of the third level now (25 to 30 ns, on the machine of docs/results) have one each a few
 * seconds later (155 to 170), and whatever goes from rank to rank through memory takes another time: a dense Allreduce of 16 MiB on 4 ranks 9
 * or 23 ms in Lucid's dense form, 18 or 12 by coll/libnbc. Whoever compares routines has to know, and to begin again if that
 * changes meanwhile.
 */
#ifndef LUCID_BENCH_APART_H
#define LUCID_BENCH_APART_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { APART_ROUNDS = 500, APART_TRIES = 5, APART_FAR = 80 /* ns: more is from one cache to another */ };

struct apart_pair {
    int processor[2];
    double least; /* seconds of APART_ROUNDS, there and back */
    _Alignas(128) _Atomic int word;
};

static inline double apart_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void apart_go_to(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)processor, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* The first two that the process may use. */
static inline bool apart_processors(int *two)
{
    cpu_set_t set;
    int n = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return false;
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET((size_t)i, &set)) two[n++] = i;
    return n == 2;
}

static inline void *apart_answer(void *context)
{
    struct apart_pair *pair = context;
    apart_go_to(pair->processor[1]);
    for (int i = 0; i <= APART_ROUNDS * APART_TRIES; i++) {
        while (atomic_load_explicit(&pair->word, memory_order_acquire) != 2 * i + 1) continue;
        atomic_store_explicit(&pair->word, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

static inline void apart_ask(struct apart_pair *pair, int i)
{
    atomic_store_explicit(&pair->word, 2 * i + 1, memory_order_release);
    while (atomic_load_explicit(&pair->word, memory_order_acquire) != 2 * i + 2) continue;
}

static inline void *apart_time(void *context)
{
    struct apart_pair *pair = context;
    apart_go_to(pair->processor[0]);
    apart_ask(pair, 0); /* both are there */
    for (int try = 0; try < APART_TRIES; try++) {
        double spent = -apart_seconds();
        for (int i = 1; i <= APART_ROUNDS; i++) apart_ask(pair, try * APART_ROUNDS + i);
        spent += apart_seconds();
        if (spent < pair->least) pair->least = spent;
    }
    return NULL;
}

/* Nanoseconds; 0: there are no two processors. A millisecond or two, in which nobody else should run. */
static inline double apart_measure(void)
{
    struct apart_pair pair = {.least = 1};
    pthread_t threads[2];
    if (!apart_processors(pair.processor) || pthread_create(&threads[0], NULL, apart_answer, &pair) != 0) return 0;
    if (pthread_create(&threads[1], NULL, apart_time, &pair) != 0) {
        for (int i = 0; i <= APART_ROUNDS * APART_TRIES; i++) apart_ask(&pair, i);
        pthread_join(threads[0], NULL);
        return 0;
    }
    pthread_join(threads[1], NULL);
    pthread_join(threads[0], NULL);
    return 1e9 * pair.least / (2 * APART_ROUNDS);
}

#endif
