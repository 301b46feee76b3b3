/* SPDX-License-Identifier: BSD-3-Clause
 * hier_reduce.c: steps of barrier, broadcast, reduce and allreduce. n nodes with l ranks each, m bytes, alpha per message, beta
 * per byte on a node's link, gamma per byte folded; what happens within a node is hidden behind the network for all but a chunk.
 *
 *   broadcast, reduce  tree over the leaders, star or tree in a node: log2(n) (alpha + m beta) for small m; a chain over the
 *                      leaders for large m: (n - 2 + m / chunk) (alpha + chunk beta)
 *   allreduce, tiny    up and down one tree of high radix k: 2 log_k(n) (alpha + (k - 1) m beta), the fewest messages
 *   allreduce, small   fan-in, recursive doubling over the leaders (Thakur et al., IJHPCA 2005), fan-out: log2(n) (alpha + m beta)
 *   allreduce, large   per chunk a ring over the leaders (Patarasuk and Yuan, JPDC 2009): 2 (n - 1) / n m beta
 *   barrier            up and down the same tree
 *
 * A chunk is folded in an order that follows from the layout alone: results of floating-point sums depend on the layout (as HAN's
 * do), never on the moment, and are the same on all ranks.
 */
#include "hier_schedule.h"

typedef struct span {
    size_t offset, count;
} span_t;

static span_t span_of(const hier_plan_t *plan, int index)
{
    size_t offset = (size_t)index * plan->chunk, rest = plan->count - offset;
    return (span_t){offset, rest < plan->chunk ? rest : plan->chunk};
}

static bool leads(const hier_plan_t *plan)
{
    return plan->links.parent < 0;
}

void hier_build_barrier(const hier_plan_t *plan, hier_schedule_t *s)
{
    const hier_links_t *links = &plan->links;
    for (int i = 0; i < links->count; i++) hier_recv(s, links->child[i], HIER_TEMP, 0, 0);
    hier_fence(s);
    if (!leads(plan)) {
        hier_recv(s, links->parent, HIER_TEMP, 0, 0);
        hier_send(s, links->parent, HIER_TEMP, 0, 0);
        hier_fence(s);
    }
    for (int i = 0; i < links->count; i++) hier_send(s, links->child[i], HIER_TEMP, 0, 0);
}

static void hand_on(const hier_links_t *links, span_t span, hier_schedule_t *s)
{
    for (int i = 0; i < links->count; i++) hier_send(s, links->child[i], HIER_OUTPUT, span.offset, span.count);
}

void hier_build_bcast(const hier_plan_t *plan, int index, hier_schedule_t *s)
{
    span_t span = span_of(plan, index);
    if (plan->links.parent >= 0) {
        hier_recv(s, plan->links.parent, HIER_OUTPUT, span.offset, span.count);
        hier_fence(s);
    }
    hand_on(&plan->links, span, s);
}

/* Receives from the children and folds, in `area` at `offset`: what they have, and the own input. */
static void fold_children(const hier_plan_t *plan, span_t span, hier_area_t area, size_t offset, hier_schedule_t *s)
{
    const hier_links_t *links = &plan->links;
    bool own_is_there = plan->in_place && area == HIER_OUTPUT;
    size_t room = area == HIER_TEMP ? span.count : 0; /* TEMP's first piece is the sum */
    int received = own_is_there ? 0 : 1;              /* children whose data needs no room of its own */
    for (int i = 0; i < links->count; i++) {
        if (i < received)
            hier_recv(s, links->child[i], area, offset, span.count);
        else
            hier_recv(s, links->child[i], HIER_TEMP, room + (size_t)(i - received) * span.count, span.count);
    }
    if (links->count > received) s->temp = room + (size_t)(links->count - received) * span.count;
    if (s->temp < room) s->temp = room;
    hier_fence(s);
    if (!own_is_there) {
        if (links->count > 0)
            hier_fold(s, HIER_INPUT, span.offset, area, offset, span.count);
        else
            hier_copy(s, HIER_INPUT, span.offset, area, offset, span.count);
    }
    for (int i = received; i < links->count; i++)
        hier_fold(s, HIER_TEMP, room + (size_t)(i - received) * span.count, area, offset, span.count);
}

void hier_build_reduce(const hier_plan_t *plan, int index, hier_schedule_t *s)
{
    span_t span = span_of(plan, index);
    int parent = plan->links.parent;
    if (parent < 0) {
        fold_children(plan, span, HIER_OUTPUT, span.offset, s);
    } else if (plan->links.count == 0) {
        hier_send(s, parent, HIER_INPUT, span.offset, span.count);
    } else {
        fold_children(plan, span, HIER_TEMP, 0, s);
        hier_send(s, parent, HIER_TEMP, 0, span.count);
    }
}

