/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The Lucid authors
 *
 * lucid_map.h: which process should have which rank. Knows no MPI.
 *
 * The machine is a tree whose leaves hold one process each. Process i sits on leaf i, now with rank i; a mapping k gives it
 * rank k[i] (Inria RR 9292, section 5, Fig. 1). The cost of a mapping is J = sum over pairs of ranks of weight * distance of
 * the leaves they come to sit on ("hop-bytes" where distances are hops).
 *
 * All functions are thread-safe and local. They return LUCID_SUCCESS or a LUCID_ERR_ code.
 */
#ifndef LUCID_MAP_H
#define LUCID_MAP_H

#include "lucid_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A machine. */
typedef struct map_tree lucid_topology_t;

/**
 * Reads a machine from text: "node:64 numa:2 core:16" (how many of each, from the outside in; "core:4,4,2": one by one,
 * repeated as needed; "node=100:64" with the cost between two of them, default 1, 10, 100 ... from the inside out), or
 * "machine.xml" or "64*machine.xml": so many nodes as hwloc's lstopo describes, a leaf per core.
 * why: receives one line if it fails (LUCID_ERR_ARG); why_size: its size in bytes.
 */
LUCID_PUBLIC int lucid_topology_read(const char *text, lucid_topology_t **topology, char *why, size_t why_size);

/**
 * Makes a machine from the groups of its leaves: group[level * leaves + leaf], ascending along the leaves, level 0 the
 * outermost. cost[level]: between two leaves that part at that level. At most 7 levels; leaves that are together in all
 * given levels are separated by one more, of cost `inside`.
 */
LUCID_PUBLIC int lucid_topology_make(int leaves, int levels, const int *group, const double *cost, double inside,
                                     lucid_topology_t **topology);
/** Number of leaves. */
LUCID_PUBLIC int lucid_topology_leaves(const lucid_topology_t *topology);
/** Number of levels, outermost first; the last one separates all leaves. */
LUCID_PUBLIC int lucid_topology_levels(const lucid_topology_t *topology);
/**
 * Tells about a level: its name (the topology's; "" if it has none), its cost, and the group of every leaf (group: as many
 * elements as leaves; numbered from 0 without gaps, ascending). What is not wanted may be NULL.
 */
LUCID_PUBLIC int lucid_topology_level(const lucid_topology_t *topology, int level, const char **name, double *cost, int *group);
/** Frees a machine, or does nothing for NULL. */
LUCID_PUBLIC void lucid_topology_free(lucid_topology_t *topology);

typedef struct lucid_map_options {
    const char *algorithm;  /**< "auto" (NULL), "identity", "treematch", "multilevel", "scotch" */
    int messages;           /**< weight by messages rather than bytes */
    double seconds;         /**< "auto" begins no further attempt that is likely to end later; 0: the usual number of attempts, or
                                 fewer where they would take more than 1 second per 8,192 processes (0.2 at least) */
    int threads;            /**< 0: one per core; the result does not depend on it, but for what fits in the time */
    uint64_t seed;          /**< same seed, same result */
    int starts;             /**< of "multilevel": best of so many, where a part is divided in two; 0: the default of 1.
                                 of "auto": so many attempts, as long as they take if `seconds` is 0; 0: the usual number */
    const int *fixed;       /**< [process]: the rank it must have, or -1; NULL: all free */
} lucid_map_options_t;

/** Figures of a mapping. */
typedef struct lucid_map_cost {
    double cost;             /**< J */
    uint64_t between_bytes;  /**< bytes between groups of level 0 (nodes) */
    uint64_t link_bytes;     /**< the most bytes that one such group sends and receives */
} lucid_map_cost_t;

typedef struct lucid_map_result {
    lucid_map_cost_t before; /**< of the identity */
    lucid_map_cost_t after;
    double seconds;
    const char *algorithm;   /**< that found it */
} lucid_map_result_t;

/**
 * Finds a mapping of the matrix's processes (as many as the machine has leaves) that costs no more than the identity.
 * k: as many elements. result: may be NULL. why: see lucid_topology_read().
 */
LUCID_PUBLIC int lucid_map(const lucid_matrix_t *matrix, const lucid_topology_t *topology, const lucid_map_options_t *options,
                           int *k, lucid_map_result_t *result, char *why, size_t why_size);

/** Scores a mapping. LUCID_ERR_ARG, and one line in `why`, if k is not a permutation or sizes differ. */
LUCID_PUBLIC int lucid_map_evaluate(const lucid_matrix_t *matrix, const lucid_topology_t *topology, const int *k,
                                    lucid_map_cost_t *cost, char *why, size_t why_size);

#ifdef __cplusplus
}
#endif
#endif
