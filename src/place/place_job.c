/* SPDX-License-Identifier: BSD-3-Clause
 * place_job.c: see place_job.h.
 */
#include "place_job.h"

#include <stdlib.h>
#include <string.h>

#include "session_places.h"

/** What decides the order of the leaves. */
struct seat {
    int node, package, numa, core, rank;
};

static int compare(const void *a, const void *b)
{
    const int *x = a, *y = b;
    for (size_t i = 0; i < sizeof(struct seat) / sizeof *x; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Nodes, packages, NUMA nodes, cores. */
enum { LEVELS = 4 };

static int make_tree(struct place_job *job, int n)
{
    static const double cost[LEVELS] = {100, 10, 10, 2};
    return lucid_topology_make(n, LEVELS, job->group, cost, 1, &job->tree);
}

/** Groups of the leaves: a change in an outer one is a change in all inner ones. */
static int find_groups(struct place_job *job, const struct seat *seat, int n)
{
    job->group = calloc((size_t)n * LEVELS, sizeof *job->group);
    if (!job->group) return LUCID_ERR_INTERNAL;
    for (int i = 1; i < n; i++) {
        const int *here = &seat[i].node, *before = &seat[i - 1].node;
        for (int level = 0, differs = 0; level < LEVELS; level++) {
            differs |= here[level] != before[level];
            job->group[level * n + i] = job->group[level * n + i - 1] + differs;
        }
    }
    return LUCID_SUCCESS;
}

static int build(struct place_job *job, const struct lucid_place *places, int n)
{
    struct seat *seat = malloc((size_t)n * sizeof *seat);
    job->leaf = malloc((size_t)n * sizeof *job->leaf);
    job->node = malloc((size_t)n * sizeof *job->node);
    int status = seat && job->leaf && job->node ? LUCID_SUCCESS : LUCID_ERR_INTERNAL;
    for (int rank = 0; status == LUCID_SUCCESS && rank < n; rank++) {
        const struct lucid_place *place = &places[rank];
        job->node[rank] = place->node_number;
        seat[rank] = (struct seat){place->node_number, place->binding.package, place->binding.numa, place->binding.core, rank};
    }
    if (status == LUCID_SUCCESS) {
        qsort(seat, (size_t)n, sizeof *seat, compare);
        for (int i = 0; i < n; i++) job->leaf[seat[i].rank] = i;
        status = find_groups(job, seat, n);
        if (status == LUCID_SUCCESS) status = make_tree(job, n);
    }
    free(seat);
    return status;
}

void place_job_close(struct place_job *job)
{
    lucid_topology_free(job->tree);
    free(job->group);
    free(job->leaf);
    free(job->node);
    *job = (struct place_job){0};
}

int place_job_open(const struct lucid_members *m, struct place_job *job)
{
    struct lucid_place *places;
    *job = (struct place_job){0};
    lucid_own_begin();
    int status = lucid_places_gather(m, &places, &job->nodes);
    if (status == LUCID_SUCCESS && m->rank == 0) status = build(job, places, m->size);
    free(places);
    status = lucid_agree(m, status);
    if (status == LUCID_SUCCESS && PMPI_Bcast(&job->nodes, 1, MPI_INT, 0, m->own) != MPI_SUCCESS) status = LUCID_ERR_MPI;
    if (status == LUCID_SUCCESS) status = place_measure(m, job->node, job->nodes, &job->costs);
    lucid_own_end();
    if (status != LUCID_SUCCESS) place_job_close(job);
    return status;
}

int place_job_share(const struct lucid_members *m, struct place_job *job)
{
    size_t n = (size_t)m->size;
    if (m->rank != 0) {
        job->group = malloc(n * LEVELS * sizeof *job->group);
        job->leaf = malloc(n * sizeof *job->leaf);
    }
    int status = lucid_agree(m, job->group && job->leaf ? LUCID_SUCCESS : LUCID_ERR_INTERNAL);
    if (status != LUCID_SUCCESS) return status;
    lucid_own_begin();
    int rc = PMPI_Bcast(job->group, m->size * LEVELS, MPI_INT, 0, m->own);
    if (rc == MPI_SUCCESS) rc = PMPI_Bcast(job->leaf, m->size, MPI_INT, 0, m->own);
    lucid_own_end();
    if (rc != MPI_SUCCESS) status = LUCID_ERR_MPI;
    if (status == LUCID_SUCCESS && m->rank != 0) status = make_tree(job, m->size);
    return lucid_agree(m, status);
}

/** Sums per node and per process. */
struct load {
    double out, in, inside;
};

static double slowest(const struct place_job *job, const struct load *load, int n, const double *latencies)
{
    double link = 0, memory = 0, latency = 0;
    for (int i = 0; i < n; i++) {
        double most = load[i].out > load[i].in ? load[i].out : load[i].in;
        if (most > link) link = most;
        if (load[i].inside > memory) memory = load[i].inside;
        if (latencies[i] > latency) latency = latencies[i];
    }
    double time = latency;
    if (job->costs.bandwidth[PLACE_BETWEEN] > 0) time += link / job->costs.bandwidth[PLACE_BETWEEN];
    if (job->costs.bandwidth[PLACE_INSIDE] > 0) time += memory / job->costs.bandwidth[PLACE_INSIDE];
    return time;
}

double place_predict(const struct place_job *job, const struct lucid_matrix *matrix, const int *at)
{
    int n = matrix->size;
    struct load *load = calloc((size_t)n, sizeof *load);
    double *latency = calloc((size_t)n, sizeof *latency), time = 0;
    for (int row = 0; load && latency && row < n; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
            int from = job->node[at ? at[row] : row], column = matrix->column[i], to = job->node[at ? at[column] : column];
            double bytes = (double)matrix->bytes[i], messages = (double)matrix->count[i];
            latency[row] += messages * job->costs.latency[from != to];
            if (column == row) continue;
            if (from == to) {
                load[from].inside += bytes;
            } else {
                load[from].out += bytes;
                load[to].in += bytes;
            }
        }
    if (load && latency) time = slowest(job, load, n, latency);
    free(load);
    free(latency);
    return time;
}
