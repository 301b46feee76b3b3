/* SPDX-License-Identifier: BSD-3-Clause
 * place_arrange.c: see place_arrange.h.
 *
 * The standard lets a topology's creator give other ranks to the processes (reorder = 1); Open MPI's Cartesian topologies
 * and MPICH never do. Here the communicator is put in order first, and the MPI library makes the topology on the result.
 * Weights come from the profile of an earlier run, or, without one, from the topology's own edges.
 */
#include "place_arrange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "counters.h"
#include "log.h"
#include "matrix_read.h"
#include "params.h"
#include "place_job.h"

bool lucid_arrange_wanted(void)
{
    return lucid_params()->reorder[0] != '\0' && lucid_thread.own == 0;
}

/** Entries on their way to a matrix. */
struct edges {
    struct lucid_cells *row; /* [rank] */
    const struct lucid_members *members;
    bool failed;
};

static void add(struct edges *edges, int from, int to, uint64_t bytes)
{
    if (from < 0 || to < 0 || from >= edges->members->size || to >= edges->members->size) return;
    struct lucid_cell cell = {.peer = (uint32_t)to, .count = 1, .bytes = bytes};
    if (lucid_cells_append(&edges->row[from], cell) != 0) edges->failed = true;
}

/** An entry of the profile, whose ranks are those of MPI_COMM_WORLD. */
static void add_from_profile(int row, int column, uint64_t value, void *arg)
{
    struct edges *edges = arg;
    add(edges, lucid_members_rank(edges->members, (uint32_t)row), lucid_members_rank(edges->members, (uint32_t)column), value);
}

/** Reads LUCID_REORDER's file. 1 if there is one, 0 if the topology is to be used, -1 if it cannot be read (reported). */
static int read_profile(struct edges *edges)
{
    char why[200];
    int size, rc = -1;
    const char *path = lucid_params()->reorder;
    if (strcmp(path, "topology") == 0) return 0;
    FILE *stream = fopen(path, "r");
    if (!stream) {
        lucid_error("cannot read LUCID_REORDER=%s: ranks stay as they are", path);
        return -1;
    }
    if (lucid_matrix_read_mtx(stream, &size, add_from_profile, edges, why, sizeof why) == 0) rc = 1;
    else lucid_error("LUCID_REORDER=%s: %s: ranks stay as they are", path, why);
    fclose(stream);
    return rc;
}

static int to_matrix(struct edges *edges, struct lucid_matrix *matrix)
{
    int n = edges->members->size;
    struct lucid_cells all = {0};
    size_t *start = malloc(((size_t)n + 1) * sizeof *start);
    int rc = start && !edges->failed ? 0 : -1;
    for (int r = 0; rc == 0 && r < n; r++) {
        lucid_cells_normalize(&edges->row[r]);
        start[r] = all.n;
        for (size_t i = 0; rc == 0 && i < edges->row[r].n; i++) rc = lucid_cells_append(&all, edges->row[r].cell[i]);
        start[r + 1] = all.n;
    }
    if (rc == 0) rc = lucid_matrix_from_rows(matrix, n, all.cell, start, 1);
    lucid_cells_clear(&all);
    free(start);
    return rc;
}

static void edges_free(struct edges *edges)
{
    for (int r = 0; edges->row && r < edges->members->size; r++) lucid_cells_clear(&edges->row[r]);
    free(edges->row);
}

/** A topology, and how its edges are told to rank 0's collection. */
struct wish {
    int (*tell)(const struct wish *wish, struct edges *edges); /* collective; 0 or -1 */
    const int *a, *b, *c, *weights;
    int n;
};

/** Fills the matrix at rank 0. Collective. */
static int find_weights(const struct lucid_members *m, const struct wish *wish, struct lucid_matrix *matrix)
{
    struct edges edges = {.members = m};
    int status = LUCID_SUCCESS, profile = 0;
    if (m->rank == 0) {
        edges.row = calloc((size_t)m->size, sizeof *edges.row);
        if (edges.row) profile = read_profile(&edges);
        if (!edges.row || profile < 0) status = LUCID_ERR_INTERNAL;
    }
    status = lucid_agree(m, status);
    profile = lucid_follow(m, 0, profile);
    if (status == LUCID_SUCCESS && profile == 0 && wish->tell(wish, &edges) != 0) status = LUCID_ERR_INTERNAL;
    if (status == LUCID_SUCCESS && m->rank == 0 && to_matrix(&edges, matrix) != 0) status = LUCID_ERR_INTERNAL;
    edges_free(&edges);
    return lucid_agree(m, status);
}

