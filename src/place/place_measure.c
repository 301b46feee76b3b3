/* SPDX-License-Identifier: BSD-3-Clause
 * place_measure.c: what a message costs here while everybody sends: measured when it is first asked for, then remembered.
 *
 * A single pair on an idle machine sees neither a link that a node's processes share nor cores that wait for each other. So all
 * members exchange at once, each with the next member on its node, then each with one on another node: small messages give the
 * latency, large ones the bytes per second of a node's memory and of its link. Costs some milliseconds, whatever the number of
 * processes; 0.5 s with 4 processes per link of 10 Mbit/s.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "place_job.h"

enum { SMALL = 8, SMALL_ROUNDS = 6, FIRST_LARGE = 32 << 10, LARGE = 128 << 10, BATCHES = 3, TAG = 1 };
#define QUICK 0.003 /* seconds: a faster exchange is repeated with larger messages */

/** What this process has been told. It holds for jobs of as many members on as many nodes, and for smaller ones. */
static struct {
    struct place_costs costs;
    int size, nodes;
} known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

/** A member's partners at a level (MPI_PROC_NULL: none), and how many members of the fullest node have some. */
struct partners {
    int to, from, at_once;
};

/** One batch of exchanges that all members make at once: seconds per round at the slowest of them. Collective. */
static double exchange(MPI_Comm comm, const struct partners *with, char *buffer, int bytes, int rounds)
{
    double time, slowest = 0;
    PMPI_Barrier(comm);
    double begin = PMPI_Wtime();
    for (int i = 0; i < rounds; i++)
        PMPI_Sendrecv(buffer, bytes, MPI_BYTE, with->to, TAG, buffer + LARGE, bytes, MPI_BYTE, with->from, TAG, comm,
                      MPI_STATUS_IGNORE);
    time = (PMPI_Wtime() - begin) / rounds;
    PMPI_Allreduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
    return slowest;
}

/** The quickest of three batches, since other programs only add: the same at all members. Collective. */
static double quickest(MPI_Comm comm, const struct partners *with, char *buffer, int bytes, int rounds)
{
    double least = exchange(comm, with, buffer, bytes, rounds);
    for (int i = 1; i < BATCHES; i++) {
        double time = exchange(comm, with, buffer, bytes, rounds);
        if (time < least) least = time;
    }
    return least;
}

static void measure_level(MPI_Comm comm, const struct partners *with, char *buffer, double *latency, double *bandwidth)
{
    (void)exchange(comm, with, buffer, SMALL, 2); /* connections are made at the first message */
    *latency = quickest(comm, with, buffer, SMALL, SMALL_ROUNDS);
    int bytes = FIRST_LARGE;
    double time = quickest(comm, with, buffer, bytes, 1);
    if (time < QUICK) time = quickest(comm, with, buffer, bytes = LARGE, 1);
    *bandwidth = (double)bytes * with->at_once / (time > 2 * *latency ? time - *latency : time);
}

/** Members by node, in the order of their ranks within one. begin: [nodes + 1] */
static void sort_by_node(const int *node, int n, int nodes, int *sorted, int *begin)
{
    memset(begin, 0, ((size_t)nodes + 1) * sizeof *begin);
    for (int i = 0; i < n; i++) begin[node[i] + 1]++;
    for (int i = 0; i < nodes; i++) begin[i + 1] += begin[i];
    for (int i = 0; i < n; i++) sorted[begin[node[i]]++] = i;
    for (int i = nodes; i > 0; i--) begin[i] = begin[i - 1];
    begin[0] = 0;
}

/** with[2 * rank + level]: neighbours in a ring per node, and in one that steps over the size of the fullest node. */
static void find_partners(const int *node, const int *sorted, const int *begin, int n, int nodes, struct partners *with)
{
    int most = 0, counted[2] = {0, 0};
    for (int i = 0; i < nodes; i++)
        if (begin[i + 1] - begin[i] > most) most = begin[i + 1] - begin[i];
    for (int i = 0; i < 2 * n; i++) with[i] = (struct partners){MPI_PROC_NULL, MPI_PROC_NULL, 0};
    for (int i = 0; i < nodes; i++) {
        int senders[2] = {0, 0}, here = begin[i + 1] - begin[i];
        for (int j = begin[i]; j < begin[i + 1]; j++) {
            int next[2] = {sorted[begin[i] + (j - begin[i] + 1) % here], sorted[(j + most) % n]}, me = sorted[j];
            for (int level = 0; level < 2; level++) {
                if (next[level] == me || (node[next[level]] != node[me]) != (level == PLACE_BETWEEN)) continue;
                with[2 * me + level].to = next[level];
                with[2 * next[level] + level].from = me;
                senders[level]++;
            }
        }
        for (int level = 0; level < 2; level++)
            if (senders[level] > counted[level]) counted[level] = senders[level];
    }
    for (int i = 0; i < 2 * n; i++) with[i].at_once = counted[i % 2];
}

