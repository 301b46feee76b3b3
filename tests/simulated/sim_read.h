/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks read in each other's memory where there are no messages, and what they are said to show each other: for tests that are linked with
 * --wrap=sparse_received. */
#ifndef LUCID_SIM_READ_H
#define LUCID_SIM_READ_H

#include "sim_trial.h"
#include "sparse_agree.h"
#include "sparse_slice.h"

#include <string.h>

static struct sim_shown sim_shows, sim_reads;

size_t __real_sparse_received(struct sparse_slice *s, int slot, struct sparse_run *run, size_t offset, struct sparse_span span);
size_t __wrap_sparse_received(struct sparse_slice *s, int slot, struct sparse_run *run, size_t offset, struct sparse_span span);
size_t __wrap_sparse_received(struct sparse_slice *s, int slot, struct sparse_run *run, size_t offset, struct sparse_span span)
{
    const size_t bytes = __real_sparse_received(s, slot, run, offset, span);
    if (s->slot[slot].peer != s->transport->rank) sim_reads.bytes[s->slot[slot].peer][s->transport->rank] += bytes;
    return bytes;
}

/* Both from nothing on, for the next call of the trial. */
static inline void sim_read_begin(struct sim_trial *trial)
{
    memset(&sim_shows, 0, sizeof sim_shows);
    memset(&sim_reads, 0, sizeof sim_reads);
    trial->sim.shown = &sim_shows;
}

/* To the byte, from each rank to each other one; and the terms that each has read of all others, in as many agreements. */
static inline bool sim_read_as_shown(int ranks)
{
    const uint64_t terms = sim_shows.others[0][1];
    for (int r = 0; r < ranks; r++)
        for (int peer = 0; peer < ranks; peer++) sim_reads.others[r][peer] = r == peer ? 0 : terms;
    return terms % sizeof(struct sparse_terms) == 0 && memcmp(&sim_shows, &sim_reads, sizeof sim_shows) == 0;
}

#endif
