/* SPDX-License-Identifier: BSD-3-Clause
 * session.h: the parts of a session that know MPI: its members, and the gathering of its data.
 */
#ifndef LUCID_SESSION_H
#define LUCID_SESSION_H

#include <lucid.h>
#include <stdbool.h>

#include "cells.h"
#include "matrix.h"
#include "session_table.h"

/** The processes of a session. */
struct lucid_members {
    MPI_Comm own; /* for Lucid's own messages; errors return */
    int size;
    int rank;
    struct lucid_member { /* ordered by world rank; NULL where rank == world rank for all */
        uint32_t world;
        int rank;
    } *by_world;
};

/** Collective over comm. LUCID_SUCCESS, LUCID_ERR_MPI or LUCID_ERR_INTERNAL (reported). */
int lucid_members_make(MPI_Comm comm, struct lucid_members **members);
/** Collective. */
void lucid_members_free(struct lucid_members *members);
/** The member with this world rank, or -1. */
int lucid_members_rank(const struct lucid_members *members, uint32_t world);

/** Everything between these two on this thread is Lucid's own communication. They nest. */
void lucid_own_begin(void);
void lucid_own_end(void);

/** LUCID_SUCCESS once the source is open, whoever asked for it; opens it at the first call. */
int lucid_monitor_open(void);
/** LUCID_SUCCESS if lucid_init() has been called. */
int lucid_ready(void);
/** A suspended session and its members; checks the environment, too. */
int lucid_session_members(lucid_session_t session, bool suspended, struct lucid_members **members);

/** Seconds that a suspended session was active at this process; 0 where that is not known. */
double lucid_session_seconds(lucid_session_t session);

/** This process's data by (rank in the communicator, kind), of the kinds in the set, ordered; others are left out.
 *  merge: kinds are added up under kind 0. outside: those to processes outside MPI_COMM_WORLD instead. */
int lucid_row(const struct lucid_session_data *data, const struct lucid_members *members, uint64_t kinds, bool merge,
              bool outside, struct lucid_cells *row);

/** Rows of all members, one behind the other; start has size + 1 elements. */
struct lucid_rows {
    struct lucid_cell *cell;
    size_t *start;
};
void lucid_rows_free(struct lucid_rows *rows);

/** Marks a gather to every member. */
#define LUCID_TO_ALL (-1)
/**
 * Brings the rows of all members to `root` (or to all). Collective. status: this process's error so far; if any member
 * has one, or root has no memory, all members return an error and nothing is gathered.
 */
int lucid_gather_rows(const struct lucid_members *members, int root, int status, const struct lucid_cells *row,
                      struct lucid_rows *rows);
/** The same to one root, of which only root knows what came of it: others must be told. Collective. */
int lucid_rows_up(const struct lucid_members *members, int root, int status, const struct lucid_cells *row,
                  struct lucid_rows *rows);
/** The least (worst) of all members' codes. Collective. */
int lucid_agree(const struct lucid_members *members, int status);
/** Root's code at all members. Collective. */
int lucid_follow(const struct lucid_members *members, int root, int status);

/** Gathers one session's traffic as matrix, at root or at all. status: this process's error so far; if any member has one, all
 *  return an error. Collective. */
int lucid_gather_matrix(lucid_session_t session, int root, int status, uint64_t kinds, struct lucid_matrix *matrix,
                        struct lucid_members **members);

/** Writes a session's data as JSON to `path` from rank 0 of the members. Collective; data may be empty (all zero). */
int lucid_write_json(const struct lucid_members *members, const struct lucid_session_data *data, const char *path);

#endif
