/* SPDX-License-Identifier: BSD-3-Clause
 * scale_setup.c: the first allreduce of 8 bytes on a communicator of 1,024 and 4,096 simulated ranks, with what has to happen
 * before it: coll/hier with the job's map, coll/hier that discovers the nodes by messages, coll/han. The same figures on every
 * machine.
 *
 * scale_setup [--quick]    CSV on standard output; exit code 1 if a count is not what the formulas of startup_model.py say
 *
 * The messages are those of hier_first.c, hier_discover.c and, through the schedules themselves, hier_reduce.c. Of coll/han they
 * are those of Open MPI 4.1.4's mca_coll_han_comm_create: an allreduce, two split_types (an allreduce and the agreement on a
 * context id each), two splits (an allgather and an agreement), an allgather. han: each of the six by doubling, as counted on 4
 * and 16 ranks. han_tuned: as coll/tuned 4.1.4 chooses on 1,024 and 4,096 ranks (allreduce: reduce and broadcast; an allgather of
 * 8 bytes doubling, of 4 Bruck's).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hier_schedule.h"
#include "scale_steps.h"

enum { DATA = 8, HEADER = 32, INT = 4 }; /* bytes; header: header_t of hier_first.c */

struct world {
    struct scale_run *run;
    int ranks, per_node;
    bool tuned; /* as coll/tuned chooses */
};

static void heard(const struct world *w)
{
    for (int r = 0; r < w->ranks; r++) scale_heard_all(w->run, r);
}

/* ---- trees over `n` ranks, `stride` apart from `first` on ------------------------------------------------------------------- */

static void tree(const struct world *w, bool up, int first, int stride, int n, int radix, size_t bytes)
{
    int *child = malloc((size_t)n * sizeof *child);
    if (!child) abort();
    for (int v = 0; v < n; v++) {
        int parent, children = hier_tree(n, radix, v, &parent, child), rank = first + v * stride, above = first + parent * stride;
        if (parent >= 0 && !up) scale_recv(w->run, rank, above);
        for (int i = 0; i < children; i++) {
            if (up) scale_recv(w->run, rank, first + child[children - 1 - i] * stride);
            else scale_send(w->run, rank, first + child[i] * stride, bytes);
        }
        if (parent >= 0 && up) scale_send(w->run, rank, above, bytes);
    }
    free(child);
}

/* libnbc's broadcast: whoever has it sends it twice as far every time. */
static void down_libnbc(const struct world *w, int first, int stride, int n, size_t bytes)
{
    for (int v = 0; v < n; v++) {
        int reach = 1;
        while (reach <= v) reach *= 2;
        if (v > 0) scale_recv(w->run, first + v * stride, first + (v - reach / 2) * stride);
        for (; v + reach < n; reach *= 2) scale_send(w->run, first + v * stride, first + (v + reach) * stride, bytes);
    }
}

/* ---- allgathers; with pieces of no growth it is an allreduce ---------------------------------------------------------------- */

static void doubling(const struct world *w, size_t bytes, bool grows)
{
    for (int r = 0; r < w->ranks; r++)
        for (int far = 1; far < w->ranks; far *= 2) {
            scale_send(w->run, r, r ^ far, grows ? bytes * (size_t)far : bytes);
            scale_recv(w->run, r, r ^ far);
        }
    heard(w);
}

static void bruck(const struct world *w, int stride, size_t bytes)
{
    int n = w->ranks / stride;
    for (int v = 0; v < n; v++)
        for (int have = 1; have < n; have *= 2) {
            int more = have < n - have ? have : n - have;
            scale_send(w->run, v * stride, (v - have + n) % n * stride, bytes * (size_t)more);
            scale_recv(w->run, v * stride, (v + have) % n * stride);
        }
}

/* ---- coll/hier -------------------------------------------------------------------------------------------------------------- */

static void hier_agreed(const struct world *w, size_t carried)
{
    tree(w, true, 0, 1, w->ranks, 2, HEADER + carried);
    tree(w, false, 0, 1, w->ranks, 2, HEADER + carried);
    heard(w);
}

/* A fence waits for what was received before it; the order in which it does makes no difference to the time. */
static void take_steps(const struct world *w, int rank, const hier_schedule_t *s)
{
    for (int i = 0; i < s->count; i++) {
        if (s->step[i].kind == HIER_SEND) scale_send(w->run, rank, s->step[i].peer, DATA * s->step[i].count);
        if (s->step[i].kind == HIER_RECV) scale_recv(w->run, rank, s->step[i].peer);
    }
}

/* Radices: the defaults of hier_sync_radix and hier_radix. */
static void hier_allreduce(const struct world *w)
{
    int *node = malloc((size_t)w->ranks * sizeof *node);
    if (!node) abort();
    for (int r = 0; r < w->ranks; r++) node[r] = r / w->per_node;
    for (int r = 0; r < w->ranks; r++) {
        hier_layout_t *layout = hier_layout_create(node, w->ranks, r);
        hier_plan_t plan = {.layout = layout, .operation = HIER_ALLREDUCE, .count = 1, .chunk = 1, .up_radix = 8, .radix = 8,
                            .exchange = HIER_TREE};
        hier_schedule_t schedule = {0};
        if (!layout || !hier_plan_prepare(&plan)) abort();
        hier_plan_build(&plan, 0, &schedule);
        take_steps(w, r, &schedule);
        hier_schedule_cleanup(&schedule);
        hier_plan_cleanup(&plan);
        hier_layout_destroy(layout);
    }
    heard(w);
    free(node);
}

