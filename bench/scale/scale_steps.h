/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that send and wait, performed on the links of sim_network: who is first in time is first on a link. */
#ifndef LUCID_SCALE_STEPS_H
#define LUCID_SCALE_STEPS_H

#include <stdbool.h>

#include "sim_network.h"

struct scale_run;

struct scale_figures {
    uint64_t messages, bytes;
    double seconds; /* the last arrival, or the last rank's clock */
};

struct scale_run *scale_run_create(int ranks);
void scale_run_destroy(struct scale_run *run);

/* What a rank does, one after the other. It goes on when a message has left, and waits for one that it receives. */
void scale_send(struct scale_run *run, int rank, int to, size_t bytes);
void scale_recv(struct scale_run *run, int rank, int from);
/* Here the rank must have heard, directly or through others, of all ranks since the last such step: or it is no allreduce. */
void scale_heard_all(struct scale_run *run, int rank);

/* False, and a line on standard error: a rank waits for ever, or a message is left over, or somebody has not heard of all. */
bool scale_run_perform(struct scale_run *run, struct sim_network *network, struct scale_figures *figures);

#endif
