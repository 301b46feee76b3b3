/* SPDX-License-Identifier: BSD-3-Clause
 * exact_derive.h: which messages a collective is made of, written down from the definition of its algorithm, never from
 * a run. All block sizes in elements of one size; root is 0. The names are those of Open MPI's `tuned` component, whose
 * numbers can be forced with OMPI_MCA_coll_tuned_<collective>_algorithm.
 */
#ifndef EXACT_DERIVE_H
#define EXACT_DERIVE_H

#include <stddef.h>
#include <stdint.h>

#define DERIVE_MAX 16

/* What this process sends to each other one. */
struct derived {
    int size, rank;
    size_t element; /* bytes */
    uint64_t count[DERIVE_MAX], bytes[DERIVE_MAX];
};

static inline void sends(struct derived *d, int to, uint64_t elements)
{
    d->count[to]++;
    d->bytes[to] += elements * d->element;
}

static inline int power_of_two_below(int n)
{
    int p = 1;
    while (2 * p <= n) p *= 2;
    return p;
}

/* Every process talks to everyone once: alltoall linear and pairwise; own data are copied. */
static inline void derive_everyone(struct derived *d, uint64_t n)
{
    for (int to = 0; to < d->size; to++)
        if (to != d->rank) sends(d, to, n);
}

/* The root sends everyone their part: basic linear bcast and scatter. */
static inline void derive_from_root(struct derived *d, uint64_t n)
{
    if (d->rank == 0) derive_everyone(d, n);
}

/* Everyone sends to the root: basic linear gather and reduce. */
static inline void derive_to_root(struct derived *d, uint64_t n)
{
    if (d->rank != 0) sends(d, 0, n);
}

/* Barrier 1, linear: everyone reports to the root, which answers. */
static inline void derive_barrier_linear(struct derived *d, uint64_t n)
{
    derive_to_root(d, 0);
    derive_from_root(d, 0);
}

/* Barrier 3: ranks beyond the power of two report below and are told at the end; the others exchange over 1, 2, 4... */
static inline void derive_barrier_doubling(struct derived *d, uint64_t n)
{
    int power = power_of_two_below(d->size), extra = d->size - power;
    if (d->rank >= power) {
        sends(d, d->rank - power, 0);
        return;
    }
    for (int mask = 1; mask < power; mask *= 2) sends(d, d->rank ^ mask, 0);
    if (d->rank < extra) sends(d, d->rank + power, 0);
}

/* Barrier 4: in step k, to the process 2^k further. */
static inline void derive_barrier_bruck(struct derived *d, uint64_t n)
{
    for (int distance = 1; distance < d->size; distance *= 2) sends(d, (d->rank + distance) % d->size, 0);
}

/* Bcast 6: binomial tree; a process hands on to itself plus 2^k for all 2^k above its own number. */
static inline void derive_bcast_binomial(struct derived *d, uint64_t n)
{
    int mask = 1;
    while (mask <= d->rank) mask *= 2;
    for (; d->rank + mask < d->size; mask *= 2) sends(d, d->rank + mask, n);
}

/* Reduce 5: in-order binomial tree; the parent is the number without its lowest bit. */
static inline void derive_reduce_binomial(struct derived *d, uint64_t n)
{
    if (d->rank != 0) sends(d, d->rank & (d->rank - 1), n);
}

/* Allreduce 3: of the first 2 x extra ranks the even ones hand their data to the odd ones, the rest exchange the whole
 * vector over 1, 2, 4, ...; at the end the odd ones hand the result back. */
static inline void derive_allreduce_doubling(struct derived *d, uint64_t n)
{
    int power = power_of_two_below(d->size), extra = d->size - power, number;
    if (d->rank < 2 * extra && d->rank % 2 == 0) {
        sends(d, d->rank + 1, n);
        return;
    }
    number = d->rank < 2 * extra ? d->rank / 2 : d->rank - extra;
    for (int mask = 1; mask < power; mask *= 2) {
        int partner = number ^ mask;
        sends(d, partner < extra ? 2 * partner + 1 : partner + extra, n);
    }
    if (d->rank < 2 * extra) sends(d, d->rank - 1, n);
}

/* Elements of block b when n elements are cut into `size` blocks, the larger ones first. */
static inline uint64_t block(const struct derived *d, uint64_t n, int b)
{
    b = (b % d->size + d->size) % d->size;
    return n / (uint64_t)d->size + ((uint64_t)b < n % (uint64_t)d->size ? 1 : 0);
}

/* Allreduce 4: reduce-scatter round a ring, starting with one's own block, then allgather round it, starting with the
 * block that is complete here; vectors shorter than the ring go by recursive doubling. */
static inline void derive_allreduce_ring(struct derived *d, uint64_t n)
{
    int next = (d->rank + 1) % d->size;
    if (n < (uint64_t)d->size) {
        derive_allreduce_doubling(d, n);
        return;
    }
    for (int k = 0; k < d->size - 1; k++) {
        sends(d, next, block(d, n, d->rank - k));
        sends(d, next, block(d, n, d->rank + 1 - k));
    }
}

/* Allgather 4: size - 1 steps round a ring, a block each. */
static inline void derive_allgather_ring(struct derived *d, uint64_t n)
{
    for (int k = 0; k < d->size - 1; k++) sends(d, (d->rank + 1) % d->size, n);
}

/* Allgather 2: in step k, all that is here so far (2^k blocks; at last, what is missing) to the process 2^k before. */
static inline void derive_allgather_bruck(struct derived *d, uint64_t n)
{
    for (int distance = 1; distance < d->size; distance *= 2) {
        int blocks = distance <= d->size / 2 ? distance : d->size - distance;
        sends(d, (d->rank - distance + d->size) % d->size, (uint64_t)blocks * n);
    }
}

/* Allgather 3: exchange of 1, 2, 4, ... blocks with the process that far; Bruck where the size is no power of two. */
static inline void derive_allgather_doubling(struct derived *d, uint64_t n)
{
    if (power_of_two_below(d->size) != d->size) {
        derive_allgather_bruck(d, n);
        return;
    }
    for (int distance = 1; distance < d->size; distance *= 2) sends(d, d->rank ^ distance, (uint64_t)distance * n);
}

/* Alltoall 3: in step k, the blocks whose number has bit k travel 2^k further. */
static inline void derive_alltoall_bruck(struct derived *d, uint64_t n)
{
    for (int distance = 1; distance < d->size; distance *= 2) {
        uint64_t blocks = 0;
        for (int b = 1; b < d->size; b++) blocks += (b & distance) != 0;
        sends(d, (d->rank + distance) % d->size, blocks * n);
    }
}

#endif
