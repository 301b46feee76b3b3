/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_edges.c: what a program may do, or may do wrong, around reductions that liblucid takes over. The case is the argument.
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

enum { N = 32768 };
static int rank, size;
static double *input, *output;

static uint64_t taken(void)
{
    void (*get)(lucid_sparse_figures_t *) = (void (*)(lucid_sparse_figures_t *))dlsym(RTLD_DEFAULT, "lucid_sparse_get_figures");
    lucid_sparse_figures_t figures = {0};
    if (get) get(&figures);
    return figures.taken;
}

/* The sum of the first `processes` ranks' inputs. */
static double sum(int processes, size_t i)
{
    double all = 0;
    for (int r = 0; r < processes; r++) all += (i + (size_t)r) % 101 == 0 ? r + 1 : 0;
    return all;
}

static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        input[i] = (i + (size_t)rank) % 101 == 0 ? rank + 1 : 0;
        output[i] = -1;
    }
}

static bool is_sum(int processes, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (output[i] != sum(processes, from + i)) return false;
    return true;
}

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    handled++;
}

/* What a call says under its own name must be what the library says of it, and so must be how often the program's handler is called. */
#define SAME(name, ...)                                                                       \
    do {                                                                                      \
        int before = handled, class = 0, wanted = 0, rc = P##name(__VA_ARGS__);               \
        MPI_Error_class(rc, &wanted);                                                         \
        const int calls = handled - before;                                                   \
        before = handled;                                                                     \
        rc = name(__VA_ARGS__);                                                               \
        MPI_Error_class(rc, &class);                                                          \
        CHECK_EQUAL(class, wanted);                                                           \
        CHECK_EQUAL(handled - before, calls);                                                 \
    } while (0)

static void make_errors(MPI_Comm comm, const int *shares)
{
    const int n = N;
    MPI_Request request = MPI_REQUEST_NULL;
    SAME(MPI_Allreduce, input, MPI_IN_PLACE, n, MPI_DOUBLE, MPI_SUM, comm);
    SAME(MPI_Allreduce, input, input, n, MPI_DOUBLE, MPI_SUM, comm);
    SAME(MPI_Iallreduce, input, MPI_IN_PLACE, n, MPI_DOUBLE, MPI_SUM, comm, &request);
    SAME(MPI_Iallreduce, input, input, n, MPI_DOUBLE, MPI_SUM, comm, &request);
    if (rank == 0) SAME(MPI_Reduce, input, input, n, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (rank == 0) SAME(MPI_Ireduce, input, input, n, MPI_DOUBLE, MPI_SUM, 0, comm, &request);
    if (is_open_mpi()) { /* which does not look at the others */
        if (rank > 0) SAME(MPI_Reduce, MPI_IN_PLACE, output, n, MPI_DOUBLE, MPI_SUM, 0, comm);
        return;
    }
    SAME(MPI_Allreduce, NULL, output, n, MPI_DOUBLE, MPI_SUM, comm);
    SAME(MPI_Allreduce, input, NULL, n, MPI_DOUBLE, MPI_SUM, comm);
    SAME(MPI_Scan, input, input, n, MPI_DOUBLE, MPI_SUM, comm);
    if (rank > 0) SAME(MPI_Exscan, input, input, n, MPI_DOUBLE, MPI_SUM, comm);
    SAME(MPI_Reduce_scatter, input, input, shares, MPI_DOUBLE, MPI_SUM, comm);
    SAME(MPI_Reduce_scatter_block, input, input, n / size, MPI_DOUBLE, MPI_SUM, comm);
    SAME(MPI_Iallreduce, input, output, n, MPI_DOUBLE, MPI_SUM, comm, NULL);
}

/* What a process need not give. */
static void make_bare_calls(MPI_Comm comm)
{
    int shares[64] = {0};
    const char *expect = getenv("SPARSE_EXPECT");
    const bool ours = expect && strcmp(expect, "taken") == 0;
    const uint64_t before = taken();
    fill();
    MPI_Reduce(input, rank == size - 1 ? output : NULL, N, MPI_DOUBLE, MPI_SUM, size - 1, comm);
    if (rank == size - 1) CHECK(is_sum(size, 0, N));
    fill();
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : input, input, N, MPI_DOUBLE, MPI_SUM, 0, comm);
    fill();
    MPI_Exscan(input, rank > 0 || !(ours || is_open_mpi()) ? output : NULL, N, MPI_DOUBLE, MPI_SUM, comm); /* MPICH wants it at rank 0, too */
    if (rank > 0) CHECK(is_sum(rank, 0, N));
    shares[size - 1] = N;
    fill();
    MPI_Reduce_scatter(input, rank == size - 1 ? output : NULL, shares, MPI_DOUBLE, MPI_SUM, comm);
    if (rank == size - 1) CHECK(is_sum(size, 0, N));
    if (ours) CHECK_EQUAL(taken() - before, 4);
    MPI_Allreduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, comm);
}

