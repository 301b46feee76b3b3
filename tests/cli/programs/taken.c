/* SPDX-License-Identifier: BSD-3-Clause
 * taken.c: adds up a sparse vector, and says what came out and how many of the reductions coll/sparse took: its figure among
 * Open MPI's performance variables, "absent" where Open MPI has not found the component.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 200000, STEP = 1000, ROUNDS = 5 };
static double mine[N], all[N];

static int find(const char *wanted)
{
    int number = 0;
    MPI_T_pvar_get_num(&number);
    for (int i = 0; i < number; i++) {
        char name[256], about[256];
        int length = sizeof name, about_length = sizeof about, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum values;
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &values, about, &about_length, &bind, &readonly,
                                &continuous, &atomic) == MPI_SUCCESS && strcmp(name, wanted) == 0)
            return i;
    }
    return -1;
}

int main(int argc, char **argv)
{
    int rank, provided, index, count;
    double sum = 0;
    unsigned long long taken[4] = {0};
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    index = find("coll_sparse_calls_taken");
    MPI_T_pvar_session_create(&session);
    if (index >= 0) MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count); /* counts from here on */
    for (int i = rank; i < N; i += STEP) mine[i] = i % 7 + 1;
    for (int round = 0; round < ROUNDS; round++) MPI_Allreduce(mine, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) sum += all[i];
    if (index >= 0) MPI_T_pvar_read(session, handle, taken);
    if (rank == 0 && index < 0) printf("sum %.0f absent\n", sum);
    if (rank == 0 && index >= 0) printf("sum %.0f taken %llu\n", sum, taken[0]);
    if (index >= 0) MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
