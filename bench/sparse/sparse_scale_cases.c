/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_scale_cases.h. */
#include "sparse_scale_cases.h"

#include <stdio.h>

const struct scale_network scale_networks[SCALE_NETWORKS] = {{SIM_FAT_TREE, "fat tree"}, {SIM_DRAGONFLY, "dragonfly"}};

/* `dense`: Rabenseifner's, which is what good libraries take for such vectors. */
static const struct { enum sparse_algorithm algorithm; const char *call; bool dense; } forms[] = {
    {SPARSE_REDUCE_HALVING, "Reduce", true},
    {SPARSE_REDUCE_BINOMIAL, "Reduce", false},
    {SPARSE_ALLREDUCE_HALVING, "Allreduce", true},
    {SPARSE_ALLREDUCE_DOUBLING, "Allreduce", false},
    {SPARSE_ALLREDUCE_LEADERS, "Allreduce", false},
    {SPARSE_SCATTER_HALVING, "Reduce_scatter_block", true}};

static const struct { enum sim_pattern pattern; const char *name; double density; } inputs[] = {
    {SIM_RANDOM, "random", 0.0001}, {SIM_RANDOM, "random", 0.001}, {SIM_RANDOM, "random", 0.01},
    {SIM_SAME_POSITIONS, "same", 0.01}, {SIM_DISJOINT, "disjoint", 0}};

enum { FORMS = sizeof forms / sizeof *forms, INPUTS = sizeof inputs / sizeof *inputs };

bool scale_case(size_t index, int ranks, struct scale_case *found)
{
    for (size_t form = 0; form < FORMS; form++) {
        *found = (struct scale_case){.algorithm = forms[form].algorithm, .call = forms[form].call, .input = "any",
                                     .pattern = SIM_RANDOM, .density = 1, .dense = true};
        if (forms[form].dense && index-- == 0) return true;
        found->dense = false;
        if (index >= INPUTS) {
            index -= INPUTS;
            continue;
        }
        found->input = inputs[index].name;
        found->pattern = inputs[index].pattern;
        found->density = found->pattern == SIM_DISJOINT ? 1.0 / ranks : inputs[index].density;
        return true;
    }
    return false;
}

struct sim_trial scale_trial(const struct scale_case *c, int ranks, size_t bytes)
{
    struct sim_links links;
    struct sim_trial t = sim_trial_of(c->algorithm, ranks, bytes / sizeof(double));
    sim_links_default(&links);
    t.parameters.rates.ranks_per_node = links.ranks_per_node;
    t.parameters.rates.latency_node = t.parameters.rates.latency_network = links.overhead;
    if (t.kind == SPARSE_REDUCE_SCATTER) t.count /= (size_t)ranks;
    t.pattern = c->pattern;
    t.density = c->density;
    t.fast = true;
    t.parameters.dense = c->dense;
    t.sim.work = 1 / SCALE_WORK;
    return t;
}

void scale_print(const char *network, int ranks, size_t bytes, const struct scale_case *c)
{
    printf("%s,%d,%zu,%s,%s,%s,%s,%g", network, ranks, bytes, c->call, sparse_algorithm_name(c->algorithm),
           c->dense ? "dense" : "sparse", c->input, c->density);
}
