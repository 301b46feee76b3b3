/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that messages lie in. Ranks of one node read each other's by way of the kernel (Linux: process_vm_readv), which looks up and
 * pins every page that it copies from; of large pages there are few. They cost their clearing, however little of them is used, so
 * they are for memory that stays, and for long vectors; and that at once, not in the middle of a call that is timed. */
#ifndef LUCID_SPARSE_MEMORY_H
#define LUCID_SPARSE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* `large`: in large pages if it has 2 MiB or more and the system has them. NULL: there is no memory. Aligned to 16 bytes at least.
 * Thread-safe, both. */
void *sparse_memory_take(size_t bytes, bool large);
void sparse_memory_give(void *memory);

#endif
