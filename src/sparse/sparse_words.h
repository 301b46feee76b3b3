/* SPDX-License-Identifier: BSD-3-Clause */
/* Words: what a rank writes in its window (sparse_windows.h) for the other ranks of its node, with the number of the call, where it would send a message,
 * and they wait for, where they would receive one. Of blocking calls, which come in one order, on vectors in one slice, or of which the slices come in one order, too; and if all ranks read the windows
 * of all others of their node: they agree on whether they do in the first call that asks behind the one in which windows are opened.
 *
 * Slots take turns, one with every call, or with every step of one. A rank's word of a turn says that what its slot is to have in this one is there, and that it has read what it had to
 * read in the turn before the one before, and earlier: so who has been given the words of the turn before the one before by all who read a slot may write to it again, four turns later. A word that
 * comes from no such call is damage.
 *
 * Not thread-safe; called in the order of the calls. */
#ifndef LUCID_SPARSE_WORDS_H
#define LUCID_SPARSE_WORDS_H

#include "sparse_slice.h"

enum sparse_word {
    SPARSE_WORD_NONE,   /* it is yet to come */
    SPARSE_WORD_SHOWN,  /* what was to be shown, which may be nothing */
    SPARSE_WORD_ASTRAY, /* not so: a vector is not zeros where it should be (sparse_allreduce_shares.c), or there is no room (sparse_allreduce_boards.c) */
    SPARSE_WORD_LOST    /* the rank has failed */
};

/* Whether ranks of so many to a node may have words for each other in such calls. */
bool sparse_may_have_words(const struct sparse_call *call, int per_node);

/* Whether the slice's ranks have. The same on all of them. */
bool sparse_has_words(const struct sparse_slice *s);

/* A turn begins, in which the ranks at these places of the node (bits) read this rank's slot: when it may be written. Resumable: SPARSE_PENDING until
 * all who read it the last time are done with it. */
enum sparse_status sparse_words_begin(struct sparse_slice *s, uint32_t readers);

/* This turn's slot in the rank's own window; in anyone's, this turn's, or that of so many turns `before`: SPARSE_WINDOW_SLOT bytes. */
char *sparse_words_slot(const struct sparse_slice *s);
const char *sparse_words_slot_of(const struct sparse_slice *s, int place, unsigned before);

/* ... and who reads it. */
uint32_t sparse_words_readers(const struct sparse_slice *s);

/* After the slot is written; SPARSE_WORD_LOST if the call has failed here. `bound`: bytes that a dense form would have sent to each reader. */
void sparse_words_write(struct sparse_slice *s, enum sparse_word word, size_t bound);

/* What the rank at this place of the node reads of what this one shows, for who counts that, and the record, as sent; once for each time. 0 bytes are nothing. */
void sparse_words_tell(const struct sparse_slice *s, int place, size_t bytes);

/* A rank's word of this turn, or of so many `before`. SPARSE_WORD_LOST, and the call fails, if it is damaged, or that. */
enum sparse_word sparse_words_read(struct sparse_slice *s, int place, unsigned before);

/* Some of these places' words are yet to come. Returns SPARSE_PENDING, or SPARSE_FAILED if they cannot be waited for. */
enum sparse_status sparse_words_idle(struct sparse_slice *s, uint32_t places);

#endif
