/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_again.c: reductions that are as the one before, and are left to the library without a closer look: the results are right and every
 * call is counted, whatever comes between them, and also where one process takes the short way and another does not.
 *
 * SPARSE_EXPECT=component: by coll/sparse; else by liblucid.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api_check.h"
#include "lucid_sparse.h"

enum { CALLS = 150, ELEMENTS = 20000 };

static int rank, size, in[ELEMENTS], out[ELEMENTS];
static uint64_t calls; /* that are counted */
static uint64_t (*counted)(void);

static MPI_T_pvar_session session;
static MPI_T_pvar_handle taken, passed;

static uint64_t by_component(void)
{
    unsigned long long a = 0, b = 0;
    MPI_T_pvar_read(session, taken, &a);
    MPI_T_pvar_read(session, passed, &b);
    return a + b;
}

static uint64_t by_preload(void)
{
    void (*get)(lucid_sparse_figures_t *) = (void (*)(lucid_sparse_figures_t *))dlsym(RTLD_DEFAULT, "lucid_sparse_get_figures");
    lucid_sparse_figures_t figures = {0};
    if (get) get(&figures);
    return figures.taken + figures.passed;
}

static bool watch(const char *name, MPI_T_pvar_handle *handle)
{
    int index, count;
    return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS &&
           MPI_T_pvar_handle_alloc(session, index, NULL, handle, &count) == MPI_SUCCESS;
}

static void open_figures(void)
{
    const char *who = getenv("SPARSE_EXPECT");
    int provided;
    counted = by_preload;
    if (!who || strcmp(who, "component")) return;
    counted = by_component;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    CHECK(watch("coll_sparse_calls_taken", &taken) && watch("coll_sparse_calls_passed", &passed));
}

static void check_sums(int ranks, int first)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (out[i] != ranks * (i + 1) + first) {
            CHECK_EQUAL(out[i], ranks * (i + 1) + first);
            return;
        }
}

static void fill(int more)
{
    for (int i = 0; i < ELEMENTS; i++) in[i] = i + 1 + more;
}

static void allreduce(MPI_Datatype type, MPI_Comm comm, int ranks)
{
    memset(out, 0, sizeof out);
    MPI_Allreduce(in, out, ELEMENTS, type, MPI_SUM, comm);
    calls += ranks > 1;
    check_sums(ranks, 0);
}

/* The same call, and now and then another one, blocking or not, in between. */
static void test_same_calls(void)
{
    MPI_Request request;
    for (int call = 0; call < CALLS; call++) {
        allreduce(MPI_INT, MPI_COMM_WORLD, size);
        if (call % 5 == 0) {
            static int other[ELEMENTS];
            MPI_Iallreduce(in, other, ELEMENTS, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
            allreduce(MPI_INT, MPI_COMM_WORLD, size);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(memcmp(other, in, sizeof in) == 0);
            calls += size > 1;
        }
        if (call % 7 == 0) {
            MPI_Reduce(in, out, ELEMENTS, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
            if (rank == 0) check_sums(size, 0);
            calls += size > 1;
        }
    }
}

/* Processes name one and the same datatype otherwise, so that to some of them calls are the same and to others they are not. */
static void test_names(void)
{
    for (int call = 0; call < CALLS; call++)
        allreduce(rank % 2 && call % 3 == 0 ? MPI_INT32_T : MPI_INT, MPI_COMM_WORLD, size);
}

/* A communicator's handle, and the address of what is kept with it, may be the next one's. */
static void test_communicators(void)
{
    for (int round = 0; round < 6; round++) {
        MPI_Comm part;
        int ranks;
        MPI_Comm_split(MPI_COMM_WORLD, round % 2 ? 0 : rank == 0, 0, &part);
        MPI_Comm_size(part, &ranks);
        for (int call = 0; call < 20; call++) allreduce(MPI_INT, part, ranks);
        MPI_Comm_free(&part);
    }
}

/* Vectors that are short by their bytes, not by their elements, and an operator that is freed and made again. */
static void add_one(void *left, void *right, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)right)[i] += ((int *)left)[i] + 1;
}

