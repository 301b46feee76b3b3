/* SPDX-License-Identifier: BSD-3-Clause
 * hier_space.h: memory that the processes of a node share: what is the same for all of them is kept once (DISP's sharing in space). Knows
 * neither MPI nor Open MPI. Everybody reads it through a mapping that cannot be written to.
 */
#ifndef LUCID_HIER_SPACE_H
#define LUCID_HIER_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hier_space hier_space_t;

/** What the first process puts at the beginning. False: it cannot be made. */
typedef bool (*hier_space_fill_fn)(void *head, void *argument);

/**
 * Opens the node's space, a file of that name; the first process makes it, the last of `openers` unlinks it. head: bytes that `fill`
 * makes; room: bytes for what is kept later, which take no memory before. NULL, with nothing printed: it cannot be had, or the
 * process that makes it takes too long; everybody then has his own.
 */
hier_space_t *hier_space_open(const char *path, size_t head, size_t room, int openers, hier_space_fill_fn fill, void *argument);
void hier_space_close(hier_space_t *space);

/** What fill has made. */
const void *hier_space_head(const hier_space_t *space);
/**
 * The node's copy of `bytes` bytes with that hash: there already, byte by byte the same, or put there. NULL: there is no room, or
 * nothing to put it in (space NULL). Kept until the last process closes the space. Aligned to 16 bytes. Thread-safe.
 */
const void *hier_space_keep(hier_space_t *space, const void *data, size_t bytes, uint64_t hash);

#endif
