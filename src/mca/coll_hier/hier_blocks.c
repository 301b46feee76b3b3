/* SPDX-License-Identifier: BSD-3-Clause
 * hier_blocks.c: steps of allgather, gather and scatter. p ranks on n nodes, m bytes per rank.
 *
 *   small      the blocks of a node travel as one message: leaders collect and distribute; allgather among the leaders by
 *              recursive doubling, or in ceil(log2 n) rounds for any n (Bruck et al., TPDS 1997, without its rotation);
 *              scatter of a few bytes down a tree of the leaders, log2(n) alpha at the root instead of n alpha
 *   gather and scatter, large
 *              straight between the root and every rank, a few nodes at a time: the root's link is the bound, (p - l) m beta,
 *              and a hop over the leaders would only copy
 *   allgather, large
 *              every block streams in parts: to its leader, around the ring of the leaders, down to the ranks of each node:
 *              (p - l) m beta, with one part's latency per hop
 *
 * Ranks that do not follow each other on a node: one message per run of consecutive ranks, or packed in TEMP by node.
 */
#include "hier_schedule.h"

/* Where the blocks of places [begin, end) in layout->member lie in OUTPUT: calls what for every run of consecutive ranks. */
typedef void (*run_fn)(hier_schedule_t *s, int peer, size_t rank, size_t place, size_t count);

static void for_runs(const hier_layout_t *layout, int begin, int end, hier_schedule_t *s, int peer, run_fn what)
{
    for (int i = begin, next; i < end; i = next) {
        for (next = i + 1; next < end && layout->member[next] == layout->member[next - 1] + 1;) next++;
        what(s, peer, (size_t)layout->member[i], (size_t)i, (size_t)(next - i));
    }
}

static void unpack(hier_schedule_t *s, int peer, size_t rank, size_t place, size_t count)
{
    hier_copy(s, HIER_TEMP, place, HIER_OUTPUT, rank, count);
}

static void pack_input(hier_schedule_t *s, int peer, size_t rank, size_t place, size_t count)
{
    hier_copy(s, HIER_INPUT, rank, HIER_TEMP, place, count);
}

/* ---- allgather ------------------------------------------------------------------------------------------------------ */

/* Blocks of the nodes base, base + 1, ... before those of `node`, around the end. */
static size_t blocks_before(const hier_layout_t *layout, int base, int node)
{
    int blocks = layout->first[node] - layout->first[base];
    return (size_t)(node < base ? blocks + layout->size : blocks);
}

/* Exchanges the nodes [from, from + count), which may wrap around; the area begins with node `base`. */
static void move_nodes(const hier_layout_t *layout, hier_area_t area, int base, int from, int count, int peer, bool out,
                       hier_schedule_t *s)
{
    int n = layout->nodes;
    while (count > 0) {
        int here = from + count <= n ? count : n - from;
        size_t begin = blocks_before(layout, base, from), blocks = (size_t)(layout->first[from + here] - layout->first[from]);
        if (out)
            hier_send(s, peer, area, begin, blocks);
        else
            hier_recv(s, peer, area, begin, blocks);
        count -= here;
        from = 0;
    }
}

/* After the round with this step a leader has the blocks of the nodes me ... me + 2 step - 1. */
static void spread_around(const hier_layout_t *layout, hier_area_t area, hier_schedule_t *s)
{
    int me = layout->node_of[layout->rank], n = layout->nodes;
    for (int step = 1; step < n; step *= 2) {
        int more = step <= n - step ? step : n - step, above = (me + step) % n, below = (me - step + n) % n;
        move_nodes(layout, area, 0, above, more, hier_layout_leader(layout, above, 0), false, s);
        move_nodes(layout, area, 0, me, more, hier_layout_leader(layout, below, 0), true, s);
        hier_fence(s);
    }
}

static void spread_by_doubling(const hier_layout_t *layout, hier_area_t area, hier_schedule_t *s)
{
    int me = layout->node_of[layout->rank];
    for (int mask = 1; mask < layout->nodes; mask *= 2) {
        int partner = hier_layout_leader(layout, me ^ mask, 0);
        move_nodes(layout, area, 0, (me ^ mask) & ~(mask - 1), mask, partner, false, s);
        move_nodes(layout, area, 0, me & ~(mask - 1), mask, partner, true, s);
        hier_fence(s);
    }
}

