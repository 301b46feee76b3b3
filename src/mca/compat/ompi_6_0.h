/* SPDX-License-Identifier: BSD-3-Clause
 * ompi_6_0.h: what the PML source needs of Open MPI 6.0's inside, where the series differ. One such header per series; no
 * other file of Lucid tells versions apart.
 */
#ifndef LUCID_COMPAT_H
#define LUCID_COMPAT_H

#include "ompi_internals.h"

/** The number of a communicator in this process. */
static inline uint32_t lucid_ompi_comm_number(const ompi_communicator_t *comm)
{
    return (uint32_t)comm->c_index;
}

/** Tags of the communicator creation's own messages. */
#define LUCID_OMPI_COMM_TAG_FIRST OMPI_COMM_ALLGATHER_TAG
#define LUCID_OMPI_COMM_TAG_LAST OMPI_COMM_ALLREDUCE_TAG

#endif
