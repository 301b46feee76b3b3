/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reduction needs from whoever carries its messages, and nothing else. One table per communicator and use; adapters: the
 * simulator of the tests, Open MPI's PML (coll/sparse), public MPI (the preload library).
 *
 * All functions are nonblocking and return 0 or the adapter's own error code, which reaches the caller of sparse_collective_step
 * untouched. Between two ranks, messages of one tag arrive in the order in which they were sent (as in MPI).
 *
 * A receiver posts the most bytes a message can have and reads the true size when the receive is done: no extra round trip. A
 * message longer than `capacity` is an error of the adapter (MPI_ERR_TRUNCATE), never written past the end. A message may have
 * 0 bytes. Messages are shorter than 2 GiB. Tags are in [tag, tag + SPARSE_TAGS) of the call (sparse_collective.h). */
#ifndef LUCID_SPARSE_TRANSPORT_H
#define LUCID_SPARSE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The adapter's: an MPI_Request, a pointer to Open MPI's request, an index. Moved about with the struct it is in, never shared. */
union sparse_request {
    void *pointer;
    intptr_t number;
};

struct sparse_transport {
    int rank, size;
    void *context; /* first argument of every function */

    /* The bytes stay unchanged until `test` reports the request done. */
    int (*isend)(void *context, const void *buffer, size_t bytes, int peer, int tag, union sparse_request *request);
    int (*irecv)(void *context, void *buffer, size_t capacity, int peer, int tag, union sparse_request *request);

    /* Says whether the request is done and how many bytes a receive brought (unset for a send). A request that is done, or for
     * which an error was returned, is the adapter's to free, and is not touched again. Should make progress on the messages. */
    int (*test)(void *context, union sparse_request *request, bool *done, size_t *bytes);

    /* After an error only: ends a request that is not done. When it returns, nobody reads or writes the request's buffer any
     * more. */
    void (*cancel)(void *context, union sparse_request *request);

    /* A step waits for what another rank of the node writes to memory that both have, and no test will be called before the next: makes progress,
     * and lets that rank have the processor. NULL: whoever calls the step does so. Errors are those of a process that waits for others. */
    int (*idle)(void *context);

    /* This rank shows so many bytes in memory where `peer` reads them in place of a message (sparse_words.h): for who counts what goes from rank to
     * rank. NULL: nobody does. */
    void (*shown)(void *context, size_t bytes, int peer, int tag);
};

static inline int sparse_idle(const struct sparse_transport *transport)
{
    return transport->idle ? transport->idle(transport->context) : 0;
}

static inline void sparse_shown(const struct sparse_transport *transport, size_t bytes, int peer, int tag)
{
    if (transport->shown && bytes > 0) transport->shown(transport->context, bytes, peer, tag);
}

#endif
