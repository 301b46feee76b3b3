/* SPDX-License-Identifier: BSD-3-Clause
 * cpus.h: the cores of this node, and where a process may run on them. Knows no MPI; asks hwloc.
 */
#ifndef LUCID_CPUS_H
#define LUCID_CPUS_H

#define LUCID_CPUS_TEXT 128

/** Where a process is bound: logical numbers, or -1 where it is not confined to one. */
struct lucid_binding {
    int package;
    int numa;
    int core;
};

struct lucid_cpus {
    char model[LUCID_CPUS_TEXT];
    int packages, numa, cores, pus;
};

/** The processors that the calling process may use, as a list such as "0-3,8"; "" if unknown. */
void lucid_cpus_mine(char text[LUCID_CPUS_TEXT]);

/**
 * Loads the node's topology, describes it, and tells for n such lists where they are. Takes tens of milliseconds, so one
 * process of a node does it for all. 0, or -1 if the topology cannot be had (then everything is unknown).
 */
int lucid_cpus_describe(struct lucid_cpus *cpus, int n, char (*lists)[LUCID_CPUS_TEXT], struct lucid_binding *bindings);

struct hwloc_topology;
/** The same with a topology that has been loaded. */
void lucid_cpus_describe_topology(struct hwloc_topology *topology, struct lucid_cpus *cpus, int n,
                                  char (*lists)[LUCID_CPUS_TEXT], struct lucid_binding *bindings);

#endif
