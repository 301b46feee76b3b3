/* SPDX-License-Identifier: BSD-3-Clause */
/* See sim_ranks.h. */
#include "sim_ranks.h"

#include "sim_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
    struct message *next;
    int source, tag;
    size_t bytes;
    char *copy;             /* buffered, or */
    const void *origin;     /* still the sender's */
    struct request *sender; /* done when taken; NULL when buffered */
    double arrival;
};

struct request {
    struct request *next;
    bool done;
    int peer, tag;
    void *buffer;
    size_t capacity, bytes;
    struct message *message; /* matched; of a send that is not buffered: under way */
    double time;             /* of a send: when it is done */
    bool receives;
};

struct rank {
    struct sim *sim;
    struct sparse_transport transport;
    struct message *arrived, **arrived_end;
    struct request *posted, **posted_end;
    struct sim_count count;
    double port_out, port_in;
    bool ready, finished;
    double due; /* with a network: when what makes it ready happens */
    long calls;
};

struct sim {
    struct sim_options options;
    uint64_t random, data_messages;
    long requests;
    struct rank *rank;
    int *ready; /* a ring of ranks */
    int ready_first, ready_count;
    long idle; /* calls since anything else happened */
    /* With a network, in place of the ring. */
    double now;                   /* of the rank that goes on */
    struct sim_events departures; /* messages, when their senders' clocks say so */
    struct sim_events wakes;      /* of ready ranks; some are out of date */
};

uint64_t sim_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static bool chance(struct sim *sim, unsigned one_in)
{
    return sim->options.seed != 0 && (sim_random(&sim->random) >> 33) % one_in == 0;
}

static void *need(void *memory)
{
    if (!memory) abort();
    return memory;
}

/* When a ready rank goes on. */
static double moment(const struct rank *r)
{
    return r->due > r->count.clock ? r->due : r->count.clock;
}

static void wake_at(struct sim *sim, int rank, double when)
{
    int p = sim->options.ranks;
    struct rank *r = &sim->rank[rank];
    if (r->finished) return;
    bool sooner = !r->ready || when < r->due;
    bool known = r->ready;
    if (sooner) r->due = when;
    r->ready = true;
    if (sooner && sim->options.network) sim_events_add(&sim->wakes, (struct sim_event){.time = moment(r), .from = rank});
    if (known || sim->options.network) return;
    sim->ready[(sim->ready_first + sim->ready_count++) % p] = rank;
}

static void wake(struct sim *sim, int rank)
{
    wake_at(sim, rank, 0);
}

static double transfer_time(const struct sim *sim, size_t bytes)
{
    return sim->options.bandwidth > 0 ? (double)bytes / sim->options.bandwidth : 0;
}

static void append_message(struct rank *to, struct message *m)
{
    *to->arrived_end = m;
    to->arrived_end = &m->next;
}

/* The first that waits for this message. */
static bool match_posted(struct rank *to, struct message *m)
{
    for (struct request **at = &to->posted; *at; at = &(*at)->next) {
        struct request *r = *at;
        if (r->peer != m->source || r->tag != m->tag) continue;
        *at = r->next;
        if (to->posted_end == &r->next) to->posted_end = at;
        r->message = m;
        return true;
    }
    return false;
}

static bool breaks(struct rank *me)
{
    const struct sim_options *o = &me->sim->options;
    return o->breaks == me->transport.rank + 1 && me->calls++ >= o->breaks_after;
}

static struct request *new_request(struct rank *me, int peer, int tag)
{
    struct request *r = need(calloc(1, sizeof *r));
    r->peer = peer;
    r->tag = tag;
    me->sim->requests++;
    return r;
}

static void end_request(struct sim *sim, struct request *r)
{
    sim->requests--;
    free(r);
}

static bool counts(const struct sim_options *o, int tag)
{
    return tag >= o->damaged_tag && (o->damaged_last == 0 || tag <= o->damaged_last);
}

