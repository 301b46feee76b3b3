/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_short.c: vectors of 4 to 64 KiB. The first ones on a communicator are the library's, and timed; at rank 0 they take long here, since
 * the others come late. Then they are looked at, on that communicator and no other. The results are right all the time, whatever else is
 * called when it is settled.
 *
 * SPARSE_EXPECT=component: by coll/sparse; preload: by liblucid; never: by coll/sparse, which is not to look at them.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "api_check.h"
#include "lucid_sparse.h"

enum { ELEMENTS = 2048, FIRST = 16, LATE = 500 }; /* of 8 bytes; calls that are timed; microseconds */

static int rank, size;
static double in[ELEMENTS], out[ELEMENTS];
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[8];
static const char *expected;

static bool expects(const char *word)
{
    return expected && strcmp(expected, word) == 0;
}

static void open_figures(void)
{
    static const char *const names[] = {"0.0001", "0.001", "0.01", "0.02", "0.05", "0.1", "0.5", "1"};
    int provided, index, count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < 8; i++) {
        char name[64];
        snprintf(name, sizeof name, "coll_sparse_density_below_%s", names[i]);
        CHECK_EQUAL(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
        CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count), MPI_SUCCESS);
    }
}

/* Calls on whose density the processes have agreed; of liblucid, those that have not been left to the library. */
static uint64_t looked_at(void)
{
    uint64_t all = 0;
    if (expects("preload")) {
        void (*get)(lucid_sparse_figures_t *) = (void (*)(lucid_sparse_figures_t *))dlsym(RTLD_DEFAULT, "lucid_sparse_get_figures");
        lucid_sparse_figures_t figures = {0};
        CHECK(get != NULL);
        if (get) get(&figures);
        return figures.taken;
    }
    for (int i = 0; i < 8; i++) {
        unsigned long long n = 0;
        MPI_T_pvar_read(session, handles[i], &n);
        all += n;
    }
    return all;
}

static void fill(int from)
{
    for (int i = 0; i < ELEMENTS; i++) {
        in[i] = (i + from) % 200 == 0 ? rank + 1 : 0;
        out[i] = -1;
    }
}

static void check_sums(int from, int base, int n, double sum)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += out[i] != ((base + i + from) % 200 == 0 ? sum : 0);
    CHECK_EQUAL(wrong, 0);
}

static double sum_to(int ranks)
{
    return ranks * (ranks + 1) / 2.0;
}

static void come_late(void)
{
    if (rank > 0) usleep(LATE);
}

static void allreduce(MPI_Comm comm, int call)
{
    fill(call);
    come_late();
    MPI_Allreduce(in, out, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm);
    check_sums(call, 0, ELEMENTS, sum_to(size));
}

static void reduce(MPI_Comm comm, int call)
{
    const int root = call % size;
    fill(call);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : in, rank == root ? memcpy(out, in, sizeof in) : NULL, ELEMENTS, MPI_DOUBLE, MPI_SUM, root, comm);
    if (rank == root) check_sums(call, 0, ELEMENTS, sum_to(size));
}

static void scatter(MPI_Comm comm, int call)
{
    const int share = ELEMENTS / size;
    fill(call);
    MPI_Reduce_scatter_block(in, out, share, MPI_DOUBLE, MPI_SUM, comm);
    check_sums(call, rank * share, share, sum_to(size));
}

static void test_of_one_sort(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const uint64_t before = looked_at();
    for (int call = 0; call < FIRST; call++) allreduce(comm, call);
    CHECK_EQUAL(looked_at() - before, 0);
    for (int call = 0; call < 50; call++) allreduce(comm, call);
    CHECK((looked_at() > before) == !expects("never"));
    MPI_Comm_free(&comm);
}

/* Of several lengths and kinds, with shorter and longer ones between them, and a nonblocking one that is begun before and ends behind. */
static void test_of_many_sorts(void)
{
    static double other[ELEMENTS], sum[ELEMENTS], large[16384], all[16384];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < ELEMENTS; i++) other[i] = i;
    for (int call = 0; call < 60; call++) {
        MPI_Request request;
        MPI_Iallreduce(other, sum, ELEMENTS - call, MPI_DOUBLE, MPI_SUM, comm, &request);
        if (call % 3 == 0) allreduce(comm, call);
        if (call % 3 == 1) reduce(comm, call);
        if (call % 3 == 2) scatter(comm, call);
        if (call % 11 == 5) MPI_Allreduce(large, all, 16384, MPI_DOUBLE, MPI_SUM, comm);
        MPI_Allreduce(MPI_IN_PLACE, other, 16, MPI_DOUBLE, MPI_MAX, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum[17] == 17.0 * size && sum[ELEMENTS - call - 1] == (ELEMENTS - call - 1.0) * size);
    }
    MPI_Comm_free(&comm);
}

static void dense(MPI_Comm comm, bool rooted)
{
    for (int i = 0; i < ELEMENTS; i++) in[i] = i + 1;
    if (rooted) MPI_Reduce(in, out, ELEMENTS, MPI_DOUBLE, MPI_SUM, 0, comm);
    else MPI_Allreduce(in, out, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm);
    CHECK((rooted && rank > 0) || (out[0] == size && out[ELEMENTS - 1] == (double)size * ELEMENTS));
}

/* Dense vectors of Reduces are looked at for a while only: 24 times, of which no two are more than 512 calls apart. */
static void test_dense(void)
{
    enum { A_WHILE = 24 * 512 + 500, CALLS = A_WHILE + 600 };
    MPI_Comm comm;
    uint64_t before = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < CALLS; call++) {
        if (call < 2 * FIRST) come_late();
        if (call == A_WHILE) before = looked_at();
        dense(comm, true);
    }
    CHECK_EQUAL(looked_at() - before, 0);
    MPI_Comm_free(&comm);
}

/* Those of Allreduces may be better off with a dense form. */
static void test_dense_that_goes_on(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < 4000; call++) {
        if (call < 2 * FIRST) come_late();
        dense(comm, false);
    }
    MPI_Comm_free(&comm);
}

/* To some processes a call is as the one before, to others it is not. */
static void test_names(void)
{
    static int few[ELEMENTS], sums[ELEMENTS];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    few[7] = 1;
    for (int call = 0; call < 60; call++) {
        come_late();
        MPI_Allreduce(few, sums, ELEMENTS, rank % 2 && call % 3 == 0 ? MPI_INT32_T : MPI_INT, MPI_SUM, comm);
        CHECK(sums[7] == size && sums[8] == 0);
    }
    MPI_Comm_free(&comm);
}

/* Communicators that are gone before it is settled. */
static void test_few_calls(void)
{
    const uint64_t before = looked_at();
    for (int round = 0; round < 20; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int call = 0; call < FIRST; call++) scatter(comm, call);
        MPI_Comm_free(&comm);
    }
    CHECK_EQUAL(looked_at() - before, 0);
}

int main(int argc, char **argv)
{
    expected = getenv("SPARSE_EXPECT");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    if (!expects("preload")) open_figures();
    test_of_one_sort();
    test_of_many_sorts();
    test_names();
    test_dense();
    test_dense_that_goes_on();
    test_few_calls();
    for (int call = 0; call < FIRST + 4; call++) allreduce(MPI_COMM_WORLD, call); /* which is never freed */
    const int failed = check_outcome();
    if (!expects("preload")) {
        MPI_T_pvar_session_free(&session);
        MPI_T_finalize();
    }
    MPI_Finalize();
    return failed;
}
