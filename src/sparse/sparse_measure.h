/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's rates for the cost model, measured with the messages of one transport and the same at all its ranks.
 *
 * Rank 0 decides: what its process has measured for a communicator of this shape is used again. Else all ranks shift messages round a
 * ring at once, one of a node's ranks, and one of all ranks by a node's width, so that a node's link carries what it carries in a
 * reduction; rank 0's clock counts. Two broadcasts of a hundred bytes, and the first time 25 messages a level, 13 of them of
 * 64 KiB: the quickest of three goes, because what disturbs one only makes it longer. What disturbs all of them is told, within a node, by
 * times that no node's messages take. */
#ifndef LUCID_SPARSE_MEASURE_H
#define LUCID_SPARSE_MEASURE_H

#include "sparse_model.h"
#include "sparse_transport.h"

/* What the transport's owner knows besides. */
struct sparse_surroundings {
    bool (*on_my_node)(void *context, int rank);
    void (*progress)(void *context); /* called while nothing arrives; NULL: `test` makes progress by itself */
    void *context;
};

/* Blocking and collective. Uses one tag. Returns 0 and fills in all of `rates`, or the transport's error code. Thread-safe. */
int sparse_measure(const struct sparse_transport *transport, int tag, const struct sparse_surroundings *surroundings,
                   struct sparse_rates *rates);

/* Rank 0's bytes to all. Blocking and collective; one tag. 0, or the transport's error code. */
int sparse_measure_tell(const struct sparse_transport *transport, int tag, const struct sparse_surroundings *surroundings, void *bytes,
                        size_t count);

/* Seconds of a clock that only goes forward. */
double sparse_seconds(void);

#endif
