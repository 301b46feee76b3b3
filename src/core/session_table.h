/* SPDX-License-Identifier: BSD-3-Clause
 * session_table.h: the sessions of a process: identifiers, names, states and data. Knows no MPI.
 *
 * The state machine is that of Inria RR 9292, section 4.1. Functions return LUCID_SUCCESS or a LUCID_ERR_
 * code. All functions are thread-safe.
 */
#ifndef LUCID_SESSION_TABLE_H
#define LUCID_SESSION_TABLE_H

#include <stdbool.h>

#include <lucid_types.h>

#include "cells.h"

#define LUCID_TABLE_ALL (-1)
#define LUCID_NAME_LENGTH 63

/** What the table asks of the rest. Serialized by the table's lock. */
struct lucid_table_ops {
    int (*read)(struct lucid_cells *cells, struct lucid_cells *sizes); /* the counters, up to date; 0 or -1 */
    int (*activate)(void);                                           /* the first session is about to be active; 0 or -1 */
    void (*deactivate)(void);                                        /* the last active session was suspended */
    double (*seconds)(void);                                         /* a monotonic clock */
    void (*release)(void *attachment);                               /* a session is freed */
};

/** A session's data, copied out. */
struct lucid_session_data {
    struct lucid_cells cells; /* by (world rank, kind) */
    struct lucid_cells sizes; /* by (bin, kind) */
    double seconds;           /* time spent active */
    double in_mpi;            /* of a whole run: time spent in MPI (call_time.c); 0: not measured */
    char name[LUCID_NAME_LENGTH + 1];
};

/** Must be called before any other; later calls replace the operations (no session may live). */
LUCID_INTERNAL void lucid_table_setup(const struct lucid_table_ops *ops);

/**
 * Makes a session and activates it. hidden: not reached through LUCID_TABLE_ALL and not counted against `limit`.
 * name: NULL or at most LUCID_NAME_LENGTH characters, unique (LUCID_ERR_ARG). On failure the caller keeps `attachment`.
 */
LUCID_INTERNAL int lucid_table_start(const char *name, bool hidden, int limit, void *attachment, int *id);
LUCID_INTERNAL int lucid_table_suspend(int id);
LUCID_INTERNAL int lucid_table_continue(int id);
LUCID_INTERNAL int lucid_table_reset(int id);
/** Frees suspended sessions; `release` is called for each without the lock. */
LUCID_INTERNAL int lucid_table_free(int id);

/** LUCID_SUCCESS if the session lives (and, with `suspended`, is suspended); sets *attachment. */
LUCID_INTERNAL int lucid_table_attachment(int id, bool suspended, void **attachment);
/** Copies a suspended session's data; to be freed with lucid_session_data_clear(). */
LUCID_INTERNAL int lucid_table_copy(int id, struct lucid_session_data *data);
LUCID_INTERNAL void lucid_session_data_clear(struct lucid_session_data *data);
LUCID_INTERNAL int lucid_table_find(const char *name, int *id);

/** Identifiers of the visible sessions, ascending, in a new array; returns their number, or -1 without memory. For tests: a model of
 *  the table must hold the same sessions. */
LUCID_INTERNAL int lucid_table_list(int **ids);
/** Frees all visible sessions. LUCID_ERR_STILL_ACTIVE, and nothing is done, if one is active. */
LUCID_INTERNAL int lucid_table_clear(void);
/** Bytes of memory held by the sessions. For tests: they must be given back, and follow what was recorded. */
LUCID_INTERNAL size_t lucid_table_memory(void);

#endif
