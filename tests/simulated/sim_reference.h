/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reduction must give: the operator's plain loop over the same bracketing; and vectors of all kinds to reduce. */
#ifndef LUCID_SIM_REFERENCE_H
#define LUCID_SIM_REFERENCE_H

#include "sparse_collective.h"

/* The brackets of an algorithm (its file says which). */
enum sim_tree { SIM_CUBE, SIM_LEFT, SIM_CHAIN, SIM_LEADERS, SIM_LEADERS_CHAIN, SIM_SCAN, SIM_EXSCAN, SIM_SCAN_CHAIN, SIM_EXSCAN_CHAIN };
enum sim_tree sim_tree_of(enum sparse_kind kind, enum sparse_algorithm algorithm);

/* `vectors` has `ranks` vectors of `count` elements, one behind the other. CUBE and LEFT: *result is one vector; SCAN*
 * and EXSCAN*: one per rank (rank 0 of EXSCAN*: zeros). To be freed. CHAIN depends on the root, LEADERS on the ranks of a node. */
void *sim_reference(const struct sparse_operator *operator, enum sim_tree tree, int ranks, size_t count, const void *vectors);
void *sim_reference_chain(const struct sparse_operator *operator, int ranks, int root, size_t count, const void *vectors);
void *sim_reference_leaders(const struct sparse_operator *operator, int ranks, int per_node, int root, size_t count,
                            const void *vectors);

enum sim_pattern {
    SIM_ALL_SAME, SIM_RANDOM, SIM_SAME_POSITIONS, SIM_DISJOINT, SIM_CLUSTERED, SIM_POWER_LAW, SIM_DENSE, SIM_SPECIAL,
    SIM_BACKGROUNDS, SIM_PATTERNS,
    SIM_LATE /* random, but the last rank has no zeros in the last third */
};

/* Fills a rank's vector; `density` where the pattern has one. */
void sim_fill(const struct sparse_operator *operator, enum sim_pattern pattern, double density, uint64_t seed, int rank, int ranks,
              size_t count, void *vector);

/* The operators of the tests, by number. The last two are user functions: x -> a x + b composed (not commutative), and one that
 * has no neutral element. */
enum { SIM_OPERATORS = 16 };
struct sparse_operator sim_operator(int number);
bool sim_operator_exact(int number); /* brackets do not matter */

/* The first element that differs, padding aside, or SIZE_MAX. */
size_t sim_difference(const struct sparse_operator *operator, const void *a, const void *b, size_t count);

/* Something in the padding, which is the program's; and whether two vectors have the same there. */
void sim_soil(const struct sparse_operator *operator, void *vector, size_t count);
bool sim_same_padding(const struct sparse_operator *operator, const void *a, const void *b, size_t count);

#endif
