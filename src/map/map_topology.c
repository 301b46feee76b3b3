/* SPDX-License-Identifier: BSD-3-Clause
 * map_topology.c: the public face of map_tree.h (lucid_map.h), and machines described by hwloc.
 */
#include <hwloc.h>
#include <lucid_map.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map_tree.h"

/** Levels of a node, outermost first: 0: NUMA nodes or packages, whichever divides; 1: cores. */
static int number_of_group(hwloc_topology_t topology, hwloc_obj_t core)
{
    hwloc_obj_type_t types[] = {HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        hwloc_obj_t object = NULL;
        if (hwloc_get_nbobjs_by_type(topology, types[i]) < 2) continue;
        while ((object = hwloc_get_next_obj_by_type(topology, types[i], object)))
            if (object->cpuset && hwloc_bitmap_intersects(core->cpuset, object->cpuset)) return (int)object->logical_index;
    }
    return 0;
}

static int fill(struct map_tree *tree, hwloc_topology_t topology, int nodes, int cores)
{
    static const char *const names[] = {"node", "numa", "core"};
    static const double costs[] = {100, 10, 1};
    if (map_tree_make(tree, nodes * cores, 3) != 0) return -1;
    for (int level = 0; level < 3; level++) {
        strcpy(tree->name[level], names[level]);
        tree->cost[level] = costs[level];
    }
    for (int i = 0; i < nodes * cores; i++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)(i % cores));
        int group = number_of_group(topology, core), before = i > 0 ? tree->group[1][i - 1] : -1;
        int same = i % cores > 0 && group == number_of_group(topology, core->prev_cousin);
        tree->group[0][i] = i / cores;
        tree->group[1][i] = same ? before : before + 1;
        tree->group[2][i] = i;
    }
    return 0;
}

static int read_xml(struct map_tree *tree, const char *path, int nodes, char *why, size_t size)
{
    hwloc_topology_t topology;
    int rc = -1, cores = 0;
    if (hwloc_topology_init(&topology) != 0) return -1;
    if (hwloc_topology_set_xml(topology, path) == 0 && hwloc_topology_load(topology) == 0) {
        cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        if (cores > 0 && nodes <= (1 << 24) / cores) rc = fill(tree, topology, nodes, cores);
    }
    hwloc_topology_destroy(topology);
    if (rc != 0) snprintf(why, size, "topology: cannot read %s: not a file of hwloc's lstopo with cores in it, or too many", path);
    return rc;
}

int lucid_topology_read(const char *text, lucid_topology_t **topology, char *why, size_t why_size)
{
    struct map_tree tree;
    char unwanted[1], *end;
    if (!why) {
        why = unwanted;
        why_size = sizeof unwanted;
    }
    if (why_size > 0) why[0] = '\0';
    size_t length = strlen(text);
    int rc;
    if (length > 4 && strcmp(text + length - 4, ".xml") == 0) {
        long nodes = strtol(text, &end, 10);
        int counted = end != text && *end == '*' && nodes > 0 && nodes <= (1 << 24);
        rc = read_xml(&tree, counted ? end + 1 : text, counted ? (int)nodes : 1, why, why_size);
    } else {
        rc = map_tree_parse(&tree, text, why, why_size);
    }
    if (rc != 0) {
        for (char *c = why; why_size > 0 && *c; c++) /* the text is quoted in it, and it is one line */
            if ((unsigned char)*c < ' ') *c = ' ';
        return LUCID_ERR_ARG;
    }
    *topology = malloc(sizeof **topology);
    if (!*topology) {
        map_tree_free(&tree);
        return LUCID_ERR_INTERNAL;
    }
    **topology = tree;
    return LUCID_SUCCESS;
}

/** Whether the groups of a level ascend along the leaves and lie within those of the level outside. */
static int well_formed(const int *group, const int *outer, int leaves)
{
    for (int i = 1; i < leaves; i++) {
        if (group[i] < group[i - 1]) return 0;
        if (outer && group[i] == group[i - 1] && outer[i] != outer[i - 1]) return 0;
    }
    return 1;
}

int lucid_topology_make(int leaves, int levels, const int *group, const double *cost, double inside,
                        lucid_topology_t **topology)
{
    struct map_tree tree;
    if (leaves < 1 || levels < 0 || levels >= MAP_TREE_LEVELS || !(inside >= 0)) return LUCID_ERR_ARG;
    for (int level = 0; level < levels; level++) {
        const int *here = group + (size_t)level * (size_t)leaves;
        if (!(cost[level] >= 0) || !well_formed(here, level ? here - leaves : NULL, leaves)) return LUCID_ERR_ARG;
    }
    if (map_tree_make(&tree, leaves, levels + 1) != 0) return LUCID_ERR_INTERNAL;
    for (int level = 0; level < levels; level++) {
        const int *here = group + (size_t)level * (size_t)leaves;
        tree.cost[level] = cost[level];
        for (int i = 1; i < leaves; i++) /* numbered without gaps: groups index arrays of as many elements as leaves */
            tree.group[level][i] = tree.group[level][i - 1] + (here[i] != here[i - 1]);
    }
    tree.cost[levels] = inside;
    for (int i = 0; i < leaves; i++) tree.group[levels][i] = i;
    *topology = malloc(sizeof **topology);
    if (!*topology) {
        map_tree_free(&tree);
        return LUCID_ERR_INTERNAL;
    }
    **topology = tree;
    return LUCID_SUCCESS;
}

int lucid_topology_leaves(const lucid_topology_t *topology)
{
    return topology->leaves;
}

int lucid_topology_levels(const lucid_topology_t *topology)
{
    return topology->levels;
}

int lucid_topology_level(const lucid_topology_t *topology, int level, const char **name, double *cost, int *group)
{
    if (level < 0 || level >= topology->levels) return LUCID_ERR_ARG;
    if (name) *name = topology->name[level];
    if (cost) *cost = topology->cost[level];
    if (group) memcpy(group, topology->group[level], (size_t)topology->leaves * sizeof *group);
    return LUCID_SUCCESS;
}

void lucid_topology_free(lucid_topology_t *topology)
{
    if (!topology) return;
    map_tree_free(topology);
    free(topology);
}
