/* SPDX-License-Identifier: BSD-3-Clause
 * cells.h: a sparse row of traffic: (peer, kind) -> messages, bytes, sorted by peer, then kind. Knows no MPI.
 */
#ifndef LUCID_CELLS_H
#define LUCID_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "visibility.h"

struct lucid_cell {
    uint32_t peer;
    uint32_t kind;
    uint64_t count;
    uint64_t bytes;
};

struct lucid_cells {
    struct lucid_cell *cell;
    size_t n;
    size_t capacity;
};

/** Frees the array; `cells` is empty afterwards. */
LUCID_INTERNAL void lucid_cells_clear(struct lucid_cells *cells);
/** Appends a cell without sorting. 0, or -1 without memory. */
LUCID_INTERNAL int lucid_cells_append(struct lucid_cells *cells, struct lucid_cell cell);
/** Sorts by peer, then kind, adds up cells of the same pair, and gives back the memory that is left over. */
LUCID_INTERNAL void lucid_cells_normalize(struct lucid_cells *cells);
/** result = sum + later - earlier without the pairs that are zero, all normalized; `earlier` may be NULL. What `result`
 *  held is overwritten, not freed. 0, or -1 without memory (then it is empty). */
LUCID_INTERNAL int lucid_cells_sum(const struct lucid_cells *sum, const struct lucid_cells *later,
                                   const struct lucid_cells *earlier, struct lucid_cells *result);
/** sum += later - earlier in the same way. 0, or -1 without memory (then sum is unchanged). */
LUCID_INTERNAL int lucid_cells_add_difference(struct lucid_cells *sum, const struct lucid_cells *later,
                                              const struct lucid_cells *earlier);
/** Bytes of memory held. */
LUCID_INTERNAL size_t lucid_cells_memory(const struct lucid_cells *cells);

#endif