/** Maps at rank 0; *better: whether k, which all get, is another order. Collective. */
static int find_order(const struct lucid_members *m, const struct wish *wish, int *k, int *better)
{
    struct place_job job;
    struct lucid_matrix matrix = {0};
    lucid_map_result_t result = {.algorithm = "identity"};
    int status = place_job_open(m, &job);
    *better = 0;
    if (status != LUCID_SUCCESS) return status;
    if (job.nodes > 1) status = find_weights(m, wish, &matrix);
    if (status == LUCID_SUCCESS && job.nodes > 1 && m->rank == 0)
        status = place_map(&matrix, job.tree, job.leaf, NULL, k, &result);
    status = lucid_agree(m, status);
    *better = lucid_follow(m, 0, strcmp(result.algorithm, "identity") != 0);
    if (status == LUCID_SUCCESS && *better && PMPI_Bcast(k, m->size, MPI_INT, 0, m->own) != MPI_SUCCESS) status = LUCID_ERR_MPI;
    if (status == LUCID_SUCCESS && *better && m->rank == 0)
        lucid_info("reordered %d processes: bytes between nodes %.0f %% of before", m->size,
                   result.before.between_bytes ? 100.0 * (double)result.after.between_bytes / (double)result.before.between_bytes
                                               : 100.0);
    lucid_matrix_free(&matrix);
    place_job_close(&job);
    return status;
}

/** The arranged communicator, and k in a new array (NULL where nothing changes). */
static MPI_Comm arrange(MPI_Comm comm, const struct wish *wish, int **k)
{
    struct lucid_members *m = NULL;
    MPI_Comm arranged = comm;
    int inter = 1, better = 0;
    *k = NULL;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return comm;
    if (lucid_monitor_open() != LUCID_SUCCESS || lucid_members_make(comm, &m) != LUCID_SUCCESS) return comm;
    lucid_own_begin();
    int *order = malloc((size_t)m->size * sizeof *order);
    int status = lucid_agree(m, order ? LUCID_SUCCESS : LUCID_ERR_INTERNAL);
    if (status == LUCID_SUCCESS) status = find_order(m, wish, order, &better);
    if (status == LUCID_SUCCESS && better && PMPI_Comm_split(comm, 0, order[m->rank], &arranged) != MPI_SUCCESS)
        arranged = comm;
    lucid_own_end();
    lucid_members_free(m);
    if (arranged != comm) *k = order;
    else free(order);
    return arranged;
}

/* Cartesian: neighbours along every dimension. a: dims, b: periods. Everybody knows the whole. */
static int tell_cart(const struct wish *wish, struct edges *edges)
{
    long size = 1;
    if (!edges->row) return 0;
    for (int d = 0; d < wish->n; d++) size *= wish->a[d];
    if (size > edges->members->size) return -1; /* the MPI library will say what is wrong */
    for (long rank = 0; rank < size; rank++)
        for (long d = wish->n - 1, stride = 1; d >= 0; stride *= wish->a[d], d--) {
            long coordinate = rank / stride % wish->a[d], next = rank + stride;
            if (coordinate == wish->a[d] - 1) {
                if (!wish->b[d] || wish->a[d] < 3) continue;
                next = rank - stride * (wish->a[d] - 1);
            }
            add(edges, (int)rank, (int)next, 1);
            add(edges, (int)next, (int)rank, 1);
        }
    return edges->failed ? -1 : 0;
}

MPI_Comm lucid_arrange_cart(MPI_Comm comm, int ndims, const int *dims, const int *periods)
{
    int *k;
    struct wish wish = {.tell = tell_cart, .a = dims, .b = periods, .n = ndims};
    for (int d = 0; d < ndims; d++)
        if (dims[d] < 1) return comm;
    MPI_Comm arranged = ndims > 0 ? arrange(comm, &wish, &k) : comm;
    if (ndims > 0) free(k);
    return arranged;
}

/* Graph: a: index, b: edges. Everybody knows the whole. */
static int tell_graph(const struct wish *wish, struct edges *edges)
{
    if (!edges->row) return 0;
    for (int node = 0, e = 0; node < wish->n; node++)
        for (; e < wish->a[node]; e++) add(edges, node, wish->b[e], 1);
    return edges->failed ? -1 : 0;
}

MPI_Comm lucid_arrange_graph(MPI_Comm comm, int nodes, const int *index, const int *edges)
{
    int *k;
    struct wish wish = {.tell = tell_graph, .a = index, .b = edges, .n = nodes};
    MPI_Comm arranged = arrange(comm, &wish, &k);
    free(k);
    return arranged;
}

static bool has_weights(const int *weights)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY && weights != NULL;
}

/** Brings cells (peer: receiver, kind: unused, count: sender, bytes: weight) of all members to rank 0's edges. Collective. */
static int gather_edges(struct edges *edges, const struct lucid_cells *mine, int status)
{
    struct lucid_rows rows;
    status = lucid_gather_rows(edges->members, 0, status, mine, &rows);
    if (status != LUCID_SUCCESS) return -1;
    for (size_t i = 0; edges->row && i < rows.start[edges->members->size]; i++)
        add(edges, (int)rows.cell[i].count, (int)rows.cell[i].peer, rows.cell[i].bytes);
    lucid_rows_free(&rows);
    return edges->failed ? -1 : 0;
}