static struct message *new_message(struct rank *me, const void *buffer, size_t bytes, int tag, struct request *sender)
{
    struct sim *sim = me->sim;
    struct message *m = need(calloc(1, sizeof *m));
    bool data = bytes > 0 && counts(&sim->options, tag);
    bool harmed = data && sim->options.damage != SIM_INTACT && (long)sim->data_messages == sim->options.damaged;
    sim->data_messages += data;
    m->source = me->transport.rank;
    m->tag = tag;
    m->bytes = bytes;
    m->origin = buffer;
    if (sim->options.seed == 0 || harmed || chance(sim, 2)) {
        m->copy = need(malloc(bytes ? bytes : 1));
        if (bytes) memcpy(m->copy, buffer, bytes);
        sender->done = true;
    } else {
        m->sender = sender;
        sender->message = m;
    }
    if (harmed) m->bytes = sim_damage(sim->options.damage, m->copy, bytes, &sim->random);
    return m;
}

static void arrive(struct rank *to, struct message *m)
{
    if (!match_posted(to, m)) append_message(to, m);
    wake_at(to->sim, to->transport.rank, m->arrival);
}

/* The first of the departures takes its links. */
static void set_out(struct sim *sim)
{
    struct sim_event d = sim_events_take(&sim->departures);
    struct message *m = d.message;
    struct request *r = d.request;
    m->arrival = sim_network_send(sim->options.network, d.from, d.to, m->bytes, d.time, &r->time);
    r->done = true;
    wake_at(sim, d.from, r->time);
    arrive(&sim->rank[d.to], m);
}

/* When the message will have arrived, and when its sender is free of it. */
static void depart(struct rank *me, struct message *m, struct request *r)
{
    const struct sim_options *o = &me->sim->options;
    double begin = me->count.clock > me->port_out ? me->count.clock : me->port_out;
    me->port_out = r->time = begin + transfer_time(me->sim, m->bytes);
    m->arrival = me->port_out + o->latency;
}

static int sim_isend(void *context, const void *buffer, size_t bytes, int peer, int tag, union sparse_request *request)
{
    struct rank *me = context, *to = &me->sim->rank[peer];
    if (breaks(me)) return SIM_BROKEN;
    struct request *r = new_request(me, peer, tag);
    struct message *m = new_message(me, buffer, bytes, tag, r);
    me->count.messages++;
    me->count.sent += bytes;
    request->pointer = r;
    if (me->sim->options.network) {
        r->done = false;
        sim_events_add(&me->sim->departures, (struct sim_event){.time = me->count.clock, .from = me->transport.rank, .to = peer,
                                                                    .message = m, .request = r});
        return 0;
    }
    depart(me, m, r);
    arrive(to, m);
    return 0;
}

static int sim_irecv(void *context, void *buffer, size_t capacity, int peer, int tag, union sparse_request *request)
{
    struct rank *me = context;
    if (breaks(me)) return SIM_BROKEN;
    struct request *r = new_request(me, peer, tag);
    r->receives = true;
    r->buffer = buffer;
    r->capacity = capacity;
    request->pointer = r;
    for (struct message **at = &me->arrived; *at; at = &(*at)->next) {
        struct message *m = *at;
        if (m->source != peer || m->tag != tag) continue;
        *at = m->next;
        if (me->arrived_end == &m->next) me->arrived_end = at;
        m->next = NULL;
        r->message = m;
        return 0;
    }
    *me->posted_end = r;
    me->posted_end = &r->next;
    return 0;
}

static void drop_message(struct message *m)
{
    if (m->sender) {
        m->sender->done = true;
        m->sender->message = NULL;
    }
    free(m->copy);
    free(m);
}

/* Copies what has arrived to where it belongs. */
static int take(struct rank *me, struct request *r)
{
    struct message *m = r->message;
    size_t bytes = m->bytes;
    double through = me->port_in + transfer_time(me->sim, bytes), now = m->arrival > through ? m->arrival : through;
    if (bytes <= r->capacity && bytes) memcpy(r->buffer, m->copy ? m->copy : m->origin, bytes);
    if (m->sender) wake(me->sim, m->source);
    me->port_in = now;
    if (me->count.clock < now) me->count.clock = now;
    me->count.clock += (double)bytes * me->sim->options.work;
    me->count.received += bytes;
    r->bytes = bytes;
    r->done = true;
    me->sim->idle = 0;
    drop_message(m);
    return bytes > r->capacity ? SIM_TRUNCATED : 0;
}

