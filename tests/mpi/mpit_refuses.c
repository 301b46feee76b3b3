/* SPDX-License-Identifier: BSD-3-Clause
 * mpit_refuses.c: where Open MPI's monitoring cannot count (another PML forced, switched off by the user, another
 * MPI), the source says so instead of counting nothing, and the program runs as without Lucid.
 */
#include <lucid.h>

#include "api_check.h"

int main(int argc, char **argv)
{
    int size, one = 1, sum = 0;
    lucid_session_t session;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_EQUAL(lucid_init(), LUCID_ERR_MPI);
    CHECK_EQUAL(lucid_session_start(MPI_COMM_WORLD, NULL, &session), LUCID_ERR_MISSING_INIT);
    CHECK_EQUAL(lucid_init(), LUCID_ERR_MPI);
    CHECK_EQUAL(lucid_finalize(), LUCID_ERR_MISSING_INIT);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, size);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
