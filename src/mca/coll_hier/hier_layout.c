/* SPDX-License-Identifier: BSD-3-Clause
 * hier_layout.c: groups, leaders and trees out of a list of nodes (prediction of the topology, as in DISP: Fu et al., COM-HPC
 * 2016). One pass over the ranks; what it costs is 16 bytes per rank, shared by the communicators of one group.
 */
#include "hier_layout.h"

#include <stdlib.h>
#include <string.h>

uint64_t hier_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Numbers the nodes in the order of their first ranks. -1: no memory or an unknown node. */
static int number_nodes(const int *node, int size, int *node_of)
{
    int limit = 0, nodes = 0;
    for (int i = 0; i < size; i++) {
        if (node[i] < 0) return -1;
        if (node[i] >= limit) limit = node[i] + 1;
    }
    int *number = malloc(sizeof *number * (size_t)limit);
    if (!number) return -1;
    memset(number, -1, sizeof *number * (size_t)limit);
    for (int i = 0; i < size; i++) {
        if (number[node[i]] < 0) number[node[i]] = nodes++;
        node_of[i] = number[node[i]];
    }
    free(number);
    return nodes;
}

static void fill_members(hier_layout_t *layout)
{
    for (int i = 0; i < layout->size; i++) layout->index_of[i] = layout->first[layout->node_of[i] + 1]++;
    for (int k = 0; k < layout->nodes; k++) layout->first[k + 1] += layout->first[k];
    layout->balanced = layout->consecutive = true;
    for (int i = 0; i < layout->size; i++) {
        int place = layout->first[layout->node_of[i]] + layout->index_of[i];
        layout->member[place] = i;
        layout->consecutive &= place == i;
    }
    for (int k = 1; k < layout->nodes; k++) layout->balanced &= hier_node_size(layout, k) == hier_node_size(layout, 0);
}

static void set_tables(hier_layout_t *layout, int *tables)
{
    layout->tables = tables;
    layout->node_of = tables;
    layout->index_of = layout->node_of + layout->size;
    layout->member = layout->index_of + layout->size;
    layout->first = layout->member + layout->size;
}

hier_layout_t *hier_layout_create(const int *node, int size, int rank)
{
    hier_layout_t *layout = calloc(1, sizeof *layout);
    if (!layout) return NULL;
    layout->size = size;
    layout->rank = rank;
    layout->tables = calloc(4 * (size_t)size + 1, sizeof(int));
    layout->nodes = layout->tables ? number_nodes(node, size, layout->tables) : -1;
    if (layout->nodes <= 0) {
        hier_layout_destroy(layout);
        return NULL;
    }
    int *fitting = realloc(layout->tables, hier_layout_table_bytes(layout));
    set_tables(layout, fitting ? fitting : layout->tables);
    fill_members(layout);
    layout->hash = hier_hash(HIER_HASH_START, &layout->size, sizeof layout->size);
    layout->hash = hier_hash(layout->hash, layout->node_of, sizeof(int) * (size_t)size);
    return layout;
}

void hier_layout_destroy(hier_layout_t *layout)
{
    if (!layout) return;
    if (!layout->borrowed) free(layout->tables);
    free(layout->socket_of);
    free(layout);
}

size_t hier_layout_table_bytes(const hier_layout_t *layout)
{
    return sizeof(int) * (3 * (size_t)layout->size + (size_t)layout->nodes + 1);
}

void hier_layout_borrow(hier_layout_t *layout, const void *tables)
{
    if (!layout->borrowed) free(layout->tables);
    layout->borrowed = true;
    set_tables(layout, (int *)tables);
}

static int my_node(const hier_layout_t *layout)
{
    return layout->node_of[layout->rank];
}

bool hier_layout_set_sockets(hier_layout_t *layout, const int *socket)
{
    int n = hier_node_size(layout, my_node(layout)), groups = 0;
    hier_layout_drop_sockets(layout);
    int *group = malloc(sizeof *group * (size_t)n);
    if (!group) return false;
    for (int i = 0; i < n; i++) {
        group[i] = i;
        for (int j = 0; j < i && group[i] == i; j++)
            if (socket[j] == socket[i]) group[i] = j;
        groups = socket[i] < 0 ? n : groups + (group[i] == i);
    }
    if (groups > 1 && groups < n)
        layout->socket_of = group;
    else
        free(group);
    return true;
}

void hier_layout_drop_sockets(hier_layout_t *layout)
{
    free(layout->socket_of);
    layout->socket_of = NULL;
}

uint64_t hier_layout_socket_hash(const hier_layout_t *layout)
{
    int n = hier_node_size(layout, my_node(layout));
    return layout->socket_of ? hier_hash(HIER_HASH_START, layout->socket_of, sizeof(int) * (size_t)n) : 1;
}

int hier_layout_leader(const hier_layout_t *layout, int node, int root)
{
    return layout->node_of[root] == node ? root : layout->member[layout->first[node]];
}

/* v's subtree holds the places v ... v + span - 1, as far as there are so many. */
static int64_t span_of(int n, int radix, int v)
{
    int64_t span = 1;
    while (span < n && v / span % radix == 0) span *= radix;
    return span;
}

