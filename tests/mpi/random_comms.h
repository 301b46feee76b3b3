/* SPDX-License-Identifier: BSD-3-Clause
 * random_comms.h: communicators that are made and freed in an order which all processes draw from one generator, so that it is
 * legal; every process knows the members of every communicator, those of others too. known[0] is the program's to fill
 * (known_begin).
 */
#ifndef RANDOM_COMMS_H
#define RANDOM_COMMS_H

#include "api_check.h"

#define LIMIT 14
#define RANKS_LIMIT 64

struct known {
    MPI_Comm comm; /* MPI_COMM_NULL on those that are not in it */
    int n, member[RANKS_LIMIT], own; /* ranks in MPI_COMM_WORLD, in order; own position or -1 */
};

static struct known known[LIMIT];
static int count, rank, size;
static unsigned long long state;

static inline int draw(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned long long)below);
}

/* A number that process `world` contributes to step `step`. */
static inline int value_of(int world, int step)
{
    return (world * 7919 + step * 31) % 1000 + 1;
}

static inline void find_own(struct known *one)
{
    one->own = -1;
    for (int i = 0; i < one->n; i++)
        if (one->member[i] == rank) one->own = i;
}

static inline struct known *append(int n)
{
    struct known *one = &known[count++];
    one->comm = MPI_COMM_NULL;
    one->n = n;
    return one;
}

static inline void check_members(const struct known *one)
{
    int found_size, found_rank;
    if (one->own < 0) {
        CHECK(one->comm == MPI_COMM_NULL);
        return;
    }
    CHECK_OK(MPI_Comm_size(one->comm, &found_size));
    CHECK_OK(MPI_Comm_rank(one->comm, &found_rank));
    CHECK_EQUAL(found_size, one->n);
    CHECK_EQUAL(found_rank, one->own);
}

static inline void make_whole(struct known *parent)
{
    int how = draw(3), dimension = parent->n, periodic = 0;
    struct known *one = append(parent->n);
    MPI_Request request;
    memcpy(one->member, parent->member, sizeof one->member);
    find_own(one);
    if (one->own < 0) return;
    if (how == 0) CHECK_OK(MPI_Comm_dup(parent->comm, &one->comm));
    if (how == 1) CHECK_OK(MPI_Cart_create(parent->comm, 1, &dimension, &periodic, 0, &one->comm));
    if (how == 2) {
        CHECK_OK(MPI_Comm_idup(parent->comm, &one->comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    check_members(one);
}

/* Two parts, or three, each in order or reversed; only the first one that this parent's seed names is remembered by all. */
static inline void make_split(struct known *parent)
{
    int parts = 2 + draw(2), reversed = draw(2), kept = draw(parts);
    struct known *one = append(0);
    MPI_Comm mine = MPI_COMM_NULL;
    for (int i = 0; i < parent->n; i++) {
        int position = reversed ? parent->n - 1 - i : i;
        if (position % parts == kept) one->member[one->n++] = parent->member[position];
    }
    find_own(one);
    if (parent->own < 0) return;
    CHECK_OK(MPI_Comm_split(parent->comm, parent->own % parts == kept ? 1 : MPI_UNDEFINED, reversed ? -parent->own : parent->own,
                            &mine));
    one->comm = mine;
    check_members(one);
}

/* A range of the parent's processes; collective over the parent, or over the range alone. */
static inline void make_from_group(struct known *parent)
{
    int first = draw(parent->n), n = 1 + draw(parent->n - first), alone = draw(2), range[1][3] = {{first, first + n - 1, 1}};
    struct known *one = append(n);
    MPI_Group all, part;
    memcpy(one->member, parent->member + first, (size_t)n * sizeof *one->member);
    find_own(one);
    if (parent->own < 0) return;
    CHECK_OK(MPI_Comm_group(parent->comm, &all));
    CHECK_OK(MPI_Group_range_incl(all, 1, range, &part));
    if (!alone) CHECK_OK(MPI_Comm_create(parent->comm, part, &one->comm));
    if (alone && one->own >= 0) CHECK_OK(MPI_Comm_create_group(parent->comm, part, 3, &one->comm));
    CHECK_OK(MPI_Group_free(&part));
    CHECK_OK(MPI_Group_free(&all));
    check_members(one);
}

static inline void make(void)
{
    struct known *parent = &known[draw(count)];
    int how = draw(4);
    if (count == LIMIT || parent->n == 0) return;
    if (how < 2) make_whole(parent);
    if (how == 2) make_split(parent);
    if (how == 3) make_from_group(parent);
}

static inline void drop(void)
{
    if (count < 2) return;
    int which = 1 + draw(count - 1);
    if (known[which].comm != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&known[which].comm));
    known[which] = known[--count];
}

/* A program begins: seed, and MPI_COMM_WORLD alone. */
static inline void known_begin(unsigned long long seed)
{
    state = seed * 0x9e3779b97f4a7c15ull + 1;
    count = 0;
    struct known *world = append(size);
    for (int i = 0; i < size; i++) world->member[i] = i;
    world->comm = MPI_COMM_WORLD;
    find_own(world);
}

/* It ends: all but MPI_COMM_WORLD are freed. */
static inline void known_end(void)
{
    while (count > 1) {
        count--;
        if (known[count].comm != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&known[count].comm));
    }
}

#endif
