/* SPDX-License-Identifier: BSD-3-Clause */
/* See sim_network.h. */
#include "sim_network.h"

#include <stdlib.h>

struct link {
    double rate, free_at;
    uint64_t bytes;
};

struct sim_network {
    enum sim_network_kind kind;
    struct sim_links links;
    int ranks, nodes, groups;
    struct link *link;
    int memory, up, down, switches, count; /* where each sort of link begins */
};

void sim_links_default(struct sim_links *links)
{
    *links = (struct sim_links){.ranks_per_node = 8, .nodes_per_leaf = 8, .spines = 4, .nodes_per_router = 4, .routers_per_group = 4,
                                .overhead = 1e-6, .hop = 2e-7, .memory = 8e9, .nic = 12.5e9, .switches = 12.5e9};
}

static int above(int a, int b)
{
    return (a + b - 1) / b;
}

/* Leaves and spines: up and down for each pair. Groups: a link between any two routers of a group, and between any two groups. */
static int switch_links(struct sim_network *n)
{
    const struct sim_links *l = &n->links;
    if (n->kind == SIM_FAT_TREE) {
        n->groups = above(n->nodes, l->nodes_per_leaf);
        return 2 * n->groups * l->spines;
    }
    n->groups = above(n->nodes, l->nodes_per_router * l->routers_per_group);
    return n->groups * (l->routers_per_group * l->routers_per_group + n->groups);
}

struct sim_network *sim_network_create(enum sim_network_kind kind, int ranks, const struct sim_links *links)
{
    struct sim_network *n = calloc(1, sizeof *n);
    if (!n) abort();
    n->kind = kind;
    n->links = *links;
    n->ranks = ranks;
    n->nodes = above(ranks, links->ranks_per_node);
    n->up = ranks;
    n->down = n->up + n->nodes;
    n->switches = n->down + n->nodes;
    n->count = n->switches + switch_links(n);
    n->link = calloc((size_t)n->count, sizeof *n->link);
    if (!n->link) abort();
    for (int i = 0; i < n->count; i++) n->link[i].rate = i < n->up ? links->memory : i < n->switches ? links->nic : links->switches;
    return n;
}

void sim_network_destroy(struct sim_network *network)
{
    if (!network) return;
    free(network->link);
    free(network);
}

static int fat_tree(const struct sim_network *n, int from, int to, int *way)
{
    const struct sim_links *l = &n->links;
    int leaf = from / l->nodes_per_leaf, other = to / l->nodes_per_leaf, spine = to % l->spines;
    if (leaf == other) return 0;
    way[0] = n->switches + leaf * l->spines + spine;
    way[1] = n->switches + (n->groups + other) * l->spines + spine;
    return 2;
}

/* The router of `group` that has the link to `other`. */
static int gateway(const struct sim_network *n, int group, int other)
{
    return (other + group) % n->links.routers_per_group;
}

static int dragonfly(const struct sim_network *n, int from, int to, int *way)
{
    const struct sim_links *l = &n->links;
    int routers = l->routers_per_group, in_group = l->nodes_per_router * routers, links = 0, each = routers * routers + n->groups;
    int group = from / in_group, other = to / in_group, router = from % in_group / l->nodes_per_router;
    int last = to % in_group / l->nodes_per_router, *at = &way[0], base = n->switches + group * each;
    if (group != other) {
        int leaves = gateway(n, group, other);
        if (router != leaves) at[links++] = base + router * routers + leaves;
        at[links++] = base + routers * routers + other;
        router = gateway(n, other, group);
        base = n->switches + other * each;
    }
    if (router != last) at[links++] = base + router * routers + last;
    return links;
}

int sim_network_way(const struct sim_network *n, int from, int to, int way[SIM_MOST_LINKS])
{
    int source = from / n->links.ranks_per_node, target = to / n->links.ranks_per_node, links = 1;
    if (source == target) {
        way[0] = from;
        return 1;
    }
    way[0] = n->up + source;
    links += n->kind == SIM_FAT_TREE ? fat_tree(n, source, target, way + 1) : dragonfly(n, source, target, way + 1);
    way[links++] = n->down + target;
    return links;
}

int sim_network_links(const struct sim_network *network)
{
    return network->count;
}

double sim_network_rate(const struct sim_network *network, int link)
{
    return network->link[link].rate;
}

double sim_network_latency(const struct sim_network *network, int link)
{
    return link < network->down ? network->links.overhead : network->links.hop;
}

double sim_network_send(struct sim_network *network, int from, int to, size_t bytes, double begin, double *left)
{
    int way[SIM_MOST_LINKS], links = sim_network_way(network, from, to, way);
    double head = begin + network->links.overhead, tail = head;
    for (int i = 0; i < links; i++) {
        struct link *link = &network->link[way[i]];
        if (i > 0) head += network->links.hop;
        if (head < link->free_at) head = link->free_at;
        double through = head + (double)bytes / link->rate;
        link->free_at = through;
        link->bytes += bytes;
        if (i == 0) *left = through;
        if (through > tail) tail = through;
    }
    return tail;
}

uint64_t sim_network_busiest(const struct sim_network *network)
{
    uint64_t most = 0;
    for (int i = network->down; i < network->switches; i++)
        if (network->link[i].bytes > most) most = network->link[i].bytes;
    return most;
}

uint64_t sim_network_between(const struct sim_network *network)
{
    uint64_t sum = 0;
    for (int i = network->switches; i < network->count; i++) sum += network->link[i].bytes;
    return sum;
}
