/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_scale.c: sparse reductions on 64 to 4,096 simulated ranks, on a fat tree and a dragonfly with links that are shared:
 * bytes, and modelled time, beside the same algorithm in dense form. The same figures on every machine.
 *
 * sparse_scale [--quick]            CSV on standard output
 * sparse_scale NETWORK RANKS        only these, without the heading: "fat tree" 4096
 *
 * seconds: the latest rank's clock, with `work` for every byte received and, of the sparse form, a scan of the vector first.
 * Its dense form is Rabenseifner's (halving, then a gather), which is what good libraries take for such vectors. busiest: bytes
 * into the node that gets most; between: bytes on all links between switches.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_trial.h"

static const double scan = 15e9, work = 6e9; /* bytes per second */

static const struct { enum sim_network_kind kind; const char *name; } networks[] = {{SIM_FAT_TREE, "fat tree"},
                                                                                    {SIM_DRAGONFLY, "dragonfly"}};

static const struct { enum sparse_algorithm algorithm; const char *call; bool dense; } forms[] = {
    {SPARSE_REDUCE_HALVING, "Reduce", true},
    {SPARSE_REDUCE_BINOMIAL, "Reduce", false},
    {SPARSE_ALLREDUCE_HALVING, "Allreduce", true},
    {SPARSE_ALLREDUCE_DOUBLING, "Allreduce", false},
    {SPARSE_SCATTER_HALVING, "Reduce_scatter_block", true}};

static const struct { enum sim_pattern pattern; const char *name; double density; } inputs[] = {
    {SIM_RANDOM, "random", 0.0001}, {SIM_RANDOM, "random", 0.001}, {SIM_RANDOM, "random", 0.01},
    {SIM_SAME_POSITIONS, "same", 0.01}, {SIM_DISJOINT, "disjoint", 0}};

/* One reduction; of a dense one the vector has no common value. */
static void measure(size_t network, size_t form, int ranks, size_t bytes, size_t input, bool dense)
{
    struct sim_links links;
    struct sim_report report;
    sim_links_default(&links);
    struct sim_trial t = sim_trial_of(forms[form].algorithm, ranks, bytes / sizeof(double));
    double density = dense ? 1 : inputs[input].pattern == SIM_DISJOINT ? 1.0 / ranks : inputs[input].density;
    if (t.kind == SPARSE_REDUCE_SCATTER) t.count /= (size_t)ranks;
    t.pattern = dense ? SIM_RANDOM : inputs[input].pattern;
    t.density = density;
    t.fast = true;
    t.parameters.dense = dense;
    t.sim.work = 1 / work;
    t.sim.network = sim_network_create(networks[network].kind, ranks, &links);
    if (!sim_trial_run(&t, NULL, &report) || report.done != ranks) {
        fprintf(stderr, "sparse_scale: %s on %d ranks has failed\n", sparse_algorithm_name(forms[form].algorithm), ranks);
        sim_network_destroy(t.sim.network);
        return;
    }
    printf("%s,%d,%zu,%s,%s,%s,%s,%g,%llu,%llu,%llu,%.9f\n", networks[network].name, ranks, bytes, forms[form].call,
           sparse_algorithm_name(forms[form].algorithm), dense ? "dense" : "sparse", dense ? "any" : inputs[input].name, density,
           (unsigned long long)report.received_most, (unsigned long long)sim_network_busiest(t.sim.network),
           (unsigned long long)sim_network_between(t.sim.network), report.time + (dense ? 0 : (double)bytes / scan));
    fflush(stdout);
    sim_network_destroy(t.sim.network);
}

static void measure_ranks(size_t network, int ranks, size_t bytes)
{
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        if (forms[form].dense) measure(network, form, ranks, bytes, 0, true);
        for (size_t input = 0; input < sizeof inputs / sizeof *inputs; input++) measure(network, form, ranks, bytes, input, false);
    }
}

static void measure_sizes(size_t network, int only)
{
    static const struct { int ranks; size_t bytes; } sizes[] = {
        {64, (size_t)1 << 20}, {256, (size_t)1 << 20}, {1024, (size_t)1 << 20}, {1024, (size_t)1 << 18}, {4096, (size_t)1 << 18}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (only == 0 || only == sizes[i].ranks) measure_ranks(network, sizes[i].ranks, sizes[i].bytes);
}

int main(int argc, char **argv)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 16); /* a rank's memory goes back to the system with its trial */
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0, some = argc > 2;
    if (!some) printf("network,ranks,bytes,call,algorithm,form,pattern,density,received,busiest,between,seconds\n");
    for (size_t network = 0; network < sizeof networks / sizeof *networks; network++) {
        if (quick) measure_ranks(network, 200, 65536);
        else if (!some || strcmp(argv[1], networks[network].name) == 0) measure_sizes(network, some ? atoi(argv[2]) : 0);
    }
    return 0;
}
