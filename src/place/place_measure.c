/* SPDX-License-Identifier: BSD-3-Clause
 * place_measure.c: what a message costs here: ping-pong between one pair of processes inside a node and one between nodes,
 * when it is first asked for; then it is remembered for the job. Takes some milliseconds.
 */
#include <stdlib.h>
#include <string.h>

#include "place_job.h"

enum { SMALL = 8, SMALL_ROUNDS = 21, FIRST_LARGE = 64 << 10, LARGE = 1 << 20, LARGE_ROUNDS = 3, TAG = 1 };

static struct place_costs known; /* what this process has been told; only touched by collective calls of its own */

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/** Half the median round trip of messages of `bytes` bytes between this process and `other`. */
static double ping_pong(MPI_Comm comm, int other, bool first, char *buffer, int bytes, int rounds)
{
    double time[SMALL_ROUNDS];
    for (int i = 0; i < rounds; i++) {
        double begin = PMPI_Wtime();
        if (first) PMPI_Send(buffer, bytes, MPI_BYTE, other, TAG, comm);
        PMPI_Recv(buffer, bytes, MPI_BYTE, other, TAG, comm, MPI_STATUS_IGNORE);
        if (!first) PMPI_Send(buffer, bytes, MPI_BYTE, other, TAG, comm);
        time[i] = (PMPI_Wtime() - begin) / 2;
    }
    qsort(time, (size_t)rounds, sizeof *time, compare);
    return time[rounds / 2];
}

/** Latency and bandwidth as seen by the first of the pair. Both call it; a network of 10 Mbit/s costs it 0.4 s. */
static void measure_pair(MPI_Comm comm, int other, bool first, char *buffer, double *latency, double *bandwidth)
{
    (void)ping_pong(comm, other, first, buffer, SMALL, 3); /* connections are made at the first message */
    *latency = ping_pong(comm, other, first, buffer, SMALL, SMALL_ROUNDS);
    int bytes = FIRST_LARGE;
    double time = ping_pong(comm, other, first, buffer, bytes, LARGE_ROUNDS);
    int more = time < 0.002; /* then the first of the pair decides for both */
    if (first) PMPI_Send(&more, 1, MPI_INT, other, TAG, comm);
    else PMPI_Recv(&more, 1, MPI_INT, other, TAG, comm, MPI_STATUS_IGNORE);
    if (more) time = ping_pong(comm, other, first, buffer, bytes = LARGE, LARGE_ROUNDS);
    *bandwidth = bytes / (time > *latency ? time - *latency / 2 : time);
}

/** pair[0..1]: two members of one node, or -1; pair[2..3]: two of different nodes. */
static void find_pairs(const int *node, int n, int pair[4])
{
    for (int i = 0; i < 4; i++) pair[i] = -1;
    for (int rank = 1; rank < n && (pair[0] < 0 || pair[2] < 0); rank++) {
        if (node[rank] != node[0] && pair[2] < 0) {
            pair[2] = 0;
            pair[3] = rank;
        }
        for (int other = rank - 1; other >= 0 && pair[0] < 0; other--)
            if (node[other] == node[rank]) {
                pair[0] = other;
                pair[1] = rank;
            }
    }
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

int place_measure(const struct lucid_members *m, const int *node, int nodes, struct place_costs *costs)
{
    struct {
        int pair[4];
        struct place_costs costs;
    } plan;
    memset(&plan, 0, sizeof plan);
    if (m->rank == 0) {
        find_pairs(node, m->size, plan.pair);
        if (known.bandwidth[PLACE_INSIDE] > 0) plan.pair[0] = -1;
        if (known.bandwidth[PLACE_BETWEEN] > 0 || nodes < 2) plan.pair[2] = -1;
        plan.costs = known;
    }
    if (PMPI_Bcast(&plan, sizeof plan, MPI_BYTE, 0, m->own) != MPI_SUCCESS) return LUCID_ERR_MPI;
    char *buffer = calloc(LARGE, 1);
    int status = lucid_agree(m, buffer ? LUCID_SUCCESS : LUCID_ERR_INTERNAL);
    for (int level = 0; status == LUCID_SUCCESS && level < 2; level++) {
        int a = plan.pair[2 * level], b = plan.pair[2 * level + 1];
        if (a < 0) continue;
        if (m->rank == a || m->rank == b)
            measure_pair(m->own, m->rank == a ? b : a, m->rank == a, buffer, &plan.costs.latency[level],
                         &plan.costs.bandwidth[level]);
        PMPI_Bcast(&plan.costs.latency[level], 1, MPI_DOUBLE, a, m->own);
        PMPI_Bcast(&plan.costs.bandwidth[level], 1, MPI_DOUBLE, a, m->own);
    }
    free(buffer);
    if (status == LUCID_SUCCESS && plan.costs.split == 0) {
        plan.costs.split = measure_split(m);
        PMPI_Bcast(&plan.costs.split, 1, MPI_DOUBLE, 0, m->own);
    }
    if (status == LUCID_SUCCESS) *costs = known = plan.costs;
    return status;
}
