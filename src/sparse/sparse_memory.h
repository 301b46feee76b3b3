/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that messages lie in. Ranks of one node read each other's by way of the kernel (Linux: process_vm_readv), which looks up and
 * pins every page that it copies from; of large pages there are few. They cost their clearing, however little of them is used, so
 * they are for memory that stays, and for long vectors; cleared at once, not in the middle of a call that is timed. */
#ifndef LUCID_SPARSE_MEMORY_H
#define LUCID_SPARSE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* `large`: in large pages if it has 2 MiB or more, the system has them, and the process has not more than 64 MiB of them with it. NULL:
 * there is no memory. Aligned to 16 bytes at least. What was given back last of large pages is kept for the next one. Thread-safe, all. */
void *sparse_memory_take(size_t bytes, bool large);
void sparse_memory_give(void *memory);

/* Whether `bytes` bytes would come in large pages, and `memory`, which was taken here, did not. */
bool sparse_memory_improves(const void *memory, size_t bytes);

/* Nothing is kept any more. */
void sparse_memory_forget(void);

#endif
