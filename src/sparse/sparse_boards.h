/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoded vectors that the ranks of one node read where their owners show them, by words (sparse_words.h), where algorithms in which each goes straight to who needs it
 * would send them: to a Reduce's root, to all ranks of an Allreduce, part by part in a Reduce_scatter. The bits are the same. Who needs none waits for nobody.
 *
 * What is read is copied before it is looked at: its owner's process could still write to it. */
#ifndef LUCID_SPARSE_BOARDS_H
#define LUCID_SPARSE_BOARDS_H

#include "sparse_words.h"

/* Whether the slots are long enough for such a call's vectors, and all ranks on one node. */
bool sparse_boards_fit(const struct sparse_call *call, size_t elements);

/* After sparse_words_begin: `run`, all positions of the vector; for nobody: that this rank is there. */
void sparse_boards_show(struct sparse_slice *s, const struct sparse_run *run);

/* Takes positions of a rank's vector to run->base + offset, as a message that slot 0 has received (sparse_received). Returns SPARSE_PENDING if that is yet to come. */
enum sparse_status sparse_boards_take(struct sparse_slice *s, int rank, struct sparse_run *run, size_t offset, struct sparse_span span);

#endif