static void allgather_packed(const hier_plan_t *plan, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int rank = layout->rank, node = layout->node_of[rank], leader = hier_layout_leader(layout, node, 0);
    size_t size = (size_t)layout->size;
    if (rank != leader) {
        hier_send(s, leader, HIER_OUTPUT, (size_t)rank, 1);
        hier_fence(s);
        hier_recv(s, leader, HIER_OUTPUT, 0, size);
        return;
    }
    hier_area_t area = layout->consecutive ? HIER_OUTPUT : HIER_TEMP;
    if (area == HIER_TEMP) {
        s->temp = size;
        hier_copy(s, HIER_OUTPUT, (size_t)rank, HIER_TEMP, (size_t)layout->first[node], 1);
    }
    for (int i = layout->first[node] + 1; i < layout->first[node + 1]; i++)
        hier_recv(s, layout->member[i], area, (size_t)i, 1);
    hier_fence(s);
    if ((layout->nodes & (layout->nodes - 1)) == 0)
        spread_by_doubling(layout, area, s);
    else
        spread_around(layout, area, s);
    if (area == HIER_TEMP) for_runs(layout, 0, layout->size, s, -1, unpack);
    for (int i = layout->first[node] + 1; i < layout->first[node + 1]; i++) hier_send(s, layout->member[i], HIER_OUTPUT, 0, size);
}

/* The source of the index-th stream and the part of its block. The order is the same on all ranks, so that the lowest stream that
 * is not done is under way everywhere; nodes take turns, so that every link is busy from the beginning. */
static int stream_of(const hier_plan_t *plan, int index, size_t *part)
{
    const hier_layout_t *layout = plan->layout;
    int parts = plan->chunks / layout->size, left = index;
    for (int number = 0;; number++) {
        int nodes = 0;
        for (int node = 0; node < layout->nodes; node++) nodes += hier_node_size(layout, node) > number;
        if (left >= nodes * parts) {
            left -= nodes * parts;
            continue;
        }
        *part = (size_t)(left / nodes);
        int which = left % nodes;
        for (int node = 0;; node++)
            if (hier_node_size(layout, node) > number && which-- == 0) return layout->member[layout->first[node] + number];
    }
}

static void allgather_streams(const hier_plan_t *plan, int index, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    size_t part, parts = (size_t)(plan->chunks / layout->size);
    int rank = layout->rank, me = layout->node_of[rank], n = layout->nodes, source = stream_of(plan, index, &part);
    int leader = hier_layout_leader(layout, me, 0), node = layout->node_of[source];
    size_t begin = part * plan->chunk, length = plan->count - begin < plan->chunk ? plan->count - begin : plan->chunk;
    size_t offset = (size_t)source * plan->count + begin;
    s->tag = (int)((size_t)source * parts + part);
    if (rank != leader) {
        if (rank == source)
            hier_send(s, leader, HIER_OUTPUT, offset, length);
        else
            hier_recv(s, leader, HIER_OUTPUT, offset, length);
        return;
    }
    if (rank != source) {
        int left = hier_layout_leader(layout, (me - 1 + n) % n, 0);
        hier_recv(s, node == me ? source : left, HIER_OUTPUT, offset, length);
        hier_fence(s);
    }
    if ((me + 1) % n != node) hier_send(s, hier_layout_leader(layout, (me + 1) % n, 0), HIER_OUTPUT, offset, length);
    for (int i = layout->first[me] + 1; i < layout->first[me + 1]; i++)
        if (layout->member[i] != source) hier_send(s, layout->member[i], HIER_OUTPUT, offset, length);
}

void hier_build_allgather(const hier_plan_t *plan, int index, hier_schedule_t *s)
{
    if (plan->direct)
        allgather_streams(plan, index, s);
    else
        allgather_packed(plan, s);
}

/* ---- gather and scatter --------------------------------------------------------------------------------------------- */

/* Whether a node's blocks lie together in the root's buffer, in the order of its ranks. */
static bool together(const hier_layout_t *layout, int node)
{
    int begin = layout->first[node], end = layout->first[node + 1];
    return layout->member[end - 1] - layout->member[begin] == end - 1 - begin;
}

static void gather_at_root(const hier_plan_t *plan, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int mine = layout->node_of[plan->root];
    for (int node = 0; node < layout->nodes; node++) {
        size_t begin = (size_t)layout->first[node], end = (size_t)layout->first[node + 1];
        int leader = layout->member[begin];
        if (node == mine) continue;
        if (together(layout, node)) {
            hier_recv(s, leader, HIER_OUTPUT, (size_t)leader, end - begin);
        } else {
            hier_recv(s, leader, HIER_TEMP, begin, end - begin);
            if (s->temp < end) s->temp = end;
        }
    }
    for (int i = layout->first[mine]; i < layout->first[mine + 1]; i++)
        if (layout->member[i] != plan->root) hier_recv(s, layout->member[i], HIER_OUTPUT, (size_t)layout->member[i], 1);
    if (!plan->in_place) hier_copy(s, HIER_INPUT, 0, HIER_OUTPUT, (size_t)plan->root, 1);
    hier_fence(s);
    for (int node = 0; node < layout->nodes; node++)
        if (node != mine && !together(layout, node))
            for_runs(layout, layout->first[node], layout->first[node + 1], s, -1, unpack);
}

