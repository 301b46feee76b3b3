/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_sites.h: the call sites that LUCID_SPARSE=measure has seen in this process.
 */
#ifndef LUCID_REDUCE_SITES_H
#define LUCID_REDUCE_SITES_H

#include "reduce.h"

#define LUCID_REDUCE_SITES 4096 /* a power of two */

struct lucid_reduce_figures {
    uint64_t calls, elements, exceptions;
    uint64_t encoded; /* bytes of the inputs in the core's form */
    uint64_t size;    /* of an element; the last call's */
    uint64_t ranks;   /* added up over the calls */
    double seconds;   /* in the library, of blocking calls */
    double looking;   /* seconds of encoding the inputs, by all processes at once as in a reduction */
};

/* A place in the program and a sort of vectors there: a search calls one place with vectors that hardly have anything and with full ones,
 * which a mean would hide. */
struct lucid_reduce_site {
    const void *address;
    const char *name;
    enum sparse_kind kind;
    int sort; /* by size and share of exceptions, in powers of two */
    struct lucid_reduce_figures figures; /* no calls: the place is free */
};

extern LUCID_INTERNAL struct lucid_reduce_site lucid_reduce_sites[LUCID_REDUCE_SITES];

/* Calls whose operator is the program's own and not declared element-wise: nobody can look at those. */
LUCID_INTERNAL uint64_t lucid_reduce_undeclared(void);

/* Collective over MPI_COMM_WORLD: writes sparse.json into LUCID_DIR, or here. */
LUCID_INTERNAL void lucid_reduce_report(void);

#endif
