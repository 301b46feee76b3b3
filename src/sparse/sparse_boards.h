/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoded vectors that the ranks of one node read where their owners show them, by words (sparse_words.h), where algorithms would send them: those in which each goes straight
 * to who needs it, to a Reduce's root, to all ranks of an Allreduce, part by part in a Reduce_scatter; and a halving, in which what ranks have joined is shown, too
 * (sparse_allreduce_boards.c). The bits are the same. Who needs none waits for nobody.
 *
 * What is read is copied before it is looked at: its owner's process could still write to it. */
#ifndef LUCID_SPARSE_BOARDS_H
#define LUCID_SPARSE_BOARDS_H

#include "sparse_words.h"

/* Whether all ranks of such a call are on one node, and may have words. */
bool sparse_boards_near(const struct sparse_call *call);

/* ... and slots are long enough for its vectors, whatever is in them. */
bool sparse_boards_fit(const struct sparse_call *call, size_t elements);

/* Slices of so many bytes which have room in a slot, with a part added to the `parts` that they are cut into, whatever is in them. */
size_t sparse_boards_slices(size_t bytes, size_t parts);

/* After sparse_words_begin: `run`, all positions of the vector, of which each reader takes all, or its own (as many as there are ranks); for nobody: that this rank is there. */
void sparse_boards_show(struct sparse_slice *s, const struct sparse_run *run, bool own);

/* Takes positions of a rank's vector to run->base + offset, as a message that slot 0 has received (sparse_received). Returns SPARSE_PENDING if that is yet to come. */
enum sparse_status sparse_boards_take(struct sparse_slice *s, int rank, struct sparse_run *run, size_t offset, struct sparse_span span);

/* The same by the piece, of what is read in later turns. After sparse_words_begin: nothing; all positions of the vector, in the slot, which become known in `run`; behind them, a
 * part that is joined. The last two return false if there is no room, and nothing of the turn is to be read then. The word is the caller's. */
void sparse_boards_begin(struct sparse_slice *s);
bool sparse_boards_encode(struct sparse_slice *s, struct sparse_run *run);
bool sparse_boards_add(struct sparse_slice *s, const char *part, size_t bytes);

/* The words of the turn before, of the places in s->left; s->voided if one of them says that there was no room. */
enum sparse_status sparse_boards_await(struct sparse_slice *s);

/* Then, from the turn before, of any rank: positions of its vector, to run->base + offset; the part it has added, which is of this position, to run->base. Return the bytes. */
size_t sparse_boards_read(struct sparse_slice *s, int rank, struct sparse_span span, struct sparse_run *run, size_t offset);
size_t sparse_boards_read_added(struct sparse_slice *s, int rank, struct sparse_span span, struct sparse_run *run);

/* What others read so of this rank's (sparse_words_tell): one of them positions of its vector; all of them the part it has added. */
void sparse_boards_tell(const struct sparse_slice *s, int rank, struct sparse_span span);
void sparse_boards_tell_added(const struct sparse_slice *s);

#endif