static void hier_first(const struct world *w)
{
    hier_agreed(w, DATA);
}

/* One socket a node. */
static void hier_discovery(const struct world *w)
{
    bruck(w, 1, INT);
    heard(w);
    bruck(w, w->per_node, INT);
    for (int leader = 0; leader < w->ranks; leader += w->per_node)
        for (int r = leader + 1; r < leader + w->per_node; r++) {
            scale_send(w->run, leader, r, (size_t)w->ranks * INT);
            scale_recv(w->run, r, leader);
        }
    hier_agreed(w, 0);
    hier_allreduce(w);
}

/* ---- coll/han --------------------------------------------------------------------------------------------------------------- */

static void han_allreduce(const struct world *w)
{
    int nodes = w->ranks / w->per_node;
    for (int i = 0; i < nodes; i++) tree(w, true, i * w->per_node, 1, w->per_node, 2, DATA);
    tree(w, true, 0, w->per_node, nodes, 2, DATA);
    down_libnbc(w, 0, w->per_node, nodes, DATA);
    for (int i = 0; i < nodes; i++) tree(w, false, i * w->per_node, 1, w->per_node, 2, DATA);
    heard(w);
}

/* Three nonblocking allreduces of libnbc on the parent. */
static void context_id(const struct world *w)
{
    for (int i = 0; i < 3; i++) {
        tree(w, true, 0, 1, w->ranks, 2, INT);
        down_libnbc(w, 0, 1, w->ranks, INT);
        heard(w);
    }
}

static void han_reduce(const struct world *w, size_t bytes)
{
    if (!w->tuned) {
        doubling(w, bytes, false);
        return;
    }
    tree(w, true, 0, 1, w->ranks, 2, bytes);
    tree(w, false, 0, 1, w->ranks, 4, bytes);
    heard(w);
}

static void han_first(const struct world *w)
{
    han_reduce(w, INT);
    for (int i = 0; i < 4; i++) {
        if (i < 2) han_reduce(w, 4 * INT);
        else doubling(w, 2 * INT, true);
        context_id(w);
    }
    if (w->tuned) bruck(w, 1, INT);
    else doubling(w, INT, true);
    if (w->tuned) heard(w);
    han_allreduce(w);
}

/* ---- figures ---------------------------------------------------------------------------------------------------------------- */

static int turns(int p)
{
    int found = 0;
    while (1 << found < p) found++;
    return found;
}

static uint64_t expected(const char *way, int p, int nodes)
{
    uint64_t tree = 2 * ((uint64_t)p - 1), all = (uint64_t)p * (uint64_t)turns(p);
    if (strcmp(way, "han") == 0) return 6 * all + 13 * tree;
    if (strcmp(way, "han_tuned") == 0) return 3 * all + 16 * tree;
    if (strcmp(way, "discovery") == 0) return all + (uint64_t)(nodes * turns(nodes)) + (uint64_t)(p - nodes) + 2 * tree;
    return tree;
}

static const struct { const char *name; void (*steps)(const struct world *); } ways[] = {
    {"hier", hier_first}, {"hier_further", hier_allreduce}, {"discovery", hier_discovery},
    {"han", han_first}, {"han_tuned", han_first}, {"han_further", han_allreduce}};

static bool measure(enum sim_network_kind kind, int ranks, int per_node, size_t way)
{
    struct sim_links links;
    struct scale_figures figures;
    struct world w = {scale_run_create(ranks), ranks, per_node, strcmp(ways[way].name, "han_tuned") == 0};
    sim_links_default(&links);
    links.ranks_per_node = per_node;
    struct sim_network *network = sim_network_create(kind, ranks, &links);
    ways[way].steps(&w);
    bool right = scale_run_perform(w.run, network, &figures);
    printf("%s,%d,%d,%s,%llu,%llu,%llu,%.3f\n", kind == SIM_FAT_TREE ? "fat tree" : "dragonfly", ranks, per_node, ways[way].name,
           (unsigned long long)figures.messages, (unsigned long long)figures.bytes, (unsigned long long)sim_network_between(network),
           1e6 * figures.seconds);
    if (right && figures.messages != expected(ways[way].name, ranks, ranks / per_node)) {
        fprintf(stderr, "scale_setup: %s on %d ranks has %llu messages, the formula says %llu\n", ways[way].name, ranks,
                (unsigned long long)figures.messages, (unsigned long long)expected(ways[way].name, ranks, ranks / per_node));
        right = false;
    }
    sim_network_destroy(network);
    scale_run_destroy(w.run);
    return right;
}

int main(int argc, char **argv)
{
    static const struct { int ranks, per_node; bool quick; } sizes[] = {{16, 4, true}, {256, 8, true}, {1024, 8, false}, {4096, 8, false}};
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0, right = true;
    printf("network,ranks,per_node,way,messages,bytes,between,us\n");
    for (int kind = SIM_FAT_TREE; kind <= SIM_DRAGONFLY; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
                if (sizes[i].quick || !quick) right &= measure((enum sim_network_kind)kind, sizes[i].ranks, sizes[i].per_node, way);
    return right ? 0 : 1;
}
