/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_kept.c: inputs of some calls of the program, kept in the core's form, so that LUCID_SPARSE=measure can run the calls again at
 * MPI_Finalize (reduce_replay.c).
 *
 * What is kept must mean the same then: operators and datatypes of MPI's own, on communicators of all processes in their order.
 */
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_sites.h"

enum { ROOM = 64 * 1024 * 1024 }; /* bytes that a process keeps */
static _Atomic size_t taken;

static bool named(MPI_Datatype type)
{
    int integers, addresses, types, combiner = MPI_UNDEFINED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

static bool is_ordered(MPI_Comm comm)
{
    int result = MPI_UNEQUAL;
    if (comm == MPI_COMM_WORLD) return true;
    PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    return result == MPI_CONGRUENT;
}

static bool may_be_kept(const struct lucid_reduction *reduction, size_t elements, const struct sparse_operator *operator)
{
    const struct lucid_params *params = lucid_params();
    if (params->replay == 0 || elements > INT_MAX || reduction->counts_c) return false;
    if (elements * operator->size < params->sparse_short) return false;
    return lucid_reduce_predefined(reduction->op) && named(reduction->type) && is_ordered(reduction->comm);
}

struct lucid_reduce_kept *lucid_reduce_keep(const struct lucid_reduction *reduction, size_t elements,
                                            const struct sparse_operator *operator, uint64_t order)
{
    int size;
    if (!may_be_kept(reduction, elements, operator)) return NULL;
    struct lucid_reduce_kept *kept = calloc(1, sizeof *kept);
    if (!kept) return NULL;
    *kept = (struct lucid_reduce_kept){.reduction = *reduction, .operator = *operator, .order = order, .elements = elements};
    kept->reduction.input = kept->reduction.output = NULL;
    kept->reduction.in_place = kept->reduction.output_in_place = false;
    if (!reduction->counts) return kept;
    PMPI_Comm_size(reduction->comm, &size);
    int *counts = malloc((size_t)size * sizeof *counts);
    if (counts) memcpy(counts, reduction->counts, (size_t)size * sizeof *counts);
    kept->reduction.counts = counts;
    if (counts) return kept;
    lucid_reduce_kept_free(kept);
    return NULL;
}

bool lucid_reduce_keep_block(struct lucid_reduce_kept *kept, const void *message, size_t bytes)
{
    if (kept->bytes + bytes > kept->room) {
        const size_t room = 2 * (kept->bytes + bytes), more = room - kept->room;
        char *moved = atomic_fetch_add(&taken, more) + more <= ROOM ? realloc(kept->message, room) : NULL;
        if (!moved) {
            atomic_fetch_sub(&taken, more);
            lucid_reduce_kept_free(kept);
            return false;
        }
        kept->message = moved;
        kept->room = room;
    }
    memcpy(kept->message + kept->bytes, message, bytes);
    kept->bytes += bytes;
    return true;
}

void lucid_reduce_kept_free(struct lucid_reduce_kept *kept)
{
    if (!kept) return;
    atomic_fetch_sub(&taken, kept->room);
    free((void *)(uintptr_t)kept->reduction.counts);
    free(kept->message);
    free(kept);
}

void lucid_reduce_kept_restore(const struct lucid_reduce_kept *kept, void *vector)
{
    struct sparse_layout layout;
    sparse_layout_init(&layout, &kept->operator, kept->elements, 1);
    sparse_decode(&layout, 0, layout.blocks, kept->message, vector);
}
