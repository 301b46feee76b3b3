/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_valid.c: which calls the library may complain of: those are left to it, for it has its own checks, its own error codes and the
 * program's error handler.
 *
 * A legal call is found to be one at every process, and so only what is significant at a process is looked at.
 */
#include "reduce.h"

static bool counts_are_valid(const struct lucid_reduction *reduction, int size)
{
    for (int i = 0; reduction->counts && i < size; i++)
        if (reduction->counts[i] < 0) return false;
    for (int i = 0; reduction->counts_c && i < size; i++)
        if (reduction->counts_c[i] < 0) return false;
    return reduction->count >= 0;
}

/* Whether this process gets a result. */
static bool gets_some(const struct lucid_reduction *reduction, int rank)
{
    switch (reduction->kind) {
    case SPARSE_REDUCE: return rank == reduction->root;
    case SPARSE_EXSCAN: return rank > 0;
    case SPARSE_REDUCE_SCATTER:
        return reduction->counts ? reduction->counts[rank] > 0 : reduction->counts_c ? reduction->counts_c[rank] > 0 : reduction->count > 0;
    default: return true;
    }
}

/* Of a call with something to reduce. */
static bool buffers_are_valid(const struct lucid_reduction *reduction, int rank)
{
    const bool output = reduction->in_place || gets_some(reduction, rank);
    if (reduction->in_place && reduction->kind == SPARSE_REDUCE && rank != reduction->root) return false;
    if (!reduction->in_place && !reduction->input) return false;
    if (!output) return true;
    return reduction->output && !reduction->output_in_place && (reduction->in_place || reduction->input != reduction->output);
}

bool lucid_reduce_is_valid(const struct lucid_reduction *reduction, int rank, int size, size_t *elements)
{
    if (reduction->kind == SPARSE_REDUCE && (reduction->root < 0 || reduction->root >= size)) return false;
    if (!counts_are_valid(reduction, size)) return false;
    *elements = lucid_reduce_elements(reduction, size, NULL);
    return *elements > 0 && buffers_are_valid(reduction, rank);
}
