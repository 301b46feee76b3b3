/* SPDX-License-Identifier: BSD-3-Clause
 * counters.h: what the process has sent so far, per (peer, kind). Knows no MPI.
 *
 * Every thread writes its own shard (no locked instruction on the way of a message), readers add the shards up. A shard
 * is an open-addressed table of the pairs that really occur, so memory follows the number of peers, not P.
 */
#ifndef LUCID_COUNTERS_H
#define LUCID_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cells.h"
#include "visibility.h"

/** The peer number of processes outside MPI_COMM_WORLD. */
#define LUCID_PEER_OUTSIDE UINT32_C(0x3ffffff)
/** Peers are below this: 26 bits, so that (peer, kind) fits 32. */
#define LUCID_PEER_LIMIT LUCID_PEER_OUTSIDE
#define LUCID_CELL_KEY(peer, kind) (((uint32_t)(peer) << 6) | (uint32_t)(kind))

/** Kinds are below this. */
#define LUCID_KIND_LIMIT 32
/** Bin 0: 0 bytes; bin b: 2^(b-1) <= bytes < 2^b. */
#define LUCID_SIZE_BINS 65

struct lucid_size_bins {
    _Atomic uint64_t count[LUCID_SIZE_BINS];
};

struct lucid_slot {
    _Atomic uint32_t key_plus_one; /* 0: free; written by the owner only */
    _Atomic uint64_t count;
    _Atomic uint64_t bytes;
};

struct lucid_shard {
    struct lucid_slot *slots; /* replaced by the owner under the shard's lock */
    uint32_t mask;
    uint32_t used;
    struct lucid_size_bins *_Atomic bins[LUCID_KIND_LIMIT]; /* made when a kind first occurs */
    struct lucid_shard *next;
    struct lucid_shard *next_idle;
};

/** This thread's shard, or NULL before its first message. */
extern LUCID_INTERNAL_TLS _Thread_local struct lucid_shard *lucid_my_shard;

/** Books `messages` messages of equal size, `bytes` bytes in all. Thread-safe; takes a lock only where the shard grows. */
LUCID_INTERNAL void lucid_count(uint32_t peer, unsigned kind, uint64_t messages, uint64_t bytes);

/** Adds to what only this thread writes: no locked instruction. */
static inline void lucid_counter_add(_Atomic uint64_t *to, uint64_t n)
{
    atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + n, memory_order_relaxed);
}

/** The bin of a size. */
static inline unsigned lucid_size_bin(uint64_t size)
{
    return size ? 64 - (unsigned)__builtin_clzll(size) : 0;
}

static inline uint32_t lucid_cell_hash(uint32_t key)
{
    key *= UINT32_C(0x9E3779B1);
    return key ^ (key >> 15);
}

/** The first place where a pair is looked for; nearly always the one where it is. */
static inline struct lucid_slot *lucid_first_slot(const struct lucid_shard *shard, uint32_t key)
{
    return &shard->slots[lucid_cell_hash(key) & shard->mask];
}

/** lucid_count() of one message where the pair and its kind are known; false, and nothing is done, where they are not. */
static inline bool lucid_count_known(uint32_t peer, unsigned kind, uint64_t bytes)
{
    const uint32_t key = LUCID_CELL_KEY(peer, kind);
    struct lucid_shard *shard = lucid_my_shard;
    if (LUCID_UNLIKELY(shard == NULL)) return false;
    struct lucid_slot *slot = lucid_first_slot(shard, key);
    if (LUCID_UNLIKELY(atomic_load_explicit(&slot->key_plus_one, memory_order_relaxed) != key + 1)) return false;
    struct lucid_size_bins *bins = atomic_load_explicit(&shard->bins[kind], memory_order_relaxed);
    if (LUCID_UNLIKELY(bins == NULL)) return false;
    lucid_counter_add(&slot->count, 1);
    lucid_counter_add(&slot->bytes, bytes);
    lucid_counter_add(&bins->count[lucid_size_bin(bytes)], 1);
    return true;
}

/** lucid_count() of one message, for the way of every message: a call only where the pair or its kind is new. */
static inline void lucid_count_one(uint32_t peer, unsigned kind, uint64_t bytes)
{
    if (LUCID_UNLIKELY(!lucid_count_known(peer, kind, bytes))) lucid_count(peer, kind, 1, bytes);
}

/** The same for messages whose single sizes are not known: they enter no histogram. */
LUCID_INTERNAL void lucid_count_sum(uint32_t peer, unsigned kind, uint64_t messages, uint64_t bytes);

/**
 * Appends what all threads have booked so far, normalized: `cells` by (peer, kind), `sizes` by (bin, kind) with the count
 * alone. 0, or -1 without memory.
 */
LUCID_INTERNAL int lucid_counters_read(struct lucid_cells *cells, struct lucid_cells *sizes);

/** Bytes of memory that the counters hold. For tests: they must follow the peers, and not the threads that came and went. */
LUCID_INTERNAL size_t lucid_counters_memory(void);

/** Messages that could not be booked because memory ran out; the reports say so. */
LUCID_INTERNAL uint64_t lucid_counters_lost(void);

#endif
