/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_turns.c: nonblocking reductions of coll/sparse, of which many are under way at once and are made progress with at moments that are
 * each process's own: the results are right, and the processes look at the same calls, which are few where all are dense. So of the
 * starts of persistent ones, whatever order they come in.
 *
 * SPARSE_THREADS=odd: processes of odd rank have MPI_THREAD_MULTIPLE, and may pass nothing on that was looked at; nor may the others.
 */
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <malloc.h>
#include <unistd.h>

#include "api_check.h"
#include "sparse_figures.h"

enum { ELEMENTS = 20000, AT_ONCE = 8, KINDS = 6, MOST = 16, PATIENCE = 4, EVERY = 32 };

static int rank, size, stays, counts[MOST]; /* of a Reduce_scatter, all but alike */
static double in[2][ELEMENTS], out[AT_ONCE][ELEMENTS]; /* dense, sparse */

/* The processes' figures must agree, as they have looked at the same calls. */
static long long looked(void)
{
    long long own = figure("coll_sparse_density_below_"), least, most;
    MPI_Allreduce(&own, &least, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQUAL(least, most);
    return own;
}

static double value_at(int sparse, int process, int i)
{
    return sparse ? (i % 1000 == process ? process + 1 : 0) : i % 13 + process;
}

/* The sum of the first `ranks` processes' values. */
static double sum_at(int sparse, int ranks, int i)
{
    double sum = 0;
    for (int r = 0; r < ranks; r++) sum += value_at(sparse, r, i);
    return sum;
}

static void start(int kind, int sparse, double *to, MPI_Comm comm, MPI_Request *request)
{
    const double *from = in[sparse];
    for (int i = 0; i < ELEMENTS; i++) to[i] = -1;
    switch (kind) {
    case 0: MPI_Iallreduce(from, to, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, request); break;
    case 1: MPI_Ireduce(from, to, ELEMENTS, MPI_DOUBLE, MPI_SUM, size - 1, comm, request); break;
    case 2: MPI_Ireduce_scatter_block(from, to, ELEMENTS / size, MPI_DOUBLE, MPI_SUM, comm, request); break;
    case 3: MPI_Iscan(from, to, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, request); break;
    case 4: MPI_Ireduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, comm, request); break;
    default: MPI_Iexscan(from, to, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, request); break;
    }
}

static void look_at(int kind, int sparse, const double *result)
{
    int wrong = 0, ranks = kind == 3 ? rank + 1 : kind == 5 ? rank : size, first = 0, count = ELEMENTS;
    if ((kind == 1 && rank != size - 1) || (kind == 5 && rank == 0)) return;
    if (kind == 2) count = ELEMENTS / size, first = rank * count;
    if (kind == 4) count = counts[rank];
    for (int r = 0; kind == 4 && r < rank; r++) first += counts[r];
    for (int i = 0; i < count; i++) wrong += result[i] != sum_at(sparse, ranks, first + i);
    CHECK_EQUAL(wrong, 0);
}

/* Each process is ahead and behind at its own moments. */
static void drift(MPI_Request *requests, int round)
{
    int done;
    if ((round + rank) % size == 0) usleep(500);
    if ((round + rank) % 2)
        for (int i = 0; i < 20; i++) MPI_Testall(AT_ONCE, requests, &done, MPI_STATUSES_IGNORE);
}

static MPI_Comm duplicate(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

/* What is under way at once begins before the first answers are known, and counts. Calls that come one at a time are timed, and all are
 * looked at until it is known who is quickest, which may be a dense form of ours. */
static void dense(int kind, int at_once)
{
    enum { CALLS = 80 };
    MPI_Comm comm = duplicate();
    const int alone = at_once == 1 && !stays;
    long long before = looked(), passed = figure("coll_sparse_calls_passed"), taken = figure("coll_sparse_calls_taken");
    for (int round = 0; round < CALLS / at_once; round++) {
        MPI_Request requests[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) requests[i] = MPI_REQUEST_NULL;
        for (int i = 0; i < at_once; i++) {
            start(kind, 0, out[i], comm, &requests[i]);
            drift(requests, round + i);
        }
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < at_once; i++) look_at(kind, 0, out[i]);
    }
    passed = figure("coll_sparse_calls_passed") - passed;
    taken = figure("coll_sparse_calls_taken") - taken;
    const long long later = (CALLS - PATIENCE) / EVERY; /* half of them where it is known that they are dense: looks are ever more seldom then */
    const long long least = PATIENCE + (at_once == 1 ? later / 2 : later), looks = looked() - before;
    CHECK(passed + (alone ? taken : 0) >= CALLS - (stays ? least : 0)); /* beside what looked() itself does */
    if (alone) CHECK(looks > least && looks <= CALLS);
    else CHECK_EQUAL(looks, least);
    MPI_Comm_free(&comm);
}

