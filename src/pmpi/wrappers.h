/* SPDX-License-Identifier: BSD-3-Clause
 * wrappers.h: what the generated wrappers need besides calls.h.
 */
#ifndef LUCID_WRAPPERS_H
#define LUCID_WRAPPERS_H

#include <mpi.h>

#include "../monitor/calls.h"
#include "../monitor/startup.h"

#define LUCID_WRAPPER __attribute__((visibility("default")))

/** The element of an array with one for each process of `comm` that is the calling process's own. */
#define OWN(array) ((array)[lucid_own_rank(comm)])

static inline int lucid_own_rank(MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

/** The requests of an MPI_Start(all) as they were before it: the library may put others in their place. */
struct lucid_starts {
    int all, n; /* requests; those that are looked at: all or none */
    bool nests; /* a Fortran wrapper, which may call that of C */
    MPI_Request *before;
    MPI_Request few[16];
};

void lucid_starts_begin(struct lucid_starts *starts, int n, const MPI_Request *requests);
/** Kind to book the messages under that the call makes by itself. */
int lucid_starts_kind(const struct lucid_starts *starts);
void lucid_starts_end(struct lucid_starts *starts, bool entered, int rc, const MPI_Request *requests);

#endif
