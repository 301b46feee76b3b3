/* SPDX-License-Identifier: BSD-3-Clause
 * source_mpit.h: the parts of the mpit source that deal with Open MPI's monitoring components.
 */
#ifndef LUCID_SOURCE_MPIT_H
#define LUCID_SOURCE_MPIT_H

#include <stddef.h>

#include <mpi.h>

/** Finds Open MPI's variables of messages and bytes per peer and starts handles on them. After MPI_Init, once.
 *  mode: value of pml_monitoring_enable. 0, or -1 with the reason in `why`. */
int lucid_mpit_prepare(MPI_T_pvar_session *session, MPI_T_pvar_handle *count, MPI_T_pvar_handle *bytes, int *mode,
                       char *why, size_t why_size);

/** The major version of Open MPI, or -1 for another library. Any time. version: of which library, may be NULL. */
int lucid_mpit_open_mpi_major(char *version, size_t size);

/** After MPI_Init: makes the monitoring safe without its collective part, and puts the environment back. */
void lucid_mpit_settle(void);

/** Registers the monitoring variables again where Open MPI has lost them. It reads LUCID_MPIT_ENABLE again, too. */
void lucid_mpit_register_again(void);

#define LUCID_MPIT_ENABLE "OMPI_MCA_pml_monitoring_enable"

/** The first series that keeps its variables after MPI_Init. */
enum { LUCID_MPIT_KEEPS_VARIABLES = 5 };

/** The first series on which enabling the monitoring crashes MPI_Init (seen on 6.0.0rc2). */
enum { LUCID_MPIT_BROKEN_MAJOR = 6 };

#endif
