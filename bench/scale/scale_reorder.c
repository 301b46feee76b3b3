/* SPDX-License-Identifier: BSD-3-Clause
 * scale_reorder.c: what Lucid's mapper brings to one exchange with all neighbours on 1,024 and 4,096 simulated ranks, on a fat tree
 * and a dragonfly. The same figures on every machine, but for the column mapper_seconds.
 *
 * scale_reorder [--quick]           CSV on standard output; exit code 1 if the mapper fails, makes it worse, or has another cost
 *                                   than is counted here
 *
 * hop_bytes: bytes times links, summed over all pairs. us: from the moment at which all ranks begin to send to all their
 * neighbours, each one message after the other by rising rank, until the last one has arrived. between: bytes on all links
 * between switches; node: into the node that gets most.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lucid_map.h"
#include "scale_patterns.h"
#include "scale_steps.h"

enum { ATTEMPTS = 4 }; /* what the mapper makes by itself of so many ranks; told, it makes them on slow machines, too */

struct exchange {
    struct scale_figures figures;
    uint64_t between, node;
    double hop_bytes;
};

struct network {
    enum sim_network_kind kind;
    const char *name;
    int above, switches; /* nodes of a leaf or of a group, of a leaf or of a router */
    const char *tree;    /* links between two places that part there */
};

static const struct network networks[] = {
    {SIM_FAT_TREE, "fat tree", 8, 8, "switch=4:%d node=2:8 core=1:8"},
    {SIM_DRAGONFLY, "dragonfly", 16, 4, "group=5:%d switch=3:4 node=2:4 core=1:8"}};

static int per_node(void)
{
    struct sim_links links;
    sim_links_default(&links);
    return links.ranks_per_node;
}

/* The links of the tree that the mapper is given. */
static double links_between(const struct network *n, int a, int b)
{
    a /= per_node();
    b /= per_node();
    if (a == b) return 1;
    if (a / n->switches == b / n->switches) return 2;
    return n->kind == SIM_FAT_TREE ? 4 : a / n->above == b / n->above ? 3 : 5;
}

/* Process i has rank k[i]. */
static bool exchange(const struct network *n, const lucid_matrix_t *m, const int *k, struct exchange *e)
{
    struct sim_links links;
    int *place = malloc((size_t)m->size * sizeof *place);
    if (!place) abort();
    for (int i = 0; i < m->size; i++) place[k[i]] = i;
    sim_links_default(&links);
    struct sim_network *network = sim_network_create(n->kind, m->size, &links);
    struct scale_run *run = scale_run_create(m->size);
    e->hop_bytes = 0;
    for (int r = 0; r < m->size; r++)
        for (size_t i = m->row_start[r]; i < m->row_start[r + 1]; i++) {
            int to = place[m->column[i]];
            scale_send(run, place[r], to, m->bytes[i]);
            e->hop_bytes += (double)m->bytes[i] * links_between(n, place[r], to);
        }
    bool done = scale_run_perform(run, network, &e->figures) && e->figures.messages == m->entries;
    e->between = sim_network_between(network);
    e->node = sim_network_busiest(network);
    scale_run_destroy(run);
    sim_network_destroy(network);
    free(place);
    return done;
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool map(const struct network *n, const lucid_matrix_t *m, int *k, lucid_map_result_t *result)
{
    char tree[100], why[200] = "";
    lucid_topology_t *topology;
    lucid_map_options_t options = {.seed = 1, .starts = ATTEMPTS};
    snprintf(tree, sizeof tree, n->tree, m->size / per_node() / n->above);
    if (lucid_topology_read(tree, &topology, why, sizeof why) != LUCID_SUCCESS) {
        fprintf(stderr, "scale_reorder: %s: %s\n", tree, why);
        return false;
    }
    int rc = lucid_map(m, topology, &options, k, result, why, sizeof why);
    if (rc != LUCID_SUCCESS) fprintf(stderr, "scale_reorder: %s: %s\n", tree, why);
    lucid_topology_free(topology);
    return rc == LUCID_SUCCESS;
}

static bool measure(const struct network *n, enum scale_pattern pattern, enum scale_deal deal, int ranks, uint64_t unit)
{
    struct exchange before, after;
    lucid_map_result_t result;
    lucid_matrix_t m = scale_pattern(pattern, deal, ranks, per_node(), unit);
    int *k = malloc((size_t)ranks * sizeof *k);
    if (!k) abort();
    for (int i = 0; i < ranks; i++) k[i] = i;
    bool right = exchange(n, &m, k, &before) && map(n, &m, k, &result) && exchange(n, &m, k, &after);
    right = right && same(before.hop_bytes, result.before.cost) && same(after.hop_bytes, result.after.cost) &&
            after.hop_bytes <= before.hop_bytes;
    if (right)
        printf("%s,%d,%s,%s,%llu,%.0f,%.0f,%.3f,%.3f,%llu,%llu,%llu,%llu,%s,%.3f\n", n->name, ranks, scale_pattern_name[pattern],
               scale_deal_name[deal], (unsigned long long)unit * 64, before.hop_bytes, after.hop_bytes, 1e6 * before.figures.seconds,
               1e6 * after.figures.seconds, (unsigned long long)before.between, (unsigned long long)after.between,
               (unsigned long long)before.node, (unsigned long long)after.node, result.algorithm, result.seconds);
    else
        fprintf(stderr, "scale_reorder: %s, %d ranks, %s, %s: a cost is not what is counted here, or higher than before\n", n->name, ranks,
                scale_pattern_name[pattern], scale_deal_name[deal]);
    fflush(stdout);
    free(k);
    lucid_matrix_free(&m);
    return right;
}

static bool measure_ranks(const struct network *n, int ranks)
{
    static const uint64_t units[] = {512, 8};
    bool right = true;
    for (int pattern = 0; pattern < SCALE_PATTERNS; pattern++)
        for (int deal = 0; deal < SCALE_DEALS; deal++)
            for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++)
                right &= measure(n, (enum scale_pattern)pattern, (enum scale_deal)deal, ranks, units[unit]);
    return right;
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0, right = true;
    printf("network,ranks,pattern,dealt,bytes,hop_bytes_before,hop_bytes_after,us_before,us_after,between_before,between_after,"
           "node_before,node_after,algorithm,mapper_seconds\n");
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        if (quick) right &= measure_ranks(&networks[n], 256);
        else right &= measure_ranks(&networks[n], 1024) && measure_ranks(&networks[n], 4096);
    }
    return right ? 0 : 1;
}
