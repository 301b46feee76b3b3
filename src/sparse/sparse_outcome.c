/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of a reduction, in words. */
#include "sparse_collective.h"

#include <stdio.h>

const char *sparse_outcome_text(const struct sparse_outcome *outcome, int rank, char *text, size_t size)
{
    const char *name = sparse_algorithm_name(outcome->algorithm);
    switch (outcome->error) {
    case SPARSE_NO_ERROR: snprintf(text, size, "rank %d: %s: no error", rank, name); break;
    case SPARSE_NO_MEMORY: snprintf(text, size, "rank %d: a rank has no memory for a sparse reduction; free some", rank); break;
    case SPARSE_CORRUPT:
        snprintf(text, size, "rank %d: %s: a message from rank %d is damaged or of another version of Lucid; the result is void",
                 rank, name, outcome->peer);
        break;
    case SPARSE_PEER_FAILED:
        snprintf(text, size, "rank %d: %s: rank %d has failed, see its message; the result is void", rank, name, outcome->peer);
        break;
    case SPARSE_TRANSPORT:
        snprintf(text, size, "rank %d: %s: error %d of the transport with rank %d; the result is void", rank, name, outcome->code,
                 outcome->peer);
        break;
    }
    return text;
}
