/* SPDX-License-Identifier: BSD-3-Clause
 * nominal.h: what the calling process contributes to a collective call, as the call says it.
 */
#ifndef LUCID_NOMINAL_H
#define LUCID_NOMINAL_H

#include <stdint.h>

#include "calls.h"

/**
 * Calls visit(world rank or LUCID_PEER_OUTSIDE, bytes, arg) for every process that the calling one sends to, nominally:
 *
 *   barrier                                    every other process, 0 bytes
 *   bcast, scatter, scatterv                   root: every other process, its part
 *   gather, gatherv, reduce                    all but root: root
 *   allgather, allgatherv, allreduce           every other process, the own contribution
 *   alltoall, alltoallv, alltoallw             every other process, its part
 *   reduce_scatter, reduce_scatter_block       every other process, its part
 *   scan, exscan                               every higher rank
 *   neighborhood collectives                   every outgoing neighbor, itself included if it is one
 *
 * "Every other process" is every process of the remote group on an inter-communicator; there, the part of each in a
 * reduce_scatter is not known to the sender and taken as even. Who gets no element gets no message (but for barrier).
 * These are the rules of Open MPI's coll monitoring, but for the messages without elements.
 */
LUCID_INTERNAL void lucid_nominal(const struct lucid_coll_call *call,
                                  void (*visit)(uint32_t peer, uint64_t bytes, void *arg), void *arg);

/** Packed size of `count` elements in bytes. */
LUCID_INTERNAL uint64_t lucid_packed_size(MPI_Count count, MPI_Datatype type);

#endif
