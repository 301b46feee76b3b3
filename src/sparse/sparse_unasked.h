/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a call before any message, and the same on all ranks. */
#ifndef LUCID_SPARSE_UNASKED_H
#define LUCID_SPARSE_UNASKED_H

#include "sparse_state.h"

/* Of the whole vector that a rank gives. */
size_t sparse_call_elements(const struct sparse_call *call);

struct sparse_class *sparse_call_class(const struct sparse_call *call, size_t elements);

/* The ranks have to ask each other. */
static const struct sparse_answer sparse_ask = {.algorithm = SPARSE_ALGORITHMS};

/* Who runs it, or sparse_ask. Counts: once for each call. */
struct sparse_answer sparse_unasked(const struct sparse_call *call, size_t elements);

/* The next call of its line, if it is of the shape, is to run the same without asking, and to be timed. The same on all ranks. */
void sparse_unasked_repeat(const struct sparse_call *call, struct sparse_class *class, const struct sparse_choice *choice,
                           double grain);

/* What calls of the class have run is nothing to go by. The same on all ranks. */
void sparse_unasked_forget(const struct sparse_call *call, struct sparse_class *class);

/* What the ranks have agreed on of the last call's times. Of other inputs than those that were looked at a repetition says nothing. */
struct sparse_times sparse_unasked_times(const struct sparse_call *call, const struct sparse_terms *terms,
                                         const struct sparse_estimate *estimate);

#endif
