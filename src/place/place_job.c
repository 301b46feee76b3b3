/* SPDX-License-Identifier: BSD-3-Clause
 * place_job.c: see place_job.h.
 */
#include "place_job.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "session_places.h"

/** What decides the order of the leaves. */
struct seat {
    int node, package, numa, core, rank;
};

/** The seats of the last communicator asked about, by rank: finding them takes longer than a mapping. */
static struct {
    uint32_t *world;
    struct seat *seat;
    int size, nodes;
} last;
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *a, const void *b)
{
    const int *x = a, *y = b;
    for (size_t i = 0; i < sizeof(struct seat) / sizeof *x; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Nodes, packages, NUMA nodes, cores. */
enum { LEVELS = 4 };

/**
 * What a byte between nodes costs, that to a neighbour on the node being 1: measured, as a power of two, so that the noise of
 * a measurement does not change a mapping; at least as much as what lies between packages.
 */
static double far_cost(const struct place_costs *costs, double nearer)
{
    if (!(costs->bandwidth[PLACE_INSIDE] > 0 && costs->bandwidth[PLACE_BETWEEN] > 0)) return 100;
    double ratio = exp2(round(log2(costs->bandwidth[PLACE_INSIDE] / costs->bandwidth[PLACE_BETWEEN])));
    return ratio < 2 * nearer ? 2 * nearer : ratio > 65536 ? 65536 : ratio;
}

static int make_tree(struct place_job *job, int n)
{
    double cost[LEVELS] = {100, 10, 10, 2};
    cost[0] = far_cost(&job->costs, cost[1]);
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

/** Leaves, nodes and groups from the seats, which are put in the order of the leaves. */
static int build(struct place_job *job, struct seat *seat, int n)
{
    job->leaf = malloc((size_t)n * sizeof *job->leaf);
    job->node = malloc((size_t)n * sizeof *job->node);
    if (!job->leaf || !job->node) return LUCID_ERR_INTERNAL;
    for (int rank = 0; rank < n; rank++) job->node[rank] = seat[rank].node;
    qsort(seat, (size_t)n, sizeof *seat, compare);
    for (int i = 0; i < n; i++) job->leaf[seat[i].rank] = i;
    return find_groups(job, seat, n);
}

/** Each member's rank in MPI_COMM_WORLD. */
static uint32_t *world_ranks(const struct lucid_members *m)
{
    uint32_t *world = malloc((size_t)m->size * sizeof *world);
    for (int i = 0; world && i < m->size; i++) {
        if (m->by_world) world[m->by_world[i].rank] = m->by_world[i].world;
        else world[i] = (uint32_t)i;
    }
    return world;
}

/** The seats of these processes if they are the last ones, in a new array; else NULL. */
static struct seat *recall(const uint32_t *world, int n, int *nodes)
{
    struct seat *seat = NULL;
    pthread_mutex_lock(&last_lock);
    if (last.size == n && memcmp(last.world, world, (size_t)n * sizeof *world) == 0) {
        seat = malloc((size_t)n * sizeof *seat);
        if (seat) memcpy(seat, last.seat, (size_t)n * sizeof *seat);
        *nodes = last.nodes;
    }
    pthread_mutex_unlock(&last_lock);
    return seat;
}

/** Takes `world`; copies the seats. */
static void remember(uint32_t *world, const struct seat *seat, int n, int nodes)
{
    struct seat *copy = malloc((size_t)n * sizeof *copy);
    pthread_mutex_lock(&last_lock);
    free(last.world);
    free(last.seat);
    last.size = copy ? n : 0;
    last.world = world;
    last.seat = copy;
    last.nodes = nodes;
    if (copy) memcpy(copy, seat, (size_t)n * sizeof *copy);
    pthread_mutex_unlock(&last_lock);
}

static struct seat *from_places(const struct lucid_place *places, int n)
{
    struct seat *seat = malloc((size_t)n * sizeof *seat);
    for (int rank = 0; seat && rank < n; rank++) {
        const struct lucid_place *place = &places[rank];
        seat[rank] = (struct seat){place->node_number, place->binding.package, place->binding.numa, place->binding.core, rank};
    }
    return seat;
}

/** The seats, by rank, in a new array, and the number of nodes, at rank 0. Collective. */
static int find_seats(const struct lucid_members *m, struct seat **seat, int *nodes)
{
    enum { KNOWN = 1, UNKNOWN = 2 };
    uint32_t *world = m->rank == 0 ? world_ranks(m) : NULL;
    *seat = world ? recall(world, m->size, nodes) : NULL;
    struct lucid_place *places = m->rank == 0 && !*seat ? malloc((size_t)m->size * sizeof *places) : NULL;
    int status = lucid_follow(m, 0, *seat ? KNOWN : world && places ? UNKNOWN : LUCID_ERR_INTERNAL);
    if (status == UNKNOWN) {
        status = lucid_places_fill(m, places, nodes);
        if (status == LUCID_SUCCESS && m->rank == 0 && !(*seat = from_places(places, m->size))) status = LUCID_ERR_INTERNAL;
        if (status == LUCID_SUCCESS && m->rank == 0) {
            remember(world, *seat, m->size, *nodes);
            world = NULL;
        }
    }
    free(places);
    free(world);
    return status < 0 ? status : LUCID_SUCCESS;
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
    struct {
        struct place_costs costs;
        int nodes, status;
    } found = {.nodes = 0};
    struct seat *seat = NULL;
    *job = (struct place_job){0};
    lucid_own_begin();
    int status = find_seats(m, &seat, &job->nodes);
    if (m->rank == 0) {
        if (status == LUCID_SUCCESS) status = build(job, seat, m->size);
        place_recall(m->size, job->nodes, &job->costs);
        if (status == LUCID_SUCCESS) status = make_tree(job, m->size);
        found.costs = job->costs;
        found.nodes = job->nodes;
        found.status = status;
    }
    free(seat);
    if (PMPI_Bcast(&found, sizeof found, MPI_BYTE, 0, m->own) != MPI_SUCCESS) found.status = LUCID_ERR_MPI;
    if (found.status == LUCID_SUCCESS) found.status = status;
    lucid_own_end();
    job->costs = found.costs;
    job->nodes = found.nodes;
    if (found.status != LUCID_SUCCESS) place_job_close(job);
    return found.status;
}

int place_job_measure(const struct lucid_members *m, struct place_job *job)
{
    int status = LUCID_SUCCESS;
    if (job->nodes < 2 || job->costs.bandwidth[PLACE_BETWEEN] > 0) return LUCID_SUCCESS;
    double begin = PMPI_Wtime();
    lucid_own_begin();
    status = place_measure(m, job->node, job->nodes, &job->costs);
    if (status == LUCID_SUCCESS && m->rank == 0) {
        lucid_topology_free(job->tree);
        status = make_tree(job, m->size);
    }
    status = lucid_agree(m, status);
    lucid_own_end();
    job->measuring = PMPI_Wtime() - begin;
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