int hier_tree_below(int n, int radix, int v)
{
    int64_t span = radix <= 1 ? n : span_of(n, radix, v);
    return span < n - v ? (int)span : n - v;
}

int hier_tree(int n, int radix, int v, int *parent, int *child)
{
    int count = 0;
    if (radix <= 1) {
        *parent = v - 1;
        if (v + 1 < n) child[count++] = v + 1;
        return count;
    }
    int64_t span = span_of(n, radix, v);
    *parent = v == 0 ? -1 : (int)(v - v / span % radix * span);
    for (int64_t step = span / radix; step >= 1; step /= radix)
        for (int j = 1; j < radix && v + j * step < n; j++) child[count++] = (int)(v + j * step);
    return count;
}

/* One tree over the ranks rank_at[(v + shift) % n], appended to links. place: where this process is among them. */
static void link_ranks(const int *rank_at, int n, int shift, int place, int radix, hier_links_t *links)
{
    int parent, *child = links->child + links->count;
    int count = hier_tree(n, radix, (place - shift + n) % n, &parent, child);
    if (parent >= 0) links->parent = rank_at[(parent + shift) % n];
    for (int i = 0; i < count; i++) child[i] = rank_at[(child[i] + shift) % n];
    links->count += count;
}

/* The ranks of this node that are in one socket's group, or those that lead a group, and where two of them are. */
static int pick(const hier_layout_t *layout, int group, int leader, int *picked, int *leader_at, int *rank_at)
{
    const int *rank = layout->member + layout->first[my_node(layout)];
    int n = hier_node_size(layout, my_node(layout)), count = 0, leaders_group = layout->socket_of[layout->index_of[leader]];
    for (int i = 0; i < n; i++) {
        bool leads = layout->socket_of[i] == leaders_group ? rank[i] == leader : layout->socket_of[i] == i;
        if (group < 0 ? !leads : layout->socket_of[i] != group) continue;
        bool here_leads = group < 0 ? rank[i] == leader : leads;
        if (here_leads) *leader_at = count;
        if (rank[i] == layout->rank) *rank_at = count;
        picked[count++] = rank[i];
    }
    return count;
}

static bool link_sockets(const hier_layout_t *layout, int leader, int radix, hier_links_t *links)
{
    int n = hier_node_size(layout, my_node(layout)), leader_at = 0, rank_at = -1;
    int *picked = malloc(sizeof *picked * (size_t)n);
    if (!picked) return false;
    int count = pick(layout, -1, leader, picked, &leader_at, &rank_at);
    if (rank_at >= 0) link_ranks(picked, count, leader_at, rank_at, radix, links);
    bool leads = rank_at >= 0;
    hier_links_t below = {-1, links->count, links->child};
    count = pick(layout, layout->socket_of[layout->index_of[layout->rank]], leader, picked, &leader_at, &rank_at);
    link_ranks(picked, count, leader_at, rank_at, radix, &below);
    links->count = below.count;
    if (!leads) links->parent = below.parent;
    free(picked);
    return true;
}

static bool link_node(const hier_layout_t *layout, int root, int radix, hier_links_t *links)
{
    int node = my_node(layout), leader = hier_layout_leader(layout, node, root);
    if (layout->socket_of) return link_sockets(layout, leader, radix, links);
    link_ranks(layout->member + layout->first[node], hier_node_size(layout, node), layout->index_of[leader],
               layout->index_of[layout->rank], radix, links);
    return true;
}

static bool prepare(const hier_layout_t *layout, hier_links_t *links)
{
    links->parent = -1;
    links->count = 0;
    links->child = malloc(sizeof(int) * (size_t)(layout->nodes + 2 * hier_node_size(layout, my_node(layout))));
    return links->child != NULL;
}

bool hier_links_local(const hier_layout_t *layout, int root, int radix, hier_links_t *links)
{
    if (!prepare(layout, links)) return false;
    if (link_node(layout, root, radix, links)) return true;
    hier_links_cleanup(links);
    return false;
}

bool hier_links_all(const hier_layout_t *layout, int root, int up_radix, int radix, hier_links_t *links)
{
    int node = my_node(layout), nodes = layout->nodes, shift = layout->node_of[root], parent = -1;
    if (!prepare(layout, links)) return false;
    if (hier_layout_leader(layout, node, root) == layout->rank) {
        links->count = hier_tree(nodes, up_radix, (node - shift + nodes) % nodes, &parent, links->child);
        for (int i = 0; i < links->count; i++)
            links->child[i] = hier_layout_leader(layout, (links->child[i] + shift) % nodes, root);
        if (parent >= 0) parent = hier_layout_leader(layout, (parent + shift) % nodes, root);
    }
    if (!link_node(layout, root, radix, links)) {
        hier_links_cleanup(links);
        return false;
    }
    if (links->parent < 0) links->parent = parent;
    return true;
}

void hier_links_cleanup(hier_links_t *links)
{
    free(links->child);
    *links = (hier_links_t){-1, 0, NULL};
}
