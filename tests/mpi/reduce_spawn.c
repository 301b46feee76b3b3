/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_spawn.c: reductions with processes of another MPI_COMM_WORLD, which has no liblucid: they are the library's.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include <mpi.h>

#include "api_check.h"
#include "lucid_sparse.h"

enum { N = 32768 };

static void check_reductions(MPI_Comm all)
{
    void (*get)(lucid_sparse_figures_t *) = (void (*)(lucid_sparse_figures_t *))dlsym(RTLD_DEFAULT, "lucid_sparse_get_figures");
    double *input = calloc(N, sizeof *input), *output = calloc(N, sizeof *output);
    lucid_sparse_figures_t before = {0}, after = {0};
    MPI_Request request;
    int size;
    MPI_Comm_size(all, &size);
    input[7] = 1;
    if (get) get(&before);
    for (int i = 0; i < 3; i++) MPI_Allreduce(input, output, N, MPI_DOUBLE, MPI_SUM, all);
    CHECK(output[7] == size && output[8] == 0);
    MPI_Iallreduce(input, output, N, MPI_DOUBLE, MPI_SUM, all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(output[7] == size && output[8] == 0);
    if (get) get(&after);
    CHECK_EQUAL(after.taken, before.taken);
    free(input);
    free(output);
}

int main(int argc, char **argv)
{
    MPI_Comm parents, between, all;
    char *arguments[] = {"-u", "LD_PRELOAD", argv[0], NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_get_parent(&parents);
    between = parents;
    if (parents == MPI_COMM_NULL)
        MPI_Comm_spawn("env", arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(between, parents != MPI_COMM_NULL, &all);
    check_reductions(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
