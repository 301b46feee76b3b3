/* SPDX-License-Identifier: BSD-3-Clause
 * api_spawn.c: processes outside MPI_COMM_WORLD: one child more is spawned and merged with its parents. What goes to
 * it is counted under "outside", the rest as ever. The groups differ in size, which Open MPI's own monitoring does not
 * survive.
 */
#include <lucid.h>

#include "api_check.h"

static int size;

/* The child answers nothing: it takes what it is sent. */
static int child(MPI_Comm parents)
{
    char in[600];
    int parents_size;
    MPI_Comm all;
    MPI_Comm_remote_size(parents, &parents_size);
    for (int i = 0; i < parents_size; i++)
        MPI_Recv(in, sizeof(in), MPI_BYTE, MPI_ANY_SOURCE, 1, parents, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(parents, 1, &all);
    for (int i = 0; i < 2 * parents_size; i++)
        MPI_Recv(in, sizeof(in), MPI_BYTE, MPI_ANY_SOURCE, 2, all, MPI_STATUS_IGNORE);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return 0;
}

/* 500 bytes to the child, twice 100 to it through the merged communicator, 30 to the neighbour through that as well. */
static void talk(MPI_Comm inter)
{
    char out[500] = {0}, in[500];
    int everybody, rank;
    MPI_Comm all;
    MPI_Send(out, 500, MPI_BYTE, 0, 1, inter);
    MPI_Intercomm_merge(inter, 0, &all);
    MPI_Comm_size(all, &everybody);
    MPI_Comm_rank(all, &rank);
    for (int i = 0; i < 2; i++) MPI_Send(out, 100, MPI_BYTE, everybody - 1, 2, all);
    MPI_Sendrecv(out, 30, MPI_BYTE, (rank + 1) % size, 3, in, 30, MPI_BYTE, (rank + size - 1) % size, 3, all,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
}

static void check_session(lucid_session_t session)
{
    uint64_t count[64], bytes[64], outside = 0, outside_bytes = 0;
    CHECK_OK(lucid_session_suspend(session));
    CHECK_OK(lucid_session_outside(session, LUCID_KINDS_USER, &outside, &outside_bytes));
    CHECK_EQUAL(outside, 3);
    CHECK_EQUAL(outside_bytes, 700);
    CHECK_OK(lucid_session_get(session, LUCID_KINDS_USER, count, bytes));
    for (int i = 0; i < size; i++) CHECK_EQUAL(bytes[i], i == (check_rank + 1) % size ? 30 : 0);
    CHECK_OK(lucid_session_free(session));
}

int main(int argc, char **argv)
{
    MPI_Comm parents, inter;
    lucid_session_t session;
    int error = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) return child(parents);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    CHECK_OK(lucid_init());
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &session));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, &error) != MPI_SUCCESS)
        return skip_test("no process can be spawned here");
    talk(inter);
    check_session(session);
    MPI_Comm_disconnect(&inter);
    CHECK_OK(lucid_finalize());
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