/* Gives and takes the sum of a partner, and folds it. */
static void swap_sums(int peer, span_t span, hier_schedule_t *s)
{
    hier_recv(s, peer, HIER_TEMP, 0, span.count);
    hier_send(s, peer, HIER_OUTPUT, span.offset, span.count);
    hier_fence(s);
    hier_fold(s, HIER_TEMP, 0, HIER_OUTPUT, span.offset, span.count);
}

/* The first 2 * extra leaders pair up, so that a power of two remains: the even ones stand aside. */
static void double_up(const hier_plan_t *plan, span_t span, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int me = layout->node_of[layout->rank], n = layout->nodes, power = 1;
    while (power <= n / 2) power *= 2;
    int extra = n - power;
    bool aside = me < 2 * extra && me % 2 == 0;
    if (me < 2 * extra) {
        int partner = hier_layout_leader(layout, aside ? me + 1 : me - 1, 0);
        if (aside) {
            hier_send(s, partner, HIER_OUTPUT, span.offset, span.count);
            hier_fence(s); /* OUTPUT is received into next */
            hier_recv(s, partner, HIER_OUTPUT, span.offset, span.count);
            hier_fence(s);
            return;
        }
        hier_recv(s, partner, HIER_TEMP, 0, span.count);
        hier_fence(s);
        hier_fold(s, HIER_TEMP, 0, HIER_OUTPUT, span.offset, span.count);
    }
    int v = me < 2 * extra ? me / 2 : me - extra;
    for (int mask = 1; mask < power; mask *= 2) {
        int other = v ^ mask;
        swap_sums(hier_layout_leader(layout, other < extra ? 2 * other + 1 : other + extra, 0), span, s);
    }
    if (me < 2 * extra) hier_send(s, hier_layout_leader(layout, me - 1, 0), HIER_OUTPUT, span.offset, span.count);
}

static span_t piece_of(span_t span, int pieces, int index)
{
    size_t begin = span.count * (size_t)index / (size_t)pieces, end = span.count * (size_t)(index + 1) / (size_t)pieces;
    return (span_t){span.offset + begin, end - begin};
}

static void ring(const hier_plan_t *plan, span_t span, hier_schedule_t *s)
{
    const hier_layout_t *layout = plan->layout;
    int me = layout->node_of[layout->rank], n = layout->nodes;
    int left = hier_layout_leader(layout, (me - 1 + n) % n, 0), right = hier_layout_leader(layout, (me + 1) % n, 0);
    for (int step = 0; step < n - 1; step++) {
        span_t out = piece_of(span, n, (me - step + n) % n), in = piece_of(span, n, (me - step - 1 + n) % n);
        hier_recv(s, left, HIER_TEMP, 0, in.count);
        hier_send(s, right, HIER_OUTPUT, out.offset, out.count);
        hier_fence(s);
        hier_fold(s, HIER_TEMP, 0, HIER_OUTPUT, in.offset, in.count);
    }
    for (int step = 0; step < n - 1; step++) {
        span_t out = piece_of(span, n, (me + 1 - step + n) % n), in = piece_of(span, n, (me - step + n) % n);
        hier_recv(s, left, HIER_OUTPUT, in.offset, in.count);
        hier_send(s, right, HIER_OUTPUT, out.offset, out.count);
        hier_fence(s);
    }
}

static void give_and_take(const hier_plan_t *plan, span_t span, hier_schedule_t *s)
{
    const hier_links_t *links = &plan->links;
    bool from_input = links->count == 0 && !plan->in_place;
    hier_send(s, links->parent, from_input ? HIER_INPUT : HIER_OUTPUT, span.offset, span.count);
    if (!from_input) hier_fence(s); /* OUTPUT is received into next */
    hier_recv(s, links->parent, HIER_OUTPUT, span.offset, span.count);
    hier_fence(s);
}

void hier_build_allreduce(const hier_plan_t *plan, int index, hier_schedule_t *s)
{
    span_t span = span_of(plan, index);
    if (leads(plan) || plan->links.count > 0) fold_children(plan, span, HIER_OUTPUT, span.offset, s);
    if (!leads(plan)) {
        give_and_take(plan, span, s);
    } else {
        if (plan->exchange != HIER_TREE && s->temp < span.count) s->temp = span.count;
        if (plan->exchange == HIER_RING) ring(plan, span, s);
        if (plan->exchange == HIER_DOUBLING) double_up(plan, span, s);
    }
    hand_on(&plan->links, span, s);
}
