/* SPDX-License-Identifier: BSD-3-Clause
 * lucid_map.c: the public face of the mapper.
 *
 * No mapper is best everywhere, and good ones have been seen to make a good order 2.4 times worse; so nothing that costs more
 * than the identity is ever returned, and "auto" (map_auto.c) runs several.
 */
#include <lucid_map.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "map_auto.h"
#include "map_cost.h"

enum { ATTEMPTS = 4, ATTEMPTS_OF_FEW = 16, FEW = 256, ATTEMPTS_IN_GIVEN_TIME = 1 << 20 };

struct job {
    const lucid_map_options_t *options;
    struct map_graph graph;
    struct map_task task;
    struct map_effort effort;
    struct map_auto_limits limits;
    char *movable;    /* [rank], NULL: all */
    int *leaf, *best; /* [rank] */
    double best_cost;
    const char *best_name;
    double begin;
};

static int complain(char *why, size_t size, const char *text)
{
    if (why) snprintf(why, size, "%s", text);
    return LUCID_ERR_ARG;
}

/** Runs an algorithm and keeps its placement if it is better than the best. */
static int run(struct job *job, const struct map_algorithm *algorithm)
{
    double cost;
    int rc = map_task_run(&job->task, algorithm, &job->effort, job->leaf, &cost);
    if (rc != MAP_DONE || (job->best_name && cost >= job->best_cost)) return rc;
    job->best_cost = cost;
    job->best_name = algorithm->name;
    memcpy(job->best, job->leaf, (size_t)job->graph.n * sizeof *job->best);
    return rc;
}

