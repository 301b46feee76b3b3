/* SPDX-License-Identifier: BSD-3-Clause
 * map_auto.c: the portfolio: treematch, which keeps what is good in the initial order, and attempts of multilevel with
 * different seeds, as many at a time as there are threads; then local search from treematch's placement where that is near
 * the best.
 *
 * Every attempt is a single-threaded or deterministic run of its own and the best one is chosen by cost, then by number, so
 * that the result does not depend on the number of threads, unless time runs out before the last attempt.
 */
#define _GNU_SOURCE
#include "map_auto.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ABREAST = 16 }; /* attempts at a time, at most */

struct attempt {
    const struct map_task *task;
    struct map_effort effort;
    int *leaf;
    double cost;
    int rc;
};

/** The best so far, the caller's. */
struct best {
    int n;
    int *leaf;
    double *cost;
    const char **name;
};

double map_auto_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void keep(const struct best *best, const int *leaf, double cost, const char *name)
{
    if (cost >= *best->cost) return;
    *best->cost = cost;
    *best->name = name;
    memcpy(best->leaf, leaf, (size_t)best->n * sizeof *leaf);
}

static void *run(void *attempt)
{
    struct attempt *a = attempt;
    a->rc = map_task_run(a->task, &map_multilevel, &a->effort, a->leaf, &a->cost);
    return NULL;
}

/** Runs attempts side by side; what cannot have a thread of its own runs after the others have been started. */
static void run_abreast(struct attempt *attempts, int count)
{
    pthread_t thread[ABREAST];
    char started[ABREAST] = {0};
    for (int i = 1; i < count; i++) started[i] = pthread_create(&thread[i], NULL, run, &attempts[i]) == 0;
    for (int i = 0; i < count; i++)
        if (!started[i]) run(&attempts[i]);
    for (int i = 1; i < count; i++)
        if (started[i]) (void)pthread_join(thread[i], NULL);
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/** Attempts first ... first + count - 1. The very first one is the quickest, so that something good is there soon. */
static int run_wave(const struct map_task *task, const struct map_effort *effort, int first, int count, int *leaves,
                    const struct best *best, double *cost_of_first)
{
    struct attempt attempts[ABREAST];
    for (int i = 0; i < count; i++) {
        attempts[i] = (struct attempt){task, *effort, leaves + (size_t)i * (size_t)best->n, 0, MAP_DONE};
        attempts[i].effort.seed = effort->seed + (uint64_t)(first + i);
        attempts[i].effort.starts = first + i == 0 ? 1 : 2;
        attempts[i].effort.threads = smaller(effort->threads, effort->threads / count + (effort->threads % count > i));
    }
    run_abreast(attempts, count);
    for (int i = 0; i < count; i++) {
        if (attempts[i].rc != MAP_DONE) return attempts[i].rc;
        keep(best, attempts[i].leaf, attempts[i].cost, map_multilevel.name);
    }
    if (first == 0) *cost_of_first = attempts[0].cost;
    return MAP_DONE;
}

/** Waves of attempts while there are some left and time for them. */
static int run_waves(const struct map_task *task, const struct map_effort *effort, const struct map_auto_limits *limits,
                     int *leaves, const struct best *best, double *cost_of_first)
{
    double longest = 0;
    int abreast = smaller(smaller(effort->threads, ABREAST), limits->attempts), rc = MAP_DONE;
    for (int first = 0; first < limits->attempts && rc == MAP_DONE; first += abreast) {
        double begin = map_auto_clock(), took;
        if (first > 0 && begin + 1.2 * longest > limits->end) break;
        rc = run_wave(task, effort, first, smaller(abreast, limits->attempts - first), leaves, best, cost_of_first);
        took = map_auto_clock() - begin;
        if (took > longest) longest = took;
    }
    return rc;
}

int map_auto(const struct map_task *task, const struct map_effort *effort, const struct map_auto_limits *limits, int *leaf,
             double *cost, const char **name)
{
    const struct best best = {task->graph->n, leaf, cost, name};
    size_t n = (size_t)(best.n ? best.n : 1), abreast = (size_t)smaller(smaller(effort->threads, ABREAST), limits->attempts);
    int *leaves = malloc((abreast + 1) * n * sizeof *leaves), *ordered = leaves + abreast * n;
    double ordered_cost = 0, cost_of_first = 0;
    if (!leaves) return MAP_NO_MEMORY;
    int rc = map_task_run(task, &map_treematch, effort, ordered, &ordered_cost), has_ordered = rc == MAP_DONE;
    if (has_ordered) keep(&best, ordered, ordered_cost, map_treematch.name);
    if (rc != MAP_NO_MEMORY) rc = run_waves(task, effort, limits, leaves, &best, &cost_of_first);
    if (rc == MAP_DONE && has_ordered && ordered_cost <= 1.05 * cost_of_first) {
        rc = map_task_polish(task, effort->rounds, ordered, &ordered_cost);
        if (rc == MAP_DONE) keep(&best, ordered, ordered_cost, map_treematch.name);
    }
    free(leaves);
    return rc;
}
