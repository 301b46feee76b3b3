/* SPDX-License-Identifier: BSD-3-Clause
 * place_arrange.h: reorder = 1 made real: what the wrapped MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create(_adjacent)
 * do while LUCID_REORDER is set (`lucid run --reorder`).
 */
#ifndef LUCID_PLACE_ARRANGE_H
#define LUCID_PLACE_ARRANGE_H

#include <mpi.h>
#include <stdbool.h>

#include "../core/visibility.h"

/** Whether reordering has been asked for and MPI is up. */
LUCID_INTERNAL bool lucid_arrange_wanted(void);

/**
 * A communicator with comm's processes in a better order for the topology, or comm itself where there is none, where all
 * sit on one node, or where anything is unusual. Collective. To be given back with lucid_arrange_done().
 */
LUCID_INTERNAL MPI_Comm lucid_arrange_cart(MPI_Comm comm, int ndims, const int *dims, const int *periods);
LUCID_INTERNAL MPI_Comm lucid_arrange_graph(MPI_Comm comm, int nodes, const int *index, const int *edges);
/** weights: MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY or one per edge. */
LUCID_INTERNAL MPI_Comm lucid_arrange_dist(MPI_Comm comm, int n, const int *sources, const int *degrees,
                                           const int *destinations, const int *weights);

/** The lists of MPI_Dist_graph_create_adjacent: they belong to the rank, so they move to the process that has it now. */
struct lucid_adjacent {
    int indegree, outdegree;
    const int *sources, *source_weights, *destinations, *destination_weights;
    int *storage; /* of the arrays, where they are not the caller's */
};
/** As above; the lists become those of this process's new rank. */
LUCID_INTERNAL MPI_Comm lucid_arrange_adjacent(MPI_Comm comm, struct lucid_adjacent *lists);

LUCID_INTERNAL void lucid_arrange_done(MPI_Comm arranged, MPI_Comm comm, struct lucid_adjacent *lists);

#endif
