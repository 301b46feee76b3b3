/* SPDX-License-Identifier: BSD-3-Clause
 * counters.c: see counters.h.
 *
 * A slot has one writer, so adding to it is a relaxed load and a relaxed store: no locked instruction. Readers and a
 * growing writer exclude each other by one mutex; a shard whose thread has ended keeps its figures and is handed to the
 * next thread that needs one, so that memory follows the number of threads alive.
 */
#include "counters.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define FIRST_SLOTS 64

_Thread_local struct lucid_shard *lucid_my_shard;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lucid_shard *all_shards; /* every shard ever made, under the lock */
static struct lucid_shard *idle_shards;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;
static _Atomic uint64_t lost;

static void retire(void *mine)
{
    struct lucid_shard *shard = mine;
    lucid_my_shard = NULL;
    pthread_mutex_lock(&lock);
    shard->next_idle = idle_shards;
    idle_shards = shard;
    pthread_mutex_unlock(&lock);
}

/** Where the process has no key left, the shards of threads that end are not handed on. */
static void make_key(void)
{
    key_made = pthread_key_create(&key, retire) == 0;
}

static struct lucid_shard *new_shard(void)
{
    struct lucid_shard *shard = calloc(1, sizeof *shard);
    if (!shard) return NULL;
    shard->slots = calloc(FIRST_SLOTS, sizeof *shard->slots);
    if (!shard->slots) {
        free(shard);
        return NULL;
    }
    shard->mask = FIRST_SLOTS - 1;
    return shard;
}

/** Gives the calling thread a shard of its own. */
static struct lucid_shard *adopt(void)
{
    (void)pthread_once(&key_once, make_key);
    pthread_mutex_lock(&lock);
    struct lucid_shard *shard = idle_shards;
    if (shard) {
        idle_shards = shard->next_idle;
    } else if ((shard = new_shard())) {
        shard->next = all_shards;
        all_shards = shard;
    }
    pthread_mutex_unlock(&lock);
    if (!shard) return NULL;
    if (key_made) (void)pthread_setspecific(key, shard);
    return lucid_my_shard = shard;
}

static struct lucid_slot *probe(struct lucid_slot *slots, uint32_t mask, uint32_t k)
{
    for (uint32_t i = lucid_cell_hash(k) & mask;; i = (i + 1) & mask) {
        uint32_t found = atomic_load_explicit(&slots[i].key_plus_one, memory_order_relaxed);
        if (found == k + 1 || found == 0) return &slots[i];
    }
}

static bool grow(struct lucid_shard *shard)
{
    uint32_t mask = shard->mask * 2 + 1;
    struct lucid_slot *slots = calloc((size_t)mask + 1, sizeof *slots);
    if (!slots) return false;
    pthread_mutex_lock(&lock);
    struct lucid_slot *old = shard->slots;
    for (uint32_t i = 0; i <= shard->mask; i++) {
        uint32_t k = atomic_load_explicit(&old[i].key_plus_one, memory_order_relaxed);
        if (k == 0) continue;
        struct lucid_slot *slot = probe(slots, mask, k - 1);
        lucid_counter_add(&slot->count, atomic_load_explicit(&old[i].count, memory_order_relaxed));
        lucid_counter_add(&slot->bytes, atomic_load_explicit(&old[i].bytes, memory_order_relaxed));
        atomic_store_explicit(&slot->key_plus_one, k, memory_order_relaxed);
    }
    shard->slots = slots;
    shard->mask = mask;
    pthread_mutex_unlock(&lock);
    free(old);
    return true;
}

static struct lucid_slot *find(struct lucid_shard *shard, uint32_t k)
{
    struct lucid_slot *slot = probe(shard->slots, shard->mask, k);
    if (atomic_load_explicit(&slot->key_plus_one, memory_order_relaxed) == 0) {
        if ((shard->used + 1) * 4 > (shard->mask + 1) * 3) {
            /* without memory it fills up to the last free slot, which ends every search */
            if (!grow(shard) && shard->used == shard->mask) return NULL;
            slot = probe(shard->slots, shard->mask, k);
        }
        shard->used++;
        atomic_store_explicit(&slot->key_plus_one, k + 1, memory_order_relaxed);
    }
    return slot;
}

