/* SPDX-License-Identifier: BSD-3-Clause
 * ompi_4_1.h: what the PML source needs of Open MPI 4.1's inside, where the series differ. One such header per series; no
 * other file of Lucid tells versions apart.
 */
#ifndef LUCID_COMPAT_H
#define LUCID_COMPAT_H

#include "ompi_internals.h"

/** The number of a communicator in this process. */
static inline uint32_t lucid_ompi_comm_number(const ompi_communicator_t *comm)
{
    return (uint32_t)comm->c_contextid;
}

/** Tags of the communicator creation's own messages: none in this series, it uses nonblocking collectives. */
#define LUCID_OMPI_COMM_TAG_FIRST 0
#define LUCID_OMPI_COMM_TAG_LAST 0

#endif
