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
    uint64_t faults;  /* of pages, meanwhile: new memory, that the library takes and gives back in every call */
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

/* What is to be done with a call's exceptions beside counting them. */
struct lucid_reduce_kept;
struct lucid_reduce_sampled {
    uint64_t *sample; /* to be filled; NULL: nothing is */
    int number;       /* which words are to go into it */
    struct lucid_reduce_kept **kept; /* where the call may be kept */
    uint64_t order;   /* of the calls on communicators of the same processes, this one's number at this process */
};
/* By one thread at a time. */
LUCID_INTERNAL struct lucid_reduce_sampled lucid_reduce_sample_of(const struct lucid_reduction *reduction, size_t elements);
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
/* The processes of communicators that have some of MPI_COMM_WORLD's, in their order. */
struct lucid_reduce_group {
    MPI_Group group;
    int size;
    uint64_t calls;
};
/* NULL: not of this MPI_COMM_WORLD's processes, or there are too many. By one thread at a time. */
LUCID_INTERNAL struct lucid_reduce_group *lucid_reduce_group_of(MPI_Comm comm);

/* Collective over MPI_COMM_WORLD: all get the places that rank 0 knows, and rank 0 what is known of them. Returns how many. */
LUCID_INTERNAL int lucid_reduce_overlaps(struct lucid_reduce_overlap overlaps[LUCID_REDUCE_OVERLAPS]);

/* A call of which this process has kept the input, in the core's form, to run it again at MPI_Finalize (reduce_kept.c). */
struct lucid_reduce_kept {
    struct lucid_reduction reduction; /* without its buffers; `counts` is a copy */
    struct sparse_operator operator;
    uint64_t order;                   /* as above */
    size_t elements, bytes;           /* of the whole vector; of the message */
    uint64_t exceptions;
    char *message;                    /* all blocks of a layout of one part */
};

/* Begins to keep a call; NULL: not this one. Ends with _done(), or a block for which there is no room. `order` as above. */
LUCID_INTERNAL struct lucid_reduce_kept *lucid_reduce_keep(const struct lucid_reduction *reduction, size_t elements,
                                                           const struct sparse_operator *operator, uint64_t order);
/* Adds the next of its blocks. False: there is no more room, and nothing of it is left. */
LUCID_INTERNAL bool lucid_reduce_keep_block(struct lucid_reduce_kept *kept, const void *message, size_t bytes);
LUCID_INTERNAL void lucid_reduce_keep_done(struct lucid_reduce_kept *kept);
/* Writes the vector. */
LUCID_INTERNAL void lucid_reduce_kept_restore(const struct lucid_reduce_kept *kept, void *vector);

/* The call of a place that is to fill sample `number`, if it is kept; else NULL. */
LUCID_INTERNAL struct lucid_reduce_kept *lucid_reduce_kept_of(const struct lucid_reduce_place *place, uint64_t elements, int number);

/* Calls of a place with vectors of one length on a communicator of some processes. */
struct lucid_reduce_part {
    struct lucid_reduce_place place;
    uint64_t elements, ranks;
    struct lucid_reduce_group *group; /* NULL: this process has none */
    struct lucid_reduce_kept *const *kept; /* LUCID_REDUCE_SAMPLES of them, or NULLs */
    int number; /* among this process's */
};
/* This process's, and others: false where number `i`, below _parts(), is not one. */
LUCID_INTERNAL int lucid_reduce_parts(void);
LUCID_INTERNAL bool lucid_reduce_part_at(int i, struct lucid_reduce_part *part);

/* Collective over `world`, of all processes: the next part that one of them has, as each of them has it. False: there are no more. */
LUCID_INTERNAL bool lucid_reduce_next_part(MPI_Comm world, struct lucid_reduce_part *part);
/* Collective over `world`: a communicator for each group of which all members have the part, at its members; elsewhere MPI_COMM_NULL. */
LUCID_INTERNAL MPI_Comm lucid_reduce_part_comm(MPI_Comm world, const struct lucid_reduce_part *part);
LUCID_INTERNAL void lucid_reduce_parts_end(void);

/* What a call took when it was run again: seconds until all processes were through, in the library and with Lucid. */
struct lucid_reduce_replayed {
    struct lucid_reduce_place place;
    int sort;  /* of the mean of the processes' inputs */
    int ranks; /* of the communicator */
    double library, lucid;
};
enum { LUCID_REDUCE_REPLAYS = 128 };
struct lucid_reduce_replays {
    struct lucid_reduce_replayed calls[LUCID_REDUCE_REPLAYS];
    int n;
};
/* Collective over MPI_COMM_WORLD, whose `world` is: runs calls of the places again that all processes have kept. */
LUCID_INTERNAL void lucid_reduce_replay(struct lucid_reduce_comm *world, const struct lucid_reduce_overlap *overlaps, int n,
                                        struct lucid_reduce_replays *replays);

/* Page faults in a call of a place and sort, in the library, at this process; on average. */
LUCID_INTERNAL double lucid_reduce_faults_of(const struct lucid_reduction *reduction, int sort);

/* The sort of a vector: by its bytes and the share of its exceptions, in powers of two. */
LUCID_INTERNAL int lucid_reduce_sort(uint64_t elements, uint64_t size, uint64_t exceptions);
/* How far one sort of the same length is from another, in powers of two of that share; INT_MAX: they are not as long. */
LUCID_INTERNAL int lucid_reduce_sort_distance(int one, int other);

/* Calls whose operator is the program's own and not declared element-wise: nobody can look at those. */
LUCID_INTERNAL uint64_t lucid_reduce_undeclared(void);

/* Collective over MPI_COMM_WORLD: writes sparse.json into LUCID_DIR, or here. */
LUCID_INTERNAL void lucid_reduce_report(void);

#endif
