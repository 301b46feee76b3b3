/* SPDX-License-Identifier: BSD-3-Clause */
#include "nominal.h"

#include <stdlib.h>

#include "../core/log.h"

typedef void visit_fn(uint32_t peer, uint64_t bytes, void *arg);

struct sight {
    const struct lucid_coll_call *call;
    int rank;  /* own, in the local group */
    int local; /* size of the local group */
    int peers; /* size of the group that is sent to */
    int inter;
    visit_fn *visit;
    void *arg;
};

/* MPI 4.1 prefers MPI_Type_size_c, which older libraries lack. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
uint64_t lucid_packed_size(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
    return (uint64_t)count * (uint64_t)size;
}
#pragma GCC diagnostic pop

static uint64_t part_count(const struct lucid_coll_call *call, int i)
{
    if (call->counts != NULL) return call->counts[i] > 0 ? (uint64_t)call->counts[i] : 0;
    if (call->counts_c != NULL) return call->counts_c[i] > 0 ? (uint64_t)call->counts_c[i] : 0;
    if (call->counts_f != NULL) return call->counts_f[i] > 0 ? (uint64_t)call->counts_f[i] : 0;
    return 0;
}

static MPI_Datatype part_type(const struct lucid_coll_call *call, int i)
{
    if (call->types != NULL) return call->types[i];
    if (call->types_f != NULL) return PMPI_Type_f2c(call->types_f[i]);
    return call->type;
}

/* `count` elements go to `peer`, rank of the group that is sent to. */
static void send_to(const struct sight *sight, int peer, uint64_t count, MPI_Datatype type)
{
    if (count == 0) return;
    sight->visit(lucid_world_rank(sight->call->comm, peer), lucid_packed_size((MPI_Count)count, type), sight->arg);
}

static bool is_self(const struct sight *sight, int peer)
{
    return !sight->inter && peer == sight->rank;
}

static void to_all(const struct sight *sight)
{
    const struct lucid_coll_call *call = sight->call;
    const uint64_t bytes = lucid_packed_size(call->count, call->type);
    if (call->count <= 0 && call->kind != LUCID_KIND_BARRIER) return;
    for (int peer = 0; peer < sight->peers; peer++)
        if (!is_self(sight, peer)) sight->visit(lucid_world_rank(call->comm, peer), bytes, sight->arg);
}

static void each_its_part(const struct sight *sight)
{
    for (int peer = 0; peer < sight->peers; peer++)
        if (!is_self(sight, peer)) send_to(sight, peer, part_count(sight->call, peer), part_type(sight->call, peer));
}

/* The counts of a reduce_scatter tell how the local group shares out what the remote one sent; the sums are equal. */
static void evenly(const struct sight *sight)
{
    uint64_t sum = 0;
    for (int i = 0; i < sight->local; i++)
        sum += sight->call->shape == LUCID_COLL_VECTOR ? part_count(sight->call, i) : (uint64_t)sight->call->count;
    for (int peer = 0; peer < sight->peers; peer++) {
        const uint64_t more = (uint64_t)peer < sum % (uint64_t)sight->peers;
        send_to(sight, peer, sum / (uint64_t)sight->peers + more, sight->call->type);
    }
}

static bool is_root(const struct sight *sight)
{
    return sight->call->root == (sight->inter ? MPI_ROOT : sight->rank);
}

static void to_root(const struct sight *sight)
{
    const int root = sight->call->root;
    if (is_root(sight) || root == MPI_PROC_NULL) return;
    send_to(sight, root, sight->call->count > 0 ? (uint64_t)sight->call->count : 0, sight->call->type);
}

static void to_higher(const struct sight *sight)
{
    if (sight->call->count <= 0) return;
    for (int peer = sight->rank + 1; peer < sight->peers; peer++)
        send_to(sight, peer, (uint64_t)sight->call->count, sight->call->type);
}

static void to_neighbor(const struct sight *sight, int i, int peer)
{
    const struct lucid_coll_call *call = sight->call;
    if (peer == MPI_PROC_NULL) return;
    if (call->shape == LUCID_COLL_NEIGHBORS_V) send_to(sight, peer, part_count(call, i), part_type(call, i));
    else if (call->count > 0) send_to(sight, peer, (uint64_t)call->count, call->type);
}

