/* SPDX-License-Identifier: BSD-3-Clause
 * request_table.c: an open-addressed hash table with linear probing, under one mutex. It is used when a persistent
 * request is made, started or freed, each of which costs far more than the table does.
 */
#include "request_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot {
    struct lucid_request request;
    bool taken;
} *slots;
static size_t capacity; /* a power of two, or 0 */
static _Atomic size_t known;

static size_t home(uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (capacity - 1);
}

/* The slot of `key`, or the free one where it belongs. There is always a free one. */
static struct slot *find(uint64_t key)
{
    size_t i = home(key);
    while (slots[i].taken && slots[i].request.key != key) i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static void free_shares(const struct lucid_request *request)
{
    if (request->shares > 1) free(request->many);
}

/* At most half full. 0, or -1 without memory. */
static int make_room(void)
{
    if (2 * (known + 1) <= capacity) return 0;
    const size_t old_capacity = capacity;
    struct slot *old = slots;
    struct slot *larger = calloc(old_capacity == 0 ? 64 : 2 * old_capacity, sizeof *larger);
    if (larger == NULL) return -1;
    slots = larger;
    capacity = old_capacity == 0 ? 64 : 2 * old_capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].taken) *find(old[i].request.key) = old[i];
    free(old);
    return 0;
}

/* Empties a slot and moves up those behind it that had been pushed on by it. */
static void vacate(struct slot *slot)
{
    size_t hole = (size_t)(slot - slots);
    for (size_t i = (hole + 1) & (capacity - 1); slots[i].taken; i = (i + 1) & (capacity - 1)) {
        const size_t from_home = (i - home(slots[i].request.key)) & (capacity - 1);
        const size_t from_hole = (i - hole) & (capacity - 1);
        if (from_home < from_hole) continue;
        slots[hole] = slots[i];
        hole = i;
    }
    slots[hole].taken = false;
    known--;
}

static void put(struct lucid_request request)
{
    struct slot *slot = find(request.key);
    if (slot->taken) free_shares(&slot->request);
    else known++;
    *slot = (struct slot){request, true};
}

int lucid_requests_add(struct lucid_request request)
{
    pthread_mutex_lock(&lock);
    const int rc = make_room();
    if (rc == 0) put(request);
    else free_shares(&request);
    pthread_mutex_unlock(&lock);
    return rc;
}

static struct slot *find_taken(uint64_t key)
{
    if (capacity == 0) return NULL;
    struct slot *slot = find(key);
    return slot->taken ? slot : NULL;
}

void lucid_requests_remove(uint64_t key)
{
    if (lucid_requests_known() == 0) return;
    pthread_mutex_lock(&lock);
    struct slot *slot = find_taken(key);
    if (slot != NULL) {
        free_shares(&slot->request);
        vacate(slot);
    }
    pthread_mutex_unlock(&lock);
}

void lucid_requests_rename(uint64_t from, uint64_t to)
{
    if (from == to) return;
    pthread_mutex_lock(&lock);
    struct slot *slot = find_taken(from);
    if (slot != NULL) {
        struct lucid_request request = slot->request;
        vacate(slot);
        request.key = to;
        put(request);
    }
    pthread_mutex_unlock(&lock);
}

bool lucid_requests_visit(uint64_t key, void (*visit)(const struct lucid_request *request, void *arg), void *arg)
{
    pthread_mutex_lock(&lock);
    const struct slot *slot = find_taken(key);
    if (slot != NULL) visit(&slot->request, arg);
    pthread_mutex_unlock(&lock);
    return slot != NULL;
}

size_t lucid_requests_known(void)
{
    return atomic_load_explicit(&known, memory_order_relaxed);
}
