/* SPDX-License-Identifier: BSD-3-Clause
 * session_places.c: see session_places.h.
 *
 * Loading a topology takes tens of milliseconds, so the first member of each node does it for all members there.
 */
#define _GNU_SOURCE
#include "session_places.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void describe_node(struct lucid_place *mine, int n, int rank, MPI_Comm node, char (*lists)[LUCID_CPUS_TEXT],
                          struct lucid_binding *bindings)
{
    PMPI_Gather(mine->cpus, LUCID_CPUS_TEXT, MPI_CHAR, lists, LUCID_CPUS_TEXT, MPI_CHAR, 0, node);
    if (rank == 0) (void)lucid_cpus_describe(&mine->node, n, lists, bindings);
    PMPI_Scatter(bindings, sizeof *bindings, MPI_BYTE, &mine->binding, sizeof *bindings, MPI_BYTE, 0, node);
}

/** Fills in the cores of all members of this node. */
static int ask_node(const struct lucid_members *m, struct lucid_place *mine)
{
    MPI_Comm node;
    int n, rank, status = LUCID_SUCCESS;
    if (PMPI_Comm_split_type(m->own, MPI_COMM_TYPE_SHARED, m->rank, MPI_INFO_NULL, &node) != MPI_SUCCESS)
        return LUCID_ERR_MPI;
    PMPI_Comm_size(node, &n);
    PMPI_Comm_rank(node, &rank);
    char(*lists)[LUCID_CPUS_TEXT] = rank == 0 ? malloc((size_t)n * sizeof *lists) : NULL;
    struct lucid_binding *bindings = rank == 0 ? malloc((size_t)n * sizeof *bindings) : NULL;
    int ready = rank != 0 || (lists && bindings);
    PMPI_Bcast(&ready, 1, MPI_INT, 0, node);
    if (ready) describe_node(mine, n, rank, node, lists, bindings);
    else status = LUCID_ERR_INTERNAL;
    free(lists);
    free(bindings);
    PMPI_Comm_free(&node);
    return status;
}

/** Whether this process may run anywhere on its node. */
static bool is_free(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == sysconf(_SC_NPROCESSORS_ONLN);
}

static void describe_self(struct lucid_place *mine)
{
    int length = 0;
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    memset(mine, 0, sizeof *mine);
    (void)PMPI_Get_processor_name(name, &length);
    snprintf(mine->host, sizeof mine->host, "%.*s", (int)sizeof mine->host - 1, name);
    lucid_cpus_mine(mine->cpus);
    mine->binding = (struct lucid_binding){-1, -1, -1};
    PMPI_Comm_rank(MPI_COMM_WORLD, &mine->world);
    mine->pid = (int)getpid();
    mine->free = is_free();
}

/** Two places ordered by host name, then rank. */
static int compare(const void *a, const void *b)
{
    const struct lucid_place *const *x = a, *const *y = b;
    int order = strcmp((*x)->host, (*y)->host);
    return order ? order : (*x > *y) - (*x < *y);
}

/** Numbers the nodes in the order of their first members. */
static int number_nodes(struct lucid_place *places, int n)
{
    struct lucid_place **sorted = malloc((size_t)n * sizeof *sorted);
    int nodes = 0;
    if (!sorted) return -1;
    for (int i = 0; i < n; i++) sorted[i] = &places[i];
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int i = 0; i < n; i++) /* each place first points at its node's first member */
        sorted[i]->node_number = i > 0 && strcmp(sorted[i - 1]->host, sorted[i]->host) == 0 ? sorted[i - 1]->node_number
                                                                                            : (int)(sorted[i] - places);
    for (int i = 0; i < n; i++)
        places[i].node_number = places[i].node_number == i ? nodes++ : places[places[i].node_number].node_number;
    free(sorted);
    return nodes;
}

static int collect(const struct lucid_members *m, const struct lucid_place *mine, struct lucid_place *places)
{
    int rc = PMPI_Gather(mine, sizeof *mine, MPI_BYTE, places, sizeof *mine, MPI_BYTE, 0, m->own);
    return rc == MPI_SUCCESS ? LUCID_SUCCESS : LUCID_ERR_MPI;
}

static int number(const struct lucid_members *m, int status, struct lucid_place *places, int *nodes)
{
    if (status == LUCID_SUCCESS && m->rank == 0 && (*nodes = number_nodes(places, m->size)) < 0) status = LUCID_ERR_INTERNAL;
    return status;
}

int lucid_places_gather(const struct lucid_members *m, struct lucid_place **places, int *nodes)
{
    struct lucid_place mine;
    *places = m->rank == 0 ? malloc((size_t)m->size * sizeof **places) : NULL;
    describe_self(&mine);
    lucid_own_begin();
    int asked = ask_node(m, &mine);
    int status = lucid_agree(m, m->rank == 0 && !*places ? LUCID_ERR_INTERNAL : asked);
    if (status == LUCID_SUCCESS) status = collect(m, &mine, *places);
    lucid_own_end();
    status = number(m, status, *places, nodes);
    if (status != LUCID_SUCCESS) {
        free(*places);
        *places = NULL;
    }
    return status;
}

int lucid_places_fill(const struct lucid_members *m, struct lucid_place *places, int *nodes)
{
    struct lucid_place mine;
    int all_free = 1;
    describe_self(&mine);
    lucid_own_begin();
    int status = collect(m, &mine, places);
    for (int i = 0; m->rank == 0 && i < m->size; i++) all_free &= places[i].free;
    if (!lucid_follow(m, 0, all_free)) {
        status = lucid_agree(m, ask_node(m, &mine));
        if (status == LUCID_SUCCESS) status = collect(m, &mine, places);
    }
    lucid_own_end();
    return number(m, status, places, nodes);
}