/* Errors are the library's; legal calls that look like them are not. */
static void test_errors(void)
{
    int shares[64] = {0};
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler); /* MPICH asks this one when a request is missing */
    for (int i = 0; i < size; i++) shares[i] = N / size;
    make_errors(comm, shares);
    make_bare_calls(comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

#if defined(TEST_PERSISTENT)
#define GLUE(a, b) a##b
#define NAMED(prefix, name) GLUE(prefix, name)
#define HAS_PERSISTENT true

static int make(MPI_Comm comm, MPI_Request *request)
{
    return NAMED(TEST_PERSISTENT, Allreduce_init)(input, output, N, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request);
}
#else
#define HAS_PERSISTENT false

static int make(MPI_Comm comm, MPI_Request *request)
{
    return MPI_Iallreduce(input, output, N, MPI_DOUBLE, MPI_SUM, comm, request);
}
#endif

/* A communicator is freed while liblucid is still making its own of it, which nobody waits for. */
static void test_freed(void)
{
    MPI_Comm comm;
    MPI_Request request;
    for (int i = 0; HAS_PERSISTENT && i < 2500; i++) {
        void *other[64]; /* takes the place of what has been freed */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        make(comm, &request);
        MPI_Request_free(&request);
        MPI_Comm_free(&comm);
        for (size_t k = 0; k < 64; k++) memset(other[k] = malloc(64 + 16 * k), 0xff, 64);
        MPI_Barrier(MPI_COMM_WORLD);
        for (size_t k = 0; k < 64; k++) free(other[k]);
    }
}

static _Atomic int freed;

/* What the program frees comes here, too, through liblucid's wrapper; and nothing else when rates are not measured. */
__attribute__((visibility("default"))) int PMPI_Comm_free(MPI_Comm *comm)
{
    freed++;
    return ((int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_free"))(comm);
}

/* What is freed while it is in use is freed later, and not never. MPICH has 2,048 communicators. */
static void test_used_when_freed(void)
{
    const int rounds = is_open_mpi() ? 200 : 2500, before = freed;
    for (int i = 0; i < rounds; i++) {
        MPI_Comm comm;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Allreduce(input, output, N, MPI_DOUBLE, MPI_SUM, comm);
        if (HAS_PERSISTENT && i % 2) {
            make(comm, &request);
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Iallreduce(input, output, N, MPI_DOUBLE, MPI_SUM, comm, &request);
        }
        MPI_Comm_free(&comm);
        if (HAS_PERSISTENT && i % 2) MPI_Request_free(&request);
        else MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(is_sum(size, 0, N));
    CHECK(freed - before >= 2 * rounds - 2);
}

/* Some start a persistent call before the blocking one that measures the machine's rates, some behind it. */
static void test_order(void)
{
    double *zeros = calloc(N, sizeof *zeros), *result = malloc(N * sizeof *result);
    for (int round = 0; HAS_PERSISTENT && round < 60; round++) {
        const size_t every = (size_t)1 << (2 + round % 12);
        MPI_Comm comm;
        MPI_Request request;
        bool right = true;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (size_t i = 0; i < N; i++) input[i] = (i * 7 + (size_t)rank * 13) % every == 0;
        make(comm, &request);
        if (rank % 2 == 0) MPI_Start(&request);
        MPI_Allreduce(zeros, result, N, MPI_DOUBLE, MPI_SUM, comm);
        if (rank % 2 == 1) MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < N; i++) {
            int wanted = 0;
            for (int r = 0; r < size; r++) wanted += (i * 7 + (size_t)r * 13) % every == 0;
            right = right && output[i] == wanted;
        }
        CHECK(right);
        MPI_Request_free(&request);
        MPI_Comm_free(&comm);
    }
    free(zeros);
    free(result);
}

static int copied, deleted;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    copied++;
    *flag = 0;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    deleted++;
    return MPI_SUCCESS;
}

/* A program's attributes are where the program has put them. Its handlers of errors are where they were, too. */
static void test_attributes(void)
{
    int keys[2];
    MPI_Comm comm;
    MPI_Errhandler handler, found;
    MPI_Request request;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_attribute, &keys[0], NULL);
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keys[1], NULL);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_set_attr(comm, keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], NULL);
    }
    MPI_Allreduce(input, output, N, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(is_sum(size, 0, N));
    MPI_Comm_get_errhandler(comm, &found);
    CHECK(found == handler);
    MPI_Errhandler_free(&found);
    if (HAS_PERSISTENT) {
        make(comm, &request);
        MPI_Request_free(&request);
    }
    CHECK_EQUAL(deleted, 0);
    MPI_Comm_free(&comm);
    CHECK_EQUAL(copied, 0);
    CHECK_EQUAL(deleted, 2);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_delete_attr(MPI_COMM_SELF, keys[i]);
        MPI_Comm_free_keyval(&keys[i]);
    }
    MPI_Errhandler_free(&handler);
}