static int sim_test(void *context, union sparse_request *request, bool *done, size_t *bytes)
{
    struct rank *me = context;
    struct request *r = request->pointer;
    int code = breaks(me) ? SIM_BROKEN : 0;
    *done = false;
    if (code) {
        me->transport.cancel(context, request);
        return code;
    }
    if (!r->done && !(r->receives && r->message)) return 0;
    double there = r->receives ? r->message->arrival : r->time;
    if (me->sim->options.network && there > me->sim->now && there > me->count.clock) {
        wake_at(me->sim, me->transport.rank, there);
        return 0;
    }
    if (chance(me->sim, 4)) {
        wake(me->sim, me->transport.rank);
        return 0;
    }
    if (r->receives) code = take(me, r);
    if (r->receives) *bytes = r->bytes;
    else if (me->count.clock < r->time) me->count.clock = r->time;
    *done = true;
    end_request(me->sim, r);
    return code;
}

static void unpost(struct rank *me, struct request *r)
{
    for (struct request **at = &me->posted; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            if (me->posted_end == &r->next) me->posted_end = at;
            return;
        }
}

/* The message goes on without its sender's memory. */
static void buffer_now(struct message *m)
{
    m->copy = need(malloc(m->bytes ? m->bytes : 1));
    if (m->bytes) memcpy(m->copy, m->origin, m->bytes);
    m->sender = NULL;
}

static void sim_cancel(void *context, union sparse_request *request)
{
    struct rank *me = context;
    struct request *r = request->pointer;
    if (r->receives) {
        if (r->message) drop_message(r->message);
        else unpost(me, r);
    } else if (r->message) {
        buffer_now(r->message);
    }
    end_request(me->sim, r);
}

/* Again, a little later; but not for ever, if nothing else happens meanwhile. */
static int sim_idle(void *context)
{
    enum { MOST = 1000 };
    static const double little = 1e-7;
    struct rank *me = context;
    if (breaks(me)) return SIM_BROKEN;
    if (me->sim->idle++ >= MOST * me->sim->options.ranks) return 0;
    if (me->sim->options.latency > 0 || me->sim->options.network) me->count.clock += little;
    wake_at(me->sim, me->transport.rank, me->count.clock);
    return 0;
}

static void sim_tell(void *context, size_t bytes, int peer, int tag)
{
    struct rank *me = context;
    struct sim_shown *shown = me->sim->options.shown;
    if (shown) (counts(&me->sim->options, tag) ? shown->bytes : shown->others)[me->transport.rank][peer] += bytes;
}

struct sim *sim_create(const struct sim_options *options)
{
    struct sim *sim = need(calloc(1, sizeof *sim));
    int p = options->ranks;
    sim->options = *options;
    sim->random = options->seed * 2 + 1;
    sim->rank = need(calloc((size_t)p, sizeof *sim->rank));
    sim->ready = need(calloc((size_t)p, sizeof *sim->ready));
    for (int r = 0; r < p; r++) {
        struct rank *rank = &sim->rank[r];
        rank->sim = sim;
        rank->arrived_end = &rank->arrived;
        rank->posted_end = &rank->posted;
        rank->transport = (struct sparse_transport){r, p, rank, sim_isend, sim_irecv, sim_test, sim_cancel, sim_idle, sim_tell};
    }
    return sim;
}

void sim_destroy(struct sim *sim)
{
    if (sim->requests != 0) {
        fprintf(stderr, "sim_ranks: %ld requests were left behind\n", sim->requests);
        abort();
    }
    for (int r = 0; r < sim->options.ranks; r++)
        for (struct message *m = sim->rank[r].arrived, *next; m; m = next) {
            next = m->next;
            drop_message(m);
        }
    free(sim->departures.heap);
    free(sim->wakes.heap);
    free(sim->rank);
    free(sim->ready);
    free(sim);
}

