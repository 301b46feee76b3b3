/* SPDX-License-Identifier: BSD-3-Clause
 * allocations.h: counts what the core takes from the heap, and lets it run out. Link with lucid_wrap_allocations().
 *
 * Only calls from the program's own objects are seen, so memory that libc hands out (strdup) must not be freed while the
 * figures matter.
 */
#ifndef LUCID_ALLOCATIONS_H
#define LUCID_ALLOCATIONS_H

#include <stddef.h>

/** Bytes now taken, the allocator's rounding and 8 bytes of book-keeping per block included. */
long allocations_live(void);
/** The largest value of allocations_live() since the last call of allocations_restart(). */
long allocations_peak(void);
void allocations_restart(void);
/** After `n` more, every allocation fails, until allocations_fail_never(). */
void allocations_fail_after(long n);
void allocations_fail_never(void);

#endif
