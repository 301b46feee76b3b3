/* SPDX-License-Identifier: BSD-3-Clause */
/* From which length on the vectors of a communicator are looked at (LUCID_SPARSE_SHORT=measured): from SPARSE_SHORT_MOST on in any case,
 * and shorter ones where the MPI library takes so long for them that looking is hardly a part of it.
 *
 * When a number of calls in a row have been looked at, and all were dense, shorter ones are the library's for good; of Allreduces and Reduce_scatters, on one node and between nodes of several ranks, those
 * count for which the library's routine has been found the best, and begin anew where a dense form of ours has.
 *
 * The first blocking calls of a length in between, SPARSE_SHORT_CALLS of them, are the library's, and timed. At the next one rank 0 says
 * what follows from its times, so that all ranks have the same: calls in order are the same ones at all ranks. */
#ifndef LUCID_SPARSE_SHORT_H
#define LUCID_SPARSE_SHORT_H

#include <stdint.h>

#include "sparse_collective.h"
#include "sparse_measure.h"

enum {
    SPARSE_SHORT_LEAST = 4096,
    SPARSE_SHORT_SIZES = 4, /* powers of two from there to SPARSE_SHORT_MOST */
    SPARSE_SHORT_CALLS = 16
};

/* Of a communicator; all zero at the start. Not thread-safe. */
struct sparse_short {
    unsigned calls;
    bool settled;
    unsigned dense;                   /* calls looked at in a row, afterwards */
    unsigned size;                    /* of the call that the library runs, and since when; 0: none */
    double since;
    double least[SPARSE_SHORT_SIZES]; /* seconds; 0: no such call yet */
};

/* Whether a blocking call of so many bytes is one by which the length is found out. Not where an algorithm is named, or nothing is timed: what
 * runs is to follow from the inputs alone then. */
bool sparse_short_unsettled(const struct sparse_short *s, const struct sparse_parameters *parameters, size_t bytes);

/* Counts such a call. True: there have been enough, and it is time for sparse_short_settle(); else it is the library's, from now until
 * sparse_short_end() (which does nothing where there is no such call). */
bool sparse_short_begin(struct sparse_short *s, size_t bytes, double now);
void sparse_short_end(struct sparse_short *s, double now);

/* Whether looking at calls that take the library so many seconds is hardly a part of that. */
bool sparse_short_worth(double seconds);

/* What this rank's times come to, in bytes. */
size_t sparse_short_bytes(const struct sparse_short *s);

/* Gives all ranks what rank 0's come to, as parameters->short_bytes. Blocking and collective; one tag. 0, or the transport's error. */
int sparse_short_settle(struct sparse_short *s, const struct sparse_transport *transport, int tag,
                        const struct sparse_surroundings *surroundings, struct sparse_parameters *parameters);

/* Whether no more short calls of the communicator are to be looked at, now that one has been, of that agreed density; negative: it was not.
 * `worth`: whether looks at such calls are, if they are dense. */
bool sparse_short_gives_up(struct sparse_short *s, double density, enum sparse_worth worth);

#endif
