/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of each rank that the other ranks of its node read. A long result that is gathered out of it is written past the caches, which the kernel
 * (Linux: process_vm_readv), by whom messages go otherwise, does not. And words in it are read without a message, which takes a rank's turn of a
 * processor that it shares with others. It has no name in any file system, and is gone with the processes. */
#ifndef LUCID_SPARSE_WINDOWS_H
#define LUCID_SPARSE_WINDOWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranks of a node, numbered from its first one on: their places. */
enum { SPARSE_WINDOWS = 16, SPARSE_WINDOW_SLOTS = 4, SPARSE_WINDOW_SLOT = (1 << 19) + (1 << 14), SPARSE_WINDOW_BYTES = SPARSE_WINDOW_SLOTS * SPARSE_WINDOW_SLOT };

/* Of a slot, for what says where its vector's parts are (sparse_boards.h). */
enum { SPARSE_WINDOW_HEAD = 256 };

/* Windows that a process has at a time: what communicators come to that live side by side. */
enum { SPARSE_WINDOWS_MOST = 32 };

/* To open windows takes a communicator milliseconds, which reductions have to win back. When that many in a row have been closed within a
 * tenth of a second and before their 64th turn, a process opens every 16th only, until one has lived longer: what communicators it makes, it makes for a
 * few calls. 0, as at the start: it opens all. Who has none is sent what would be in it. Thread-safe. */
enum { SPARSE_WINDOWS_SPARED = 12 };
void sparse_windows_spare(unsigned after);

/* Where a rank's is to be found, and by what one knows that it is the one. All zero: there is none. */
struct sparse_window_name {
    uint64_t process, file, mark;
};

/* Of calls in one order. All zero at the start. Not thread-safe. */
struct sparse_windows {
    bool begun;                               /* a call has been found in which ranks tell each other: the same at all of them */
    bool all;                                 /* this rank reads those of all other ranks of its node, and has one */
    bool agreed;                              /* all ranks do: the same at all of them */
    int per_node;                             /* ranks of a node, when they were opened */
    uint64_t turn;                            /* calls, or steps of calls, in which words were written (sparse_words.h): the same at all ranks of the node */
    uint32_t readers[SPARSE_WINDOW_SLOTS];    /* places, by bit, of who read a slot the last time and may not be done with it */
    unsigned crowded;                         /* calls in which slots are not tried for more than what fits in any case (sparse_allreduce_boards.c): the same */
    uint64_t asks;                            /* agreements in which terms were: the same */
    bool taken[SPARSE_WINDOW_SLOTS];          /* this rank's slots, by a call under way */
    double opened;                            /* this rank's: when */
    int file;                                 /* ... while others may still come for it */
    char *own;                                /* NULL: there is none */
    const char *other[SPARSE_WINDOWS];        /* by place; NULL: out of reach */
    bool read_by[SPARSE_WINDOWS];             /* this rank's, by that one */
    struct sparse_window_name name[SPARSE_WINDOWS]; /* this rank's in its place; those that are received */
    uint64_t answer[SPARSE_WINDOWS][2];       /* what is sent to a rank, and received from it: 1: it is read */
};

/* This rank's window, and its name. Without memory, or where there is no such thing, or the process has SPARSE_WINDOWS_MOST: neither. Thread-safe but for what it is given. */
void sparse_windows_open(struct sparse_windows *windows, int place);

/* Finds the window of a rank by its name. Returns whether it has been found. */
bool sparse_windows_find(struct sparse_windows *windows, int place);

/* All who can have found this rank's. */
void sparse_windows_hide(struct sparse_windows *windows);

void sparse_windows_close(struct sparse_windows *windows);

/* What ranks agree on (sparse_agree.h): in cells of their own, which take turns as slots do. */
enum { SPARSE_WINDOW_CELL = 64 };
struct sparse_window_cell {
    _Alignas(SPARSE_WINDOW_CELL) _Atomic uint64_t word; /* 0 at the start */
    _Alignas(SPARSE_WINDOW_CELL) char terms[SPARSE_WINDOW_CELL];
};
struct sparse_window_cell *sparse_windows_cell(const struct sparse_windows *windows, uint64_t number);
const struct sparse_window_cell *sparse_windows_cell_of(const struct sparse_windows *windows, int place, uint64_t number);

/* The word of a slot, of this rank's window and of another one's. 0 at the start. */
_Atomic uint64_t *sparse_windows_word(const struct sparse_windows *windows, size_t slot);
const _Atomic uint64_t *sparse_windows_word_of(const struct sparse_windows *windows, int place, size_t slot);

#endif
