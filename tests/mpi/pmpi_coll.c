/* SPDX-License-Identifier: BSD-3-Clause
 * Every collective books the row that src/monitor/nominal.h promises: blocking, nonblocking and persistent, with
 * MPI_IN_PLACE, on MPI_COMM_WORLD, on a reversed communicator, on one half of the processes, and between the halves.
 */
#include "pmpi_row.h"

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { MOST = 16, N = 3 }; /* processes; elements to each */

static const char *const form_name[] = {"blocking", "nonblocking", "persistent"};
static int a[MOST * MOST * N], b[MOST * MOST * N];

#ifdef TEST_PERSISTENT
#define LAST_FORM PERSISTENT
#define JOIN(prefix, name) prefix##name##_init
#define JOIN_EXPANDED(prefix, name) JOIN(prefix, name)
#define INIT(name, ...) JOIN_EXPANDED(TEST_PERSISTENT, name)(__VA_ARGS__, MPI_INFO_NULL, &request)
#else
#define LAST_FORM NONBLOCKING
#define INIT(name, ...) MPI_ERR_OTHER
#endif

/* Calls the collective in its form; `inonblocking` is the lower case name behind MPI_I. */
#define CALL(Name, name, ...)                                               \
    do {                                                                    \
        MPI_Request request;                                                \
        if (form == BLOCKING) CHECK_OK(MPI_##Name(__VA_ARGS__));            \
        else if (form == NONBLOCKING) {                                     \
            CHECK_OK(MPI_I##name(__VA_ARGS__, &request));                   \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                          \
        } else {                                                            \
            CHECK_OK(INIT(Name, __VA_ARGS__));                              \
            MPI_Start(&request);                                            \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                          \
            MPI_Request_free(&request);                                     \
        }                                                                   \
    } while (0)

/* The communicator under test and how it lies in MPI_COMM_WORLD. */
static MPI_Comm comm;
static int rank, size, peers, inter;
static int world[MOST]; /* world ranks of the group that is sent to */
static enum form form;
static const char *where;

static void end(const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "%s %s on %s", form_name[form], what, where);
    row_end(text);
}

static void expect_all(int kind, uint64_t bytes)
{
    for (int i = 0; i < peers; i++)
        if (inter || i != rank) row_expect(kind, world[i], 1, bytes);
}

/* Parts grow with the receiver's rank, and the first receiver gets nothing. */
static int part(int peer)
{
    return N * peer;
}

static void expect_parts(int kind)
{
    for (int i = 1; i < peers; i++)
        if (inter || i != rank) row_expect(kind, world[i], 1, (uint64_t)part(i) * sizeof(int));
}

/* Between groups, rank 0 of the group with the lower world ranks is the root. */
static int root_argument(int root)
{
    if (!inter) return root;
    if (row_rank < world[0]) return rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    return 0;
}

static int is_root(int root)
{
    return inter ? root == MPI_ROOT : root == rank;
}

static void expect_to_root(int kind, int root, uint64_t bytes)
{
    if (!is_root(root) && root != MPI_PROC_NULL) row_expect(kind, world[root], 1, bytes);
}

static void rooted(void)
{
    int counts[MOST], places[MOST], own = part(rank);
    const int root = root_argument(size - 1);
    for (int i = 0; i < MOST; i++) {
        counts[i] = part(i);
        places[i] = i * MOST * N;
    }
    row_begin();
    CALL(Bcast, bcast, a, N, MPI_INT, root, comm);
    if (is_root(root)) expect_all(LUCID_KIND_BCAST, N * sizeof(int));
    CALL(Gather, gather, a, N, MPI_INT, b, N, MPI_INT, root, comm);
    expect_to_root(LUCID_KIND_GATHER, root, N * sizeof(int));
    CALL(Gatherv, gatherv, a, own, MPI_INT, b, counts, places, MPI_INT, root, comm);
    if (own > 0) expect_to_root(LUCID_KIND_GATHERV, root, (uint64_t)own * sizeof(int));
    CALL(Scatter, scatter, a, N, MPI_INT, b, N, MPI_INT, root, comm);
    if (is_root(root)) expect_all(LUCID_KIND_SCATTER, N * sizeof(int));
    CALL(Scatterv, scatterv, a, counts, places, MPI_INT, b, own, MPI_INT, root, comm);
    if (is_root(root)) expect_parts(LUCID_KIND_SCATTERV);
    CALL(Reduce, reduce, a, b, N, MPI_INT, MPI_SUM, root, comm);
    expect_to_root(LUCID_KIND_REDUCE, root, N * sizeof(int));
    end("rooted");
}

static void to_all(void)
{
    int counts[MOST], places[MOST];
    for (int i = 0; i < MOST; i++) {
        counts[i] = inter ? N : part(i);
        places[i] = i * MOST * N;
    }
    row_begin();
    CALL(Allgather, allgather, a, N, MPI_INT, b, N, MPI_INT, comm);
    expect_all(LUCID_KIND_ALLGATHER, N * sizeof(int));
    CALL(Allgatherv, allgatherv, a, counts[rank], MPI_INT, b, counts, places, MPI_INT, comm);
    if (counts[rank] > 0) expect_all(LUCID_KIND_ALLGATHERV, (uint64_t)counts[rank] * sizeof(int));
    CALL(Alltoall, alltoall, a, N, MPI_INT, b, N, MPI_INT, comm);
    expect_all(LUCID_KIND_ALLTOALL, N * sizeof(int));
    CALL(Allreduce, allreduce, a, b, N, MPI_INT, MPI_SUM, comm);
    expect_all(LUCID_KIND_ALLREDUCE, N * sizeof(int));
    end("to all");
}

static void barrier(void)
{
    MPI_Request request;
    row_begin();
    if (form == BLOCKING) MPI_Barrier(comm);
    else if (form == NONBLOCKING) {
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        CHECK_OK(INIT(Barrier, comm));
        for (int i = 0; i < 2; i++) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
        expect_all(LUCID_KIND_BARRIER, 0); /* the second start */
    }
    expect_all(LUCID_KIND_BARRIER, 0);
    end("barrier");
}

/* Everyone sends part(i) elements to i, so it receives part(rank) from each. */
static void vectors(void)
{
    int to[MOST], from[MOST], places[MOST], bytes[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < MOST; i++) {
        to[i] = part(i);
        from[i] = part(rank);
        places[i] = i * MOST * N;
        bytes[i] = places[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    row_begin();
    CALL(Alltoallv, alltoallv, a, to, places, MPI_INT, b, from, places, MPI_INT, comm);
    expect_parts(LUCID_KIND_ALLTOALLV);
    CALL(Alltoallw, alltoallw, a, to, bytes, types, b, from, bytes, types, comm);
    expect_parts(LUCID_KIND_ALLTOALLW);
    end("vectors");
}

/* Between groups the sums of both must agree: everyone contributes size * peers elements. */
static void reduce_scatter(void)
{
    int counts[MOST];
    for (int i = 0; i < MOST; i++) counts[i] = inter ? peers : part(i);
    row_begin();
    CALL(Reduce_scatter, reduce_scatter, a, b, counts, MPI_INT, MPI_SUM, comm);
    CALL(Reduce_scatter_block, reduce_scatter_block, a, b, inter ? peers : N, MPI_INT, MPI_SUM, comm);
    if (inter) {
        expect_all(LUCID_KIND_REDUCE_SCATTER, (uint64_t)size * sizeof(int));
        expect_all(LUCID_KIND_REDUCE_SCATTER_BLOCK, (uint64_t)size * sizeof(int));
    } else {
        expect_parts(LUCID_KIND_REDUCE_SCATTER);
        expect_all(LUCID_KIND_REDUCE_SCATTER_BLOCK, N * sizeof(int));
    }
    end("reduce_scatter");
}

static void scans(void)
{
    row_begin();
    CALL(Scan, scan, a, b, N, MPI_INT, MPI_SUM, comm);
    CALL(Exscan, exscan, a, b, 2 * N, MPI_INT, MPI_SUM, comm);
    for (int i = rank + 1; i < size; i++) {
        row_expect(LUCID_KIND_SCAN, world[i], 1, N * sizeof(int));
        row_expect(LUCID_KIND_EXSCAN, world[i], 1, 2 * N * sizeof(int));
    }
    end("scans");
}

static void in_place(void)
{
    int same[MOST], grown[MOST], places[MOST], bytes[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < MOST; i++) {
        same[i] = N;
        grown[i] = part(i);
        places[i] = i * MOST * N;
        bytes[i] = places[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    row_begin();
    CALL(Allgather, allgather, MPI_IN_PLACE, 99, MPI_DATATYPE_NULL, b, N, MPI_INT, comm);
    expect_all(LUCID_KIND_ALLGATHER, N * sizeof(int));
    CALL(Allgatherv, allgatherv, MPI_IN_PLACE, 99, MPI_DATATYPE_NULL, b, grown, places, MPI_INT, comm);
    if (part(rank) > 0) expect_all(LUCID_KIND_ALLGATHERV, (uint64_t)part(rank) * sizeof(int));
    CALL(Allreduce, allreduce, MPI_IN_PLACE, b, N, MPI_INT, MPI_SUM, comm);
    expect_all(LUCID_KIND_ALLREDUCE, N * sizeof(int));
    if (form == BLOCKING) { /* Open MPI 4.1's nonblocking ones read what MPI_IN_PLACE says to ignore */
        CALL(Alltoall, alltoall, MPI_IN_PLACE, 99, MPI_DATATYPE_NULL, b, N, MPI_INT, comm);
        expect_all(LUCID_KIND_ALLTOALL, N * sizeof(int));
        CALL(Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, same, places, MPI_INT, comm);
        expect_all(LUCID_KIND_ALLTOALLV, N * sizeof(int));
        CALL(Alltoallw, alltoallw, MPI_IN_PLACE, NULL, NULL, NULL, b, same, bytes, types, comm);
        expect_all(LUCID_KIND_ALLTOALLW, N * sizeof(int));
    }
    end("in place");
}

static void nothing(void)
{
    row_begin();
    CALL(Bcast, bcast, a, 0, MPI_INT, 0, comm);
    CALL(Allgather, allgather, a, 0, MPI_INT, b, 0, MPI_INT, comm);
    CALL(Alltoall, alltoall, a, 0, MPI_INT, b, 0, MPI_INT, comm);
    end("no elements");
}

/* remote: the group that is sent to, for which `comm` and the rest are set. */
static void on(const char *name, MPI_Comm tested)
{
    MPI_Group group, world_group;
    int ranks[MOST];
    comm = tested;
    where = name;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    peers = size;
    if (inter) MPI_Comm_remote_size(comm, &peers);
    if (inter) MPI_Comm_remote_group(comm, &group);
    else MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    for (int i = 0; i < peers; i++) ranks[i] = i;
    MPI_Group_translate_ranks(group, peers, ranks, world_group, world);
    MPI_Group_free(&group);
    MPI_Group_free(&world_group);
    for (form = BLOCKING; form <= LAST_FORM; form++) {
        if (inter && form == PERSISTENT) continue; /* Open MPI 4.1 has none there */
        barrier();
        rooted();
        to_all();
        vectors();
        if (!inter || form == BLOCKING) reduce_scatter();
        if (inter) continue;
        scans();
        in_place();
        nothing();
    }
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    row_open();
    on("MPI_COMM_WORLD", MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -row_rank, &other);
    on("reversed", other);
    MPI_Comm_free(&other);
    MPI_Comm_split(MPI_COMM_WORLD, row_rank < (row_size + 1) / 2, row_rank, &other);
    on("half", other);
    if (row_size > 1) {
        MPI_Comm between;
        MPI_Intercomm_create(other, 0, MPI_COMM_WORLD, row_rank < (row_size + 1) / 2 ? (row_size + 1) / 2 : 0, 1, &between);
        on("between halves", between);
        MPI_Comm_free(&between);
    }
    MPI_Comm_free(&other);
    row_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
