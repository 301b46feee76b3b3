/* SPDX-License-Identifier: BSD-3-Clause
 * map_tree.h: the machine as a tree: every leaf holds one process; the cost between two leaves depends on the level at which
 * they part. Nodes may have different sizes. Knows no MPI.
 */
#ifndef LUCID_MAP_TREE_H
#define LUCID_MAP_TREE_H

#include <stddef.h>

enum { MAP_TREE_LEVELS = 8 };

struct map_tree {
    int leaves;
    int levels;                       /* level 0 is the outermost (usually nodes); the last one separates all leaves */
    char name[MAP_TREE_LEVELS][16];   /* "node", "numa", "core" ... */
    double cost[MAP_TREE_LEVELS];     /* between leaves that are together in all levels outside this one, but not in it */
    int *group[MAP_TREE_LEVELS];      /* [leaf]: number of its group, ascending with the leaf; a group lies within one outer group */
};

/**
 * Reads "node:64 numa:2 core:16": from the outermost level inwards, how many of it each outer one has. "core:4,4,2" gives
 * the numbers one by one, repeated as needed. "name=cost:count" sets a level's cost; where none is given, the innermost
 * costs 1 and every other ten times the next inner one. 0, or -1 with one line in `why`.
 */
int map_tree_parse(struct map_tree *tree, const char *text, char *why, size_t why_size);

/** Allocates groups for `leaves` leaves and `levels` levels, to be filled in. 0, or -1 without memory. */
int map_tree_make(struct map_tree *tree, int leaves, int levels);
void map_tree_free(struct map_tree *tree);

/** The cost between two leaves. */
static inline double map_tree_distance(const struct map_tree *tree, int a, int b)
{
    for (int level = 0; level < tree->levels; level++)
        if (tree->group[level][a] != tree->group[level][b]) return tree->cost[level];
    return 0;
}

#endif
