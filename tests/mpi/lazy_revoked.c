/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_revoked.c: revoked communicators (ULFM, Open MPI 5): one that waits, one that is ready, one whose group has others.
 * Operations on them fail, agreements and shrinking do not, and what is made from them works.
 */
#include "lazy_check.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_FTMPI)

static int rank, size;

static int class_of(int code)
{
    int class = MPI_ERR_OTHER;
    MPI_Error_class(code, &class);
    return class;
}

static MPI_Comm dup_of(MPI_Comm comm)
{
    MPI_Comm made;
    CHECK_OK(MPI_Comm_dup(comm, &made));
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

static int sum_on(MPI_Comm comm)
{
    int one = 1, sum = 0;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

/* Until the news are here. Messages on another communicator keep the library going. */
static void wait_until_revoked(MPI_Comm comm)
{
    int revoked = 0;
    for (int i = 0; i < 1000000 && !revoked; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPIX_Comm_is_revoked(comm, &revoked);
    }
    CHECK(revoked);
}

static void revoke(MPI_Comm comm)
{
    MPI_Comm shrunk, child = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 1, one = 1, most = 0, left = 0;
    if (rank == 0) CHECK_OK(MPIX_Comm_revoke(comm));
    wait_until_revoked(comm);
    CHECK_EQUAL(class_of(MPI_Barrier(comm)), MPIX_ERR_REVOKED);
    CHECK_EQUAL(class_of(MPI_Allreduce(&one, &most, 1, MPI_INT, MPI_MAX, comm)), MPIX_ERR_REVOKED);
    int rc = MPI_Iallreduce(&one, &most, 1, MPI_INT, MPI_MAX, comm, &request);
    if (rc == MPI_SUCCESS) rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(class_of(rc), MPIX_ERR_REVOKED);
    CHECK(MPI_Comm_dup(comm, &child) != MPI_SUCCESS);
    CHECK_OK(MPIX_Comm_agree(comm, &flag));
    CHECK_EQUAL(flag, 1);
    CHECK_OK(MPIX_Comm_shrink(comm, &shrunk));
    CHECK_OK(MPI_Comm_size(shrunk, &left));
    CHECK_EQUAL(left, size);
    CHECK_EQUAL(sum_on(shrunk), size);
    CHECK_OK(MPI_Comm_free(&shrunk));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    if (getenv("OMPI_MCA_mpi_ft_enable") == NULL) return skip_test("the library does not look after failures (--with-ft mpi)");
    lazy_check_presence();
    MPI_Comm waiting = dup_of(MPI_COMM_WORLD), ready = dup_of(MPI_COMM_WORLD), again = dup_of(MPI_COMM_WORLD);
    CHECK_EQUAL(sum_on(ready), size);
    CHECK_EQUAL(sum_on(again), size);
    revoke(waiting);
    revoke(ready);
    CHECK_EQUAL(sum_on(again), size);
    CHECK_EQUAL(sum_on(MPI_COMM_WORLD), size);
    revoke(again);
    MPI_Comm later = dup_of(MPI_COMM_WORLD);
    CHECK_EQUAL(sum_on(later), size);
    CHECK_OK(MPI_Comm_free(&later));
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
