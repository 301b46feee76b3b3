/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_fortran.c: a Fortran program's reductions where Fortran's entry points call MPI_ functions: every call is looked at once.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api_check.h"
#include "lucid_sparse.h"
#include "reduce_fortran_shim.h"

enum { N = 32768, DENSE = 6 };
static double *input, *output;
static MPI_Fint n = N, type, op, comm, info, ierror;
static int size;

static lucid_sparse_figures_t figures(void)
{
    void (*get)(lucid_sparse_figures_t *) = (void (*)(lucid_sparse_figures_t *))dlsym(RTLD_DEFAULT, "lucid_sparse_get_figures");
    lucid_sparse_figures_t found = {0};
    if (get) get(&found);
    return found;
}

/* Every `every`th element is 1, and the sum is so, too. */
static void fill(size_t every)
{
    for (size_t i = 0; i < N; i++) {
        input[i] = i % every == 0;
        output[i] = -1;
    }
}

static bool is_sum(size_t every)
{
    for (size_t i = 0; i < N; i++)
        if (output[i] != (i % every == 0 ? size : 0)) return false;
    return true;
}

static void allreduce(bool descriptors)
{
    struct shim_descriptor in = {.address = input}, out = {.address = output};
    if (descriptors) mpi_allreduce_f08ts_(&in, &out, &n, &type, &op, &comm, NULL);
    else mpi_allreduce_(input, output, &n, &type, &op, &comm, &ierror);
}

static void test_blocking(bool descriptors)
{
    const lucid_sparse_figures_t before = figures();
    for (int i = 0; i < DENSE; i++) {
        fill(1);
        allreduce(descriptors);
        CHECK(is_sum(1));
    }
    fill(100);
    allreduce(descriptors);
    CHECK(is_sum(100));
    const lucid_sparse_figures_t after = figures();
    CHECK_EQUAL(after.taken + after.passed - before.taken - before.passed, DENSE + 1);
}

static void test_nonblocking(bool descriptors)
{
    struct shim_descriptor in = {.address = input}, out = {.address = output};
    MPI_Fint request;
    const lucid_sparse_figures_t before = figures();
    for (size_t every = 1; every <= 100; every += 99) {
        fill(every);
        if (descriptors) mpi_iallreduce_f08ts_(&in, &out, &n, &type, &op, &comm, &request, NULL);
        else mpi_iallreduce_(input, output, &n, &type, &op, &comm, &request, &ierror);
        MPI_Request made = MPI_Request_f2c(request);
        MPI_Wait(&made, MPI_STATUS_IGNORE);
        CHECK(is_sum(every));
    }
    const lucid_sparse_figures_t after = figures();
    CHECK_EQUAL(after.taken + after.passed - before.taken - before.passed, 2);
}

static void test_persistent(void)
{
#if defined(TEST_PERSISTENT)
    MPI_Fint request;
    fill(100);
    SHIM_INIT(input, output, &n, &type, &op, &comm, &info, &request, &ierror);
    for (int round = 0; round < 5; round++) {
        fill(100);
        mpi_start_(&request, &ierror);
        MPI_Request started = MPI_Request_f2c(request);
        MPI_Wait(&started, MPI_STATUS_IGNORE);
        CHECK(is_sum(100));
    }
    mpi_request_free_(&request, &ierror);
    CHECK(MPI_Request_f2c(request) == MPI_REQUEST_NULL);
#endif
}

int main(int argc, char **argv)
{
    int level;
    const char *wanted = getenv("SPARSE_THREADS");
    MPI_Init_thread(&argc, &argv, wanted ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (wanted && level < MPI_THREAD_MULTIPLE) return skip_test("the MPI library has no MPI_THREAD_MULTIPLE");
    input = malloc(N * sizeof *input);
    output = malloc(N * sizeof *output);
    type = MPI_Type_c2f(MPI_DOUBLE);
    op = MPI_Op_c2f(MPI_SUM);
    comm = MPI_Comm_c2f(MPI_COMM_WORLD);
    info = MPI_Info_c2f(MPI_INFO_NULL);
    test_blocking(false);
    test_nonblocking(false);
    test_blocking(true);
    test_nonblocking(true);
    test_persistent();
    free(input);
    free(output);
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
