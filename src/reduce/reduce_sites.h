/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_sites.h: the call sites that LUCID_SPARSE=measure has seen in this process.
 */
#ifndef LUCID_REDUCE_SITES_H
#define LUCID_REDUCE_SITES_H

#include "../sparse/sparse_block.h"
#include "reduce.h"

#define LUCID_REDUCE_SITES 4096 /* a power of two */

/* A place as every process has it. */
struct lucid_reduce_place {
    char object[128], function[96], name[32]; /* the file it is in; the function, where the dynamic loader knows one; what is called */
    uint64_t offset;
};
LUCID_INTERNAL struct lucid_reduce_place lucid_reduce_place_of(const void *address, const char *name);
LUCID_INTERNAL bool lucid_reduce_same_place(const struct lucid_reduce_place *a, const struct lucid_reduce_place *b);

struct lucid_reduce_figures {
    uint64_t calls, elements, exceptions;
    uint64_t encoded; /* bytes of the inputs in the core's form */
    uint64_t size;    /* of an element; the last call's */
    uint64_t ranks;   /* added up over the calls */
    double seconds;   /* in the library, of blocking calls */
    double looking;   /* seconds of a processor for encoding the inputs, by all processes at once as in a reduction */
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

/* Where exceptions lie at this process in some calls of a place, all of one length, on communicators of all processes (reduce_overlap.c):
 * words of 64 elements each, the same ones at every process, with a bit for what stands out. */
enum { LUCID_REDUCE_SAMPLES = 8, LUCID_REDUCE_WORDS = 64, LUCID_REDUCE_OVERLAPS = 64 };
typedef uint64_t lucid_reduce_sample[LUCID_REDUCE_WORDS];

/* The sample that this call is to fill; NULL: none. *number: which words are to go into it. By one thread at a time. */
LUCID_INTERNAL uint64_t *lucid_reduce_sample_of(const struct lucid_reduction *reduction, size_t elements, int *number);
/* Puts words of block `index`, which has just been encoded as `message`, into a sample. */
LUCID_INTERNAL void lucid_reduce_sample_block(uint64_t *sample, int number, const struct sparse_layout *layout, size_t index,
                                              const void *message);

/* How exceptions of all processes lie to each other at a place. */
struct lucid_reduce_overlap {
    struct lucid_reduce_place place;
    uint64_t elements;
    double growth, weight;  /* of unions (sparse_model.h), and by how many elements that shows; 0: nothing is known */
    double joined, samples; /* share of the elements that stand out at any process, and in how many calls that was seen */
};
/* Collective over MPI_COMM_WORLD: rank 0 gets all that are known there. Returns how many, 0 elsewhere. */
LUCID_INTERNAL int lucid_reduce_overlaps(struct lucid_reduce_overlap overlaps[LUCID_REDUCE_OVERLAPS]);

/* Calls whose operator is the program's own and not declared element-wise: nobody can look at those. */
LUCID_INTERNAL uint64_t lucid_reduce_undeclared(void);

/* Collective over MPI_COMM_WORLD: writes sparse.json into LUCID_DIR, or here. */
LUCID_INTERNAL void lucid_reduce_report(void);

#endif
