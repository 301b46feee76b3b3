/* SPDX-License-Identifier: BSD-3-Clause
 * What goes to spawned processes is counted as outside: it is neither lost nor taken for a rank of MPI_COMM_WORLD.
 */
#include "pmpi_row.h"

enum { CHILDREN = 2, N = 5 };

static int child(MPI_Comm parent)
{
    int data[N], sum = 0;
    MPI_Recv(data, N, MPI_INT, MPI_ANY_SOURCE, 0, parent, MPI_STATUS_IGNORE);
    MPI_Allreduce(data, &sum, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    MPI_Request request;
    int data[N] = {1}, codes[CHILDREN], sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return child(parent);
    row_open();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes) != MPI_SUCCESS)
        return skip_test("MPI_Comm_spawn does not work here");
    row_begin();
    for (int i = 0; row_rank == 0 && i < CHILDREN; i++) {
        MPI_Isend(data, N, MPI_INT, i, 0, children, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        row_expect_outside(1, N * sizeof(int));
    }
    MPI_Allreduce(data, &sum, 1, MPI_INT, MPI_SUM, children);
    row_expect_outside(CHILDREN, CHILDREN * sizeof(int));
    row_end("to the children");
    MPI_Comm_disconnect(&children);
    row_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
