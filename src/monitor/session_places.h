/* SPDX-License-Identifier: BSD-3-Clause
 * session_places.h: where the members of a session sit: host, process, cores.
 */
#ifndef LUCID_SESSION_PLACES_H
#define LUCID_SESSION_PLACES_H

#include "cpus.h"
#include "session.h"

#define LUCID_HOST_LENGTH 256

/** One member, and, from the first member of each node, the node. */
struct lucid_place {
    char host[LUCID_HOST_LENGTH];
    char cpus[LUCID_CPUS_TEXT];
    struct lucid_binding binding;
    struct lucid_cpus node; /* set by the node's first member; pus == 0 elsewhere */
    int world;
    int pid;
    int node_number; /* set at the receiver: nodes are numbered by their first member */
    bool free;       /* may run anywhere on its node */
};

/** Places of all members, with every node's cores, at rank 0, in an array to be freed there (NULL elsewhere). Collective. */
int lucid_places_gather(const struct lucid_members *members, struct lucid_place **places, int *nodes);

/** The same into an array that rank 0 has made; cores are looked at only if some member is bound to a part of its node: without
 *  that nobody waits for anybody but rank 0. Collective. */
int lucid_places_fill(const struct lucid_members *members, struct lucid_place *places, int *nodes);

#endif
