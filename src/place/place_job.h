/* SPDX-License-Identifier: BSD-3-Clause
 * place_job.h: the machine under a session's members: its tree, and what a message costs on it.
 */
#ifndef LUCID_PLACE_JOB_H
#define LUCID_PLACE_JOB_H

#include <lucid_place.h>

#include "session.h"

/** Inside a node, between nodes. */
enum { PLACE_INSIDE, PLACE_BETWEEN };

/** Measured costs while all processes exchange messages; 0: not known. */
struct place_costs {
    double latency[2];   /* seconds for a small message */
    double bandwidth[2]; /* bytes per second: of all processes of a node inside it; of a node's link in one direction */
    double split;        /* seconds to create a communicator, per process of it */
};

/** The job as its rank 0 knows it. Elsewhere only `nodes` and `costs` are set. */
struct place_job {
    int nodes;
    struct place_costs costs;
    double measuring;       /* seconds spent on the costs by this call */
    lucid_topology_t *tree; /* a leaf per member */
    int *group;             /* the groups that the tree is made of, [level][leaf] */
    int *leaf;              /* [rank] */
    int *node;              /* [rank] */
};

/** Gathers the places of the members, and what has been measured before, if anything. Collective. */
int place_job_open(const struct lucid_members *members, struct place_job *job);
/** Measures the costs where there are several nodes and they are not known. Takes some 50 ms. Collective. */
int place_job_measure(const struct lucid_members *members, struct place_job *job);
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

/** The costs that this process knows of jobs at least as large, or all zero. Local. */
void place_recall(int size, int nodes, struct place_costs *costs);
/** Measures and remembers the costs. node: [rank], at rank 0. Collective. */
int place_measure(const struct lucid_members *members, const int *node, int nodes, struct place_costs *costs);
/** Tells what creating a communicator of so many processes has really taken. */
void place_learn_split(double seconds, int size);

#endif
