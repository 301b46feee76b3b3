/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The Lucid authors
 *
 * lucid.h: see where the messages of an MPI program go.
 *
 * A session is a window on the traffic of the calling process, bound to a communicator. Sessions overlap and nest
 * freely. While a session is active, every message that a member of the communicator sends to another member is
 * recorded, whatever communicator carries it, collectives as the point-to-point messages they are made of (where the
 * source can see them, see lucid_source_info()).
 *
 * The sessions and their states are those of "Improving MPI application communication time with an introspection
 * monitoring library" (Inria RR 9292), section 4; MPI_Monitoring.h offers that paper's API on top of this one.
 *
 * Every function returns LUCID_SUCCESS (0) or one of the LUCID_ERR_ codes; output parameters are set on success only.
 * Every function may be called from any thread between MPI_Init and MPI_Finalize. Functions said to be "collective"
 * must be called by all processes of the session's communicator, in the same order.
 */
#ifndef LUCID_H
#define LUCID_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "lucid_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LUCID_VERSION_MAJOR 0
#define LUCID_VERSION_MINOR 1
#define LUCID_VERSION_PATCH 0
#define LUCID_VERSION "0.1.0"

/** Identifies a session of this process. Never 0 or negative for a living session. */
typedef int lucid_session_t;

/** Stands for every living session, where a function accepts it. */
#define LUCID_ALL_SESSIONS (-1)

/** Sets the monitoring environment. Local. LUCID_ERR_MULTIPLE_CALL if it is set already. */
LUCID_PUBLIC int lucid_init(void);

/** Ends the environment and frees all sessions. Local. LUCID_ERR_STILL_ACTIVE if a session is active. */
LUCID_PUBLIC int lucid_finalize(void);

/**
 * Creates a session on an intra-communicator and starts it. Collective over comm.
 * name: at most 63 characters, unique among the living sessions of the process, or NULL for none.
 */
LUCID_PUBLIC int lucid_session_start(MPI_Comm comm, const char *name, lucid_session_t *session);

/** Suspends an active session: its data become readable. Local. Accepts LUCID_ALL_SESSIONS (suspends the active ones). */
LUCID_PUBLIC int lucid_session_suspend(lucid_session_t session);
/** Makes a suspended session active again. Local. Accepts LUCID_ALL_SESSIONS (continues the suspended ones). */
LUCID_PUBLIC int lucid_session_continue(lucid_session_t session);
/** Puts the data of a suspended session back to zero. Local. Accepts LUCID_ALL_SESSIONS (none may be active). */
LUCID_PUBLIC int lucid_session_reset(lucid_session_t session);
/** Frees a suspended session. Collective. Accepts LUCID_ALL_SESSIONS (none may be active). */
LUCID_PUBLIC int lucid_session_free(lucid_session_t session);

/** Finds a living session by name. Local. */
LUCID_PUBLIC int lucid_session_find(const char *name, lucid_session_t *session);
/** Number of processes of the session's communicator. Local, in any state. */
LUCID_PUBLIC int lucid_session_size(lucid_session_t session, int *size);

/**
 * What this process sent to each rank of the session's communicator. Local. The session must be suspended.
 * kinds: a set of kinds. counts, bytes: arrays of `size` elements, or NULL where not wanted.
 */
LUCID_PUBLIC int lucid_session_get(lucid_session_t session, uint64_t kinds, uint64_t *counts, uint64_t *bytes);
/** What this process sent to processes outside its MPI_COMM_WORLD (spawned or connected ones). Local. */
LUCID_PUBLIC int lucid_session_outside(lucid_session_t session, uint64_t kinds, uint64_t *count, uint64_t *bytes);
/**
 * Histogram of the sizes of all messages that this process sent while the session was active, to any peer. Local.
 * bins: LUCID_HISTOGRAM_BINS elements.
 */
LUCID_PUBLIC int lucid_session_histogram(lucid_session_t session, uint64_t kinds, uint64_t *bins);

/**
 * Gathers the traffic between all members to `root` as a sparse matrix, memory and traffic in proportion to its entries.
 * Collective. matrix: set at root only, to be freed with lucid_matrix_free(); ignored elsewhere (may be NULL).
 */
LUCID_PUBLIC int lucid_session_gather(lucid_session_t session, int root, uint64_t kinds, lucid_matrix_t *matrix);

/**
 * Writes a suspended session to a file, by the extension of `path`: .json (everything: kinds, hosts, nodes and cores,
 * MPI version, source and what it can see), .mtx (Matrix Market, bytes of all kinds, row = sender), .prof (one line per
 * pair). Collective: rank 0 writes, all ranks return the same code. The file appears whole under its name or not at all.
 */
LUCID_PUBLIC int lucid_session_write(lucid_session_t session, const char *path);

/** Name of the traffic source in use ("pml", "mpit" or "pmpi"), and what it sees (LUCID_SEES_ bits). Local. */
LUCID_PUBLIC int lucid_source_info(const char **name, unsigned *sees);

/** Name of a kind ("bcast"), or NULL. Local; needs no environment. */
LUCID_PUBLIC const char *lucid_kind_name(int kind);
/** One line of English for an error code. Local; needs no environment. */
LUCID_PUBLIC const char *lucid_error_string(int code);

#ifdef __cplusplus
}
#endif
#endif
