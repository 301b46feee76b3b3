/* SPDX-License-Identifier: BSD-3-Clause
 * doctor_systems.h: see doctor_systems.c.
 */
#ifndef LUCID_DOCTOR_SYSTEMS_H
#define LUCID_DOCTOR_SYSTEMS_H

/** Prints one line of JSON on rank 0. Between MPI_Init and MPI_Finalize, by all processes. Returns the exit code. */
int doctor_systems(int rank);

#endif
