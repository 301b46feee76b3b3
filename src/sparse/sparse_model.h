/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reduction costs: the parameters, the machine's rates, and one formula per algorithm. Pure functions of their
 * arguments, so that ranks which agree on the arguments agree on the answer. */
#ifndef LUCID_SPARSE_MODEL_H
#define LUCID_SPARSE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sparse_algorithm {
    SPARSE_LIBRARY,            /* the MPI library's own routine; as a forced algorithm: none is forced */
    SPARSE_REDUCE_BINOMIAL,    /* sparse_reduce_binomial.c, and so on */
    SPARSE_REDUCE_HALVING,
    SPARSE_REDUCE_DIRECT,
    SPARSE_REDUCE_CHAIN,
    SPARSE_REDUCE_LEADERS,
    SPARSE_ALLREDUCE_DOUBLING,
    SPARSE_ALLREDUCE_HALVING,
    SPARSE_ALLREDUCE_RING,
    SPARSE_ALLREDUCE_LEADERS,
    SPARSE_ALLREDUCE_SHARES,
    SPARSE_SCATTER_HALVING,
    SPARSE_SCATTER_PAIRWISE,
    SPARSE_SCAN_DOUBLING,      /* Scan and Exscan */
    SPARSE_SCAN_CHAIN,
    SPARSE_ALGORITHMS
};

/* "reduce_halving" and so on, for logs and tests. */
const char *sparse_algorithm_name(enum sparse_algorithm algorithm);

/* Rates in bytes per second of dense vector (scan, copy, add) or of encoded data (merge); latencies in seconds. */
struct sparse_rates {
    double scan;   /* read a vector and encode what differs */
    double merge;  /* merge two encoded blocks: encoded bytes read and written */
    double add;    /* apply the operator to dense elements: bytes of one operand */
    double copy;   /* write a vector from its encoded or dense form */
    double latency_node, bandwidth_node;       /* between ranks of one node; bandwidth per rank */
    double latency_network, bandwidth_network; /* between nodes; bandwidth per node */
    int ranks_per_node;                        /* consecutive ranks */
    double ranks_per_processor;                /* of a node; less than 1: as 1 */
};

void sparse_rates_default(struct sparse_rates *rates);

/* Measures scan, merge, add and copy on this machine in a few ms. The result differs from rank to rank: one rank's must be
 * given to all (they are part of the parameters, which are the same everywhere). Returns false without memory, `rates`
 * untouched. */
bool sparse_rates_calibrate(struct sparse_rates *rates);

/* Bytes from which on no vector is short, if nobody has set another length. */
enum { SPARSE_SHORT_MOST = 65536 };

struct sparse_parameters {
    size_t short_bytes;    /* shorter vectors go to the MPI library unseen; SPARSE_SHORT_MOST */
    bool short_measured;   /* ... or fewer, where the library takes long for them (sparse_short.h) */
    size_t slice_bytes;    /* vectors are cut into slices of this many bytes or more, two of which are under way at a time; 1 MiB */
    size_t past_bytes;     /* results of so many bytes or more are written past the caches; 4 MiB: with the inputs of four ranks more
                            * than processors have in common */
    size_t large_bytes;    /* on one node messages of so many bytes or more lie in large pages (sparse_memory.h); 1 MiB */
    size_t keep;           /* bytes of scratch memory that a communicator keeps; 32 MiB */
    bool wordless;         /* who waits has to have a message that it waits for (sparse_windows.h) */
    unsigned sample_lines; /* cache lines looked at; 64 */
    unsigned patience;     /* answers in a row that are the same after which not every call is looked at; 4 */
    unsigned every;        /* ... but every so many, or, where an encoded form runs, four times as often; 32 */
    double margin;         /* gain over the library's own routine, as a factor, below which that one runs; 1.1 */
    enum sparse_algorithm algorithm; /* forces one; SPARSE_LIBRARY: chosen. Ignored where it is of another kind */
    bool dense;            /* forces the dense form: the twin to compare with */
    bool always;           /* never the library's own routine, whatever the length or density (tests, measurements) */
    struct sparse_rates rates;
    /* Seconds since whenever. NULL: nothing is timed, and the choice follows from the inputs and the rates alone: the same in
     * every run. The same on all ranks in that respect. */
    double (*clock)(void);
    void *(*allocate)(void *context, size_t bytes); /* NULL: malloc and free */
    void (*release)(void *context, void *memory);
    void *memory_context;
};

void sparse_parameters_default(struct sparse_parameters *parameters);

/* What the library's routine does that a good dense one would not. */
struct sparse_library {
    size_t fresh; /* bytes of memory that are new in each call, and have to be made ready page by page */
    bool at_root; /* a Reduce_scatter is a Reduce, and the root sends all of the result */
};

