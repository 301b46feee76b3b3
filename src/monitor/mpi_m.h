/* SPDX-License-Identifier: BSD-3-Clause
 * mpi_m.h: what mpi_m.c and mpi_m_flush.c share.
 */
#ifndef LUCID_MPI_M_H
#define LUCID_MPI_M_H

#include <MPI_Monitoring.h>

/** The paper's nine codes; the finer ones of lucid.h are internal failures there. */
int lucid_m_code(int status);
/** The kinds that a combination of flags stands for. MPI_SUCCESS or MPI_M_INTERNAL_FAIL. */
int lucid_m_kinds(int flags, uint64_t *kinds);

#endif
