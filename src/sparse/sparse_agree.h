/* SPDX-License-Identifier: BSD-3-Clause */
/* The agreement before a reduction: an allreduce of a few numbers (whole ones, so that the order of the sums does not matter). */
#ifndef LUCID_SPARSE_AGREE_H
#define LUCID_SPARSE_AGREE_H

#include "sparse_slice.h"

/* What merges have shown; see struct sparse_estimate. */
struct sparse_learned {
    double growth, per_exception;
};

/* What a rank's last call took; 0: unknown. */
struct sparse_times {
    uint32_t took;  /* tenths of a microsecond from the agreement on */
    uint32_t asked; /* nanoseconds of a look at the vector, an agreement that all ranks begin together, and the choice */
    uint32_t again; /* tenths of a microsecond of the same once more, by a call without an agreement; 0: there was none */
    double density; /* ... and of its inputs */
};

/* On the wire as it is: all ranks run the same library on the same kind of machine, else `seal` differs. */
struct sparse_terms {
    uint32_t seal, ranks;      /* sparse_terms_seal() of the rest; ranks that these are the sums of */
    uint32_t flags, dear;      /* of any rank, SPARSE_...; how many calls' time a look takes, times SPARSE_DEAR: the least of any rank */
    uint32_t observed;         /* ranks that have learned the growth and the bytes */
    uint32_t took, asked, again; /* struct sparse_times: the most of any rank */
    uint64_t density, repeated, growth, per_exception; /* sums, in 2^-32, 2^-32 (sparse_times.density), 2^-20 and 2^-20 */
};

enum { SPARSE_DEAR = 1024 };

enum {
    SPARSE_CANNOT = 1, /* has no memory */
    SPARSE_STAYS = 2,  /* may not pass the call on */
    SPARSE_STALE = 4,  /* has had nothing to learn from for a while */
    SPARSE_VOID = 8,   /* has had a damaged message, or heard of one */
    SPARSE_BUSY = 16,  /* an earlier call in turn is under way there */
    SPARSE_SPREAD = 32, /* its vector is not zeros but for its own share, or may not be taken for such */
    SPARSE_WORDLESS = 64, /* it does not read all windows of its node (sparse_windows.h), or nobody has one yet */
    SPARSE_ASKS = 128, /* may not leave one without a message either */
};

/* A checksum that begins with a number of our own. Ranks that took different numbers for agreed ones would choose different algorithms:
 * wait for each other for ever, or add up what does not belong together. One changed bit always shows. */
uint32_t sparse_terms_seal(const struct sparse_terms *terms);

struct sparse_agreement {
    const struct sparse_transport *transport;
    int tag;
    struct sparse_record *record;
    struct sparse_nodes nodes;
    struct sparse_terms terms, received;
    struct sparse_windows *windows; /* in which a node's ranks read each other's terms; NULL: they are sent */
    uint32_t left; /* places of the node whose terms are yet to be read, by bit */
    int resume, inner, k;
    int heard; /* the last rank that was listened to */
    struct { union sparse_request request; bool active; size_t bytes; } slot[2]; /* receive, send */
};

/* `per_node`: consecutive ranks on each node (sparse_agreement_per_node). `windows`: which ranks have agreed to have, or NULL. */
void sparse_agree_init(struct sparse_agreement *a, const struct sparse_transport *transport, int per_node, struct sparse_windows *windows, int tag,
                       struct sparse_record *record, uint32_t flags, uint32_t dear, struct sparse_times last, double density,
                       const struct sparse_learned *learned);

/* Resumable. SPARSE_FAILED also for numbers that are none of ours, when the agreement is over: this rank cannot know what the others will
 * do, but those that it has still had messages for know that it has failed, and fail, too. */
enum sparse_status sparse_agree(struct sparse_agreement *a);

void sparse_agree_cancel(struct sparse_agreement *a);

#endif