/* The neighbors in each dimension come in the order below, above (MPI 4.0, section 8.6). */
static void to_cartesian_neighbors(const struct sight *sight)
{
    int dimensions = 0;
    PMPI_Cartdim_get(sight->call->comm, &dimensions);
    for (int d = 0; d < dimensions; d++) {
        int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
        PMPI_Cart_shift(sight->call->comm, d, 1, &below, &above);
        to_neighbor(sight, 2 * d, below);
        to_neighbor(sight, 2 * d + 1, above);
    }
}

static void to_listed_neighbors(const struct sight *sight, const int *neighbors, int n)
{
    for (int i = 0; i < n; i++) to_neighbor(sight, i, neighbors[i]);
}

static void to_graph_neighbors(const struct sight *sight)
{
    int n = 0;
    PMPI_Graph_neighbors_count(sight->call->comm, sight->rank, &n);
    int *neighbors = malloc(((size_t)n + 1) * sizeof *neighbors);
    if (neighbors == NULL) {
        lucid_error("out of memory: a neighborhood collective over %d neighbors is not counted", n);
        return;
    }
    if (PMPI_Graph_neighbors(sight->call->comm, sight->rank, n, neighbors) == MPI_SUCCESS)
        to_listed_neighbors(sight, neighbors, n);
    free(neighbors);
}

static void to_dist_graph_neighbors(const struct sight *sight)
{
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(sight->call->comm, &in, &out, &weighted);
    int *neighbors = malloc(2 * ((size_t)in + (size_t)out + 1) * sizeof *neighbors);
    if (neighbors == NULL) {
        lucid_error("out of memory: a neighborhood collective over %d neighbors is not counted", out);
        return;
    }
    int *to = neighbors + 2 * (size_t)in;
    if (PMPI_Dist_graph_neighbors(sight->call->comm, in, neighbors, neighbors + in, out, to, to + out) == MPI_SUCCESS)
        to_listed_neighbors(sight, to, out);
    free(neighbors);
}

static void to_neighbors(const struct sight *sight)
{
    int topology = MPI_UNDEFINED;
    PMPI_Topo_test(sight->call->comm, &topology);
    if (topology == MPI_CART) to_cartesian_neighbors(sight);
    else if (topology == MPI_GRAPH) to_graph_neighbors(sight);
    else if (topology == MPI_DIST_GRAPH) to_dist_graph_neighbors(sight);
}

static bool is_reduce_scatter(int kind)
{
    return kind == LUCID_KIND_REDUCE_SCATTER || kind == LUCID_KIND_REDUCE_SCATTER_BLOCK;
}

void lucid_nominal(const struct lucid_coll_call *call, visit_fn *visit, void *arg)
{
    struct sight sight = {.call = call, .visit = visit, .arg = arg};
    PMPI_Comm_test_inter(call->comm, &sight.inter);
    PMPI_Comm_rank(call->comm, &sight.rank);
    PMPI_Comm_size(call->comm, &sight.local);
    sight.peers = sight.local;
    if (sight.inter) PMPI_Comm_remote_size(call->comm, &sight.peers);
    if (sight.inter && is_reduce_scatter(call->kind)) {
        evenly(&sight);
        return;
    }
    switch (call->shape) {
    case LUCID_COLL_TO_ALL: to_all(&sight); break;
    case LUCID_COLL_FROM_ROOT: if (is_root(&sight)) to_all(&sight); break;
    case LUCID_COLL_FROM_ROOT_V: if (is_root(&sight)) each_its_part(&sight); break;
    case LUCID_COLL_TO_ROOT: to_root(&sight); break;
    case LUCID_COLL_TO_HIGHER: to_higher(&sight); break;
    case LUCID_COLL_VECTOR: each_its_part(&sight); break;
    case LUCID_COLL_NEIGHBORS:
    case LUCID_COLL_NEIGHBORS_V: to_neighbors(&sight); break;
    }
}
