/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_nodes.h. */
#include "sparse_nodes.h"

void sparse_nodes_init(struct sparse_nodes *nodes, int rank, int size, int per_node)
{
    *nodes = (struct sparse_nodes){.per_node = per_node < 1 ? 1 : per_node < size ? per_node : size, .reach = 1};
    nodes->local = rank % nodes->per_node;
    int left = size - (rank - nodes->local);
    nodes->members = left < nodes->per_node ? left : nodes->per_node;
    while (nodes->reach < nodes->members && !(nodes->local & nodes->reach)) nodes->reach *= 2;
    sparse_fold_init(&nodes->leaders, rank / nodes->per_node, (size + nodes->per_node - 1) / nodes->per_node, -1, nodes->per_node);
}

bool sparse_nodes_matter(int size, int per_node)
{
    return per_node > 1 && size > per_node;
}
