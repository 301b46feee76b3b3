/* SPDX-License-Identifier: BSD-3-Clause
 * place_topology.c: an ordinary program with topologies and reorder = 1, run with liblucid preloaded and LUCID_REORDER set.
 *
 * Whatever the ranks are in the new communicator, its neighbours must be those of the topology. With the argument
 * "expect-better" (in the lab, ranks dealt out round-robin) edges between nodes must have become fewer than with reorder = 0.
 */
#include <mpi.h>

#include "api_check.h"

static int nodes_leader = -1; /* the lowest rank in MPI_COMM_WORLD of this process's node */

/** How many of the edges to these ranks of comm lead to another node, over all processes. */
static int edges_between_nodes(MPI_Comm comm, const int *to, int n)
{
    int size, mine = 0, all;
    MPI_Comm_size(comm, &size);
    int *leader = malloc((size_t)size * sizeof *leader);
    MPI_Allgather(&nodes_leader, 1, MPI_INT, leader, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        if (to[i] >= 0) mine += leader[to[i]] != nodes_leader;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
    free(leader);
    return all;
}

static int cart(int reorder)
{
    int size, rank, dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], near[4], edges = 0;
    MPI_Comm grid;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &grid);
    if (grid == MPI_COMM_NULL) return 0;
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    CHECK_EQUAL(coords[0] * dims[1] + coords[1], rank);
    for (int d = 0; d < 2; d++) {
        int got[2] = {-1, -1};
        MPI_Cart_shift(grid, d, 1, &near[2 * d], &near[2 * d + 1]);
        MPI_Sendrecv(coords, 2, MPI_INT, near[2 * d + 1], 0, got, 2, MPI_INT, near[2 * d], 0, grid, MPI_STATUS_IGNORE);
        if (near[2 * d] == MPI_PROC_NULL) continue;
        CHECK_EQUAL(got[d], (coords[d] + dims[d] - 1) % dims[d]);
        CHECK_EQUAL(got[1 - d], coords[1 - d]);
    }
    edges = edges_between_nodes(grid, near, 4);
    MPI_Comm_free(&grid);
    return edges;
}

/** A ring, told to everybody. */
static int graph(int reorder)
{
    int size, rank, near[2], n;
    MPI_Comm ring;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *index = malloc((size_t)size * sizeof *index), *edges = malloc((size_t)size * 2 * sizeof *edges);
    for (int i = 0; i < size; i++) {
        index[i] = 2 * i + 2;
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, reorder, &ring);
    MPI_Comm_rank(ring, &rank);
    MPI_Graph_neighbors_count(ring, rank, &n);
    CHECK_EQUAL(n, 2);
    MPI_Graph_neighbors(ring, rank, 2, near);
    CHECK(near[0] == (rank + size - 1) % size && near[1] == (rank + 1) % size);
    int between = edges_between_nodes(ring, near, 2);
    MPI_Comm_free(&ring);
    free(index);
    free(edges);
    return between;
}

/** Rank r sends to r + 1 (heavily) and to r + size / 2, and receives accordingly. */
static void neighbours(int rank, int size, int *sources, int *destinations)
{
    destinations[0] = (rank + 1) % size;
    destinations[1] = (rank + size / 2) % size;
    sources[0] = (rank + size - 1) % size;
    sources[1] = (rank + size - size / 2) % size;
}

static int check_dist(MPI_Comm comm, int weighted)
{
    int rank, size, in, out, has_weights, expected[2][2], sources[2], destinations[2], weights[2][2];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    neighbours(rank, size, expected[0], expected[1]);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &has_weights);
    CHECK(in == 2 && out == 2 && !has_weights == !weighted);
    MPI_Dist_graph_neighbors(comm, 2, sources, weights[0], 2, destinations, weights[1]);
    CHECK(sources[0] + sources[1] == expected[0][0] + expected[0][1]);
    CHECK(destinations[0] + destinations[1] == expected[1][0] + expected[1][1]);
    for (int i = 0; weighted && size > 3 && i < 2; i++)
        CHECK_EQUAL(weights[1][i], destinations[i] == expected[1][0] ? 100 : 1);
    int got[2] = {-1, -1};
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm);
    CHECK(got[0] == sources[0] && got[1] == sources[1]);
    return edges_between_nodes(comm, expected[1], 1);
}

static int adjacent(int reorder, int weighted)
{
    int rank, size, sources[2], destinations[2], weights[2] = {100, 1};
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    neighbours(rank, size, sources, destinations);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weighted ? weights : MPI_UNWEIGHTED, 2, destinations,
                                   weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &comm);
    int between = check_dist(comm, weighted);
    MPI_Comm_free(&comm);
    return between;
}

/** Every process tells of another one's edges. */
static int distributed(int reorder)
{
    int rank, size, sources[2], destinations[2], weights[2] = {100, 1}, degree = 2;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int other = (rank + 1) % size;
    neighbours(other, size, sources, destinations);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &other, &degree, destinations, weights, MPI_INFO_NULL, reorder, &comm);
    int between = check_dist(comm, 1);
    MPI_Comm_free(&comm);
    return between;
}

int main(int argc, char **argv)
{
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    nodes_leader = check_rank;
    MPI_Bcast(&nodes_leader, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    int plain[] = {cart(0), graph(0), adjacent(0, 1), adjacent(0, 0), distributed(0)};
    int arranged[] = {cart(1), graph(1), adjacent(1, 1), adjacent(1, 0), distributed(1)};
    for (int i = 0; i < 5; i++) {
        if (argc > 1 && i != 0 && i != 3) CHECK(arranged[i] < plain[i]); /* round-robin suits some grids */
        CHECK(i == 3 || arranged[i] <= plain[i]);
    }
    int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