/* Distributed graph, anybody may tell of any edge. a: sources, b: degrees, c: destinations. */
static int tell_dist(const struct wish *wish, struct edges *edges)
{
    struct lucid_cells mine = {0};
    int status = LUCID_SUCCESS;
    for (int i = 0, e = 0; status == LUCID_SUCCESS && i < wish->n; i++)
        for (int end = e + wish->b[i]; status == LUCID_SUCCESS && e < end; e++) {
            uint64_t weight = has_weights(wish->weights) ? (uint64_t)wish->weights[e] : 1;
            struct lucid_cell cell = {.peer = (uint32_t)wish->c[e], .count = (uint64_t)wish->a[i], .bytes = weight};
            if (lucid_cells_append(&mine, cell) != 0) status = LUCID_ERR_INTERNAL;
        }
    int rc = gather_edges(edges, &mine, status);
    lucid_cells_clear(&mine);
    return rc;
}

MPI_Comm lucid_arrange_dist(MPI_Comm comm, int n, const int *sources, const int *degrees, const int *destinations,
                            const int *weights)
{
    int *k;
    struct wish wish = {.tell = tell_dist, .a = sources, .b = degrees, .c = destinations, .weights = weights, .n = n};
    MPI_Comm arranged = arrange(comm, &wish, &k);
    free(k);
    return arranged;
}

/* Adjacent: everybody tells of the edges that leave it. c: destinations. */
static int tell_adjacent(const struct wish *wish, struct edges *edges)
{
    struct lucid_cells mine = {0};
    int status = LUCID_SUCCESS;
    for (int e = 0; status == LUCID_SUCCESS && e < wish->n; e++) {
        uint64_t weight = has_weights(wish->weights) ? (uint64_t)wish->weights[e] : 1;
        struct lucid_cell cell = {.peer = (uint32_t)wish->c[e], .count = (uint64_t)edges->members->rank, .bytes = weight};
        if (lucid_cells_append(&mine, cell) != 0) status = LUCID_ERR_INTERNAL;
    }
    int rc = gather_edges(edges, &mine, status);
    lucid_cells_clear(&mine);
    return rc;
}

/** Sends this rank's lists to the process that has it now and receives those of its own new rank. Weights are always sent,
 *  as ones where there are none. 0, or -1. */
static int exchange_lists(MPI_Comm comm, const int *k, int size, int rank, struct lucid_adjacent *lists)
{
    int heir = 0, degrees[2] = {lists->indegree, lists->outdegree}, theirs[2];
    while (heir < size && k[heir] != rank) heir++;
    if (PMPI_Sendrecv(degrees, 2, MPI_INT, heir, 0, theirs, 2, MPI_INT, k[rank], 0, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    int mine = 2 * (degrees[0] + degrees[1]), other = 2 * (theirs[0] + theirs[1]);
    int *buffer = malloc(((size_t)mine + (size_t)other + 1) * sizeof *buffer), *at = buffer, *in = buffer + mine;
    if (!buffer) return -1;
    for (int i = 0; i < degrees[0]; i++) *at++ = lists->sources[i];
    for (int i = 0; i < degrees[1]; i++) *at++ = lists->destinations[i];
    for (int i = 0; i < degrees[0]; i++) *at++ = has_weights(lists->source_weights) ? lists->source_weights[i] : 1;
    for (int i = 0; i < degrees[1]; i++) *at++ = has_weights(lists->destination_weights) ? lists->destination_weights[i] : 1;
    if (PMPI_Sendrecv(buffer, mine, MPI_INT, heir, 0, in, other, MPI_INT, k[rank], 0, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        free(buffer);
        return -1;
    }
    bool weighted = lists->source_weights != MPI_UNWEIGHTED && lists->destination_weights != MPI_UNWEIGHTED;
    *lists = (struct lucid_adjacent){
        .indegree = theirs[0], .outdegree = theirs[1], .sources = in, .destinations = in + theirs[0],
        .source_weights = weighted ? in + theirs[0] + theirs[1] : MPI_UNWEIGHTED,
        .destination_weights = weighted ? in + 2 * theirs[0] + theirs[1] : MPI_UNWEIGHTED, .storage = buffer};
    return 0;
}

MPI_Comm lucid_arrange_adjacent(MPI_Comm comm, struct lucid_adjacent *lists)
{
    int *k, size, rank;
    struct wish wish = {.tell = tell_adjacent, .c = lists->destinations, .weights = lists->destination_weights,
                        .n = lists->outdegree};
    lists->storage = NULL;
    MPI_Comm arranged = arrange(comm, &wish, &k);
    if (arranged == comm) return comm;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    if (exchange_lists(comm, k, size, rank, lists) != 0) {
        /* the lists of other processes have moved: neither order is whole any more */
        lucid_error("cannot reorder MPI_Dist_graph_create_adjacent: out of memory, or a message failed");
        PMPI_Abort(comm, 1);
    }
    free(k);
    return arranged;
}

void lucid_arrange_done(MPI_Comm arranged, MPI_Comm comm, struct lucid_adjacent *lists)
{
    if (lists) free(lists->storage);
    if (arranged == comm) return;
    lucid_own_begin();
    PMPI_Comm_free(&arranged);
    lucid_own_end();
}
