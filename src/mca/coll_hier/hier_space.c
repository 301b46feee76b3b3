/* SPDX-License-Identifier: BSD-3-Clause
 * hier_space.c: see hier_space.h. A file with a head, a table of entries and room, mapped by all. Entries are taken by
 * compare-and-swap, written through a mapping of the moment, and never change afterwards.
 */
#include "hier_space.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES = 256, ALIGNMENT = 64 };
enum { YIELDS = 1000, NAPS = 20000 }; /* patience with another process that writes: naps of 0.1 ms */

enum { FREE, WRITING, READY, DEAD };

typedef struct entry {
    _Atomic uint32_t state;
    uint64_t hash, offset, bytes; /* offset in the room */
} entry_t;

typedef struct header {
    _Atomic uint32_t ready; /* 1: complete, 2: could not be made */
    _Atomic int32_t opened;
    _Atomic uint64_t used; /* of the room */
    uint64_t head, room;
    entry_t entry[ENTRIES];
} header_t;

struct hier_space {
    const char *memory; /* read-only */
    size_t head, room;
    int file;
};

/* Waits a little, the turn-th time. False: it has been enough. */
static bool wait_a_little(int turn)
{
    static const struct timespec nap = {0, 100000};
    if (turn < YIELDS) (void)sched_yield();
    else (void)nanosleep(&nap, NULL);
    return turn < YIELDS + NAPS;
}

static size_t align(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t head_at(void)
{
    return align(sizeof(header_t));
}

static size_t room_at(const hier_space_t *space)
{
    return head_at() + align(space->head);
}

static size_t total(const hier_space_t *space)
{
    return room_at(space) + space->room;
}

static void *map(const hier_space_t *space, int protection)
{
    void *memory = mmap(NULL, total(space), protection, MAP_SHARED, space->file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Memory that is really there: a full file system would end the process at the first write to it. */
static bool reserve(const hier_space_t *space, size_t offset, size_t bytes)
{
    return posix_fallocate(space->file, (off_t)offset, (off_t)bytes) == 0;
}

/* The maker opens the file before it gives it a length. */
static bool has_length(const hier_space_t *space)
{
    struct stat status;
    int turn = 0;
    do {
        if (fstat(space->file, &status) != 0) return false;
        if (status.st_size == (off_t)total(space)) return status.st_uid == geteuid();
    } while (status.st_size == 0 && status.st_nlink > 0 && wait_a_little(turn++));
    return false;
}

static void make(const hier_space_t *space, header_t *header, hier_space_fill_fn fill, void *argument)
{
    header->head = space->head;
    header->room = space->room;
    bool made = fill((char *)header + head_at(), argument);
    atomic_store_explicit(&header->ready, made ? 1 : 2, memory_order_release);
}

static bool is_ready(const hier_space_t *space, header_t *header)
{
    for (int i = 0; atomic_load_explicit(&header->ready, memory_order_acquire) == 0 && wait_a_little(i); i++) continue;
    return atomic_load_explicit(&header->ready, memory_order_acquire) == 1 && header->head == space->head &&
           header->room == space->room;
}

/* Whether the file may be used; it is unlinked by the last one that comes here. */
static bool enter(const hier_space_t *space, const char *path, bool first, int openers, hier_space_fill_fn fill, void *argument)
{
    if (first && (ftruncate(space->file, (off_t)total(space)) != 0 || !reserve(space, 0, room_at(space)))) {
        unlink(path); /* those who have opened it wait in vain, for a while */
        return false;
    }
    if (!first && !has_length(space)) return false;
    header_t *header = map(space, PROT_READ | PROT_WRITE);
    if (!header) return false;
    if (first) make(space, header, fill, argument);
    bool good = is_ready(space, header);
    if (atomic_fetch_add(&header->opened, 1) + 1 == openers) unlink(path);
    munmap(header, total(space));
    return good;
}

hier_space_t *hier_space_open(const char *path, size_t head, size_t room, int openers, hier_space_fill_fn fill, void *argument)
{
    hier_space_t *space = malloc(sizeof *space);
    if (!space) return NULL;
    *space = (hier_space_t){NULL, head, align(room), -1};
    space->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool first = space->file >= 0;
    if (!first && errno == EEXIST) space->file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (space->file >= 0 && enter(space, path, first, openers, fill, argument)) space->memory = map(space, PROT_READ);
    if (space->memory) return space;
    if (space->file >= 0) close(space->file);
    free(space);
    return NULL;
}

void hier_space_close(hier_space_t *space)
{
    if (!space) return;
    munmap((void *)space->memory, total(space));
    close(space->file);
    free(space);
}

const void *hier_space_head(const hier_space_t *space)
{
    return space->memory + head_at();
}

/* Written by this process, which holds the entry. */
static bool write_entry(const hier_space_t *space, header_t *header, entry_t *entry, const void *data, size_t bytes, uint64_t hash)
{
    uint64_t offset = atomic_fetch_add(&header->used, align(bytes));
    if (offset + bytes > space->room || !reserve(space, room_at(space) + offset, bytes)) {
        atomic_store_explicit(&entry->state, DEAD, memory_order_release);
        return false;
    }
    memcpy((char *)header + room_at(space) + offset, data, bytes);
    entry->hash = hash;
    entry->offset = offset;
    entry->bytes = bytes;
    atomic_store_explicit(&entry->state, READY, memory_order_release);
    return true;
}

static bool holds(const hier_space_t *space, entry_t *entry, const void *data, size_t bytes, uint64_t hash)
{
    for (int i = 0; atomic_load_explicit(&entry->state, memory_order_acquire) == WRITING && wait_a_little(i); i++) continue;
    return atomic_load_explicit(&entry->state, memory_order_acquire) == READY && entry->hash == hash && entry->bytes == bytes &&
           memcmp(space->memory + room_at(space) + entry->offset, data, bytes) == 0;
}

/* What is there already, without a mapping to write to. */
static const void *find(const hier_space_t *space, const void *data, size_t bytes, uint64_t hash)
{
    header_t *header = (header_t *)space->memory; /* only read */
    for (int i = 0; i < ENTRIES; i++) {
        entry_t *entry = &header->entry[i];
        if (atomic_load_explicit(&entry->state, memory_order_acquire) == FREE) break;
        if (holds(space, entry, data, bytes, hash)) return space->memory + room_at(space) + entry->offset;
    }
    return NULL;
}

const void *hier_space_keep(hier_space_t *space, const void *data, size_t bytes, uint64_t hash)
{
    if (!space || bytes == 0 || bytes > space->room) return NULL;
    const void *kept = find(space, data, bytes, hash);
    header_t *header = kept ? NULL : map(space, PROT_READ | PROT_WRITE);
    if (!header) return kept;
    for (int i = 0; i < ENTRIES && !kept; i++) {
        entry_t *entry = &header->entry[i];
        uint32_t expected = FREE;
        if (atomic_compare_exchange_strong(&entry->state, &expected, WRITING)) {
            if (!write_entry(space, header, entry, data, bytes, hash)) break;
        } else if (!holds(space, entry, data, bytes, hash)) {
            continue;
        }
        kept = space->memory + room_at(space) + entry->offset;
    }
    munmap(header, total(space));
    return kept;
}
