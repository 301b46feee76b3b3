/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_volume.c: what sparse reductions put on the wire, on simulated ranks: no clock but the modelled one, the same figures
 * on every machine.
 *
 * sparse_volume [--quick]     CSV on standard output
 *
 * received: the most bytes that one rank receives, which is what a reduction waits for (of a Reduce: the root, its part of the
 * halving and the gather). dense: the same for a dense Rabenseifner. bound: the least for a halving, and a gather for other
 * than Reduce_scatter_block, if exceptions lie at random, at the same positions, or disjoint, and every message has the
 * shortest of: dense, bitmap and values, 32-bit indices and values, two-level bitmap and values. seconds: the critical path at
 * 30 us and 1 Gbit/s; dense_seconds: a dense Rabenseifner's.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim_trial.h"

static const double latency = 30e-6, bandwidth = 125e6;

static const struct { enum sim_pattern pattern; const char *name; } patterns[] = {
    {SIM_RANDOM, "random"}, {SIM_SAME_POSITIONS, "same"}, {SIM_DISJOINT, "disjoint"}, {SIM_CLUSTERED, "clustered"},
    {SIM_POWER_LAW, "power law"}};

static const struct { enum sparse_algorithm algorithm; int most_ranks; } algorithms[] = {
    {SPARSE_REDUCE_HALVING, 1024},    {SPARSE_REDUCE_BINOMIAL, 64},    {SPARSE_REDUCE_DIRECT, 64},
    {SPARSE_SCATTER_HALVING, 1024},   {SPARSE_SCATTER_PAIRWISE, 64},
    {SPARSE_ALLREDUCE_HALVING, 1024}, {SPARSE_ALLREDUCE_DOUBLING, 64}, {SPARSE_ALLREDUCE_RING, 64}};

static double union_of(const char *pattern, double density, double ranks)
{
    if (strcmp(pattern, "same") == 0) return density;
    if (strcmp(pattern, "disjoint") == 0) return fmin(1, ranks * density);
    return 1 - pow(1 - density, ranks);
}

/* Bytes of an element. */
static double shortest(double d, double size)
{
    double two_level = 1.0 / 512 + (1 - pow(1 - d, 64)) / 8 + d * size;
    return fmin(fmin(size, 0.125 + d * size), fmin(d * (size + 4), two_level));
}

static double bound_of(const char *pattern, double density, double size, int ranks, bool gathers)
{
    double sum = 0;
    for (int k = 1; k < ranks; k *= 2) sum += shortest(union_of(pattern, density, k), size) / (2 * k);
    if (gathers) sum += shortest(union_of(pattern, density, ranks), size) * (ranks - 1) / ranks;
    return sum;
}

static void measure(enum sparse_algorithm algorithm, int ranks, int operator, size_t bytes, enum sim_pattern pattern,
                    const char *name, double density)
{
    struct sparse_operator op = sim_operator(operator);
    struct sim_report report;
    size_t elements = bytes / op.size;
    struct sim_trial t = sim_trial_of(algorithm, ranks, elements);
    bool gathers = t.kind != SPARSE_REDUCE_SCATTER, known = pattern <= SIM_DISJOINT;
    double share = (double)(ranks - 1) / ranks, steps = log2(ranks);
    if (!gathers) t.count /= (size_t)ranks;
    t.operator = operator;
    t.pattern = pattern;
    t.density = density;
    t.fast = true;
    t.sim.latency = latency;
    t.sim.bandwidth = bandwidth;
    if (!sim_trial_run(&t, NULL, &report) || report.done != ranks) {
        fprintf(stderr, "sparse_volume: %s on %d ranks has failed\n", sparse_algorithm_name(algorithm), ranks);
        return;
    }
    double exceptions = (double)report.outcome[0].exceptions / (double)elements; /* with "same" everybody's, to the last one */
    double everywhere = pattern == SIM_SAME_POSITIONS ? exceptions : density;
    printf("%s,%d,%zu,%zu,%s,%g,%.6f,%llu,%llu,%.0f,", sparse_algorithm_name(algorithm), ranks, op.size, bytes, name, density,
           exceptions, (unsigned long long)report.received_most,
           (unsigned long long)(report.sent / (uint64_t)ranks), (gathers ? 2 : 1) * share * (double)bytes);
    if (known) printf("%.0f", bound_of(name, everywhere, (double)op.size, ranks, gathers) * (double)elements);
    printf(",%.9f,%.9f\n", report.time, (gathers ? 2 : 1) * (steps * latency + share * (double)bytes / bandwidth));
    fflush(stdout);
}

static void measure_patterns(enum sparse_algorithm algorithm, int ranks, int operator, size_t bytes)
{
    static const double densities[] = {0.0001, 0.001, 0.01, 0.1};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
            bool disjoint = patterns[p].pattern == SIM_DISJOINT;
            if (disjoint && d > 0) continue;
            double density = disjoint ? 1.0 / ranks : densities[d];
            measure(algorithm, ranks, operator, bytes, patterns[p].pattern, patterns[p].name, density);
        }
}

int main(int argc, char **argv)
{
    static const int all_ranks[] = {16, 64, 256, 1024};
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    printf("algorithm,ranks,size,bytes,pattern,density,exceptions,received,sent,dense,bound,seconds,dense_seconds\n");
    for (size_t r = 0; r < (quick ? 1 : sizeof all_ranks / sizeof *all_ranks); r++)
        for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
            if (all_ranks[r] > algorithms[a].most_ranks) continue;
            measure_patterns(algorithms[a].algorithm, all_ranks[r], 0, quick ? 65536 : (size_t)1 << 20);
            if (quick || all_ranks[r] > 64) continue;
            measure_patterns(algorithms[a].algorithm, all_ranks[r], 1, (size_t)1 << 20);
            if (all_ranks[r] == 16) measure_patterns(algorithms[a].algorithm, all_ranks[r], 0, (size_t)8 << 20);
        }
    return 0;
}
