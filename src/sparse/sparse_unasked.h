/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a call before any message, and the same on all ranks. */
#ifndef LUCID_SPARSE_UNASKED_H
#define LUCID_SPARSE_UNASKED_H

#include "sparse_state.h"

/* Of the whole vector that a rank gives. */
size_t sparse_call_elements(const struct sparse_call *call);

struct sparse_class *sparse_call_class(const struct sparse_call *call, size_t elements);

/* The ranks have to ask each other. */
static const struct sparse_answer sparse_ask = {0, SPARSE_ALGORITHMS, false};

/* Who runs it, or sparse_ask. Counts: once for each call. */
struct sparse_answer sparse_unasked(const struct sparse_call *call, size_t elements);

#endif
