/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on nodes: a binomial tree over the ranks of each node, whose root is the node's leader, and the leaders on a hypercube. A node is
 * `per_node` consecutive ranks; the last may have fewer. */
#ifndef LUCID_SPARSE_NODES_H
#define LUCID_SPARSE_NODES_H

#include <stdbool.h>
#include <stdint.h>

/* Ranks on a hypercube, all of them or every `stride`th: of `extra` pairs at the front one rank each stands aside. Combining along the
 * cube's edges, bit 0 first, joins neighbouring groups only, so that the order of the operands is the ranks'. */
struct sparse_fold {
    int cube, steps, extra;
    int stride;  /* from one rank on the cube to the next, of whom it is for: 1, or as many as are on a node */
    int self;    /* place in the cube, -1 for a rank that stands aside */
    int partner; /* the other rank of the pair, or -1 */
    int root;    /* the number (rank / stride) of its pair that never stands aside, or -1 */
};

/* Of `size` ranks, which are numbered 0, 1, ...; `root` is a number or -1. */
void sparse_fold_init(struct sparse_fold *fold, int number, int size, int root, int stride);
int sparse_fold_rank(const struct sparse_fold *fold, int self); /* rank at a place */
int sparse_fold_place(const struct sparse_fold *fold, int rank); /* place of a rank, or of the one that stands in for it */
int sparse_fold_position(const struct sparse_fold *fold, int self); /* what it holds after halving: the place's bits reversed */

struct sparse_nodes {
    int per_node;
    int local, members;          /* this rank within its node; how many that has */
    int reach;                   /* a rank of the tree stands for those from its own up to, but without, this far from it */
    struct sparse_fold leaders;  /* the nodes' first ranks */
};

void sparse_nodes_init(struct sparse_nodes *nodes, int rank, int size, int per_node);

/* Whether there is a rank so far from this one in its node. */
static inline bool sparse_node_has(const struct sparse_nodes *nodes, int distance)
{
    return nodes->local + distance < nodes->members;
}

/* The other ranks of its node, by bit: the first one's is the lowest. Of up to 31. */
static inline uint32_t sparse_node_others(const struct sparse_nodes *nodes)
{
    return ((UINT32_C(1) << nodes->members) - 1) & ~(UINT32_C(1) << nodes->local);
}

static inline bool sparse_same_node(const struct sparse_nodes *nodes, int rank, int other)
{
    return rank / nodes->per_node == other / nodes->per_node;
}

/* Whether there are nodes to speak of: several, with several ranks. */
bool sparse_nodes_matter(int size, int per_node);

#endif
