/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_nonblocking.c: nonblocking and persistent reductions that liblucid takes over: they go on wherever a process waits, several
 * at once find out in one order who runs them (persistent ones in any), and their communicator may be freed before they end. Sums of
 * small integers, which every process works out by itself.
 *
 * SPARSE_EXPECT=taken: liblucid must have taken them; left: it must have left every one to the MPI library.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "api_check.h"
#include "lucid_sparse.h"

enum { N = 40000, CALLS = 12 };
static int rank, size;
static long *input[CALLS], *output[CALLS];

static uint64_t taken(void)
{
    void (*get)(lucid_sparse_figures_t *) = (void (*)(lucid_sparse_figures_t *))dlsym(RTLD_DEFAULT, "lucid_sparse_get_figures");
    lucid_sparse_figures_t figures = {0};
    if (get) get(&figures);
    return figures.taken;
}

/* Every third is dense, the others have a few elements that differ from 0. */
static long element(int call, int of, size_t i)
{
    if (call % 3 == 2) return (long)(i * 7 + (size_t)of + (size_t)call) % 1000 + 1;
    return (i * 31 + (size_t)of * 17) % 997 == (size_t)call ? of + 1 : 0;
}

/* Another call's vector in this one's place. */
static void fill_with(int call, int other)
{
    for (size_t i = 0; i < N; i++) {
        input[call][i] = element(other, rank, i);
        output[call][i] = -1;
    }
}

static void fill(int call)
{
    fill_with(call, call);
}

static bool is_sum_of(int call, int other, int processes)
{
    for (size_t i = 0; i < N; i++) {
        long sum = 0;
        for (int r = 0; r < processes; r++) sum += element(other, r, i);
        if (output[call][i] != sum) return false;
    }
    return true;
}

static bool is_sum(int call, int processes)
{
    return is_sum_of(call, call, processes);
}

static void begin(int call, MPI_Comm comm, MPI_Request *request)
{
    fill(call);
    MPI_Iallreduce(input[call], output[call], N, MPI_LONG, MPI_SUM, comm, request);
}

/* The last process waits for its reduction before it sends what all others wait for. */
static void test_waits_for_something_else(void)
{
    int last = size - 1, token = 0;
    MPI_Request request;
    begin(0, MPI_COMM_WORLD, &request);
    if (rank == last) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int r = 0; r < last; r++) MPI_Send(&token, 1, MPI_INT, r, 5, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, last, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(request == MPI_REQUEST_NULL && is_sum(0, size));
}

/* The same, with a barrier of the others on a communicator of their own. */
static void test_waits_in_a_barrier(MPI_Comm other)
{
    MPI_Request request;
    begin(1, MPI_COMM_WORLD, &request);
    if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(other);
    if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(is_sum(1, size));
}

