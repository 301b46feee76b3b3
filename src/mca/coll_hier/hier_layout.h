/* SPDX-License-Identifier: BSD-3-Clause
 * hier_layout.h: where the ranks of a communicator sit, and the trees that follow from it. Knows neither MPI nor Open MPI: all
 * of it is computed from the nodes of the ranks, so that every rank arrives at the same without a message.
 */
#ifndef LUCID_HIER_LAYOUT_H
#define LUCID_HIER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A communicator's ranks, node by node. Nodes are numbered in the order of their lowest ranks; a node's ranks ascend. */
typedef struct hier_layout {
    int size;         /**< ranks */
    int nodes;
    int rank;         /**< this process */
    int *node_of;     /**< [size] node of a rank */
    int *index_of;    /**< [size] place of a rank among those of its node */
    int *member;      /**< [size] ranks, node by node */
    int *first;       /**< [nodes + 1] where a node's ranks begin in member */
    int *tables;      /**< node_of, index_of, member, first, one behind the other: the same on all ranks */
    bool borrowed;    /**< the tables belong to somebody else */
    int *socket_of;   /**< [ranks of this process's node] group of each, the lowest index in it; NULL: one group */
    bool balanced;    /**< every node has as many ranks */
    bool consecutive; /**< every node's ranks follow each other: member[i] == i */
    uint64_t hash;    /**< of size and node_of: equal on two ranks that see the same layout */
} hier_layout_t;

/** A place in a tree. Children that are farther away, or have more below them, come first. */
typedef struct hier_links {
    int parent; /**< -1: this is the root */
    int count;  /**< children */
    int *child; /**< [count] */
} hier_links_t;

/** Nodes in which nothing can be gained by a hierarchy (one node, or one rank on each). */
static inline bool hier_layout_flat(const hier_layout_t *layout)
{
    return layout->nodes <= 1 || layout->nodes == layout->size;
}
static inline int hier_node_size(const hier_layout_t *layout, int node)
{
    return layout->first[node + 1] - layout->first[node];
}

/**
 * The layout of `size` ranks of which rank i sits on node[i] (any numbers >= 0, equal for ranks of one node), seen from `rank`.
 * O(size). NULL: no memory, or a rank's node is not known (negative). Freed by hier_layout_destroy.
 */
hier_layout_t *hier_layout_create(const int *node, int size, int rank);
void hier_layout_destroy(hier_layout_t *layout);

/** Bytes of the tables. */
size_t hier_layout_table_bytes(const hier_layout_t *layout);
/** Takes tables with the same contents for its own, which are freed; those stay their owner's, and are never written to. */
void hier_layout_borrow(hier_layout_t *layout, const void *tables);

/**
 * Tells the layout the socket of each rank of its own node: socket[i] for the i-th, any numbers, negative if not known (then
 * there is one group). False: no memory. The groups are kept only if there are several and one has several ranks.
 */
bool hier_layout_set_sockets(hier_layout_t *layout, const int *socket);
void hier_layout_drop_sockets(hier_layout_t *layout);
/** A number that is equal on all ranks of a node that see the same sockets. */
uint64_t hier_layout_socket_hash(const hier_layout_t *layout);

/** The leader of a node: its lowest rank, or `root` on root's node. */
int hier_layout_leader(const hier_layout_t *layout, int node, int root);

/** Place v of n in a tree with root 0. radix 1: a chain; k > 1: k-nomial, which for k >= n is a star. child: room for n. */
int hier_tree(int n, int radix, int v, int *parent, int *child);
/** How many places the subtree of v has: v and those that follow it. */
int hier_tree_below(int n, int radix, int v);

/**
 * The calling process's place among the ranks of its node, below its leader. links->child is allocated; false: no memory.
 * With sockets: their leaders below the node's, their ranks below them.
 */
bool hier_links_local(const hier_layout_t *layout, int root, int radix, hier_links_t *links);
/** Its place in the tree over all ranks: a tree over the leaders (up_radix), and in every node the one above. */
bool hier_links_all(const hier_layout_t *layout, int root, int up_radix, int radix, hier_links_t *links);
void hier_links_cleanup(hier_links_t *links);

/** FNV-1a, continued from `hash`. */
uint64_t hier_hash(uint64_t hash, const void *data, size_t bytes);
#define HIER_HASH_START UINT64_C(14695981039346656037)

#endif