/* What all ranks agree on before they choose. */
struct sparse_estimate {
    size_t elements, size; /* the whole vector; bytes of an element */
    int ranks;
    bool commutative;
    double density;        /* mean over the ranks, in [0, 1] */
    double grain;          /* ... what one exception among the samples comes to; 0: no matter */
    /* How unions grow: 0 same positions, 1 independent, 1.5 disjoint. Up to 1, union(k) = 1 - (1 - density)^(k^growth); above,
     * between the independent one and min(1, k density). */
    double growth;
    /* Encoded bytes of an exception: size where they come in clusters, size + 2 (or 0) where they are scattered. */
    double per_exception;
    bool learned;          /* growth and per_exception come from earlier calls */
    bool stale;            /* ... and should be looked at again */
    bool boards;           /* encoded vectors may be read where they are shown (sparse_boards.h) */
    bool shown;            /* ... and longer ones, slice by slice, with what is joined of them (sparse_allreduce_boards.c) */
    bool shares;           /* every rank has zeros but in its own share (sparse_allreduce_shares.c), as far as has been seen */
    struct sparse_library library;
};

/* Share of elements that are exceptions in the union of `k` ranks. */
double sparse_union(const struct sparse_estimate *estimate, double k);

/* The growth that explains a union of `k` ranks of density `joined`. */
double sparse_growth(double density, double joined, double k);

/* The density from which on a union of elements of `size` bytes is nearly full: not far from it blocks become dense, all of whose elements
 * count as exceptions. A union that would be so by chance, and is, shows nothing of growth. */
double sparse_full(size_t size);

/* Bytes that an element of a union of density `density` takes on the wire on average, headers of parts included. */
double sparse_bytes_per_element(const struct sparse_estimate *estimate, double density, double part_elements, bool dense);

/* How many vectors of a slice a lane of a ring has room for (sparse_plan.c): smaller slices where there are more ranks. `alone`: the
 * slice is the whole vector, so that there is one lane. */
int sparse_ring_room(int ranks, size_t slice_bytes, bool alone);

/* Whether all of so many ranks are on one node. */
bool sparse_near(const struct sparse_rates *rates, int ranks);

/* Slices that an algorithm takes of a vector that is cut into `slices`. An Allreduce by halving or doubling and a
 * pairwise exchange, encoded, have half as many, and between nodes so have Reduce and Reduce_scatter, but for chains: their steps are many and
 * their messages short. Dense forms have twice as many on one node, `near`, so that a slice and its sum stay in L2. */
size_t sparse_slices(enum sparse_algorithm algorithm, bool dense, bool near, size_t slices);

/* Where a message is what one rank has filled of a slice: a quarter of what a slice is else, whatever the number of ranks. */
size_t sparse_shares_slices(int ranks, size_t slices);
/* How shares are gathered: from each to each, of up to SPARSE_SHARES_DIRECT ranks; through the first rank of each node, its leader, where the fewest
 * messages count; by doubling, and else around a ring. The last two are for one node. */
enum { SPARSE_SHARES_DIRECT = 4, SPARSE_SHARES_MEMBERS = 32, SPARSE_SHARES_NODES = 16 };
enum sparse_gathering { SPARSE_GATHER_RING, SPARSE_GATHER_DOUBLING, SPARSE_GATHER_LEADERS, SPARSE_GATHER_DIRECTLY };
enum sparse_gathering sparse_shares_gathering(const struct sparse_rates *rates, int ranks, size_t bytes, size_t slices);
/* Whether the leaders of so many nodes gather theirs by doubling; else from each to each. */
bool sparse_leaders_double(int nodes, size_t bytes);

/* Whether its messages are parts of a slice. */
bool sparse_cut_in_parts(enum sparse_algorithm algorithm);

/* Each encoded vector goes straight to who needs it, and is added there: on one node it may be read instead (sparse_boards.h). */
bool sparse_goes_straight(enum sparse_algorithm algorithm);

/* Of a Reduce or a scan. */
bool sparse_is_chain(enum sparse_algorithm algorithm);

/* Slices of a chain of so many ranks: short ones, for the last rank begins when the first slice has passed all others. */
size_t sparse_chain_slices(const struct sparse_rates *rates, bool dense, int ranks, size_t bytes);

/* So many slices, or more, where shorter messages go sooner. */
size_t sparse_least_slices(enum sparse_algorithm algorithm, bool dense, const struct sparse_rates *rates, int ranks, size_t bytes,
                           size_t slices);

/* Whether so many ranks gather the vectors by doubling instead (sparse_allreduce_ring.c). */
enum { SPARSE_RING_DOUBLES = 32 };
bool sparse_ring_doubles(int ranks);

/* From so many bytes on dense vectors are halved between the leaders of more than two nodes. */
enum { SPARSE_LEADERS_HALVE = 49152 };

/* The ranks of a node for the agreement; 1: it does not go over leaders. That takes twice as many messages within a node, for one message
 * of a node instead of one of each of its ranks: it pays where a message between nodes takes three times as long as one within. */
int sparse_agreement_per_node(const struct sparse_rates *rates, int ranks);

/* Seconds of the agreement, which precedes ours, and the library's own routine only where it is not known to be the one. */
double sparse_cost_of_asking(const struct sparse_estimate *estimate, const struct sparse_parameters *parameters);

/* Seconds of the slowest rank; SPARSE_LIBRARY: a good dense routine of the same kind as `like`, and what the library's does besides. */
double sparse_cost(enum sparse_algorithm algorithm, enum sparse_algorithm like, bool dense, const struct sparse_estimate *estimate,
                   const struct sparse_parameters *parameters);

#endif
