/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_scale.c: sparse reductions on 64 to 4,096 simulated ranks, on a fat tree and a dragonfly with links that are shared:
 * bytes, and modelled time, beside the same algorithm in dense form. The same figures on every machine.
 *
 * sparse_scale [--quick]            CSV on standard output
 * sparse_scale NETWORK RANKS        only these, without the heading: "fat tree" 4096
 *
 * seconds: the latest rank's clock, with the work on every byte received and, of the sparse form, a scan of the vector first.
 * busiest: bytes into the node that gets most; between: bytes on all links between switches.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparse_scale_cases.h"

static void measure(const struct scale_network *network, int ranks, size_t bytes, const struct scale_case *c)
{
    struct sim_links links;
    struct sim_report report;
    struct sim_trial t = scale_trial(c, ranks, bytes);
    sim_links_default(&links);
    t.sim.network = sim_network_create(network->kind, ranks, &links);
    if (sim_trial_run(&t, NULL, &report) && report.done == ranks) {
        scale_print(network->name, ranks, bytes, c);
        printf(",%llu,%llu,%llu,%.9f\n", (unsigned long long)report.received_most,
               (unsigned long long)sim_network_busiest(t.sim.network), (unsigned long long)sim_network_between(t.sim.network),
               report.time + (c->dense ? 0 : (double)bytes / SCALE_SCAN));
        fflush(stdout);
    } else {
        fprintf(stderr, "sparse_scale: %s on %d ranks has failed\n", sparse_algorithm_name(c->algorithm), ranks);
    }
    sim_network_destroy(t.sim.network);
}

static void measure_ranks(const struct scale_network *network, int ranks, size_t bytes)
{
    struct scale_case c;
    for (size_t i = 0; scale_case(i, ranks, &c); i++) measure(network, ranks, bytes, &c);
}

static void measure_sizes(const struct scale_network *network, int only)
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
    if (!some) printf(SCALE_COLUMNS ",received,busiest,between,seconds\n");
    for (const struct scale_network *network = scale_networks; network < scale_networks + SCALE_NETWORKS; network++) {
        if (quick) measure_ranks(network, 200, 65536);
        else if (!some || strcmp(argv[1], network->name) == 0) measure_sizes(network, some ? atoi(argv[2]) : 0);
    }
    return 0;
}
