/* SPDX-License-Identifier: BSD-3-Clause
 * place_job.h: the machine under a session's members: its tree, and what a message costs on it.
 */
#ifndef LUCID_PLACE_JOB_H
#define LUCID_PLACE_JOB_H

#include <lucid_place.h>

#include "session.h"

/** Inside a node, between nodes. */
enum { PLACE_INSIDE, PLACE_BETWEEN };

/** Measured costs; 0: not known. */
struct place_costs {
    double latency[2];   /* seconds for a small message */
    double bandwidth[2]; /* bytes per second */
    double split;        /* seconds to create a communicator, per process of it */
};

/** The job as its rank 0 knows it. Elsewhere only `nodes` and `costs` are set. */
struct place_job {
    int nodes;
    struct place_costs costs;
    lucid_topology_t *tree; /* a leaf per member */
    int *group;             /* the groups that the tree is made of, [level][leaf] */
    int *leaf;              /* [rank] */
    int *node;              /* [rank] */
};

/** Gathers the places of the members and measures what is not known yet. Collective. */
int place_job_open(const struct lucid_members *members, struct place_job *job);
void place_job_close(struct place_job *job);
/** Gives all members the tree and the leaves. Collective. */
int place_job_share(const struct lucid_members *members, struct place_job *job);

/**
 * Seconds of communication for the traffic of a matrix when the rank r of it sits where process at[r] is (NULL: r itself):
 * the most loaded node link, the most messages of a process, the most bytes inside a node. At rank 0.
 */
double place_predict(const struct place_job *job, const struct lucid_matrix *matrix, const int *at);

/** Maps the ranks of a matrix to a tree on which the rank r sits on leaf[r] (NULL: r). k: [rank]. Reports what is wrong. */
int place_map(const struct lucid_matrix *matrix, const lucid_topology_t *tree, const int *leaf,
              const lucid_map_options_t *options, int *k, lucid_map_result_t *result);

/** Measures latency and bandwidth between pairs of members, and the creation of a communicator. Collective. */
int place_measure(const struct lucid_members *members, const int *node, int nodes, struct place_costs *costs);

#endif
