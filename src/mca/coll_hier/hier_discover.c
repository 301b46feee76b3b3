/* SPDX-License-Identifier: BSD-3-Clause
 * hier_discover.c: the topology by messages, as coll/ml of the Cheetah framework did it (Graham et al., CCGrid 2011; in Open
 * MPI 1.7 to 1.10): at every level each remaining rank says who leads its group, an allgather tells the others, and only
 * leaders go on. Levels: sockets, nodes. At the end leaders tell their groups, and all agree that they have the same. p log2 p
 * + n log2 n + 3 p messages.
 */
#include <stdlib.h>

#include "hier.h"

static int tag_of_discovery(void)
{
    return lucid_hier_tag(HIER_ALLGATHER);
}

static int swap_parts(ompi_communicator_t *comm, int to, const int *out, size_t outs, int from, int *in, size_t ins)
{
    ompi_request_t *request;
    int rc = MCA_PML_CALL(irecv(in, ins, &ompi_mpi_int.dt, from, tag_of_discovery(), comm, &request));
    if (rc != OMPI_SUCCESS) return rc;
    hier_count(setup_messages, 1);
    rc = MCA_PML_CALL(send((void *)out, outs, &ompi_mpi_int.dt, to, tag_of_discovery(), MCA_PML_BASE_SEND_STANDARD, comm));
    int waited = ompi_request_wait(&request, MPI_STATUS_IGNORE);
    return rc == OMPI_SUCCESS ? waited : rc;
}

/* Bruck's allgather of one int over the listed ranks: value[i] is list[i]'s afterwards. */
static int allgather_list(ompi_communicator_t *comm, const int *list, int n, int me, int own, int *value)
{
    int *turned = malloc(sizeof *turned * (size_t)n), rc = OMPI_SUCCESS;
    if (!turned) return OMPI_ERR_OUT_OF_RESOURCE;
    turned[0] = own; /* turned[i]: the value of list[(me + i) % n] */
    for (int have = 1; have < n && rc == OMPI_SUCCESS; have *= 2) {
        int more = have < n - have ? have : n - have;
        rc = swap_parts(comm, list[(me - have + n) % n], turned, (size_t)more, list[(me + have) % n], turned + have, (size_t)more);
    }
    for (int i = 0; i < n; i++) value[(me + i) % n] = turned[i];
    free(turned);
    return rc;
}

typedef bool (*near_fn)(ompi_communicator_t *comm, int rank);

/* Who leads the group of this rank: the lowest of the listed ranks that are near. */
static int leader_among(ompi_communicator_t *comm, const int *list, int n, near_fn near)
{
    for (int i = 0; i < n; i++)
        if (near(comm, list[i])) return list[i];
    return ompi_comm_rank(comm);
}

static int place_of(const int *list, int n, int rank)
{
    for (int i = 0; i < n; i++)
        if (list[i] == rank) return i;
    return -1;
}

/* One level: leader[r] for the listed ranks, then only leaders stay in the list. */
static int level(ompi_communicator_t *comm, int *list, int *n, near_fn near, int *leader)
{
    int me = place_of(list, *n, ompi_comm_rank(comm)), *value = malloc(sizeof *value * (size_t)*n), left = 0;
    if (!value) return OMPI_ERR_OUT_OF_RESOURCE;
    int rc = allgather_list(comm, list, *n, me, leader_among(comm, list, *n, near), value);
    for (int i = 0; i < *n && rc == OMPI_SUCCESS; i++) {
        leader[list[i]] = value[i];
        if (value[i] == list[i]) list[left++] = list[i];
    }
    *n = left;
    free(value);
    return rc;
}

/* The socket's leader knows who leads its node, and every other socket's; its group does not yet. */
static int tell_group(ompi_communicator_t *comm, const int *socket_leader, int *node_leader)
{
    int rank = ompi_comm_rank(comm), size = ompi_comm_size(comm), rc = OMPI_SUCCESS;
    if (socket_leader[rank] != rank)
        return MCA_PML_CALL(recv(node_leader, (size_t)size, &ompi_mpi_int.dt, socket_leader[rank], tag_of_discovery(), comm,
                                 MPI_STATUS_IGNORE));
    for (int r = 0; r < size && rc == OMPI_SUCCESS; r++) {
        if (r == rank || socket_leader[r] != rank) continue;
        hier_count(setup_messages, 1);
        rc = MCA_PML_CALL(send(node_leader, (size_t)size, &ompi_mpi_int.dt, r, tag_of_discovery(), MCA_PML_BASE_SEND_STANDARD,
                               comm));
    }
    return rc;
}

static int discover_levels(ompi_communicator_t *comm, int *list, int *socket_leader, int *node_leader)
{
    int size = ompi_comm_size(comm), rank = ompi_comm_rank(comm), n = size;
    for (int r = 0; r < size; r++) list[r] = r;
    int rc = level(comm, list, &n, lucid_hier_same_socket, socket_leader);
    if (rc == OMPI_SUCCESS && socket_leader[rank] == rank) rc = level(comm, list, &n, lucid_hier_same_node, node_leader);
    if (rc == OMPI_SUCCESS) rc = tell_group(comm, socket_leader, node_leader);
    return rc;
}

/* A rank's node is known by the leader of the leader of its socket. */
static hier_layout_t *conclude(ompi_communicator_t *comm, const int *socket_leader, const int *node_leader, int *node)
{
    int verdict, size = ompi_comm_size(comm);
    for (int r = 0; r < size; r++) node[r] = node_leader[socket_leader[r]];
    hier_layout_t *layout = lucid_hier_layout(comm, node, false);
    if (lucid_hier_agree(comm, layout ? layout->hash : 0, 0, NULL, &verdict) == OMPI_SUCCESS && verdict == 0) return layout;
    lucid_hier_layout_release(layout);
    return NULL;
}

hier_layout_t *lucid_hier_discover(ompi_communicator_t *comm)
{
    size_t size = (size_t)ompi_comm_size(comm);
    int *memory = calloc(4 * size, sizeof *memory);
    hier_layout_t *layout = NULL;
    if (memory && discover_levels(comm, memory, memory + size, memory + 2 * size) == OMPI_SUCCESS)
        layout = conclude(comm, memory + size, memory + 2 * size, memory + 3 * size);
    free(memory);
    return layout;
}
