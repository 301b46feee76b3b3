/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_windows.h. A file without a name (memfd), which others open as this process's, by /proc. In another process's space of numbers
 * that would be another file, or none: the window begins with a mark that only it has. */
#define _GNU_SOURCE
#include "sparse_windows.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sparse_measure.h"

/* In front: the mark and the words, each on a line of the caches of its own, and the cells. Then the slots. */
enum { FRONT = 4096, LINE = 64, CELLS = 1024, BYTES = FRONT + SPARSE_WINDOW_BYTES };
_Static_assert((1 + SPARSE_WINDOW_SLOTS) * LINE <= CELLS, "words are before cells");
_Static_assert(CELLS + SPARSE_WINDOW_SLOTS * sizeof(struct sparse_window_cell) <= FRONT, "cells are in front");

/* With its pages, where that can be said: else they would come one by one in the first calls, of which the times tell who is to run others. */
#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

static char *map(int file, int protection)
{
    char *memory = mmap(NULL, BYTES, protection, MAP_SHARED | MAP_POPULATE, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t new_mark(const void *memory)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t words[] = {(uint64_t)getpid(), (uintptr_t)memory, (uint64_t)now.tv_sec, (uint64_t)now.tv_nsec};
    uint64_t mark = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) mark = (mark ^ words[i]) * UINT64_C(0x100000001b3) ^ mark >> 29;
    return mark | 1;
}

/* Words are read in memory that may not be written: by a plain load. */
#if defined(MFD_CLOEXEC) && ATOMIC_LONG_LOCK_FREE == 2 && LONG_MAX > INT32_MAX
/* Memory that is really there: without, the process would end at the first write to it. */
static int new_file(void)
{
    const int file = memfd_create("lucid", MFD_CLOEXEC);
    if (file >= 0 && posix_fallocate(file, 0, BYTES) == 0) return file;
    if (file >= 0) close(file);
    return -1;
}
#else
static int new_file(void)
{
    return -1;
}
#endif

/* Of all communicators, and ranks, of this process. */
static _Atomic int windows_there;

/* Those in a row that did not live long, after how many of them others are spared, and those that were. */
static _Atomic unsigned brief, brief_enough, spared;

void sparse_windows_spare(unsigned after)
{
    atomic_store(&brief_enough, after);
}

static bool is_spared(void)
{
    enum { EVERY = 16 };
    const unsigned enough = atomic_load(&brief_enough);
    return enough > 0 && atomic_load(&brief) >= enough && atomic_fetch_add(&spared, 1) % EVERY != EVERY - 1;
}

static void note_life(const struct sparse_windows *windows)
{
    enum { TURNS = 64 };
    static const double long_enough = 0.1;
    if (windows->turn < TURNS && sparse_seconds() - windows->opened < long_enough) atomic_fetch_add(&brief, 1);
    else atomic_store(&brief, 0);
}

static int new_window(void)
{
    if (is_spared()) return -1;
    const int file = atomic_fetch_add(&windows_there, 1) < SPARSE_WINDOWS_MOST ? new_file() : -1;
    if (file < 0) atomic_fetch_sub(&windows_there, 1);
    return file;
}

static void forget_window(void)
{
    atomic_fetch_sub(&windows_there, 1);
}

void sparse_windows_open(struct sparse_windows *windows, int place)
{
    const int file = new_window();
    char *memory = file >= 0 ? map(file, PROT_READ | PROT_WRITE) : NULL;
    windows->name[place] = (struct sparse_window_name){0};
    if (!memory) {
        if (file >= 0) close(file), forget_window();
        return;
    }
    const uint64_t mark = new_mark(memory);
    memcpy(memory, &mark, sizeof mark);
    windows->file = file;
    windows->opened = sparse_seconds();
    windows->own = memory + FRONT;
    windows->name[place] = (struct sparse_window_name){(uint64_t)getpid(), (uint64_t)file, mark};
}

/* Others are not opened. */
static bool looks_like_one(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == BYTES;
}

bool sparse_windows_find(struct sparse_windows *windows, int place)
{
    const struct sparse_window_name name = windows->name[place];
    char path[64];
    if (name.mark == 0) return false;
    snprintf(path, sizeof path, "/proc/%llu/fd/%llu", (unsigned long long)name.process, (unsigned long long)name.file);
    const int file = looks_like_one(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return false;
    char *memory = map(file, PROT_READ);
    close(file);
    if (!memory) return false;
    if (memcmp(memory, &name.mark, sizeof name.mark) == 0) windows->other[place] = memory + FRONT;
    else munmap(memory, BYTES);
    return windows->other[place] != NULL;
}

void sparse_windows_hide(struct sparse_windows *windows)
{
    if (windows->own && windows->file >= 0) close(windows->file);
    windows->file = -1;
}

void sparse_windows_close(struct sparse_windows *windows)
{
    sparse_windows_hide(windows);
    if (windows->own) {
        munmap(windows->own - FRONT, BYTES);
        forget_window();
        note_life(windows);
    }
    for (int place = 0; place < SPARSE_WINDOWS; place++)
        if (windows->other[place]) munmap((void *)(uintptr_t)(windows->other[place] - FRONT), BYTES);
    *windows = (struct sparse_windows){.file = -1};
}

_Atomic uint64_t *sparse_windows_word(const struct sparse_windows *windows, size_t slot)
{
    return (_Atomic uint64_t *)(windows->own - FRONT + (1 + slot) * LINE);
}

const _Atomic uint64_t *sparse_windows_word_of(const struct sparse_windows *windows, int place, size_t slot)
{
    return (const _Atomic uint64_t *)(windows->other[place] - FRONT + (1 + slot) * LINE);
}

struct sparse_window_cell *sparse_windows_cell(const struct sparse_windows *windows, uint64_t number)
{
    return (struct sparse_window_cell *)(windows->own - FRONT + CELLS) + number % SPARSE_WINDOW_SLOTS;
}

const struct sparse_window_cell *sparse_windows_cell_of(const struct sparse_windows *windows, int place, uint64_t number)
{
    return (const struct sparse_window_cell *)(windows->other[place] - FRONT + CELLS) + number % SPARSE_WINDOW_SLOTS;
}
