/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The Lucid authors
 *
 * lucid_place.h: from a session to a communicator whose ranks sit where their messages are (Inria RR 9292, section 5).
 *
 * Throughout, a mapping k gives the process of rank i the rank k[i] in the reordered communicator. All functions are
 * collective over the session's communicator, return the same LUCID_SUCCESS or LUCID_ERR_ code everywhere, and may be
 * called from any thread.
 */
#ifndef LUCID_PLACE_H
#define LUCID_PLACE_H

#include "lucid.h"
#include "lucid_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All zero: the defaults. The same at all processes, but for k. */
typedef struct lucid_reorder_options {
    uint64_t kinds;        /**< traffic that counts; 0: every point-to-point message */
    uint64_t recorded;     /**< iterations that the session has recorded; 0: 1 */
    uint64_t remaining;    /**< iterations still to come */
    uint64_t moved_bytes;  /**< bytes of data that each process would have to move afterwards (lucid_redistribute) */
    double change_seconds; /**< what the program itself will spend on a change beside moving data: communicators to be made anew */
    int always;            /**< reorder wherever the mapping costs less (lucid_map.h), whether it pays or not */
    int everywhere;        /**< every process maps with a seed of its own and the best result wins; 0: one process maps */
    const char *algorithm; /**< see lucid_map_options_t; NULL: "auto" */
    double seconds;        /**< time budget of the mapping; 0: a fiftieth of what could be gained at most, 8 s at most */
    uint64_t seed;
    int *k;                /**< receives the mapping (the identity if nothing is reordered), size elements; or NULL */
} lucid_reorder_options_t;

/** What was decided, and on which figures. Times in seconds. */
typedef struct lucid_decision {
    int reordered;             /**< whether the communicator is a new one */
    char reason[160];          /**< one line of English */
    double before, after;      /**< predicted communication time of an iteration, never more than the session saw it take.
                                    0 on one node, like all figures that follow from measurements */
    double mapping;            /**< spent on gathering and mapping */
    double measuring;          /**< spent on measuring the costs below: once per job, in no other figure; else next to nothing */
    double creating;           /**< creating the communicator: spent if reordered, else predicted */
    double moving;             /**< predicted: moving the data */
    uint64_t break_even;       /**< iterations after which it has paid; UINT64_MAX: never */
    lucid_map_result_t map;    /**< figures of the mapping; algorithm "identity" if nothing better was found */
    double latency[2];         /**< measured while all processes send: inside a node, between nodes; of one message */
    double bandwidth[2];       /**< likewise, bytes per second: of a node's processes together; of a node's link in one direction */
} lucid_decision_t;

/**
 * Reorders a communicator by what the suspended session has recorded on it (or on one with the same processes in the same
 * order), if that pays. newcomm: the reordered communicator, to be freed by the caller if decision->reordered; else comm
 * itself. options: NULL for the defaults, with which nothing pays since no iteration remains. decision: may be NULL.
 */
LUCID_PUBLIC int lucid_comm_reorder(MPI_Comm comm, lucid_session_t session, const lucid_reorder_options_t *options,
                                    MPI_Comm *newcomm, lucid_decision_t *decision);

/** The mapping alone. topology: NULL for the live job's (used at rank 0 only). k: size elements. */
LUCID_PUBLIC int lucid_mapping(const lucid_topology_t *topology, lucid_session_t session, int *k);

/**
 * Brings every rank's data to the process that has this rank in the reordered communicator: process i receives what process
 * k[i] had. In place; any datatype. Collective over comm, the communicator before reordering.
 */
LUCID_PUBLIC int lucid_redistribute(void *buffer, int count, MPI_Datatype datatype, const int *k, MPI_Comm comm);

/** What reordering has brought, by two sessions. */
typedef struct lucid_review {
    double before, after; /**< communication time of an iteration on the traffic recorded, as lucid_decision_t */
    uint64_t between_before, between_after; /**< bytes between nodes of an iteration */
    int taken_back;
} lucid_review_t;

/**
 * Compares what was recorded on the original communicator with what was recorded on the reordered one, each by its own
 * processes' real places. take_back: if the reordered one is no better, frees *newcomm and puts `original` in its place
 * (and *review says so; the data are the caller's to move back, with the inverse of k). recorded_before, recorded_after:
 * iterations in the sessions.
 */
LUCID_PUBLIC int lucid_reorder_review(MPI_Comm original, lucid_session_t before, uint64_t recorded_before, MPI_Comm *newcomm,
                                      lucid_session_t after, uint64_t recorded_after, int take_back, lucid_review_t *review);

#ifdef __cplusplus
}
#endif
#endif
