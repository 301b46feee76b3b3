/* SPDX-License-Identifier: BSD-3-Clause
 * Neighborhood collectives count one message to every outgoing neighbor of the topology.
 */
#include "pmpi_row.h"

enum { N = 2, MOST = 32 };

static int a[MOST * MOST * N], b[MOST * MOST * N];

/* to[]: outgoing neighbors in order, as world ranks; the incoming ones do the same. MPI_PROC_NULL: no neighbor there. */
static void on(const char *where, MPI_Comm comm, int outgoing, const int *to)
{
    int counts[MOST], received[MOST], places[MOST];
    MPI_Aint bytes[MOST];
    MPI_Datatype types[MOST];
    MPI_Request request;
    for (int i = 0; i < MOST; i++) {
        counts[i] = received[i] = N;
        places[i] = i * MOST;
        bytes[i] = places[i] * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    row_begin();
    MPI_Neighbor_allgather(a, N, MPI_INT, b, N, MPI_INT, comm);
    MPI_Neighbor_allgatherv(a, N, MPI_INT, b, received, places, MPI_INT, comm);
    MPI_Neighbor_alltoall(a, N, MPI_INT, b, N, MPI_INT, comm);
    MPI_Neighbor_alltoallv(a, counts, places, MPI_INT, b, received, places, MPI_INT, comm);
    MPI_Neighbor_alltoallw(a, counts, bytes, types, b, received, bytes, types, comm);
    MPI_Ineighbor_alltoallv(a, counts, places, MPI_INT, b, received, places, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < outgoing; i++) row_expect(LUCID_KIND_NEIGHBOR, to[i], 6, 6 * N * sizeof(int));
    row_end(where);
}

static void cartesian(int periodic)
{
    MPI_Comm comm;
    int dims[2] = {0, 0}, periods[2] = {periodic, 0}, to[4], rank;
    MPI_Dims_create(row_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    for (int d = 0; d < 2; d++) MPI_Cart_shift(comm, d, 1, &to[2 * d], &to[2 * d + 1]);
    on(periodic ? "a grid, periodic in one dimension" : "a grid", comm, 4, to);
    MPI_Comm_free(&comm);
}

/* A ring as a graph: everyone has its two neighbors. */
static void graph(void)
{
    MPI_Comm comm;
    int index[MOST], edges[2 * MOST], to[2];
    for (int i = 0; i < row_size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + 1) % row_size;
        edges[2 * i + 1] = (i + row_size - 1) % row_size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, row_size, index, edges, 0, &comm);
    to[0] = edges[2 * row_rank];
    to[1] = edges[2 * row_rank + 1];
    on("a graph", comm, 2, to);
    MPI_Comm_free(&comm);
}

/* Everyone sends to the next two and hears from the last two. Incoming and outgoing differ. */
static void distributed_graph(void)
{
    MPI_Comm comm;
    const int to[2] = {(row_rank + 1) % row_size, (row_rank + 2) % row_size};
    const int from[2] = {(row_rank + row_size - 1) % row_size, (row_rank + 2 * row_size - 2) % row_size};
    const int weights[2] = {1, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0, &comm);
    on("a distributed graph", comm, 2, to);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    row_open();
    cartesian(0);
    cartesian(1);
    graph();
    distributed_graph();
    row_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
