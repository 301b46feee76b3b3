/* SPDX-License-Identifier: BSD-3-Clause */
/* Links between simulated ranks: a two-level fat tree and a dragonfly of nodes with several ranks.
 *
 * A message takes a fixed way (fat tree: the spine by the destination, as static routing does; dragonfly: the shortest way).
 * Every link passes one message after the other, in the order in which they come, and a message's head goes on to the next link
 * while its tail is still behind (cut-through). So links that many share are shared, and what is waited for is counted. There
 * is no adaptive routing and no loss. */
#ifndef LUCID_SIM_NETWORK_H
#define LUCID_SIM_NETWORK_H

#include <stddef.h>
#include <stdint.h>

enum sim_network_kind { SIM_FAT_TREE, SIM_DRAGONFLY };

struct sim_links {
    int ranks_per_node;
    int nodes_per_leaf, spines;                     /* fat tree */
    int nodes_per_router, routers_per_group;        /* dragonfly */
    double overhead, hop;                           /* seconds: of a message, of every link after the first */
    double memory, nic, switches;                   /* bytes per second: a rank's copies in a node, a node, between switches */
};

struct sim_network;

/* The defaults of the bench: 8 ranks and 12.5 GB/s a node, twice as many links down from a leaf as up, groups of 16 nodes. */
void sim_links_default(struct sim_links *links);

struct sim_network *sim_network_create(enum sim_network_kind kind, int ranks, const struct sim_links *links);
void sim_network_destroy(struct sim_network *network);

/* When a message that is ready at `begin` has arrived; *left: when the sender's first link is free again. */
double sim_network_send(struct sim_network *network, int from, int to, size_t bytes, double begin, double *left);

/* The links from one rank to another, in order; their number. */
enum { SIM_MOST_LINKS = 6 };
int sim_network_way(const struct sim_network *network, int from, int to, int way[SIM_MOST_LINKS]);

/* How many links there are, numbered from 0; one's bytes per second, and seconds. A message's overhead is with its first link. */
int sim_network_links(const struct sim_network *network);
double sim_network_rate(const struct sim_network *network, int link);
double sim_network_latency(const struct sim_network *network, int link);

/* Bytes so far: through the busiest node's link in, and between switches altogether. */
uint64_t sim_network_busiest(const struct sim_network *network);
uint64_t sim_network_between(const struct sim_network *network);

#endif
