/* SPDX-License-Identifier: BSD-3-Clause
 * listing_2.c: Listing 2 of Inria RR 9292, as it stands there. Produces a file that describes all point-to-point
 * messages used to implement MPI_Barrier; listing_check.py runs it and reads the file.
 */
#include <mpi.h>
#include "MPI_Monitoring.h"

int main()
{
    MPI_Init(NULL, NULL);
    MPI_M_init();
    MPI_M_msid id;
    MPI_M_start(MPI_COMM_WORLD, &id);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_M_suspend(id);
    MPI_M_rootflush(id, 0, "barrier", MPI_M_P2P_ONLY);
    MPI_M_free(id);
    MPI_M_finalize();
    MPI_Finalize();
    return 0;
}