/** Nothing inside a node costs more than between nodes: where it seems to, the machine was disturbed. */
static void make_plausible(struct place_costs *costs)
{
    if (costs->bandwidth[PLACE_INSIDE] == 0 || costs->bandwidth[PLACE_BETWEEN] == 0) return;
    if (costs->latency[PLACE_INSIDE] > costs->latency[PLACE_BETWEEN]) costs->latency[PLACE_INSIDE] = costs->latency[PLACE_BETWEEN];
    if (costs->bandwidth[PLACE_INSIDE] < costs->bandwidth[PLACE_BETWEEN])
        costs->bandwidth[PLACE_INSIDE] = costs->bandwidth[PLACE_BETWEEN];
}

/** Every member's partners, from rank 0, which knows the nodes. Collective. */
static int tell_partners(const struct lucid_members *m, const int *node, int nodes, struct partners mine[2])
{
    struct partners *with = NULL;
    int *sorted = NULL, *begin = NULL, status = LUCID_SUCCESS;
    if (m->rank == 0) {
        with = malloc((size_t)m->size * 2 * sizeof *with);
        sorted = malloc((size_t)m->size * sizeof *sorted);
        begin = malloc(((size_t)nodes + 1) * sizeof *begin);
        if (with && sorted && begin) {
            sort_by_node(node, m->size, nodes, sorted, begin);
            find_partners(node, sorted, begin, m->size, nodes, with);
        } else {
            status = LUCID_ERR_INTERNAL;
        }
    }
    status = lucid_follow(m, 0, status);
    const int bytes = (int)(2 * sizeof *mine);
    if (status == LUCID_SUCCESS && PMPI_Scatter(with, bytes, MPI_BYTE, mine, bytes, MPI_BYTE, 0, m->own) != MPI_SUCCESS)
        status = LUCID_ERR_MPI;
    free(with);
    free(sorted);
    free(begin);
    return status;
}

static double measure_split(const struct lucid_members *m)
{
    MPI_Comm comm;
    double begin = PMPI_Wtime();
    if (PMPI_Comm_split(m->own, 0, m->size - m->rank, &comm) != MPI_SUCCESS) return 0;
    double time = PMPI_Wtime() - begin;
    PMPI_Comm_free(&comm);
    return time / m->size;
}

static int measure(const struct lucid_members *m, const int *node, int nodes, struct place_costs *costs)
{
    struct partners mine[2];
    int status = tell_partners(m, node, nodes, mine);
    char *buffer = calloc(2, LARGE);
    status = lucid_agree(m, buffer ? status : LUCID_ERR_INTERNAL);
    *costs = (struct place_costs){0};
    for (int level = 0; status == LUCID_SUCCESS && level < 2; level++)
        if (mine[level].at_once > 0)
            measure_level(m->own, &mine[level], buffer, &costs->latency[level], &costs->bandwidth[level]);
    free(buffer);
    make_plausible(costs);
    if (status == LUCID_SUCCESS) costs->split = measure_split(m);
    if (status == LUCID_SUCCESS && PMPI_Bcast(costs, sizeof *costs, MPI_BYTE, 0, m->own) != MPI_SUCCESS) status = LUCID_ERR_MPI;
    return status;
}

void place_recall(int size, int nodes, struct place_costs *costs)
{
    *costs = (struct place_costs){0};
    pthread_mutex_lock(&known_lock);
    if (known.size >= size && known.nodes >= nodes) *costs = known.costs;
    pthread_mutex_unlock(&known_lock);
}

int place_measure(const struct lucid_members *m, const int *node, int nodes, struct place_costs *costs)
{
    int status = measure(m, node, nodes, costs);
    if (status != LUCID_SUCCESS) return status;
    pthread_mutex_lock(&known_lock);
    known.costs = *costs;
    known.size = m->size;
    known.nodes = nodes;
    pthread_mutex_unlock(&known_lock);
    return LUCID_SUCCESS;
}

void place_learn_split(double seconds, int size)
{
    pthread_mutex_lock(&known_lock);
    if (known.size > 0) known.costs.split = (known.costs.split + seconds / size) / 2;
    pthread_mutex_unlock(&known_lock);
}
