/* SPDX-License-Identifier: BSD-3-Clause */
/* p ranks in one process and one thread: an adapter of sparse_transport.h for tests and for volumes at scales no machine at
 * hand has.
 *
 * Messages of one tag between two ranks match in order, others in any. With a seed, everything that may happen in any order
 * does: which rank goes on, whether a message is buffered or read from the sender's memory when the receiver takes it (so that
 * memory written too early shows), whether a test sees what has arrived. The same seed gives the same run.
 *
 * Every rank has a clock: a message occupies the sender's port and then the receiver's for bytes / bandwidth, and travels for
 * `latency`; a rank goes on when what it waits for is there. Work costs nothing, or `work` for every byte received. So the
 * latest clock is the alpha-beta time of the critical path. With a network, messages take its links instead, and everything happens in
 * the order of time: what has not arrived yet is not seen, and a message comes to its links after all that set out before. */
#ifndef LUCID_SIM_RANKS_H
#define LUCID_SIM_RANKS_H

#include "sim_network.h"
#include "sparse_transport.h"

enum sim_damage { SIM_INTACT, SIM_TRUNCATE, SIM_EMPTY, SIM_FIRST_BYTE, SIM_LENGTH, SIM_ANY_BIT, SIM_NOISE };

struct sim_options {
    int ranks;
    uint64_t seed;            /* 0: in order, everything buffered and seen at once */
    double latency, bandwidth; /* seconds; bytes per second; 0: no time passes */
    double work;              /* seconds for a received byte */
    struct sim_network *network; /* instead of latency and bandwidth; without a seed */
    enum sim_damage damage;   /* done to message number `damaged` (from 0) among those of these tags */
    long damaged;
    int damaged_tag, damaged_last; /* 0: all from the first of them on */
    int breaks;               /* on this rank (from 1; 0: nowhere) the functions return SIM_BROKEN after `breaks_after` calls */
    long breaks_after;
    struct sim_shown *shown;  /* what ranks show each other is added there; NULL: it is not counted */
};

/* Bytes that ranks read in each other's memory, by who shows them and who reads: with the tags that may be damaged, and others. */
enum { SIM_NEAR = 16 };
struct sim_shown {
    uint64_t bytes[SIM_NEAR][SIM_NEAR], others[SIM_NEAR][SIM_NEAR];
};

enum { SIM_BROKEN = 71, SIM_TRUNCATED = 72 };

struct sim_count {
    uint64_t messages, sent, received;
    double clock;
};

struct sim;

struct sim *sim_create(const struct sim_options *options);

/* Ends with a message on stderr and abort() if requests were left behind. */
void sim_destroy(struct sim *sim);

const struct sparse_transport *sim_transport(struct sim *sim, int rank);
const struct sim_count *sim_count(const struct sim *sim, int rank);
uint64_t sim_messages(const struct sim *sim); /* that may be damaged: of these tags, but for empty ones */

/* The latest clock; all counters and clocks to zero. */
double sim_time(const struct sim *sim);
void sim_restart(struct sim *sim);

/* Lets all ranks go on until each has returned true from `step`. False: ranks are left that wait for ever. */
bool sim_run(struct sim *sim, bool (*step)(void *context, int rank), void *context);

/* From within `step`: the rank wants to be called again although nothing may have happened to it. */
void sim_wake(struct sim *sim, int rank);

/* Changes a message that is not empty. Returns how long it is then. */
size_t sim_damage(enum sim_damage damage, char *copy, size_t bytes, uint64_t *random);

/* xorshift64* */
uint64_t sim_random(uint64_t *state);

#endif
