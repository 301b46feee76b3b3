/* SPDX-License-Identifier: BSD-3-Clause
 * startup.h: what communicators cost: the contract between coll/lazy, which keeps the books, and liblucid, which tells it
 * of the program's calls and writes the report (startup.json). The component finds lucid_startup_attach() by its name.
 */
#ifndef LUCID_STARTUP_H
#define LUCID_STARTUP_H

#include <stddef.h>
#include <stdint.h>

#include "../core/visibility.h"

#define LUCID_STARTUP_VERSION 1

/** Of one process. Inner ones (the parent's first use within a child's creation) are not in it. */
struct lucid_startup_cost {
    int64_t bytes;          /* heap, that stays */
    int64_t ids;            /* context ids */
    uint64_t messages;      /* sent */
    uint64_t message_bytes;
    double seconds;
};

enum lucid_startup_state {
    LUCID_STARTUP_WAITING,  /* without modules of its own */
    LUCID_STARTUP_OWN,      /* modules selected for it */
    LUCID_STARTUP_SHARED    /* modules of another communicator of its group */
};

struct lucid_startup_record {
    uint64_t group;         /* hash of its processes in their order: the same on all of them */
    uint32_t number;        /* Open MPI's number, which is used again */
    uint32_t occurrence;    /* how many communicators of this group have had this number before */
    int32_t size;
    int32_t state;          /* enum lucid_startup_state */
    int32_t freed;
    char name[64];
    char created_by[32];    /* MPI call; "" inside the library, or when a nonblocking creation was completed */
    char used_by[32];       /* the operation that made it ready; "" if none */
    char module[32];        /* component that serves allreduce */
    struct lucid_startup_cost creation, use; /* use: of the operation used_by, all that it did */
};

struct lucid_startup_source {
    int version;
    const char *(*layer)(void);         /* what coll/lazy does: off, delay, share */
    void (*begin)(const char *call);    /* the calling thread creates a communicator by an MPI call ... */
    void (*end)(void);                  /* ... and has done so */
    size_t (*records)(const struct lucid_startup_record **records); /* closes the books */
};

/** The books' keeper; once, from within MPI_Init. */
LUCID_INTERNAL void lucid_startup_attach(const struct lucid_startup_source *source);

extern LUCID_INTERNAL const struct lucid_startup_source *lucid_startup_source;

/** Around calls that create communicators; called always. */
static inline void lucid_startup_begin(const char *call)
{
    if (LUCID_UNLIKELY(lucid_startup_source != NULL)) lucid_startup_source->begin(call);
}

static inline void lucid_startup_end(void)
{
    if (LUCID_UNLIKELY(lucid_startup_source != NULL)) lucid_startup_source->end();
}

/** Before MPI_Finalize: writes startup.json to LUCID_DIR. Collective over MPI_COMM_WORLD. */
LUCID_INTERNAL void lucid_startup_report(void);

#endif
