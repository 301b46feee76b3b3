/* SPDX-License-Identifier: BSD-3-Clause
 * wire_patterns: what a Lucid session and the nodes' network cards say about the same communication, pattern by pattern.
 *
 *   wire_patterns [PATTERN...]        (all of them without arguments)
 *
 * Standard output gets a row per pattern and node: pattern,node,messages,bytes,nic_bytes,nic_packets; messages and bytes are
 * those that the session saw leave the node, the card's are everything that left it. Ranks of a node are found by shared memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lucid.h>
#include <mpi.h>

#include "wire_nic.h"

enum { KB64 = 65536, MB = 1 << 20, QUIET_US = 250000, SMALL = 1000 };

#define DEVICE "eth0"

static int rank, size;
static int *node_of; /* lowest world rank of the node of each rank */
static MPI_Comm node;
static char *out, *in; /* size x 64 kB, at least 1 MB */
static MPI_Win window;

static void exchange_all(int bytes)
{
    for (int d = 1; d < size; d++)
        MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + d) % size, 0, in, bytes, MPI_BYTE, (rank - d + size) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pattern_pairs(void) { exchange_all(KB64); }
static void pattern_alltoall(void) { MPI_Alltoall(out, KB64, MPI_BYTE, in, KB64, MPI_BYTE, MPI_COMM_WORLD); }
static void pattern_allgather(void) { MPI_Allgather(out, KB64, MPI_BYTE, in, KB64, MPI_BYTE, MPI_COMM_WORLD); }
static void pattern_bcast(void) { MPI_Bcast(out, MB, MPI_BYTE, 0, MPI_COMM_WORLD); }

static void pattern_allreduce(void)
{
    MPI_Allreduce(out, in, MB / (int)sizeof(int), MPI_INT, MPI_BOR, MPI_COMM_WORLD);
}

static void pattern_ireduce(void)
{
    MPI_Request request;
    MPI_Ireduce(out, in, MB / (int)sizeof(int), MPI_INT, MPI_BOR, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Small messages: most of what is on the wire is headers. */
static void pattern_small(void)
{
    for (int i = 0; i < SMALL; i++)
        MPI_Sendrecv(out, 64, MPI_BYTE, (rank + size / 2) % size, 0, in, 64, MPI_BYTE, (rank + size - size / 2) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pattern_persistent(void)
{
    MPI_Request requests[2];
    MPI_Send_init(out, KB64, MPI_BYTE, (rank + size / 2) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, KB64, MPI_BYTE, (rank + size - size / 2) % size, 0, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 8; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void pattern_put(void)
{
    MPI_Win_fence(0, window);
    MPI_Put(out, MB, MPI_BYTE, (rank + size / 2) % size, 0, MB, MPI_BYTE, window);
    MPI_Win_fence(0, window);
}

static const struct {
    const char *name;
    void (*run)(void);
} patterns[] = {
    {"pairs 64 kB", pattern_pairs},         {"alltoall 64 kB", pattern_alltoall}, {"allgather 64 kB", pattern_allgather},
    {"bcast 1 MB", pattern_bcast},          {"allreduce 1 MB", pattern_allreduce}, {"ireduce 1 MB", pattern_ireduce},
    {"persistent 64 kB", pattern_persistent}, {"put 1 MB", pattern_put},           {"small 64 B", pattern_small},
};

static void check(int code, const char *what)
{
    if (code == LUCID_SUCCESS) return;
    fprintf(stderr, "wire: rank %d: %s: %s\n", rank, what, lucid_error_string(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Nothing of ours is on the wire after this. */
static void quiet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(QUIET_US);
}

/* One row per node, printed by rank 0. */
static void report(const char *name, const uint64_t *counts, const uint64_t *bytes, struct wire_nic nic)
{
    unsigned long long mine[2] = {0}, sum[5] = {0};
    int leader = 0;
    for (int i = 0; i < size; i++) {
        if (node_of[i] == node_of[rank]) continue;
        mine[0] += counts[i];
        mine[1] += bytes[i];
    }
    MPI_Reduce(mine, sum + 1, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, node);
    sum[3] = nic.bytes;
    sum[4] = nic.packets;
    leader = node_of[rank] == rank;
    sum[0] = (unsigned long long)leader;
    unsigned long long *all = malloc((size_t)size * sizeof sum);
    MPI_Gather(sum, 5, MPI_UNSIGNED_LONG_LONG, all, 5, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0, n = 0; rank == 0 && i < size; i++) {
        const unsigned long long *row = all + 5 * i;
        if (row[0]) printf("%s,%d,%llu,%llu,%llu,%llu\n", name, n++, row[1], row[2], row[3], row[4]);
    }
    free(all);
}

static void measure(const char *name, void (*run)(void), lucid_session_t session)
{
    uint64_t *counts = calloc((size_t)size, sizeof *counts), *bytes = calloc((size_t)size, sizeof *bytes);
    quiet();
    struct wire_nic before = wire_nic_sent(DEVICE);
    /* No rank of the node may send before the node's counters are read. */
    MPI_Barrier(node);
    check(lucid_session_continue(session), "continue");
    run();
    quiet();
    check(lucid_session_suspend(session), "suspend");
    struct wire_nic after = wire_nic_sent(DEVICE);
    MPI_Barrier(node);
    check(lucid_session_get(session, LUCID_KINDS_ALL, counts, bytes), "get");
    check(lucid_session_reset(session), "reset");
    report(name, counts, bytes, (struct wire_nic){after.bytes - before.bytes, after.packets - before.packets});
    free(counts);
    free(bytes);
}

static void set_up(void)
{
    int leader;
    size_t bytes = (size_t)size * KB64 > MB ? (size_t)size * KB64 : MB;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    leader = rank;
    MPI_Bcast(&leader, 1, MPI_INT, 0, node);
    node_of = malloc((size_t)size * sizeof *node_of);
    MPI_Allgather(&leader, 1, MPI_INT, node_of, 1, MPI_INT, MPI_COMM_WORLD);
    out = calloc(1, bytes);
    in = calloc(1, bytes);
    MPI_Win_create(in, MB, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    exchange_all(1); /* connects everyone */
}

int main(int argc, char **argv)
{
    lucid_session_t session;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(lucid_init(), "init");
    set_up();
    check(lucid_session_start(MPI_COMM_WORLD, "pattern", &session), "start");
    check(lucid_session_suspend(session), "suspend");
    check(lucid_session_reset(session), "reset");
    if (rank == 0) printf("pattern,node,messages,bytes,nic_bytes,nic_packets\n");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        int wanted = argc == 1;
        for (int k = 1; k < argc; k++) wanted |= strncmp(argv[k], patterns[i].name, strlen(argv[k])) == 0;
        if (wanted) measure(patterns[i].name, patterns[i].run, session);
    }
    check(lucid_session_free(session), "free");
    check(lucid_finalize(), "finalize");
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
    free(node_of);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
