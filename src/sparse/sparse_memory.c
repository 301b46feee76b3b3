/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_memory.h. In front of the memory is what giving it back takes. */
#define _GNU_SOURCE
#include "sparse_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)2 << 20) /* a large page of x86-64, and of aarch64 with pages of 4 KiB */
#define SMALL 4096

struct front {
    size_t mapped; /* bytes with the front; 0: by malloc */
    size_t nothing[7]; /* a cache line */
};

#ifdef MADV_HUGEPAGE
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
static struct front *map(size_t bytes)
{
    return NULL;
}
#endif

void *sparse_memory_take(size_t bytes, bool large)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + sizeof(struct front) + page - 1) / page * page;
    struct front *front = NULL;
    if (bytes > SIZE_MAX - 2 * LARGE) return NULL;
    if (large && bytes >= LARGE) front = map(whole);
    size_t mapped = front ? whole : 0;
    if (!front) front = malloc(sizeof *front + bytes);
    if (!front) return NULL;
    front->mapped = mapped;
    return front + 1;
}

void sparse_memory_give(void *memory)
{
    struct front *front = memory;
    if (!front) return;
    if ((--front)->mapped > 0) (void)munmap(front, front->mapped);
    else free(front);
}
