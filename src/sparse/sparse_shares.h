/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of sparse_allreduce_shares.c have in common: shares that are sent, and those that are read (sparse_shares_windows.c). */
#ifndef LUCID_SPARSE_SHARES_H
#define LUCID_SPARSE_SHARES_H

#include "sparse_slice.h"

/* Ranks next to each other, of one node or of several. */
struct ranks {
    int first, end;
};

static inline struct ranks alone(int rank)
{
    return (struct ranks){rank, rank + 1};
}

static inline struct ranks everyone(const struct sparse_slice *s)
{
    return (struct ranks){0, s->transport->size};
}

/* Of what ranks are to fill. */
static inline size_t share_bytes(const struct sparse_slice *s, struct ranks ranks)
{
    size_t elements = 0;
    for (int r = ranks.first; r < ranks.end; r++) elements += s->count[r];
    return elements * s->operator->size;
}

static inline char *output_of(const struct sparse_slice *s, int rank)
{
    return s->output + s->from[rank] * s->operator->size;
}

static inline bool in_place(const struct sparse_slice *s)
{
    return s->input == s->output;
}

/* Shares that a rank is sent: not over an input that is needed. */
void sparse_shares_await(struct sparse_slice *s, int slot, struct ranks want, int from);
void sparse_shares_take(struct sparse_slice *s, int slot, struct ranks want);
/* Shares, or word that there are none. A dense form would send `vectors` in their place. */
void sparse_shares_send(struct sparse_slice *s, int slot, struct ranks give, int vectors, int to);

/* Before a call begins of whose first lane s->opens is set: ranks tell each other where their windows are. */
enum sparse_status sparse_windows_begin(struct sparse_slice *s);

/* By words: when this rank's slot may be written. */
enum sparse_status sparse_window_begin(struct sparse_slice *s);
/* s->window: where this slice's own share is to be written, too, or NULL. */
void sparse_window_take(struct sparse_slice *s);
/* ... has been, or there are no shares. */
void sparse_window_show(struct sparse_slice *s);

/* Into the output, past the caches if that is longer than those. */
void sparse_window_copy(const struct sparse_slice *s, char *to, const char *from, size_t bytes);

/* A message of another length than the share: whether it was word that this is to be read, which it then has been; whether it is the beginning of that. */
bool sparse_window_read(struct sparse_slice *s, int rank, uint64_t word);
bool sparse_window_word(const struct sparse_slice *s, const void *message, size_t bytes);

/* From each rank of the node to each other one: by messages that a share is there; by words, between nodes through the first rank of each, which gathers
 * their shares from the others by `between`. */
enum sparse_status sparse_shares_through_windows(struct sparse_slice *s);
enum sparse_status sparse_shares_by_words(struct sparse_slice *s, enum sparse_status (*between)(struct sparse_slice *s));

#endif