/* Where the library has no communicator left for liblucid, nobody hears of it. Open MPI has more than one would like to make. */
static void test_exhausted(void)
{
    enum { MOST = 3000 };
    static MPI_Comm comms[MOST];
    int n = 0;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (n < MOST && !is_open_mpi() && MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comms[n]) == MPI_SUCCESS) n++;
    if (n > 0 && n < MOST) {
        MPI_Comm_set_errhandler(comms[0], handler);
        MPI_Allreduce(input, output, N, MPI_DOUBLE, MPI_SUM, comms[0]);
        CHECK(is_sum(size, 0, N));
        CHECK_EQUAL(handled, 0);
    }
    while (n > 0) MPI_Comm_free(&comms[--n]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

static int reduce_at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    MPI_Request request;
    double *vectors = value;
    MPI_Allreduce(vectors, vectors + N, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(vectors, vectors + N, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (vectors[N] != size) MPI_Abort(MPI_COMM_WORLD, 1);
    free(vectors);
    return MPI_SUCCESS;
}

/* Reductions of a program that is in MPI_Finalize already. */
static void test_end(void)
{
    int key;
    double *vectors = calloc(2 * N, sizeof *vectors);
    vectors[0] = 1;
    MPI_Allreduce(input, output, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, vectors);
}

/* More persistent reductions than the tags below 2^15 would serve. */
static void test_many(void)
{
    enum { MANY = 20000, EACH = 4000 };
    if (!HAS_PERSISTENT) return;
    MPI_Comm comms[MANY / EACH];
    MPI_Request *requests = malloc(MANY * sizeof *requests);
    MPI_Status status;
    for (int k = 0; k < MANY / EACH; k++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
        MPI_Comm_set_errhandler(comms[k], MPI_ERRORS_RETURN);
        MPI_Allreduce(input, output, N, MPI_DOUBLE, MPI_SUM, comms[k]);
    }
    for (int i = 0; i < MANY; i++) CHECK_OK(make(comms[i / EACH], &requests[i]));
    for (int i = MANY - 1; i > 0; i -= 3000) {
        fill();
        MPI_Start(&requests[i]);
        MPI_Wait(&requests[i], &status);
        CHECK(is_sum(size, 0, N));
    }
    for (int i = 0; i < MANY; i++) MPI_Request_free(&requests[i]);
    for (int k = 0; k < MANY / EACH; k++) MPI_Comm_free(&comms[k]);
    free(requests);
}

static _Atomic bool failing;

/* What liblucid receives its messages with. */
__attribute__((visibility("default"))) int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                                                      MPI_Request *request)
{
    int (*next)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        (int (*)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))dlsym(RTLD_NEXT, "PMPI_Irecv");
    return failing ? MPI_ERR_OTHER : next(buffer, count, type, from, tag, comm, request);
}

/* An error of a persistent call ends in an error code where the program has asked for them. */
static void test_failure(void)
{
    MPI_Comm comm;
    MPI_Request request;
    if (!HAS_PERSISTENT) return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Allreduce(input, output, N, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    make(comm, &request);
    fill();
    MPI_Start(&request);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(is_sum(size, 0, N));
    failing = true;
    MPI_Start(&request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    failing = false;
    if (!is_open_mpi()) MPI_Request_free(&request); /* 4.1 has freed it, as it does with every request that fails */
    MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {{"errors", test_errors}, {"freed", test_freed}, {"used_when_freed", test_used_when_freed}, {"order", test_order},
             {"attributes", test_attributes}, {"exhausted", test_exhausted},
             {"end", test_end}, {"many", test_many}, {"failure", test_failure}};

int main(int argc, char **argv)
{
    int level;
    const char *wanted = getenv("SPARSE_THREADS");
    MPI_Init_thread(&argc, &argv, wanted ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    if (wanted && level < MPI_THREAD_MULTIPLE) return skip_test("the MPI library has no MPI_THREAD_MULTIPLE");
    input = malloc(N * sizeof *input);
    output = malloc(N * sizeof *output);
    bool ran = false;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (argc < 2 || strcmp(argv[1], tests[i].name) != 0) continue;
        fill();
        tests[i].run();
        ran = true;
    }
    CHECK(ran);
    free(input);
    free(output);
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
