/* SPDX-License-Identifier: BSD-3-Clause
 * pml_kinds.c: what a message is for. First the tag of a nonblocking collective, whose messages may be sent from within any
 * call; then the outermost wrapped call of the thread; the tag where no call is known.
 */
#include "pml_source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../monitor/calls.h"

/* Tags of blocking collectives, from ompi/mca/coll/base/coll_tags.h; the same numbers in all series. */
static const signed char kind_of_tag[] = {
    [-MCA_COLL_BASE_TAG_ALLGATHER] = LUCID_KIND_ALLGATHER,
    [-MCA_COLL_BASE_TAG_ALLGATHERV] = LUCID_KIND_ALLGATHERV,
    [-MCA_COLL_BASE_TAG_ALLREDUCE] = LUCID_KIND_ALLREDUCE,
    [-MCA_COLL_BASE_TAG_ALLTOALL] = LUCID_KIND_ALLTOALL,
    [-MCA_COLL_BASE_TAG_ALLTOALLV] = LUCID_KIND_ALLTOALLV,
    [-MCA_COLL_BASE_TAG_ALLTOALLW] = LUCID_KIND_ALLTOALLW,
    [-MCA_COLL_BASE_TAG_BARRIER] = LUCID_KIND_BARRIER,
    [-MCA_COLL_BASE_TAG_BCAST] = LUCID_KIND_BCAST,
    [-MCA_COLL_BASE_TAG_EXSCAN] = LUCID_KIND_EXSCAN,
    [-MCA_COLL_BASE_TAG_GATHER] = LUCID_KIND_GATHER,
    [-MCA_COLL_BASE_TAG_GATHERV] = LUCID_KIND_GATHERV,
    [-MCA_COLL_BASE_TAG_REDUCE] = LUCID_KIND_REDUCE,
    [-MCA_COLL_BASE_TAG_REDUCE_SCATTER] = LUCID_KIND_REDUCE_SCATTER,
    [-MCA_COLL_BASE_TAG_REDUCE_SCATTER_BLOCK] = LUCID_KIND_REDUCE_SCATTER_BLOCK,
    [-MCA_COLL_BASE_TAG_SCAN] = LUCID_KIND_SCAN,
    [-MCA_COLL_BASE_TAG_SCATTER] = LUCID_KIND_SCATTER,
    [-MCA_COLL_BASE_TAG_SCATTERV] = LUCID_KIND_SCATTERV,
};
enum { TAGS = sizeof kind_of_tag / sizeof *kind_of_tag };

static int kind_by_tag(int tag)
{
    if (LUCID_OMPI_COMM_TAG_FIRST != 0 && tag <= LUCID_OMPI_COMM_TAG_FIRST && tag >= LUCID_OMPI_COMM_TAG_LAST)
        return LUCID_KIND_COMM;
    if (tag <= MCA_COLL_BASE_TAG_NEIGHBOR_BASE && tag >= MCA_COLL_BASE_TAG_NEIGHBOR_END) return LUCID_KIND_NEIGHBOR;
    if (-tag < TAGS && kind_of_tag[-tag] != 0) return kind_of_tag[-tag];
    return LUCID_KIND_OTHER_COLL;
}

static inline bool is_nbc_tag(int tag)
{
    return tag <= MCA_COLL_BASE_TAG_NONBLOCKING_BASE && tag >= MCA_COLL_BASE_TAG_NONBLOCKING_END;
}

int lucid_pml_kind(int tag, const ompi_communicator_t *comm)
{
    if (is_nbc_tag(tag)) {
        int kind = lucid_pml_nbc_kind(lucid_ompi_comm_number(comm), tag);
        if (kind != LUCID_PML_NONE) return kind;
    }
    struct lucid_thread thread = lucid_thread;
    if (thread.own) return LUCID_PML_NONE;
    int call = thread.kind_plus_one - 1;
    if (tag >= 0 && lucid_pml_is_library(comm)) return LUCID_PML_NONE; /* carries one-sided traffic, which is booked */
    if (call >= LUCID_KIND_PUT) return LUCID_PML_NONE;
    if (call > LUCID_KIND_P2P) return call;
    if (tag < 0) return kind_by_tag(tag);
    return call == LUCID_KIND_P2P || !lucid_pml_interposed ? LUCID_KIND_P2P : LUCID_KIND_LIBRARY;
}

/* Kinds of nonblocking collectives' tags: an entry packs (communicator, tag, kind) in a word. Tags of a communicator
 * follow each other, so that the last few thousand never collide. Persistent collectives keep their tag: they are
 * pinned in a list of their own, which is searched when there are any. */
#define RECENT 8192
#define PINNED_LIMIT 65536

static _Atomic uint64_t recent[RECENT];
static pthread_mutex_t pinned_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *pinned;
static size_t pinned_count, pinned_capacity;
static _Atomic bool any_pinned;

/* communicator: 26 bits, -tag: 31 bits, kind + 1: 7 bits */
static uint64_t pack(uint32_t comm_number, int tag, int kind)
{
    return (uint64_t)(comm_number & 0x3ffffff) << 38 | (uint64_t)(uint32_t)-tag << 7 | (uint64_t)(kind + 1);
}

static size_t place(uint32_t comm_number, int tag)
{
    return ((uint32_t)-tag + comm_number * UINT32_C(2654435761)) % RECENT;
}

static void pin(uint64_t entry)
{
    pthread_mutex_lock(&pinned_lock);
    if (pinned_count == pinned_capacity && pinned_capacity < PINNED_LIMIT) {
        size_t more = pinned_capacity ? pinned_capacity * 2 : 16;
        uint64_t *grown = realloc(pinned, more * sizeof *grown);
        if (grown) {
            pinned = grown;
            pinned_capacity = more;
        }
    }
    if (pinned_count < pinned_capacity) pinned[pinned_count++] = entry;
    pthread_mutex_unlock(&pinned_lock);
    atomic_store_explicit(&any_pinned, true, memory_order_release);
}

/* The latest entry counts: a communicator's number, and then its tags, may be used again. */
static uint64_t find_pinned(uint64_t wanted)
{
    uint64_t found = 0;
    pthread_mutex_lock(&pinned_lock);
    for (size_t i = pinned_count; i > 0 && !found; i--)
        if (pinned[i - 1] >> 7 == wanted >> 7) found = pinned[i - 1];
    pthread_mutex_unlock(&pinned_lock);
    return found;
}

void lucid_pml_nbc_remember(const ompi_communicator_t *comm, int32_t before, int32_t after, int kind, bool is_pinned)
{
    uint32_t number = lucid_ompi_comm_number(comm);
    for (int32_t tag = before; tag > after && before - tag < RECENT; tag--) {
        uint64_t entry = pack(number, tag, kind);
        atomic_store_explicit(&recent[place(number, tag)], entry, memory_order_relaxed);
        if (is_pinned) pin(entry);
    }
}

int lucid_pml_nbc_kind(uint32_t comm_number, int tag)
{
    uint64_t wanted = pack(comm_number, tag, -1);
    uint64_t entry = atomic_load_explicit(&recent[place(comm_number, tag)], memory_order_relaxed);
    if (entry >> 7 != wanted >> 7) {
        if (!atomic_load_explicit(&any_pinned, memory_order_acquire)) return LUCID_PML_NONE;
        entry = find_pinned(wanted);
    }
    return (int)(entry & 127) - 1;
}
