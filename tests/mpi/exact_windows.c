/* SPDX-License-Identifier: BSD-3-Clause
 * exact_windows.c: messages on communicators that are made after a window has gone, at its communicator's address perhaps, are
 * the program's and count.
 */
#include <lucid.h>

#include "api_check.h"

enum { ROUNDS = 100 };

static void send_after_a_window(int round, int rank, int size)
{
    int *base, number = round;
    MPI_Win window;
    MPI_Comm comm;
    CHECK_OK(MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window));
    CHECK_OK(MPI_Win_free(&window));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Sendrecv_replace(&number, 1, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    int rank, size;
    lucid_session_t session;
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    if (source_is_not_for_this_mpi()) return skip_test("LUCID_SOURCE is not for this MPI library");
    CHECK_OK(lucid_init());
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &session));
    for (int round = 0; round < ROUNDS; round++) send_after_a_window(round, rank, size);
    CHECK_OK(lucid_session_suspend(session));
    uint64_t *counts = calloc((size_t)size, sizeof *counts), *bytes = calloc((size_t)size, sizeof *bytes);
    CHECK_OK(lucid_session_get(session, LUCID_KINDS_USER, counts, bytes));
    for (int peer = 0; peer < size; peer++) {
        CHECK_EQUAL(counts[peer], peer == (rank + 1) % size ? ROUNDS : 0);
        CHECK_EQUAL(bytes[peer], peer == (rank + 1) % size ? ROUNDS * sizeof(int) : 0);
    }
    free(counts);
    free(bytes);
    CHECK_OK(lucid_session_free(session));
    CHECK_OK(lucid_finalize());
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
