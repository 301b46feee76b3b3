/* SPDX-License-Identifier: BSD-3-Clause */
/* What sparse_scale and sparse_simgrid reduce: the calls, in dense form and of sparse inputs, and the networks. */
#ifndef SPARSE_SCALE_CASES_H
#define SPARSE_SCALE_CASES_H

#include "sim_trial.h"

#define SCALE_SCAN 15e9 /* bytes per second: of a vector that is looked for what is in it; */
#define SCALE_WORK 6e9  /* of what is received and combined */

enum { SCALE_NETWORKS = 2 };
extern const struct scale_network {
    enum sim_network_kind kind;
    const char *name;
} scale_networks[SCALE_NETWORKS];

struct scale_case {
    enum sparse_algorithm algorithm;
    const char *call, *input;
    enum sim_pattern pattern;
    double density;
    bool dense; /* the algorithm's dense form, of a vector that has no common value */
};

/* Case `index` of so many ranks; false: there are no more. */
bool scale_case(size_t index, int ranks, struct scale_case *found);

/* The reduction of a case, with everything but its network. */
struct sim_trial scale_trial(const struct scale_case *c, int ranks, size_t bytes);

/* The first columns of the CSV files: of its heading; of a case. */
#define SCALE_COLUMNS "network,ranks,bytes,call,algorithm,form,pattern,density"
void scale_print(const char *network, int ranks, size_t bytes, const struct scale_case *c);

#endif
