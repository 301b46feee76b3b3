/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_kept.c: inputs of some calls of the program, kept in the core's form, so that LUCID_SPARSE=measure can run the calls again at
 * MPI_Finalize (reduce_replay.c).
 *
 * What is kept must mean the same then: operators and datatypes of MPI's own, on communicators of all processes in their order or of
 * some of them (reduce_parts.c).
 */
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reduce_sites.h"

/* Mapped, not allocated: what an allocator is given back changes how it gets memory later, and with it the library's times. Of the bytes that
 * a process may keep only those are resident that it does. One call at a time adds to them. */
enum { ROOM = 64 * 1024 * 1024, ALIGNED = 64 };
static char *memory;
static size_t used;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static bool named(MPI_Datatype type)
{
    int integers, addresses, types, combiner = MPI_UNDEFINED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* Not all processes in another order. */
static bool is_ordered(MPI_Comm comm)
{
    int result = MPI_UNEQUAL;
    if (comm == MPI_COMM_WORLD) return true;
    PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    return result != MPI_SIMILAR;
}

static bool may_be_kept(const struct lucid_reduction *reduction, size_t elements, const struct sparse_operator *operator)
{
    const struct lucid_params *params = lucid_params();
    if (params->replay == 0 || elements > INT_MAX || reduction->counts_c) return false;
    if (elements * operator->size < sparse_short_least(params)) return false;
    return lucid_reduce_predefined(reduction->op) && named(reduction->type) && is_ordered(reduction->comm);
}

static void free_kept(struct lucid_reduce_kept *kept)
{
    free((void *)(uintptr_t)kept->reduction.counts);
    free(kept);
}

/* NULL: there is no memory. */
static struct lucid_reduce_kept *begin(const struct lucid_reduction *reduction, size_t elements, const struct sparse_operator *operator,
                                       uint64_t order)
{
    int size, *counts = NULL;
    struct lucid_reduce_kept *kept = calloc(1, sizeof *kept);
    if (!memory) {
        char *mapped = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped != MAP_FAILED) memory = mapped;
    }
    PMPI_Comm_size(reduction->comm, &size);
    if (reduction->counts) counts = malloc((size_t)size * sizeof *counts);
    if (!kept || !memory || used >= ROOM || (reduction->counts && !counts)) {
        free(counts);
        free(kept);
        return NULL;
    }
    if (counts) memcpy(counts, reduction->counts, (size_t)size * sizeof *counts);
    *kept = (struct lucid_reduce_kept){.reduction = *reduction, .operator = *operator, .order = order, .elements = elements};
    kept->reduction.input = kept->reduction.output = NULL;
    kept->reduction.in_place = kept->reduction.output_in_place = false;
    kept->reduction.counts = counts;
    kept->message = memory + used;
    return kept;
}

struct lucid_reduce_kept *lucid_reduce_keep(const struct lucid_reduction *reduction, size_t elements,
                                            const struct sparse_operator *operator, uint64_t order)
{
    if (!may_be_kept(reduction, elements, operator) || atomic_flag_test_and_set(&busy)) return NULL;
    struct lucid_reduce_kept *kept = begin(reduction, elements, operator, order);
    if (!kept) atomic_flag_clear(&busy);
    return kept;
}

bool lucid_reduce_keep_block(struct lucid_reduce_kept *kept, const void *message, size_t bytes)
{
    if (kept->message + kept->bytes + bytes > memory + ROOM) {
        free_kept(kept);
        atomic_flag_clear(&busy);
        return false;
    }
    memcpy(kept->message + kept->bytes, message, bytes);
    kept->bytes += bytes;
    return true;
}

void lucid_reduce_keep_done(struct lucid_reduce_kept *kept)
{
    used += (kept->bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    atomic_flag_clear(&busy);
}

void lucid_reduce_kept_restore(const struct lucid_reduce_kept *kept, void *vector)
{
    struct sparse_layout layout;
    sparse_layout_init(&layout, &kept->operator, kept->elements, 1);
    sparse_decode(&layout, 0, layout.blocks, kept->message, vector);
}
