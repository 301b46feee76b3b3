/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_memory.h. In front of the memory is what giving it back takes. */
#define _GNU_SOURCE
#include "sparse_memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)2 << 20) /* a large page of x86-64, and of aarch64 with pages of 4 KiB */
#define SMALL 4096
#define AT_MOST ((size_t)64 << 20) /* in large pages, of a process: they are resident, however little is used */

struct front {
    size_t mapped; /* bytes with the front; 0: by malloc */
    size_t nothing[7]; /* a cache line */
};

#ifdef MADV_HUGEPAGE
enum { HAS_LARGE = 1 };
/* Of `bytes`, begun where a large page may begin. */
static struct front *map(size_t bytes)
{
    char *all = mmap(NULL, bytes + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    size_t before = (LARGE - (uintptr_t)all % LARGE) % LARGE;
    if (before > 0) (void)munmap(all, before);
    (void)munmap(all + before + bytes, LARGE - before);
    (void)madvise(all + before, bytes, MADV_HUGEPAGE); /* an offer: without, it is as good as malloc's */
    for (size_t at = 0; at < bytes; at += SMALL) ((volatile char *)all + before)[at] = 0;
    return (struct front *)(void *)(all + before);
}
#else
enum { HAS_LARGE = 0 };
static struct front *map(size_t bytes)
{
    return NULL;
}
#endif

static _Atomic size_t mapped;       /* bytes in large pages, of the process */
static struct front *_Atomic spare; /* what was given back last: the next communicator's need not be cleared */

static void unmap(struct front *front)
{
    if (!front) return;
    const size_t bytes = front->mapped;
    (void)munmap(front, bytes);
    atomic_fetch_sub(&mapped, bytes);
}

static struct front *new_large(size_t bytes)
{
    struct front *front = NULL;
    if (atomic_fetch_add(&mapped, bytes) + bytes <= AT_MOST) front = map(bytes);
    if (front) front->mapped = bytes;
    else atomic_fetch_sub(&mapped, bytes);
    return front;
}

static struct front *take_large(size_t bytes)
{
    struct front *last = atomic_exchange(&spare, NULL);
    if (last && last->mapped >= bytes && last->mapped / 2 <= bytes) return last;
    unmap(last);
    return new_large(bytes);
}

void *sparse_memory_take(size_t bytes, bool large)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + sizeof(struct front) + page - 1) / page * page;
    struct front *front = NULL;
    if (bytes > SIZE_MAX - 2 * LARGE) return NULL;
    if (large && bytes >= LARGE) front = take_large(whole);
    if (front) return front + 1;
    front = malloc(sizeof *front + bytes);
    if (!front) return NULL;
    front->mapped = 0;
    return front + 1;
}

bool sparse_memory_improves(const void *memory, size_t bytes)
{
    bool room = atomic_load(&mapped) + bytes + LARGE <= AT_MOST;
    return HAS_LARGE && room && bytes >= LARGE && ((const struct front *)memory - 1)->mapped == 0;
}

void sparse_memory_give(void *memory)
{
    struct front *front = memory;
    if (!front) return;
    if ((--front)->mapped > 0) unmap(atomic_exchange(&spare, front));
    else free(front);
}

void sparse_memory_forget(void)
{
    unmap(atomic_exchange(&spare, NULL));
}