static const struct map_algorithm *find(const char *name)
{
    const struct map_algorithm *const all[] = {&map_identity, &map_treematch, &map_multilevel, map_scotch()};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

static int solve(struct job *job, char *why, size_t size)
{
    const char *name = job->options->algorithm ? job->options->algorithm : "auto";
    int rc = run(job, &map_identity);
    if (rc == MAP_DONE && strcmp(name, "auto") == 0) {
        rc = map_auto(&job->task, &job->effort, &job->limits, job->best, &job->best_cost, &job->best_name);
    } else if (rc == MAP_DONE) {
        const struct map_algorithm *algorithm = find(name);
        if (!algorithm) {
            char text[160];
            snprintf(text, sizeof text, "map: no algorithm \"%.40s\" here: auto, identity, treematch, multilevel, or scotch where "
                                        "its plug-in is installed", name);
            return complain(why, size, text);
        }
        rc = run(job, algorithm);
    }
    if (rc == MAP_NOT_APPLICABLE)
        return complain(why, size, "map: this algorithm needs a regular machine (treematch), or cannot map this one; use auto");
    return rc == MAP_DONE ? LUCID_SUCCESS : LUCID_ERR_INTERNAL;
}

static int check_fixed(const int *fixed, int n)
{
    char *taken = fixed ? calloc((size_t)n, 1) : NULL;
    int rc = fixed && !taken ? LUCID_ERR_INTERNAL : LUCID_SUCCESS;
    for (int i = 0; rc == LUCID_SUCCESS && fixed && i < n; i++) {
        if (fixed[i] < 0) continue;
        if (fixed[i] >= n || taken[fixed[i]]) rc = LUCID_ERR_ARG;
        else taken[fixed[i]] = 1;
    }
    free(taken);
    return rc;
}

/** Starts are those of a bisection to "multilevel", attempts to "auto", which chooses the former itself. */
static void set_effort(struct job *job, int n)
{
    const lucid_map_options_t *options = job->options;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double usual = options->starts > 0 ? HUGE_VAL : n / 8192.0 > 0.2 ? n / 8192.0 : 0.2;
    int attempts = options->seconds > 0 ? ATTEMPTS_IN_GIVEN_TIME : n <= FEW ? ATTEMPTS_OF_FEW : ATTEMPTS;
    job->effort = (struct map_effort){.starts = options->starts > 0 ? options->starts : 1, .rounds = 20,
                                      .threads = options->threads > 0 ? options->threads : cores > 0 ? (int)cores : 1,
                                      .seed = options->seed};
    job->limits.attempts = options->starts > 0 ? options->starts : attempts;
    job->limits.end = job->begin + (options->seconds > 0 ? options->seconds : usual);
}

static int prepare(struct job *job, const lucid_matrix_t *matrix, const struct map_tree *tree)
{
    int n = matrix->size;
    const int *fixed = job->options->fixed;
    job->begin = map_auto_clock();
    set_effort(job, n);
    job->leaf = malloc((size_t)n * 2 * sizeof *job->leaf);
    job->best = job->leaf ? job->leaf + n : NULL;
    job->movable = fixed ? malloc((size_t)n) : NULL;
    if (!job->leaf || (fixed && !job->movable)) return LUCID_ERR_INTERNAL;
    if (fixed) memset(job->movable, 1, (size_t)n);
    for (int i = 0; fixed && i < n; i++)
        if (fixed[i] >= 0) job->movable[fixed[i]] = 0;
    enum map_weight weight = job->options->messages ? MAP_MESSAGES : MAP_BYTES;
    job->task = (struct map_task){&job->graph, tree, fixed, job->movable};
    return map_graph_from_matrix(&job->graph, matrix, weight) == 0 ? LUCID_SUCCESS : LUCID_ERR_INTERNAL;
}

/** Turns the best placement into k, unless the unscaled figures say that the identity is no worse. */
static int conclude(struct job *job, const lucid_matrix_t *matrix, int *k, lucid_map_result_t *result)
{
    enum map_weight weight = job->options->messages ? MAP_MESSAGES : MAP_BYTES;
    lucid_map_result_t figures = {.algorithm = job->best_name};
    for (int rank = 0; rank < matrix->size; rank++) job->leaf[rank] = rank;
    if (map_task_fix(&job->task, job->leaf) != MAP_DONE ||
        map_cost_of_matrix(matrix, weight, job->task.tree, job->leaf, &figures.before) != 0 ||
        map_cost_of_matrix(matrix, weight, job->task.tree, job->best, &figures.after) != 0)
        return LUCID_ERR_INTERNAL;
    if (figures.after.cost >= figures.before.cost) {
        memcpy(job->best, job->leaf, (size_t)matrix->size * sizeof *job->best);
        figures.after = figures.before;
        figures.algorithm = map_identity.name;
    }
    for (int rank = 0; rank < matrix->size; rank++) k[job->best[rank]] = rank;
    figures.seconds = map_auto_clock() - job->begin;
    if (result) *result = figures;
    return LUCID_SUCCESS;
}

int lucid_map(const lucid_matrix_t *matrix, const lucid_topology_t *topology, const lucid_map_options_t *options, int *k,
              lucid_map_result_t *result, char *why, size_t why_size)
{
    static const lucid_map_options_t defaults = {0};
    struct job job = {.options = options ? options : &defaults};
    if (matrix->size != topology->leaves) {
        char text[128];
        snprintf(text, sizeof text, "map: %d processes do not fit a machine of %d places: give one place per process",
                 matrix->size, topology->leaves);
        return complain(why, why_size, text);
    }
    int status = check_fixed(job.options->fixed, matrix->size);
    if (status == LUCID_ERR_ARG) return complain(why, why_size, "map: a fixed rank is out of range or given twice");
    if (status == LUCID_SUCCESS) status = prepare(&job, matrix, topology);
    if (status == LUCID_SUCCESS) status = solve(&job, why, why_size);
    if (status == LUCID_SUCCESS) status = conclude(&job, matrix, k, result);
    if (status == LUCID_ERR_INTERNAL && why) snprintf(why, why_size, "map: out of memory");
    map_graph_free(&job.graph);
    free(job.leaf);
    free(job.movable);
    return status;
}

int lucid_map_evaluate(const lucid_matrix_t *matrix, const lucid_topology_t *topology, const int *k, lucid_map_cost_t *cost,
                       char *why, size_t why_size)
{
    int n = matrix->size, status = LUCID_SUCCESS;
    char text[128];
    if (n != topology->leaves) {
        snprintf(text, sizeof text, "map: %d processes do not fit a machine of %d places", n, topology->leaves);
        return complain(why, why_size, text);
    }
    int *leaf = malloc((size_t)(n ? n : 1) * sizeof *leaf);
    if (!leaf) return LUCID_ERR_INTERNAL;
    for (int rank = 0; rank < n; rank++) leaf[rank] = -1;
    for (int process = 0; process < n && status == LUCID_SUCCESS; process++) {
        if (k[process] >= 0 && k[process] < n && leaf[k[process]] < 0) {
            leaf[k[process]] = process;
            continue;
        }
        snprintf(text, sizeof text, "map: not a permutation: process %d gets rank %d, which is out of range or taken", process,
                 k[process]);
        status = complain(why, why_size, text);
    }
    if (status == LUCID_SUCCESS && map_cost_of_matrix(matrix, MAP_BYTES, topology, leaf, cost) != 0) status = LUCID_ERR_INTERNAL;
    free(leaf);
    return status;
}
