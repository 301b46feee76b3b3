/* SPDX-License-Identifier: BSD-3-Clause
 * hier_schedule.c: lists of steps, and plans: operations cut into chunks that are under way at the same time, so that one
 * chunk is on the network while another is folded or handed on within a node.
 */
#include "hier_schedule.h"

#include <limits.h>
#include <stdlib.h>

static void append(hier_schedule_t *s, hier_step_t step)
{
    if (s->count == s->capacity) {
        int more = s->capacity ? 2 * s->capacity : 16;
        hier_step_t *grown = realloc(s->step, sizeof *grown * (size_t)more);
        if (!grown) {
            s->failed = true;
            return;
        }
        s->step = grown;
        s->capacity = more;
    }
    s->step[s->count++] = step;
}

void hier_send(hier_schedule_t *s, int peer, hier_area_t area, size_t offset, size_t count)
{
    append(s, (hier_step_t){.kind = HIER_SEND, .area = area, .peer = peer, .offset = offset, .count = count});
}

void hier_recv(hier_schedule_t *s, int peer, hier_area_t area, size_t offset, size_t count)
{
    append(s, (hier_step_t){.kind = HIER_RECV, .area = area, .peer = peer, .offset = offset, .count = count});
}

static void local(hier_schedule_t *s, hier_kind_t kind, hier_area_t from, size_t from_offset, hier_area_t area, size_t offset,
                  size_t count)
{
    append(s, (hier_step_t){kind, area, from, -1, offset, from_offset, count});
}

void hier_fold(hier_schedule_t *s, hier_area_t from, size_t from_offset, hier_area_t area, size_t offset, size_t count)
{
    local(s, HIER_FOLD, from, from_offset, area, offset, count);
}

void hier_copy(hier_schedule_t *s, hier_area_t from, size_t from_offset, hier_area_t area, size_t offset, size_t count)
{
    local(s, HIER_COPY, from, from_offset, area, offset, count);
}

/* Nothing to wait for at the beginning, nor twice. */
void hier_fence(hier_schedule_t *s)
{
    if (s->count > 0 && s->step[s->count - 1].kind != HIER_FENCE) append(s, (hier_step_t){.kind = HIER_FENCE, .peer = -1});
}

void hier_schedule_cleanup(hier_schedule_t *schedule)
{
    free(schedule->step);
    *schedule = (hier_schedule_t){0};
}

static bool is_tree_of_all(const hier_plan_t *plan)
{
    if (plan->operation == HIER_SCATTER) return !plan->direct; /* of which the part over the leaders is used */
    return plan->operation <= HIER_REDUCE || (plan->operation == HIER_ALLREDUCE && plan->exchange == HIER_TREE);
}

static int count_chunks(hier_plan_t *plan)
{
    const hier_layout_t *layout = plan->layout;
    if (plan->operation == HIER_BARRIER) return 1;
    if (plan->operation == HIER_GATHER || plan->operation == HIER_SCATTER) return plan->direct ? layout->nodes : 1;
    if (plan->operation == HIER_ALLGATHER && !plan->direct) return 1;
    if (plan->chunk == 0 || plan->chunk > plan->count) plan->chunk = plan->count;
    size_t chunks = plan->count == 0 ? 1 : (plan->count + plan->chunk - 1) / plan->chunk;
    size_t streams = plan->operation == HIER_ALLGATHER ? (size_t)layout->size : 1;
    while (chunks * streams > INT_MAX / 2) {
        plan->chunk *= 2;
        chunks = (plan->count + plan->chunk - 1) / plan->chunk;
    }
    plan->chunk = (plan->count + chunks - 1) / chunks; /* of equal size, as far as can be */
    chunks = plan->count == 0 ? 1 : (plan->count + plan->chunk - 1) / plan->chunk;
    return (int)(chunks * streams);
}

bool hier_plan_prepare(hier_plan_t *plan)
{
    plan->chunks = count_chunks(plan);
    if (is_tree_of_all(plan))
        return hier_links_all(plan->layout, plan->root, plan->up_radix, plan->radix, &plan->links);
    if (plan->operation == HIER_ALLREDUCE)
        return hier_links_local(plan->layout, 0, plan->radix, &plan->links);
    return true;
}

void hier_plan_cleanup(hier_plan_t *plan)
{
    hier_links_cleanup(&plan->links);
}

void hier_plan_build(const hier_plan_t *plan, int index, hier_schedule_t *schedule)
{
    schedule->count = 0;
    schedule->temp = 0;
    schedule->tag = index;
    switch (plan->operation) {
    case HIER_BARRIER: hier_build_barrier(plan, schedule); break;
    case HIER_BCAST: hier_build_bcast(plan, index, schedule); break;
    case HIER_REDUCE: hier_build_reduce(plan, index, schedule); break;
    case HIER_ALLREDUCE: hier_build_allreduce(plan, index, schedule); break;
    case HIER_ALLGATHER: hier_build_allgather(plan, index, schedule); break;
    case HIER_GATHER: hier_build_gather(plan, index, schedule); break;
    case HIER_SCATTER: hier_build_scatter(plan, index, schedule); break;
    case HIER_OPERATIONS: break;
    }
}