/* Sparse and dense ones at once, among the library's own collectives, waited for in another order everywhere. */
static void test_many_at_once(void)
{
    MPI_Request requests[CALLS], other[CALLS];
    int told[CALLS], index;
    long long sum = rank, all = 0;
    for (int i = 0; i < CALLS; i++) {
        told[i] = rank == i % size ? 100 + i : -1;
        begin(i, MPI_COMM_WORLD, &requests[i]);
        MPI_Ibcast(&told[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &other[i]);
        if (i == CALLS / 2) MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    CHECK(all == (long long)size * (size - 1) / 2);
    for (int i = 0; i < CALLS / 2; i++) {
        int which = (i + rank) % (CALLS / 2);
        MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < CALLS / 2; i++) MPI_Waitany(CALLS, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(CALLS, other, MPI_STATUSES_IGNORE);
    for (int i = 0; i < CALLS; i++) CHECK(requests[i] == MPI_REQUEST_NULL && told[i] == 100 + i && is_sum(i, size));
}

/* Each way to wait for a message beside a reduction, or for the message alone. */
enum way { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTALL, TESTANY, TESTSOME, WAYS };

static void wait_for_message(enum way way, MPI_Request both[2])
{
    int done = 0, index = 1, some = 0, indices[2] = {1};
    if (way == WAIT) MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    if (way == WAITALL) MPI_Waitall(1, &both[1], MPI_STATUSES_IGNORE);
    if (way == WAITANY) MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
    if (way == WAITSOME) MPI_Waitsome(2, both, &some, indices, MPI_STATUSES_IGNORE);
    while (way == TEST && !done) MPI_Test(&both[1], &done, MPI_STATUS_IGNORE);
    while (way == TESTALL && !done) MPI_Testall(1, &both[1], &done, MPI_STATUSES_IGNORE);
    while (way == TESTANY && !done) MPI_Testany(2, both, &index, &done, MPI_STATUS_IGNORE);
    while (way == TESTSOME && some < 1) MPI_Testsome(2, both, &some, indices, MPI_STATUSES_IGNORE);
    CHECK(index == 1 && indices[0] == 1 && some <= 1);
    CHECK(both[0] != MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL);
}

/* The last process joins when all others have had a message, and have told it so: nobody may wait for the reduction instead. */
static void test_waits_for_a_message(enum way way)
{
    int last = size - 1, token = 0;
    MPI_Request both[2];
    if (rank == last) {
        for (int r = 0; r < last; r++) MPI_Send(&token, 1, MPI_INT, r, 6, MPI_COMM_WORLD);
        for (int r = 0; r < last; r++) MPI_Recv(&token, 1, MPI_INT, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        begin(2, MPI_COMM_WORLD, &both[0]);
    } else {
        begin(2, MPI_COMM_WORLD, &both[0]);
        MPI_Irecv(&token, 1, MPI_INT, last, 6, MPI_COMM_WORLD, &both[1]);
        wait_for_message(way, both);
        MPI_Send(&token, 1, MPI_INT, last, 7, MPI_COMM_WORLD);
    }
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    CHECK(both[0] == MPI_REQUEST_NULL && is_sum(2, size));
}

/* Nothing is left to wait for, or nothing ever was. */
static void test_waits_for_nothing(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, none = MPI_REQUEST_NULL;
    int index = 0, some = 0, indices[2];
    begin(1, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&none, MPI_STATUS_IGNORE);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Waitany(1, &none, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(1, &none, &some, indices, MPI_STATUSES_IGNORE);
    CHECK(index == MPI_UNDEFINED && some == MPI_UNDEFINED);
    MPI_Waitsome(2, requests, &some, indices, MPI_STATUSES_IGNORE);
    CHECK(some == 1 && indices[0] == 0 && is_sum(1, size));
}

static void test_status(void)
{
    MPI_Request request;
    MPI_Status status;
    int done = 0, cancelled = 1;
    begin(3, MPI_COMM_WORLD, &request);
    while (!done) MPI_Test(&request, &done, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(!cancelled && is_sum(3, size));
}

static void test_blocking_behind_nonblocking(void)
{
    MPI_Request request;
    fill(4);
    begin(0, MPI_COMM_WORLD, &request);
    MPI_Allreduce(input[4], output[4], N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(is_sum(4, size));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(is_sum(0, size));
}

/* Not with Open MPI 4.1's own nonblocking routines, which then use a communicator that is gone. */
static void test_communicator_is_freed(void)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    fill(4);
    MPI_Allreduce(input[4], output[4], N, MPI_LONG, MPI_SUM, comm);
    begin(3, comm, &request);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(is_sum(3, size) && is_sum(4, size));
}

#if defined(TEST_PERSISTENT)
#define GLUE(a, b) a##b
#define NAMED(prefix, name) GLUE(prefix, name)

static void make(int call, MPI_Comm comm, MPI_Request *request)
{
    fill(call);
    NAMED(TEST_PERSISTENT, Allreduce_init)(input[call], output[call], N, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, request);
}

/* All are started again and again, in another order at every process, beside the library's own; dense and sparse by turns, and each long enough
 * for most starts to be decided without a message. */
static void test_persistent_ones(void)
{
    MPI_Request requests[CALLS + 2];
    MPI_Status statuses[CALLS + 2];
    enum { ROUNDS = 40, PHASE = 10 };
    int token = 0, next = (rank + 1) % size, last = (rank + size - 1) % size, index, flag;
    for (int i = 0; i < CALLS; i++) make(i, MPI_COMM_WORLD, &requests[i]);
    MPI_Send_init(&rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[CALLS]);
    MPI_Recv_init(&token, 1, MPI_INT, last, 6, MPI_COMM_WORLD, &requests[CALLS + 1]);
    for (int round = 0; round < ROUNDS; round++) {
        const int phase = round / PHASE;
        for (int i = 0; i < CALLS; i++) fill_with(i, i + phase);
        if (round % 2)
            for (int i = 0; i < CALLS; i++) MPI_Start(&requests[(i + rank) % CALLS]);
        MPI_Startall(round % 2 ? 2 : CALLS + 2, round % 2 ? requests + CALLS : requests);
        MPI_Wait(&requests[rank % CALLS], &statuses[0]);
        CHECK(is_sum_of(rank % CALLS, rank % CALLS + phase, size));
        MPI_Waitany(CALLS, requests, &index, MPI_STATUS_IGNORE);
        if (round % PHASE == 3) MPI_Test(&requests[(rank + 1) % CALLS], &flag, &statuses[1]); /* MPICH 5.0 fails in MPI_Testall of its own */
        MPI_Waitall(CALLS + 2, requests, statuses);
        CHECK(token == last);
        for (int i = 0; i < CALLS; i++) CHECK(requests[i] != MPI_REQUEST_NULL && is_sum_of(i, i + phase, size));
    }
    for (int i = 0; i < CALLS + 2; i++) MPI_Request_free(&requests[i]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

/* It goes on while its process waits for something else. */
static void test_persistent_waits(void)
{
    MPI_Request request;
    int token = 0;
    make(0, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 3; round++) {
        output[0][0] = -1;
        MPI_Start(&request);
        if (rank > 0) MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(is_sum(0, size));
        for (int r = 1; rank == 0 && r < size; r++) MPI_Send(&token, 1, MPI_INT, r, 5, MPI_COMM_WORLD);
    }
    MPI_Request_free(&request);
}

/* Those of an operator of the program's own are the library's. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    for (int i = 0; i < *n; i++) ((long *)inout)[i] += ((const long *)in)[i];
}

static void test_persistent_operator(void)
{
    MPI_Op op;
    MPI_Request request;
    fill(1);
    MPI_Op_create(add, 1, &op);
    NAMED(TEST_PERSISTENT, Allreduce_init)(input[1], output[1], N, MPI_LONG, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(is_sum(1, size));
    MPI_Request_free(&request);
    MPI_Op_free(&op);
}

static void test_persistent(const char *expect)
{
    const uint64_t before = taken();
    test_persistent_waits();
    if (expect && size > 1) CHECK(taken() - before == (strcmp(expect, "taken") == 0 ? 3 : 0));
    test_persistent_ones();
    test_persistent_operator();
}
#else
static void test_persistent(const char *expect)
{
}
#endif

int main(int argc, char **argv)
{
    int level;
    const char *expect = getenv("SPARSE_EXPECT"), *wanted = getenv("SPARSE_THREADS");
    MPI_Comm other;
    MPI_Init_thread(&argc, &argv, wanted ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    if (wanted && level < MPI_THREAD_MULTIPLE) return skip_test("the MPI library has no MPI_THREAD_MULTIPLE");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    for (int i = 0; i < CALLS; i++) {
        input[i] = malloc(N * sizeof *input[i]);
        output[i] = malloc(N * sizeof *output[i]);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (getenv("SPARSE_FIRST")) test_blocking_behind_nonblocking();
    fill(0);
    MPI_Allreduce(input[0], output[0], N, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    const uint64_t before = taken();
    test_waits_for_something_else();
    test_waits_in_a_barrier(other);
    const uint64_t after = taken();
    for (int i = 0; i < 20; i++) test_many_at_once();
    for (enum way way = WAIT; way < WAYS; way++) test_waits_for_a_message(way);
    test_waits_for_nothing();
    test_status();
    test_blocking_behind_nonblocking();
    test_persistent(expect);
    if (expect && strcmp(expect, "taken") == 0) test_communicator_is_freed();
    if (expect && size > 1) CHECK(after - before == (strcmp(expect, "taken") == 0 ? 2 : 0));
    MPI_Comm_free(&other);
    for (int i = 0; i < CALLS; i++) free(input[i]), free(output[i]);
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
