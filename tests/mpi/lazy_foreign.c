/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_foreign.c: beside a component that communicates when it is set up (coll/talker): never within a nonblocking operation, at
 * the first blocking one, and not at all for communicators that make none. With an argument, under MPI_THREAD_MULTIPLE: Open MPI's
 * own way, set up in MPI_Init.
 */
#include "lazy_check.h"

static int rank, size;

/* Legal, and a deadlock if the nonblocking barrier waited for anybody. */
static void nonblocking_first(MPI_Comm comm)
{
    MPI_Request request;
    int token = 1;
    if (rank == 0) {
        CHECK_OK(MPI_Ibarrier(comm, &request));
        for (int i = 1; i < size; i++) CHECK_OK(MPI_Send(&token, 1, MPI_INT, i, 3, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Ibarrier(comm, &request));
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void waits(void)
{
    MPI_Comm made, other, child;
    MPI_Request request;
    int one = 1, sum = 0;
    CHECK_EQUAL(lazy_counter_of("coll_talker_setups"), 0); /* MPI_Init has set up nothing */
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    nonblocking_first(made);
    CHECK_EQUAL(lazy_counter_of("coll_talker_setups"), 0);
    CHECK_OK(MPI_Comm_idup(made, &child, &request));
    CHECK_OK(MPI_Barrier(made)); /* idup's steps may come before or after this */
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(lazy_counter_of("coll_talker_setups"), size > 1);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, child));
    CHECK_EQUAL(sum, size);
    CHECK_EQUAL(lazy_counter_of("coll_talker_setups"), 2 * (size > 1));
    CHECK_EQUAL(lazy_counter("shared"), 0);
    nonblocking_first(made);
    CHECK_OK(MPI_Barrier(made));
    CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_free(&child));
    CHECK_OK(MPI_Comm_free(&made));
}

/* No other communicator is made: with threads Open MPI 4.1.4 by itself hangs where set-up communicates (its issue 9780). */
static void stands_aside(void)
{
    CHECK_EQUAL(lazy_counter("created"), 0);
    CHECK_EQUAL(lazy_counter_of("coll_talker_setups"), size > 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int provided;
    CHECK_OK(MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    if (argc > 1) stands_aside();
    else waits();
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