static void test_short_and_other_operators(void)
{
    for (int call = 0; call < 20; call++) {
        MPI_Op op;
        memset(out, 0, sizeof out);
        MPI_Allreduce(in, out, 5000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL(out[4999], size * 5000);
        MPI_Op_create(add_one, 1, &op);
        MPI_Allreduce(in, out, ELEMENTS, MPI_INT, op, MPI_COMM_WORLD);
        check_sums(size, size - 1);
        MPI_Op_free(&op);
        calls += size > 1 ? 2 : 0;
    }
}

/* Nonblocking ones that are too short, until blocking ones of their length have shown that it is worth a look, and again on a communicator
 * that has the same handle. What is too short coll/sparse does not count. */
static void test_short_nonblocking(void)
{
    enum { FIRST = 20, SHORT = 5000 }; /* 16 of them are timed before the length is settled */
    const uint64_t before = counted();
    uint64_t made = 0;
    for (int round = 0; round < 2; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int call = 0; call < 4 * FIRST; call++) {
            MPI_Request request;
            memset(out, 0, sizeof out);
            MPI_Iallreduce(in, out, SHORT, call % 9 == 8 ? MPI_UNSIGNED : MPI_INT, MPI_SUM, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK_EQUAL(out[SHORT - 1], size * SHORT);
            made += size > 1;
            if (call < FIRST || call >= 2 * FIRST) continue;
            MPI_Allreduce(in, out, SHORT, MPI_INT, MPI_SUM, comm);
            CHECK_EQUAL(out[SHORT - 1], size * SHORT);
            made += size > 1;
        }
        MPI_Comm_free(&comm);
    }
    if (counted == by_preload) CHECK_EQUAL(counted() - before, made);
    calls += counted() - before;
}

static void test_scatters(void)
{
    int share = ELEMENTS / size;
    for (int call = 0; call < CALLS / 3; call++) {
        memset(out, 0, sizeof out);
        MPI_Reduce_scatter_block(in, out, share, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL(out[0], size * (rank * share + 1));
        CHECK_EQUAL(out[share - 1], size * (rank + 1) * share);
        calls += size > 1;
    }
}

/* Two threads take turns on one communicator, each with calls of its own length; at every other process one thread makes them all. */
enum { TURNS = 40, IN_A_ROW = 6 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void take_turn(int who)
{
    for (int call = 0; call < IN_A_ROW; call++) {
        const int n = who ? ELEMENTS : ELEMENTS / 3;
        memset(out, 0, sizeof out);
        MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL(out[n - 1], size * n);
        calls += size > 1;
    }
}

static void *take_turns(void *argument)
{
    const int who = argument != NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < TURNS / 2; i++) {
        while (turn % 2 != who) pthread_cond_wait(&changed, &lock);
        take_turn(who);
        turn++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void test_threads(void)
{
    pthread_t other;
    if (rank % 2) {
        for (int i = 0; i < TURNS; i++) take_turn(i % 2);
        return;
    }
    CHECK_EQUAL(pthread_create(&other, NULL, take_turns, &turn), 0);
    take_turns(NULL);
    pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    open_figures();
    fill(0);
    const uint64_t before = counted();
    test_same_calls();
    test_names();
    test_communicators();
    test_short_and_other_operators();
    test_short_nonblocking();
    test_scatters();
    if (provided >= MPI_THREAD_SERIALIZED) test_threads();
    CHECK_EQUAL(counted() - before, calls);
    const int failed = check_outcome();
    if (counted == by_component) MPI_T_pvar_session_free(&session);
    if (counted == by_component) MPI_T_finalize();
    MPI_Finalize();
    return failed;
}
