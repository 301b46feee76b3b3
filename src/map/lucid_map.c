/* SPDX-License-Identifier: BSD-3-Clause
 * lucid_map.c: the public face of the mapper, and the portfolio "auto".
 *
 * No mapper is best everywhere, and good ones have been seen to make a good order 2.4 times worse; so several run within
 * a time budget, and nothing that costs more than the identity is ever returned.
 */
#define _GNU_SOURCE
#include <lucid_map.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "map_algorithms.h"
#include "map_cost.h"

struct job {
    const struct map_tree *tree;
    const lucid_map_options_t *options;
    struct map_graph graph;
    struct map_effort effort;
    char *movable;     /* [rank], NULL: all */
    int *leaf, *best;  /* [rank] */
    double best_cost;
    const char *best_name;
    double begin, budget;
};

static int complain(char *why, size_t size, const char *text)
{
    if (why) snprintf(why, size, "%s", text);
    return LUCID_ERR_ARG;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Gives every process with a fixed rank that rank, by swaps. */
static void fix(const struct job *job, int *leaf)
{
    const int *fixed = job->options->fixed;
    for (int process = 0; fixed && process < job->graph.n; process++) {
        int rank = fixed[process], other = 0;
        if (rank < 0 || leaf[rank] == process) continue;
        while (leaf[other] != process) other++;
        leaf[other] = leaf[rank];
        leaf[rank] = process;
    }
}

/** Keeps job->leaf if it is better than what there was. */
static void keep(struct job *job, const char *name)
{
    double cost = map_cost_of_graph(&job->graph, job->tree, job->leaf);
    if (job->best_name && cost >= job->best_cost) return;
    job->best_cost = cost;
    job->best_name = name;
    memcpy(job->best, job->leaf, (size_t)job->graph.n * sizeof *job->best);
}

static int run(struct job *job, const struct map_algorithm *algorithm)
{
    int rc = algorithm->place(&job->graph, job->tree, &job->effort, job->leaf);
    if (rc != MAP_DONE) return rc;
    fix(job, job->leaf);
    if (job->movable && algorithm != &map_identity)
        rc = map_swaps(&job->graph, job->tree, job->effort.rounds, job->movable, job->leaf);
    if (rc == MAP_DONE) keep(job, algorithm->name);
    return rc;
}

/** Local search from treematch's placement, where that is near the best: it keeps what is good in the initial order. */
static int polish_treematch(struct job *job, double treematch_cost)
{
    if (treematch_cost > 1.05 * job->best_cost) return MAP_DONE;
    int rc = map_treematch.place(&job->graph, job->tree, &job->effort, job->leaf);
    if (rc == MAP_DONE) fix(job, job->leaf);
    if (rc == MAP_DONE) rc = map_swaps(&job->graph, job->tree, job->effort.rounds, job->movable, job->leaf);
    if (rc == MAP_DONE) keep(job, map_treematch.name);
    return rc;
}

/** treematch and multilevel once each; then multilevel with more starts and other seeds while time is left. */
static int run_auto(struct job *job)
{
    int rc = run(job, &map_treematch);
    double treematch_cost = rc == MAP_DONE ? map_cost_of_graph(&job->graph, job->tree, job->leaf) : HUGE_VAL;
    const uint64_t seed = job->effort.seed;
    double longest = 0;
    for (uint64_t i = 0; i < 64 && rc != MAP_NO_MEMORY; i++) {
        double begin = seconds();
        if (i > 0 && begin - job->begin + longest > job->budget) break;
        job->effort.seed = seed + i;
        job->effort.starts = i == 0 ? 1 : 2;
        rc = run(job, &map_multilevel);
        if (rc == MAP_DONE && i == 0) rc = polish_treematch(job, treematch_cost);
        double took = seconds() - begin;
        longest = i == 0 ? 2 * took : took > longest ? took : longest;
    }
    return rc == MAP_NO_MEMORY ? rc : MAP_DONE;
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
        rc = run_auto(job);
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

static int prepare(struct job *job, const lucid_matrix_t *matrix)
{
    int n = matrix->size;
    const int *fixed = job->options->fixed;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double usual = n / 8192.0 > 0.2 ? n / 8192.0 : 0.2;
    job->effort = (struct map_effort){.starts = job->options->starts > 0 ? job->options->starts : 1, .rounds = 20,
                                      .threads = job->options->threads > 0 ? job->options->threads : (int)cores,
                                      .seed = job->options->seed};
    job->begin = seconds();
    job->budget = job->options->seconds > 0 ? job->options->seconds : usual;
    job->leaf = malloc((size_t)n * 2 * sizeof *job->leaf);
    job->best = job->leaf ? job->leaf + n : NULL;
    job->movable = fixed ? malloc((size_t)n) : NULL;
    if (!job->leaf || (fixed && !job->movable)) return LUCID_ERR_INTERNAL;
    if (fixed) memset(job->movable, 1, (size_t)n);
    for (int i = 0; fixed && i < n; i++)
        if (fixed[i] >= 0) job->movable[fixed[i]] = 0;
    enum map_weight weight = job->options->messages ? MAP_MESSAGES : MAP_BYTES;
    return map_graph_from_matrix(&job->graph, matrix, weight) == 0 ? LUCID_SUCCESS : LUCID_ERR_INTERNAL;
}

/** Turns the best placement into k, unless the unscaled figures say that the identity is no worse. */
static int conclude(struct job *job, const lucid_matrix_t *matrix, int *k, lucid_map_result_t *result)
{
    enum map_weight weight = job->options->messages ? MAP_MESSAGES : MAP_BYTES;
    lucid_map_result_t figures = {.algorithm = job->best_name};
    for (int rank = 0; rank < matrix->size; rank++) job->leaf[rank] = rank;
    fix(job, job->leaf);
    if (map_cost_of_matrix(matrix, weight, job->tree, job->leaf, &figures.before) != 0 ||
        map_cost_of_matrix(matrix, weight, job->tree, job->best, &figures.after) != 0)
        return LUCID_ERR_INTERNAL;
    if (figures.after.cost >= figures.before.cost) {
        memcpy(job->best, job->leaf, (size_t)matrix->size * sizeof *job->best);
        figures.after = figures.before;
        figures.algorithm = map_identity.name;
    }
    for (int rank = 0; rank < matrix->size; rank++) k[job->best[rank]] = rank;
    figures.seconds = seconds() - job->begin;
    if (result) *result = figures;
    return LUCID_SUCCESS;
}

int lucid_map(const lucid_matrix_t *matrix, const lucid_topology_t *topology, const lucid_map_options_t *options, int *k,
              lucid_map_result_t *result, char *why, size_t why_size)
{
    static const lucid_map_options_t defaults = {0};
    struct job job = {.tree = topology, .options = options ? options : &defaults};
    if (matrix->size != topology->leaves) {
        char text[128];
        snprintf(text, sizeof text, "map: %d processes do not fit a machine of %d places: give one place per process",
                 matrix->size, topology->leaves);
        return complain(why, why_size, text);
    }
    int status = check_fixed(job.options->fixed, matrix->size);
    if (status == LUCID_ERR_ARG) return complain(why, why_size, "map: a fixed rank is out of range or given twice");
    if (status == LUCID_SUCCESS) status = prepare(&job, matrix);
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
