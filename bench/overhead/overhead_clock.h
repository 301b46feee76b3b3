/* SPDX-License-Identifier: BSD-3-Clause
 * overhead_clock.h: clocks, pinning, options of the overhead programs.
 */
#ifndef OVERHEAD_CLOCK_H
#define OVERHEAD_CLOCK_H

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** Nanoseconds of processor time of this thread (what other processes take does not count), and of the wall clock. */
struct overhead_time {
    double cpu;
    double wall;
};

static inline double overhead_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline struct overhead_time overhead_now(void)
{
    return (struct overhead_time){overhead_ns(CLOCK_THREAD_CPUTIME_ID), overhead_ns(CLOCK_MONOTONIC)};
}

/** Adds what has passed since `since`. */
static inline void overhead_add(struct overhead_time *sum, struct overhead_time since)
{
    struct overhead_time now = overhead_now();
    sum->wall += now.wall - since.wall;
    sum->cpu += now.cpu - since.cpu;
}

/** Keeps the calling thread on one processor; cpu < 0: wherever it is. */
static inline int overhead_pin(int cpu)
{
    cpu_set_t set;
    if (cpu < 0) return 0;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/** The value that follows the option `name`, or `otherwise`. */
static inline const char *overhead_option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return argv[i + 1];
    return otherwise;
}

static inline int overhead_number(int argc, char **argv, const char *name, const char *otherwise)
{
    return atoi(overhead_option(argc, argv, name, otherwise));
}

#endif
