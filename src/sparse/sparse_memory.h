/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that messages lie in. Ranks of one node read each other's by way of the kernel (Linux: process_vm_readv), which looks up and
 * pins every page that it copies from; of large pages there are few. So memory of 2 MiB and more that stays asks for them. What is
 * given back after the call does not: a large page costs its clearing, however little of it is used. */
#ifndef LUCID_SPARSE_MEMORY_H
#define LUCID_SPARSE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* NULL: there is none. Aligned to 16 bytes at least. Thread-safe, both. */
void *sparse_memory_take(size_t bytes, bool stays);
void sparse_memory_give(void *memory);

#endif
