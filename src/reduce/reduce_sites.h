/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_sites.h: the call sites that LUCID_SPARSE=measure has seen in this process.
 */
#ifndef LUCID_REDUCE_SITES_H
#define LUCID_REDUCE_SITES_H

#include "reduce.h"

#define LUCID_REDUCE_SITES 1024 /* a power of two */

struct lucid_reduce_figures {
    uint64_t calls, elements, exceptions;
    uint64_t encoded; /* bytes of the inputs in the core's form */
    uint64_t size;    /* of an element; the last call's */
    uint64_t ranks;   /* added up over the calls */
};

struct lucid_reduce_site {
    const void *address;
    const char *name;
    enum sparse_kind kind;
    struct lucid_reduce_figures figures; /* no calls: the place is free */
};

extern LUCID_INTERNAL struct lucid_reduce_site lucid_reduce_sites[LUCID_REDUCE_SITES];

/* Collective over MPI_COMM_WORLD: writes sparse.json into LUCID_DIR, or here. */
LUCID_INTERNAL void lucid_reduce_report(void);

#endif
