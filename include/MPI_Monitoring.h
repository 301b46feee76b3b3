/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The Lucid authors
 *
 * MPI_Monitoring.h: the API of the introspection monitoring library (Inria RR 9292, section 4.3), offered by Lucid as a
 * thin face over lucid.h. The MPI standard reserves the prefix MPI_: build Lucid with -DLUCID_MPI_M=OFF to leave it out.
 *
 * All functions are thread-safe and, but for MPI_M_get_info, to be called by all processes of the session's
 * communicator. They return MPI_SUCCESS or one of the MPI_M_ error codes.
 */
#ifndef MPI_MONITORING_H
#define MPI_MONITORING_H

#include <lucid.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Identifier of a monitoring session. */
typedef int MPI_M_msid;

#define MPI_M_ALL_MSID ((MPI_M_msid)LUCID_ALL_SESSIONS)   /**< every session, active or suspended */
#define MPI_M_INT_IGNORE ((int *)0)                       /**< an int output parameter is not wanted */
#define MPI_M_DATA_IGNORE ((unsigned long *)0)            /**< an unsigned long output parameter is not wanted */

#define MPI_M_P2P_ONLY 1  /**< every point-to-point message, those that collectives are made of included */
#define MPI_M_COLL_ONLY 2 /**< those that collectives are made of */
#define MPI_M_OSC_ONLY 4  /**< one-sided */
#define MPI_M_ALL_COMM 7  /**< everything, nothing twice */

#define MPI_M_INTERNAL_FAIL LUCID_ERR_INTERNAL
#define MPI_M_MPIT_FAIL LUCID_ERR_MPI
#define MPI_M_MISSING_INIT LUCID_ERR_MISSING_INIT
#define MPI_M_SESSION_STILL_ACTIVE LUCID_ERR_STILL_ACTIVE
#define MPI_M_SESSION_NOT_SUSPENDED LUCID_ERR_NOT_SUSPENDED
#define MPI_M_INVALID_MSID LUCID_ERR_SESSION
#define MPI_M_SESSION_OVERFLOW LUCID_ERR_OVERFLOW
#define MPI_M_MULTIPLE_CALL LUCID_ERR_MULTIPLE_CALL
#define MPI_M_INVALID_ROOT LUCID_ERR_ROOT

/** Sets the monitoring environment, after MPI_Init. MULTIPLE_CALL if it is set. */
LUCID_PUBLIC int MPI_M_init(void);
/** Finalizes the monitoring environment, before MPI_Finalize. SESSION_STILL_ACTIVE if a session is not suspended. */
LUCID_PUBLIC int MPI_M_finalize(void);
/** Creates and starts a session on `comm`. */
LUCID_PUBLIC int MPI_M_start(MPI_Comm comm, MPI_M_msid *msid);
/** Suspends a session (or all active ones): its data become available. */
LUCID_PUBLIC int MPI_M_suspend(MPI_M_msid msid);
/** Restarts a suspended session (or all suspended ones). */
LUCID_PUBLIC int MPI_M_continue(MPI_M_msid msid);
/** Puts the data of a suspended session (or of all) back to zero. */
LUCID_PUBLIC int MPI_M_reset(MPI_M_msid msid);
/** Frees a suspended session (or all): its data are no longer available. */
LUCID_PUBLIC int MPI_M_free(MPI_M_msid msid);
/** Level of thread support, and the size of the arrays of MPI_M_get_data. Not collective. */
LUCID_PUBLIC int MPI_M_get_info(MPI_M_msid msid, int *provided, int *array_size);
/** Messages and bytes that this process sent to each process of the communicator, in `array_size` elements. */
LUCID_PUBLIC int MPI_M_get_data(MPI_M_msid msid, unsigned long *msg_counts, unsigned long *msg_sizes, int flags);
/** MPI_M_get_data of every process at every process: row-major square matrices, row = sender. */
LUCID_PUBLIC int MPI_M_allgather_data(MPI_M_msid msid, unsigned long *matrix_counts, unsigned long *matrix_sizes, int flags);
/** The same at `root` only; the other processes may pass NULL. */
LUCID_PUBLIC int MPI_M_rootgather_data(MPI_M_msid msid, int root, unsigned long *matrix_counts, unsigned long *matrix_sizes,
                                       int flags);
/** Each process writes what it sent to `<filename>.<rank in the session's communicator>.prof`. The path must exist. */
LUCID_PUBLIC int MPI_M_flush(MPI_M_msid msid, const char *filename, int flags);
/** Root writes the matrices to `<filename>_counts.<rank in MPI_COMM_WORLD>.prof` and `<filename>_sizes.<rank>.prof`. */
LUCID_PUBLIC int MPI_M_rootflush(MPI_M_msid msid, int root, const char *filename, int flags);

#ifdef __cplusplus
}
#endif
#endif
