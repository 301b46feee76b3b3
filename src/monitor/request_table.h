/* SPDX-License-Identifier: BSD-3-Clause
 * request_table.h: the persistent requests of the process and what one start of each sends. Knows no MPI: a request is
 * a 64-bit key. Thread-safe.
 */
#ifndef LUCID_REQUEST_TABLE_H
#define LUCID_REQUEST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/visibility.h"

/** A part of what a start sends. */
struct lucid_share {
    uint32_t peer;
    uint64_t bytes;
};

enum lucid_request_type {
    LUCID_REQUEST_SEND,        /* one share, sent at each start */
    LUCID_REQUEST_PARTITIONED, /* one share, sent at each MPI_Pready */
    LUCID_REQUEST_COLLECTIVE   /* shares as a source without better knowledge books them */
};

struct lucid_request {
    uint64_t key;
    enum lucid_request_type type;
    int kind;
    size_t shares;
    union {
        struct lucid_share one; /* shares <= 1 */
        struct lucid_share *many;
    };
};

/** Enters a request; one of the same key is replaced. Takes over `many`, even if it fails. 0, or -1 without memory. */
int lucid_requests_add(struct lucid_request request);
/** Forgets a request; nothing happens if it is not known. */
void lucid_requests_remove(uint64_t key);
/** Gives a request another key. Nothing happens if it is not known. */
void lucid_requests_rename(uint64_t from, uint64_t to);

/** Calls visit(request, arg) for a known request, under the table's lock: visit must not use it. False if unknown. */
bool lucid_requests_visit(uint64_t key, void (*visit)(const struct lucid_request *request, void *arg), void *arg);

/** Number of known requests; costs one load. */
size_t lucid_requests_known(void);

#endif
