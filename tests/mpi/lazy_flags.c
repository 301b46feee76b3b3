/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_flags.c: agreements of ULFM (Open MPI 5) where the library does not look after failures: it reduces the flags
 * then. On communicators that wait and that are ready, of one process and of two groups.
 */
#include "lazy_check.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_FTMPI)

static int rank, size;

/* Every process clears a bit of its own of the 31. */
static void agree(MPI_Comm comm, int processes, int number)
{
    const int all = 0x7fffffff, left = processes < 31 ? all & ~((1 << processes) - 1) : 0;
    int flag = all & ~(1 << number % 31);
    CHECK_OK(MPIX_Comm_agree(comm, &flag));
    CHECK_EQUAL(flag, left);
}

static void iagree(MPI_Comm comm, int processes, int number)
{
    const int all = 0x7fffffff, left = processes < 31 ? all & ~((1 << processes) - 1) : 0;
    int flag = all & ~(1 << number % 31);
    MPI_Request request;
    CHECK_OK(MPIX_Comm_iagree(comm, &flag, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_EQUAL(flag, left);
}

static void sum(MPI_Comm comm, int processes)
{
    int one = 1, total = 0;
    CHECK_OK(MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQUAL(total, processes);
}

/* As the first operation and as a later one. */
static void try_dups(MPI_Comm comm, int processes, int number)
{
    void (*const operations[])(MPI_Comm, int, int) = {agree, iagree};
    for (int i = 0; i < 6; i++) {
        MPI_Comm made;
        CHECK_OK(MPI_Comm_dup(comm, &made));
        if (i >= 4) sum(made, processes);
        operations[i % 2](made, processes, number);
        if (i >= 2) operations[(i + 1) % 2](made, processes, number);
        sum(made, processes);
        CHECK_OK(MPI_Comm_free(&made));
    }
}

static void try_two_groups(void)
{
    MPI_Comm half, inter;
    const int second = size / 2, upper = rank >= second;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : second, 5, &inter));
    for (int i = 0; i < 3; i++) {
        int flag = 5, remote = 0;
        MPI_Request request;
        CHECK_OK(MPI_Comm_remote_size(inter, &remote));
        if (i == 1) CHECK_OK(MPIX_Comm_iagree(inter, &flag, &request));
        if (i == 1) CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (i != 1) CHECK_OK(MPIX_Comm_agree(inter, &flag));
        CHECK_EQUAL(flag, 5);
        int one = 1, total = 0;
        CHECK_OK(MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, inter));
        CHECK_EQUAL(total, remote);
    }
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    lazy_check_presence();
    try_dups(MPI_COMM_WORLD, size, rank);
    try_dups(MPI_COMM_SELF, 1, 0);
    if (size > 1) try_two_groups();
    agree(MPI_COMM_SELF, 1, 0);
    agree(MPI_COMM_WORLD, size, rank);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}

#else

int main(int argc, char **argv)
{
    CHECK_OK(MPI_Init(&argc, &argv));
    return skip_test("this MPI library has no ULFM extension");
}

#endif
