/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_parts.c: communicators of some of the processes, for calls on them that LUCID_SPARSE=measure is to run again: they may be gone by
 * MPI_Finalize, and then others of the same processes, in the same order, take their place.
 *
 * A program that reduces over the rows of a grid does so in all rows at once. So one part is asked for at a time, by the lowest rank that
 * has one left, and all groups that have called the place with vectors of that length are made at once. Whose members do not all mean the
 * same group, where a process has called the place in several, is asked for again by itself.
 */
#include <stdlib.h>
#include <string.h>

#include "reduce_sites.h"

enum { GROUPS = 64 };
static struct lucid_reduce_group groups[GROUPS];
static int used;
static bool asked[LUCID_REDUCE_OVERLAPS];

/* The ranks in MPI_COMM_WORLD, or NULL. */
static int *world_ranks(MPI_Group group, int size)
{
    MPI_Group world;
    int *own = malloc(2 * (size_t)size * sizeof *own), *there = own ? own + size : NULL;
    if (!own) return NULL;
    for (int i = 0; i < size; i++) own[i] = i;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, own, world, there);
    PMPI_Group_free(&world);
    memcpy(own, there, (size_t)size * sizeof *own);
    return own;
}

static bool within_world(MPI_Group group, int size)
{
    int *ranks = world_ranks(group, size);
    bool known = ranks != NULL;
    for (int i = 0; known && i < size; i++) known = ranks[i] != MPI_UNDEFINED;
    free(ranks);
    return known;
}

struct lucid_reduce_group *lucid_reduce_group_of(MPI_Comm comm)
{
    MPI_Group group;
    int begun = 0, ended = 0, size = 0, same = MPI_UNEQUAL, i = 0;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    if (!begun || ended || PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return NULL;
    PMPI_Group_size(group, &size);
    for (; i < used; i++) {
        if (groups[i].size == size) PMPI_Group_compare(groups[i].group, group, &same);
        if (groups[i].size == size && same == MPI_IDENT) break;
    }
    if (i == used && used < GROUPS && size > 1 && within_world(group, size)) {
        groups[used++] = (struct lucid_reduce_group){group, size, 0};
        return &groups[i];
    }
    PMPI_Group_free(&group);
    return i < used ? &groups[i] : NULL;
}

void lucid_reduce_parts_end(void)
{
    for (; used > 0; used--) PMPI_Group_free(&groups[used - 1].group);
}

/* The first of this process's that has not been asked for; of those like `wanted`, if that is not NULL. -1: none. */
static int unasked(const struct lucid_reduce_part *wanted, struct lucid_reduce_part *part)
{
    for (int i = 0; i < lucid_reduce_parts(); i++) {
        if (asked[i] || !lucid_reduce_part_at(i, part)) continue;
        if (!wanted) return i;
        if (part->elements != wanted->elements || part->ranks != wanted->ranks) continue;
        if (lucid_reduce_same_place(&part->place, &wanted->place)) return i;
    }
    return -1;
}

bool lucid_reduce_next_part(MPI_Comm world, struct lucid_reduce_part *part)
{
    struct lucid_reduce_part wanted;
    int rank, size, least;
    memset(&wanted, 0, sizeof wanted);
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_size(world, &size);
    const int mine = unasked(NULL, &wanted) >= 0 ? rank : size;
    PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, world);
    if (least == size) return false;
    PMPI_Bcast(&wanted, (int)sizeof wanted, MPI_BYTE, least, world);
    const int found = unasked(&wanted, part);
    if (found < 0) {
        *part = wanted;
        part->group = NULL; /* the asking process's */
        part->kept = NULL;
    }
    part->number = found;
    if (rank == least) asked[found] = true;
    return true;
}

/* Whether all of `comm` have meant the same group. */
static bool is_whole(MPI_Comm comm, const struct lucid_reduce_group *wanted)
{
    MPI_Group group;
    int same = MPI_UNEQUAL, all = 0;
    PMPI_Comm_group(comm, &group);
    PMPI_Group_compare(group, wanted->group, &same);
    PMPI_Group_free(&group);
    const int ok = same == MPI_IDENT;
    PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, comm);
    return all;
}

MPI_Comm lucid_reduce_part_comm(MPI_Comm world, const struct lucid_reduce_part *part)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int colour = MPI_UNDEFINED, key = 0;
    int *ranks = part->group ? world_ranks(part->group->group, part->group->size) : NULL;
    if (ranks) {
        colour = ranks[0];
        PMPI_Group_rank(part->group->group, &key);
    }
    free(ranks);
    PMPI_Comm_split(world, colour, key, &comm);
    if (comm == MPI_COMM_NULL) return comm;
    if (is_whole(comm, part->group)) asked[part->number] = true;
    else PMPI_Comm_free(&comm);
    return comm;
}
