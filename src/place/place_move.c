/* SPDX-License-Identifier: BSD-3-Clause
 * place_move.c: data follow their rank (lucid_place.h). Cost: one message per process that gets another rank.
 */
#include <lucid_place.h>
#include <stdlib.h>

#include "calls.h"
#include "log.h"

/** The process that gets this process's rank, or -1 (reported) if k is not a permutation. */
static int find_heir(const int *k, int size, int rank)
{
    int heir = -1;
    char *seen = calloc((size_t)size, 1);
    for (int i = 0; seen && i < size; i++) {
        if (k[i] < 0 || k[i] >= size || seen[k[i]]) {
            if (rank == 0) /* the same everywhere: said once */
                lucid_error("cannot redistribute: k is not a permutation: process %d gets rank %d, which is out of range or taken",
                            i, k[i]);
            heir = -1;
            break;
        }
        seen[k[i]] = 1;
        if (k[i] == rank) heir = i;
    }
    free(seen);
    return heir;
}

int lucid_redistribute(void *buffer, int count, MPI_Datatype datatype, const int *k, MPI_Comm comm)
{
    int size, rank;
    if (!k || count < 0 || comm == MPI_COMM_NULL) return LUCID_ERR_ARG;
    if (PMPI_Comm_size(comm, &size) != MPI_SUCCESS || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return LUCID_ERR_MPI;
    int heir = find_heir(k, size, rank);
    if (heir < 0) return LUCID_ERR_ARG;
    if (heir == rank) return LUCID_SUCCESS;
    /* the program's data on the program's communicator: these messages are the program's and are counted as such */
    int rc = MPI_Sendrecv_replace(buffer, count, datatype, heir, 0, k[rank], 0, comm, MPI_STATUS_IGNORE);
    return rc == MPI_SUCCESS ? LUCID_SUCCESS : LUCID_ERR_MPI;
}
