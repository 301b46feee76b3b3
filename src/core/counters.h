/* SPDX-License-Identifier: BSD-3-Clause
 * counters.h: what the process has sent so far, per (peer, kind). Knows no MPI.
 *
 * Every thread writes its own shard (no locked instruction on the way of a message), readers add the shards up. A shard
 * is an open-addressed table of the pairs that really occur, so memory follows the number of peers, not P.
 */
#ifndef LUCID_COUNTERS_H
#define LUCID_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "cells.h"
#include "visibility.h"

/** The peer number of processes outside MPI_COMM_WORLD. */
#define LUCID_PEER_OUTSIDE UINT32_C(0x3ffffff)
/** Peers are below this: 26 bits, so that (peer, kind) fits 32. */
#define LUCID_PEER_LIMIT LUCID_PEER_OUTSIDE
#define LUCID_CELL_KEY(peer, kind) (((uint32_t)(peer) << 6) | (uint32_t)(kind))

struct lucid_slot {
    _Atomic uint32_t key_plus_one; /* 0: free; written by the owner only */
    uint32_t unused;
    _Atomic uint64_t count;
    _Atomic uint64_t bytes;
};

struct lucid_shard {
    struct lucid_slot *slots; /* replaced by the owner under the shard's lock */
    uint32_t mask;
    uint32_t used;
    struct lucid_slot *last; /* the slot of the latest message: most messages follow one of the same kind to the same peer */
    uint32_t last_key;
    _Atomic uint64_t *histogram; /* [kind][bin] */
    void *owner;
};

/** This thread's shard, or NULL before its first message. */
extern LUCID_INTERNAL_TLS _Thread_local struct lucid_shard *lucid_my_shard;

/** Books `messages` messages of `bytes` bytes in all. Thread-safe, wait-free but for a thread's first message to a peer. */
LUCID_INTERNAL void lucid_count(uint32_t peer, unsigned kind, uint64_t messages, uint64_t bytes);

/** Adds what all threads have booked so far to `cells` and `histogram` ([kind][bin], may be NULL). 0, or -1 without memory. */
LUCID_INTERNAL int lucid_counters_read(struct lucid_cells *cells, uint64_t *histogram);

/** Bytes of memory that the counters hold. */
LUCID_INTERNAL size_t lucid_counters_memory(void);

/** Messages that could not be booked because memory ran out; the reports say so. */
LUCID_INTERNAL uint64_t lucid_counters_lost(void);

#endif
