/* SPDX-License-Identifier: BSD-3-Clause
 * hier_simulator.c: see hier_simulator.h. A request stands in one list until its counterpart comes; the lists are short.
 */
#include "unit.h"

#include "hier_simulator.h"

typedef struct request {
    int from, to, tag;
    bool is_send;
    uint64_t *data;
    size_t count;
    int *pending;
    struct request *next;
} request_t;

typedef struct slot {
    hier_schedule_t schedule;
    bool active;
    int at, pending;
    uint64_t *temp;
} slot_t;

typedef struct actor {
    slot_t *slot;
    int next, done;
} actor_t;

typedef struct run {
    hier_world_t *world;
    actor_t *actor;
    request_t *waiting, **end;
} run_t;

static void post(run_t *run, request_t wanted)
{
    request_t **link = &run->waiting;
    for (; *link; link = &(*link)->next) {
        request_t *r = *link;
        if (r->is_send == wanted.is_send || r->from != wanted.from || r->to != wanted.to || r->tag != wanted.tag) continue;
        assert_int_equal(r->count, wanted.count);
        request_t *send = r->is_send ? r : &wanted, *receive = r->is_send ? &wanted : r;
        memmove(receive->data, send->data, send->count * sizeof *send->data);
        --*r->pending;
        *link = r->next;
        if (!*link) run->end = link;
        free(r);
        return;
    }
    ++*wanted.pending;
    request_t *kept = malloc(sizeof *kept);
    *kept = wanted;
    kept->next = NULL;
    *run->end = kept;
    run->end = &kept->next;
}

static uint64_t *where(const run_t *run, int rank, const slot_t *slot, int area, size_t offset)
{
    const hier_world_t *world = run->world;
    uint64_t *base = area == HIER_INPUT ? world->input[rank] : area == HIER_OUTPUT ? world->output[rank] : slot->temp;
    if (area == HIER_INPUT && world->plan[rank].in_place && !base) base = world->output[rank];
    return base ? base + offset * world->unit[area] : NULL;
}

static void perform(run_t *run, int rank, slot_t *slot, const hier_step_t *step)
{
    size_t count = step->count * run->world->unit[step->area];
    uint64_t *data = where(run, rank, slot, step->area, step->offset);
    const uint64_t *from = where(run, rank, slot, step->from, step->from_offset);
    if (step->area == HIER_TEMP) assert_true(step->count == 0 || step->offset + step->count <= slot->schedule.temp);
    if (step->kind == HIER_SEND || step->kind == HIER_RECV) {
        bool send = step->kind == HIER_SEND;
        assert_int_not_equal(step->peer, rank);
        for (size_t i = 0; !send && i < count; i++) data[i] = UINT64_C(0xdeadbeefdeadbeef);
        run->world->messages += send;
        post(run, (request_t){send ? rank : step->peer, send ? step->peer : rank, slot->schedule.tag, send, data, count,
                              &slot->pending, NULL});
    } else if (step->kind == HIER_FOLD) {
        for (size_t i = 0; i < count; i++) data[i] += from[i];
    } else {
        memmove(data, from, step->count * run->world->unit[step->from] * sizeof *data);
    }
}

static void start(run_t *run, int rank, slot_t *slot)
{
    hier_plan_build(&run->world->plan[rank], run->actor[rank].next++, &slot->schedule);
    assert_false(slot->schedule.failed);
    slot->active = true;
    slot->at = slot->pending = 0;
    slot->temp = calloc(slot->schedule.temp * run->world->unit[HIER_TEMP] + 1, sizeof *slot->temp);
}

/* Goes on as far as it can. False: not at all. */
static bool advance(run_t *run, int rank, slot_t *slot)
{
    actor_t *actor = &run->actor[rank];
    int before = slot->at;
    if (!slot->active) {
        if (actor->next == run->world->plan[rank].chunks) return false;
        start(run, rank, slot);
        before = -1;
    }
    for (; slot->at < slot->schedule.count; slot->at++) {
        const hier_step_t *step = &slot->schedule.step[slot->at];
        if (step->kind == HIER_FENCE && slot->pending > 0) return slot->at != before;
        if (step->kind != HIER_FENCE) perform(run, rank, slot, step);
    }
    if (slot->pending > 0) return slot->at != before;
    free(slot->temp);
    slot->active = false;
    actor->done++;
    return true;
}

static bool finished(const run_t *run)
{
    for (int rank = 0; rank < run->world->size; rank++)
        if (run->actor[rank].done < run->world->plan[rank].chunks) return false;
    return true;
}

bool hier_world_run(hier_world_t *world)
{
    run_t run = {world, calloc((size_t)world->size, sizeof(actor_t)), NULL, NULL};
    size_t slots = (size_t)world->size * (size_t)world->window, idle = 0, limit = slots * 4;
    slot_t *slot = calloc(slots, sizeof *slot);
    run.end = &run.waiting;
    while (!finished(&run) && idle < limit) {
        size_t which = idle < slots * 2 ? unit_random(world->random) % slots : idle % slots; /* luck first, then all in turn */
        int rank = (int)(which / (size_t)world->window);
        idle = advance(&run, rank, &slot[which]) ? 0 : idle + 1;
    }
    bool done = finished(&run) && !run.waiting;
    for (size_t i = 0; i < slots; i++) hier_schedule_cleanup(&slot[i].schedule);
    free(slot);
    free(run.actor);
    return done;
}
