/* SPDX-License-Identifier: BSD-3-Clause
 * cpus.c: see cpus.h.
 */
#define _GNU_SOURCE
#include "cpus.h"

#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

void lucid_cpus_mine(char text[LUCID_CPUS_TEXT])
{
    text[0] = '\0';
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    cpu_set_t mine;
    if (set && sched_getaffinity(0, sizeof mine, &mine) == 0) {
        for (unsigned i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &mine)) hwloc_bitmap_set(set, i);
        if (hwloc_bitmap_list_snprintf(text, LUCID_CPUS_TEXT, set) >= LUCID_CPUS_TEXT) text[0] = '\0';
    }
    hwloc_bitmap_free(set);
}

/** Logical number of the object of a type that covers the whole set, or -1. */
static int covering(hwloc_topology_t topology, hwloc_const_bitmap_t set, hwloc_obj_type_t type)
{
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)))
        if (object->cpuset && hwloc_bitmap_isincluded(set, object->cpuset)) return (int)object->logical_index;
    return -1;
}

/** Whether a text looks like a list of lucid_cpus_mine(). hwloc would take memory up to any number that it reads. */
static int is_list(const char *text)
{
    for (int digits = 0;; text++) {
        if (*text >= '0' && *text <= '9') digits++;
        else if (digits == 0 || (*text && *text != ',' && *text != '-')) return 0;
        else if (*text == '\0') return 1;
        else digits = 0;
        if (digits > 6) return 0;
    }
}

static struct lucid_binding locate(hwloc_topology_t topology, const char *list)
{
    struct lucid_binding binding = {-1, -1, -1};
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set && is_list(list) && hwloc_bitmap_list_sscanf(set, list) == 0 && !hwloc_bitmap_iszero(set)) {
        binding.package = covering(topology, set, HWLOC_OBJ_PACKAGE);
        binding.numa = covering(topology, set, HWLOC_OBJ_NUMANODE);
        binding.core = covering(topology, set, HWLOC_OBJ_CORE);
    }
    hwloc_bitmap_free(set);
    return binding;
}

static int number_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(topology, type);
    return n < 0 ? 0 : n;
}

void lucid_cpus_describe_topology(struct hwloc_topology *topology, struct lucid_cpus *cpus, int n,
                                  char (*lists)[LUCID_CPUS_TEXT], struct lucid_binding *bindings)
{
    *cpus = (struct lucid_cpus){.model = ""};
    cpus->packages = number_of(topology, HWLOC_OBJ_PACKAGE);
    cpus->numa = number_of(topology, HWLOC_OBJ_NUMANODE);
    cpus->cores = number_of(topology, HWLOC_OBJ_CORE);
    cpus->pus = number_of(topology, HWLOC_OBJ_PU);
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    snprintf(cpus->model, sizeof cpus->model, "%s", model ? model : "");
    for (int i = 0; i < n; i++) bindings[i] = locate(topology, lists[i]);
}

int lucid_cpus_describe(struct lucid_cpus *cpus, int n, char (*lists)[LUCID_CPUS_TEXT], struct lucid_binding *bindings)
{
    hwloc_topology_t topology;
    *cpus = (struct lucid_cpus){.model = ""};
    for (int i = 0; i < n; i++) bindings[i] = (struct lucid_binding){-1, -1, -1};
    if (hwloc_topology_init(&topology) != 0) return -1;
    (void)hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    int rc = hwloc_topology_load(topology);
    if (rc == 0) lucid_cpus_describe_topology(topology, cpus, n, lists, bindings);
    hwloc_topology_destroy(topology);
    return rc == 0 ? 0 : -1;
}
