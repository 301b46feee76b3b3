/* SPDX-License-Identifier: BSD-3-Clause
 * place_bench.h: what the programs of bench/place share. They print CSV rows from rank 0 of MPI_COMM_WORLD.
 */
#ifndef PLACE_BENCH_H
#define PLACE_BENCH_H

#include <lucid_place.h>
#include <stdio.h>
#include <stdlib.h>

/** Ends the job with one line where something did not work: a wrong figure is worse than none. */
static inline void place_need(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "bench/place: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void *place_allocate(size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);
    place_need(memory != NULL, "out of memory");
    return memory;
}

/** The slowest process's figure, everywhere. */
static inline double place_slowest(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/** The lowest rank in MPI_COMM_WORLD on this process's node. */
static inline int place_node(void)
{
    MPI_Comm node;
    int leader;
    MPI_Comm_rank(MPI_COMM_WORLD, &leader);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, leader, MPI_INFO_NULL, &node);
    MPI_Bcast(&leader, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    return leader;
}

/** Bytes between nodes that a suspended session on comm has counted, exactly. Every process adds up its own row: MPI_Gather,
 *  which lucid_session_gather() needs, does nothing under coll/han of Open MPI 4.1.4 when ranks are dealt out by node. */
static inline unsigned long long place_between(MPI_Comm comm, lucid_session_t session)
{
    int size, mine = place_node();
    unsigned long long bytes = 0, all = 0;
    MPI_Comm_size(comm, &size);
    int *node = place_allocate((size_t)size * sizeof *node);
    uint64_t *row = place_allocate((size_t)size * sizeof *row);
    MPI_Allgather(&mine, 1, MPI_INT, node, 1, MPI_INT, comm);
    place_need(lucid_session_get(session, LUCID_KINDS_P2P, NULL, row) == LUCID_SUCCESS, "cannot read a session");
    for (int to = 0; to < size; to++)
        if (node[to] != mine) bytes += row[to];
    free(node);
    free(row);
    MPI_Allreduce(&bytes, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static inline lucid_session_t place_record(MPI_Comm comm)
{
    lucid_session_t session;
    place_need(lucid_session_start(comm, NULL, &session) == LUCID_SUCCESS, "cannot start a session");
    return session;
}

static inline void place_recorded(lucid_session_t session)
{
    place_need(lucid_session_suspend(session) == LUCID_SUCCESS, "cannot suspend a session");
}

#endif