const struct sparse_transport *sim_transport(struct sim *sim, int rank)
{
    return &sim->rank[rank].transport;
}

const struct sim_count *sim_count(const struct sim *sim, int rank)
{
    return &sim->rank[rank].count;
}

uint64_t sim_messages(const struct sim *sim)
{
    return sim->data_messages;
}

double sim_time(const struct sim *sim)
{
    double latest = 0;
    for (int r = 0; r < sim->options.ranks; r++)
        if (sim->rank[r].count.clock > latest) latest = sim->rank[r].count.clock;
    return latest;
}

void sim_restart(struct sim *sim)
{
    sim->data_messages = 0;
    for (int r = 0; r < sim->options.ranks; r++) {
        sim->rank[r].count = (struct sim_count){0};
        sim->rank[r].port_in = sim->rank[r].port_out = 0;
    }
}

void sim_wake(struct sim *sim, int rank)
{
    wake(sim, rank);
}

/* With a network: the ready rank that is first in time; -1: none is ready. */
static int next_in_time(struct sim *sim)
{
    while (sim->wakes.count > 0) {
        int rank = sim->wakes.heap[0].from;
        const struct rank *r = &sim->rank[rank];
        if (r->ready && sim->wakes.heap[0].time == moment(r)) return rank;
        struct sim_event old = sim_events_take(&sim->wakes);
        if (r->ready && old.time < moment(r)) sim_events_add(&sim->wakes, (struct sim_event){.time = moment(r), .from = rank});
    }
    return -1;
}

static int run_in_time(struct sim *sim, bool (*step)(void *context, int rank), void *context)
{
    int left = sim->options.ranks, rank;
    while ((rank = next_in_time(sim)) >= 0 || sim->departures.count > 0) {
        if (sim->departures.count > 0 && (rank < 0 || sim->departures.heap[0].time <= moment(&sim->rank[rank]))) {
            set_out(sim);
            continue;
        }
        (void)sim_events_take(&sim->wakes);
        sim->now = moment(&sim->rank[rank]);
        sim->rank[rank].ready = false;
        if (!step(context, rank)) continue;
        sim->rank[rank].finished = true;
        sim->idle = 0;
        left--;
    }
    return left;
}

/* The next rank that something happened to: the first, or any. */
static int next_ready(struct sim *sim)
{
    int p = sim->options.ranks, *first = &sim->ready[sim->ready_first];
    int *other = first;
    if (sim->options.seed) other = &sim->ready[(sim->ready_first + (int)(sim_random(&sim->random) >> 33) % sim->ready_count) % p];
    int rank = *other;
    *other = *first;
    *first = rank;
    sim->ready_first = (sim->ready_first + 1) % p;
    sim->ready_count--;
    sim->rank[*first].ready = false;
    return *first;
}

bool sim_run(struct sim *sim, bool (*step)(void *context, int rank), void *context)
{
    int p = sim->options.ranks, left = p;
    sim->ready_first = sim->ready_count = 0;
    for (int r = 0; r < p; r++) sim->rank[r].ready = sim->rank[r].finished = false;
    for (int r = 0; r < p; r++) wake(sim, r);
    if (sim->options.network) return run_in_time(sim, step, context) == 0;
    while (sim->ready_count > 0) {
        int rank = next_ready(sim);
        if (!step(context, rank)) continue;
        sim->rank[rank].finished = true;
        sim->idle = 0;
        left--;
        if (sim->rank[rank].ready) { /* woken in its last step */
            sim->rank[rank].ready = false;
            for (int i = 0; i < sim->ready_count; i++) {
                int *at = &sim->ready[(sim->ready_first + i) % p];
                if (*at != rank) continue;
                *at = sim->ready[(sim->ready_first + --sim->ready_count) % p];
                break;
            }
        }
    }
    return left == 0;
}