static inline void add_size(struct lucid_shard *shard, unsigned kind, uint64_t messages, uint64_t size)
{
    struct lucid_size_bins *bins = atomic_load_explicit(&shard->bins[kind], memory_order_relaxed);
    if (LUCID_UNLIKELY(!bins)) {
        bins = calloc(1, sizeof *bins);
        if (!bins) return;
        atomic_store_explicit(&shard->bins[kind], bins, memory_order_release);
    }
    lucid_counter_add(&bins->count[lucid_size_bin(size)], messages);
}

static inline struct lucid_shard *book(uint32_t peer, unsigned kind, uint64_t messages, uint64_t bytes)
{
    struct lucid_shard *shard = lucid_my_shard;
    if (LUCID_UNLIKELY(!shard)) shard = adopt();
    uint32_t k = LUCID_CELL_KEY(peer, kind);
    struct lucid_slot *slot = NULL;
    if (LUCID_LIKELY(shard != NULL)) slot = find(shard, k);
    if (LUCID_UNLIKELY(!slot)) {
        atomic_fetch_add_explicit(&lost, messages, memory_order_relaxed);
        return NULL;
    }
    lucid_counter_add(&slot->count, messages);
    lucid_counter_add(&slot->bytes, bytes);
    return shard;
}

void lucid_count(uint32_t peer, unsigned kind, uint64_t messages, uint64_t bytes)
{
    struct lucid_shard *shard = book(peer, kind, messages, bytes);
    if (LUCID_LIKELY(shard != NULL)) add_size(shard, kind, messages, messages == 1 ? bytes : messages ? bytes / messages : 0);
}

void lucid_count_sum(uint32_t peer, unsigned kind, uint64_t messages, uint64_t bytes)
{
    (void)book(peer, kind, messages, bytes);
}

static int read_slots(const struct lucid_shard *shard, struct lucid_cells *cells)
{
    for (uint32_t i = 0; i <= shard->mask; i++) {
        struct lucid_slot *slot = &shard->slots[i];
        uint32_t k = atomic_load_explicit(&slot->key_plus_one, memory_order_relaxed);
        if (k == 0) continue;
        struct lucid_cell cell = {.peer = (k - 1) >> 6, .kind = (k - 1) & 63,
                                  .count = atomic_load_explicit(&slot->count, memory_order_relaxed),
                                  .bytes = atomic_load_explicit(&slot->bytes, memory_order_relaxed)};
        if (lucid_cells_append(cells, cell) != 0) return -1;
    }
    return 0;
}

static int read_sizes(struct lucid_shard *shard, struct lucid_cells *sizes)
{
    for (uint32_t kind = 0; kind < LUCID_KIND_LIMIT; kind++) {
        struct lucid_size_bins *bins = atomic_load_explicit(&shard->bins[kind], memory_order_acquire);
        for (uint32_t b = 0; bins && b < LUCID_SIZE_BINS; b++) {
            uint64_t n = atomic_load_explicit(&bins->count[b], memory_order_relaxed);
            if (n && lucid_cells_append(sizes, (struct lucid_cell){.peer = b, .kind = kind, .count = n}) != 0) return -1;
        }
    }
    return 0;
}

int lucid_counters_read(struct lucid_cells *cells, struct lucid_cells *sizes)
{
    int rc = 0;
    pthread_mutex_lock(&lock);
    for (struct lucid_shard *shard = all_shards; shard && rc == 0; shard = shard->next) {
        rc = read_slots(shard, cells);
        if (rc == 0) rc = read_sizes(shard, sizes);
    }
    pthread_mutex_unlock(&lock);
    lucid_cells_normalize(cells);
    lucid_cells_normalize(sizes);
    return rc;
}

size_t lucid_counters_memory(void)
{
    size_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (struct lucid_shard *shard = all_shards; shard; shard = shard->next) {
        bytes += sizeof *shard + ((size_t)shard->mask + 1) * sizeof *shard->slots;
        for (unsigned kind = 0; kind < LUCID_KIND_LIMIT; kind++)
            if (atomic_load_explicit(&shard->bins[kind], memory_order_relaxed)) bytes += sizeof(struct lucid_size_bins);
    }
    pthread_mutex_unlock(&lock);
    return bytes;
}

uint64_t lucid_counters_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}