static void gather_direct(const hier_plan_t *plan, int node, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int rank = layout->rank;
    if (rank != plan->root) {
        if (layout->node_of[rank] == node) hier_send(s, plan->root, HIER_INPUT, 0, 1);
        return;
    }
    for (int i = layout->first[node]; i < layout->first[node + 1]; i++)
        if (layout->member[i] != rank) hier_recv(s, layout->member[i], HIER_OUTPUT, (size_t)layout->member[i], 1);
    if (layout->node_of[rank] == node && !plan->in_place) hier_copy(s, HIER_INPUT, 0, HIER_OUTPUT, (size_t)rank, 1);
}

void hier_build_gather(const hier_plan_t *plan, int index, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int rank = layout->rank, node = layout->node_of[rank], leader = hier_layout_leader(layout, node, plan->root);
    if (plan->direct) {
        gather_direct(plan, index, s);
    } else if (rank == plan->root) {
        gather_at_root(plan, s);
    } else if (rank != leader) {
        hier_send(s, leader, HIER_INPUT, 0, 1);
    } else {
        int begin = layout->first[node], l = hier_node_size(layout, node);
        s->temp = (size_t)l;
        for (int i = 1; i < l; i++) hier_recv(s, layout->member[begin + i], HIER_TEMP, (size_t)i, 1);
        hier_copy(s, HIER_INPUT, 0, HIER_TEMP, 0, 1);
        hier_fence(s);
        hier_send(s, plan->root, HIER_TEMP, 0, (size_t)l);
    }
}

/* To the leaders below this one in the tree over the nodes, from an area that begins with node `base`. */
static void scatter_down(const hier_plan_t *plan, hier_area_t area, int base, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int n = layout->nodes, shift = layout->node_of[plan->root];
    for (int i = 0; i < plan->links.count; i++) {
        int child = plan->links.child[i], node = layout->node_of[child];
        if (node == layout->node_of[layout->rank]) continue;
        int below = hier_tree_below(n, plan->up_radix, (node - shift + n) % n);
        move_nodes(layout, area, base, node, below, child, true, s);
    }
}

static void scatter_at_root(const hier_plan_t *plan, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int mine = layout->node_of[plan->root];
    if (!layout->consecutive) {
        for_runs(layout, 0, layout->size, s, -1, pack_input);
        s->temp = (size_t)layout->size;
    }
    scatter_down(plan, layout->consecutive ? HIER_INPUT : HIER_TEMP, 0, s);
    for (int i = layout->first[mine]; i < layout->first[mine + 1]; i++)
        if (layout->member[i] != plan->root) hier_send(s, layout->member[i], HIER_INPUT, (size_t)layout->member[i], 1);
    if (!plan->in_place) hier_copy(s, HIER_INPUT, (size_t)plan->root, HIER_OUTPUT, 0, 1);
}

static void scatter_at_leader(const hier_plan_t *plan, int node, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int n = layout->nodes, shift = layout->node_of[plan->root], begin = layout->first[node];
    int below = hier_tree_below(n, plan->up_radix, (node - shift + n) % n); /* the root is not among them */
    s->temp = blocks_before(layout, node, (node + below) % n);
    move_nodes(layout, HIER_TEMP, node, node, below, plan->links.parent, false, s);
    hier_fence(s);
    scatter_down(plan, HIER_TEMP, node, s);
    for (int i = 1; i < hier_node_size(layout, node); i++) hier_send(s, layout->member[begin + i], HIER_TEMP, (size_t)i, 1);
    hier_copy(s, HIER_TEMP, 0, HIER_OUTPUT, 0, 1);
}

static void scatter_direct(const hier_plan_t *plan, int node, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int rank = layout->rank;
    if (rank != plan->root) {
        if (layout->node_of[rank] == node) hier_recv(s, plan->root, HIER_OUTPUT, 0, 1);
        return;
    }
    for (int i = layout->first[node]; i < layout->first[node + 1]; i++)
        if (layout->member[i] != rank) hier_send(s, layout->member[i], HIER_INPUT, (size_t)layout->member[i], 1);
    if (layout->node_of[rank] == node && !plan->in_place) hier_copy(s, HIER_INPUT, (size_t)rank, HIER_OUTPUT, 0, 1);
}

void hier_build_scatter(const hier_plan_t *plan, int index, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int rank = layout->rank, node = layout->node_of[rank], leader = hier_layout_leader(layout, node, plan->root);
    if (plan->direct) {
        scatter_direct(plan, index, s);
    } else if (rank == plan->root) {
        scatter_at_root(plan, s);
    } else if (rank != leader) {
        hier_recv(s, leader, HIER_OUTPUT, 0, 1);
    } else {
        scatter_at_leader(plan, node, s);
    }
}