/* All kinds, dense and sparse, with blocking calls in between. */
static void mixed(void)
{
    enum { ROUNDS = 60 };
    static double blocking[ELEMENTS];
    MPI_Comm comm = duplicate();
    long long taken = figure("coll_sparse_calls_taken");
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) requests[i] = MPI_REQUEST_NULL;
        for (int i = 0; i < AT_ONCE; i++) {
            start((round + i) % KINDS, (round * i) % 3 == 1, out[i], comm, &requests[i]);
            drift(requests, round + i);
            if ((round + i) % 5 != 0) continue;
            MPI_Allreduce(in[i % 2], blocking, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm);
            look_at(0, i % 2, blocking);
        }
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < AT_ONCE; i++) look_at((round + i) % KINDS, (round * i) % 3 == 1, out[i]);
    }
    MPI_Comm_free(&comm);
    CHECK(figure("coll_sparse_calls_taken") > taken);
    (void)looked();
}

/* Sparse vectors are found again, at the next look, and at least tried: calls that come one at a time go by what they take. */
static void again(void)
{
    MPI_Comm comm = duplicate();
    long long saved = 0;
    for (int call = 0; call < 80; call++) {
        MPI_Request request;
        if (call == 20) saved = figure("coll_sparse_bytes_saved");
        start(0, call >= 20, out[0], comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        look_at(0, call >= 20, out[0]);
    }
    CHECK(figure("coll_sparse_bytes_saved") > saved); /* as no dense form does */
    MPI_Comm_free(&comm);
}

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Several at once, dense and sparse in phases: calls that nobody knew would be looked at leave a few of libnbc's buffers behind where there are
 * threads, and no more. */
static void phases(void)
{
    enum { ROUNDS = 240, PHASE = 20 };
    size_t before = 0;
    MPI_Comm comm = duplicate();
    for (int round = 0; round < ROUNDS; round++) {
        const int sparse = round / PHASE % 2;
        MPI_Request requests[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++) start(0, sparse, out[i], comm, &requests[i]);
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < AT_ONCE; i++) look_at(0, sparse, out[i]);
        if (round == 4 * PHASE) before = in_use();
    }
    CHECK(in_use() < before + AT_ONCE * sizeof out[0]);
    MPI_Comm_free(&comm);
}

#if defined(TEST_PERSISTENT)
#define GLUE(a, b) a##b
#define NAMED(prefix, name) GLUE(prefix, name)

/* Two calls of one shape, which every process starts in another order, by turns one behind the other and beside each other: dense, then sparse. */
static void persistent(void)
{
    enum { CALLS = 2, STARTS = 80, LEAST = PATIENCE + (STARTS - PATIENCE) / EVERY };
    static double given[CALLS][ELEMENTS];
    MPI_Request requests[CALLS];
    MPI_Comm comm = duplicate();
    for (int i = 0; i < CALLS; i++)
        NAMED(TEST_PERSISTENT, Allreduce_init)(given[i], out[i], ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]);
    for (int sparse = 0; sparse < 2; sparse++) {
        const long long before = looked(), saved = figure("coll_sparse_bytes_saved");
        for (int round = 0; round < STARTS; round++) {
            for (int i = 0; i < CALLS; i++) memcpy(given[i], in[sparse], sizeof given[i]);
            for (int i = 0; i < CALLS; i++) {
                const int call = (i + rank + round) % CALLS;
                for (int k = 0; k < ELEMENTS; k++) out[call][k] = -1;
                MPI_Start(&requests[call]);
                if (rank % 2) usleep(100);
            }
            MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
            for (int i = 0; i < CALLS; i++) look_at(0, sparse, out[i]);
        }
        const long long looks = looked() - before;
        if (!sparse) CHECK(stays ? looks == CALLS * LEAST : looks >= CALLS * LEAST && looks < CALLS * STARTS);
        else CHECK(figure("coll_sparse_bytes_saved") > saved);
    }
    for (int i = 0; i < CALLS; i++) MPI_Request_free(&requests[i]);
    MPI_Comm_free(&comm);
}
#else
static void persistent(void)
{
}
#endif

int main(int argc, char **argv)
{
    const char *threads = getenv("SPARSE_THREADS"), *number = getenv("OMPI_COMM_WORLD_RANK");
    int provided;
    stays = threads != NULL;
    MPI_Init_thread(&argc, &argv, stays && number && atoi(number) % 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* lets Open MPI forget the other level */
    watch();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_rank = rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST) return skip_test("runs on up to 16 processes");
    for (int i = 0; i < ELEMENTS; i++)
        for (int sparse = 0; sparse < 2; sparse++) in[sparse][i] = value_at(sparse, rank, i);
    for (int r = 0; r < size; r++) counts[r] = r < size - 1 ? ELEMENTS / size - r : ELEMENTS - (size - 1) * (ELEMENTS / size) + r * (r - 1) / 2;
    dense(0, 1);
    dense(0, AT_ONCE);
    dense(4, 1);
    dense(4, AT_ONCE);
    mixed();
    again();
    phases();
    persistent();
    const int failed = check_outcome();
    unwatch();
    MPI_T_finalize();
    MPI_Finalize();
    return failed;
}
