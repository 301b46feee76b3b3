/* SPDX-License-Identifier: BSD-3-Clause */
/* See scale_steps.h. */
#include "scale_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEND, RECV, HEARD_ALL };

struct step {
    int kind, peer;
    size_t bytes;
};

struct message {
    struct message *next;
    double arrival;
    int from;
    unsigned char heard[]; /* what its sender had heard of */
};

struct rank {
    struct step *step;
    int count, room, at;
    double clock;
    struct message *first; /* sent to it and not received, in the order of sending */
    unsigned char *heard;
    bool waits;
};

struct scale_run {
    int ranks, heap_count;
    size_t set; /* bytes of a set of ranks */
    int *heap;  /* of ranks that can go on, by clock, then by number */
    bool checks;
    struct rank rank[];
};

static void *memory(void *old, size_t bytes)
{
    void *found = realloc(old, bytes);
    if (!found) abort();
    return found;
}

struct scale_run *scale_run_create(int ranks)
{
    struct scale_run *run = calloc(1, sizeof *run + (size_t)ranks * sizeof *run->rank);
    if (!run) abort();
    run->ranks = ranks;
    run->set = ((size_t)ranks + 7) / 8;
    run->heap = memory(NULL, (size_t)ranks * sizeof *run->heap);
    return run;
}

void scale_run_destroy(struct scale_run *run)
{
    for (int r = 0; r < run->ranks; r++) {
        for (struct message *m = run->rank[r].first, *next; m; m = next) {
            next = m->next;
            free(m);
        }
        free(run->rank[r].step);
        free(run->rank[r].heard);
    }
    free(run->heap);
    free(run);
}

static void add(struct rank *r, struct step step)
{
    if (r->count == r->room) r->step = memory(r->step, (size_t)(r->room = 2 * r->room + 8) * sizeof *r->step);
    r->step[r->count++] = step;
}

void scale_send(struct scale_run *run, int rank, int to, size_t bytes)
{
    add(&run->rank[rank], (struct step){SEND, to, bytes});
}

void scale_recv(struct scale_run *run, int rank, int from)
{
    add(&run->rank[rank], (struct step){RECV, from, 0});
}

void scale_heard_all(struct scale_run *run, int rank)
{
    run->checks = true;
    add(&run->rank[rank], (struct step){HEARD_ALL, 0, 0});
}

/* ---- the ranks that can go on ------------------------------------------------------------------------------------------- */

static bool before(const struct scale_run *run, int a, int b)
{
    return run->rank[a].clock < run->rank[b].clock || (run->rank[a].clock == run->rank[b].clock && a < b);
}

static void push(struct scale_run *run, int rank)
{
    int i = run->heap_count++;
    for (; i > 0 && before(run, rank, run->heap[(i - 1) / 2]); i = (i - 1) / 2) run->heap[i] = run->heap[(i - 1) / 2];
    run->heap[i] = rank;
}

static int pop(struct scale_run *run)
{
    int first = run->heap[0], last = run->heap[--run->heap_count], i = 0, child;
    for (; (child = 2 * i + 1) < run->heap_count; i = child) {
        if (child + 1 < run->heap_count && before(run, run->heap[child + 1], run->heap[child])) child++;
        if (!before(run, run->heap[child], last)) break;
        run->heap[i] = run->heap[child];
    }
    run->heap[i] = last;
    return first;
}

/* ---- steps -------------------------------------------------------------------------------------------------------------- */

static void forget(struct scale_run *run, int rank)
{
    memset(run->rank[rank].heard, 0, run->set);
    run->rank[rank].heard[rank / 8] |= (unsigned char)(1 << rank % 8);
}

static bool has_heard_all(const struct scale_run *run, int rank)
{
    for (int r = 0; r < run->ranks; r++)
        if (!(run->rank[rank].heard[r / 8] >> r % 8 & 1)) return false;
    return true;
}

static void perform_send(struct scale_run *run, int rank, struct sim_network *network, struct scale_figures *figures)
{
    struct rank *me = &run->rank[rank];
    const struct step *s = &me->step[me->at++];
    struct rank *to = &run->rank[s->peer];
    size_t set = run->checks ? run->set : 0;
    double arrival = sim_network_send(network, rank, s->peer, s->bytes, me->clock, &me->clock);
    figures->messages++;
    figures->bytes += s->bytes;
    if (arrival > figures->seconds) figures->seconds = arrival;
    if (!run->checks) return; /* nobody receives */
    struct message *m = memory(NULL, sizeof *m + set), **end = &to->first;
    *m = (struct message){.arrival = arrival, .from = rank};
    memcpy(m->heard, me->heard, set);
    while (*end) end = &(*end)->next;
    *end = m;
    if (!to->waits || to->step[to->at].peer != rank) return;
    to->waits = false;
    push(run, s->peer);
}

/* False: it is not sent yet. */
static bool perform_recv(struct scale_run *run, int rank)
{
    struct rank *me = &run->rank[rank];
    struct message **m = &me->first;
    while (*m && (*m)->from != me->step[me->at].peer) m = &(*m)->next;
    struct message *found = *m;
    if (!found) return false;
    if (me->clock < found->arrival) me->clock = found->arrival;
    for (size_t i = 0; i < run->set; i++) me->heard[i] |= found->heard[i];
    *m = found->next;
    free(found);
    me->at++;
    return true;
}

/* One step, or false: the rank has been told to wait, or is in error. */
static bool perform(struct scale_run *run, int rank, struct sim_network *network, struct scale_figures *figures)
{
    struct rank *me = &run->rank[rank];
    int kind = me->step[me->at].kind;
    if (kind == RECV && !perform_recv(run, rank)) {
        me->waits = true;
        return false;
    }
    if (kind == SEND) perform_send(run, rank, network, figures);
    if (kind == HEARD_ALL) {
        if (!has_heard_all(run, rank)) return false;
        forget(run, rank);
        me->at++;
    }
    if (me->clock > figures->seconds) figures->seconds = me->clock;
    return true;
}

bool scale_run_perform(struct scale_run *run, struct sim_network *network, struct scale_figures *figures)
{
    *figures = (struct scale_figures){0};
    for (int r = 0; r < run->ranks; r++) {
        run->rank[r].heard = memory(run->rank[r].heard, run->set);
        forget(run, r);
        if (run->rank[r].count > 0) push(run, r);
    }
    while (run->heap_count > 0) {
        int rank = pop(run);
        if (perform(run, rank, network, figures) && run->rank[rank].at < run->rank[rank].count) push(run, rank);
    }
    for (int r = 0; r < run->ranks; r++) {
        if (run->rank[r].at == run->rank[r].count && !run->rank[r].first) continue;
        fprintf(stderr, "scale: rank %d stops at step %d of %d, or leaves a message\n", r, run->rank[r].at, run->rank[r].count);
        return false;
    }
    return true;
}
