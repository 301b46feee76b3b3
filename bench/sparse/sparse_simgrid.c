/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_simgrid.c: the reductions of sparse_scale on the same links, but by SimGrid: ranks are its actors, messages its
 * communications, which share links fairly where sparse_scale's go one after the other.
 *
 * sparse_simgrid NETWORK RANKS KIB PLATFORM.xml    the platform is written there; CSV on standard output
 *
 * The core runs as it does in MPI, over a transport of mailboxes: one for two ranks and a tag. seconds as in sparse_scale.
 */
#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparse_scale_cases.h"

enum { OPEN = 4096 };

static struct job {
    const struct scale_network *network;
    int ranks;
    size_t bytes;
    sg_bar_t barrier;
    double end; /* of the case, at the latest rank so far */
    int failed;
} job;

struct request {
    sg_comm_t comm;
    bool done;
    void *buffer; /* NULL: it sends */
    size_t bytes;
    size_t *message; /* what has come: the length, and the bytes */
    struct request *next;
};

struct rank {
    int self;
    struct request *open;
};

static void *need(void *memory)
{
    if (!memory) abort();
    return memory;
}

static sg_mailbox_t mailbox(int from, int to, int tag, bool own)
{
    char name[64];
    snprintf(name, sizeof name, "%d to %d, %d", from, to, tag);
    if (own) sg_mailbox_set_receiver(name); /* messages set out before they are asked for */
    return sg_mailbox_by_name(name);
}

static struct request *request(struct rank *me, union sparse_request *handle)
{
    struct request *r = need(calloc(1, sizeof *r));
    r->next = me->open;
    me->open = r;
    handle->pointer = r;
    return r;
}

static int send_bytes(void *context, const void *buffer, size_t bytes, int peer, int tag, union sparse_request *handle)
{
    struct rank *me = context;
    size_t *message = need(malloc(sizeof *message + bytes));
    *message = bytes;
    if (bytes) memcpy(message + 1, buffer, bytes);
    request(me, handle)->comm = sg_mailbox_put_async(mailbox(me->self, peer, tag, false), message, (long)bytes);
    return 0;
}

static int receive_bytes(void *context, void *buffer, size_t capacity, int peer, int tag, union sparse_request *handle)
{
    struct rank *me = context;
    struct request *r = request(me, handle);
    r->buffer = buffer;
    r->bytes = capacity;
    r->comm = sg_mailbox_get_async(mailbox(peer, me->self, tag, false), (void **)&r->message);
    return 0;
}

static void close_request(struct rank *me, struct request *r)
{
    struct request **link = &me->open;
    while (*link != r) link = &(*link)->next;
    *link = r->next;
    free(r);
}

static int test(void *context, union sparse_request *handle, bool *done, size_t *bytes)
{
    struct rank *me = context;
    struct request *r = handle->pointer;
    *done = r->done = r->done || sg_comm_test(r->comm);
    if (!*done) return 0;
    if (r->buffer) {
        *bytes = *r->message;
        if (*bytes <= r->bytes) memcpy(r->buffer, r->message + 1, *bytes);
        free(r->message);
        sg_actor_sleep_for((double)*bytes / SCALE_WORK);
    }
    close_request(me, r);
    return 0;
}

static void cancel(void *context, union sparse_request *handle)
{
    abort(); /* nothing fails here */
}

/* Until one more of the requests under way is done: the core has looked at the others. */
static void wait_for_any(struct rank *me)
{
    sg_comm_t comms[OPEN];
    struct request *of[OPEN];
    size_t n = 0;
    for (struct request *r = me->open; r && n < OPEN; r = r->next) {
        if (r->done) continue;
        of[n] = r;
        comms[n++] = r->comm;
    }
    if (n > 0) of[sg_comm_wait_any(comms, n)]->done = true;
}

static enum sparse_status run(struct rank *me, const struct sim_trial *t)
{
    struct sparse_transport transport = {me->self, job.ranks, me, send_bytes, receive_bytes, test, cancel, NULL, NULL};
    struct sparse_state *state = need(sparse_state_create());
    struct sparse_collective *collective;
    struct sparse_call call = {.kind = t->kind, .count = t->count, .operator = sim_operator(t->operator), .transport = &transport,
                               .state = state, .parameters = &t->parameters, .may_pass_on = true};
    void *input = need(malloc(job.bytes)), *output = need(malloc(job.bytes));
    sim_fill(&call.operator, t->pattern, t->density, t->seed, me->self, job.ranks, job.bytes / sizeof(double), input);
    call.input = input;
    call.output = output;
    enum sparse_status status = sparse_collective_create(&call, &collective);
    while (status == SPARSE_PENDING && (status = sparse_collective_step(collective)) == SPARSE_PENDING) wait_for_any(me);
    sparse_collective_destroy(collective);
    sparse_state_destroy(state);
    free(input);
    free(output);
    return status;
}

static void work(int argc, char **argv)
{
    struct rank me = {.self = atoi(argv[1])};
    struct scale_case c;
    for (int peer = 0; peer < job.ranks; peer++)
        for (int tag = 0; tag < SPARSE_TAGS; tag++) (void)mailbox(peer, me.self, tag, true);
    for (size_t i = 0; scale_case(i, job.ranks, &c); i++) {
        struct sim_trial t = scale_trial(&c, job.ranks, job.bytes);
        job.end = 0;
        sg_barrier_wait(job.barrier);
        double begin = simgrid_get_clock();
        if (run(&me, &t) != SPARSE_DONE) job.failed++;
        if (simgrid_get_clock() > job.end) job.end = simgrid_get_clock();
        sg_barrier_wait(job.barrier);
        if (me.self == 0) {
            scale_print(job.network->name, job.ranks, job.bytes, &c);
            printf(",%.9f\n", job.end - begin + (c.dense ? 0 : (double)job.bytes / SCALE_SCAN));
            fflush(stdout);
        }
        sg_barrier_wait(job.barrier);
    }
}

/* A host a rank, and the way of sim_network.c between any two. */
static bool write_platform(const char *path)
{
    struct sim_links links;
    int way[SIM_MOST_LINKS];
    FILE *file = fopen(path, "w");
    if (!file) return false;
    sim_links_default(&links);
    struct sim_network *network = sim_network_create(job.network->kind, job.ranks, &links);
    fprintf(file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n<zone id=\"all\" routing=\"Full\">\n");
    for (int r = 0; r < job.ranks; r++) fprintf(file, "<host id=\"h%d\" speed=\"1Gf\"/>\n", r);
    for (int l = 0; l < sim_network_links(network); l++)
        fprintf(file, "<link id=\"l%d\" bandwidth=\"%.0fBps\" latency=\"%.0fns\"/>\n", l, sim_network_rate(network, l),
                1e9 * sim_network_latency(network, l));
    for (int from = 0; from < job.ranks; from++)
        for (int to = 0; to < job.ranks; to++) {
            if (from == to) continue;
            int n = sim_network_way(network, from, to, way);
            fprintf(file, "<route src=\"h%d\" dst=\"h%d\" symmetrical=\"NO\">", from, to);
            for (int i = 0; i < n; i++) fprintf(file, "<link_ctn id=\"l%d\"/>", way[i]);
            fprintf(file, "</route>\n");
        }
    fprintf(file, "</zone>\n</platform>\n");
    sim_network_destroy(network);
    return fclose(file) == 0;
}

/* Latencies and bandwidths as they are, without corrections for TCP. */
static void start_simgrid(char *program)
{
    char *words[] = {program, "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0",
                     "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1", "--cfg=network/weight-S:0",
                     "--log=root.thres:warning", NULL};
    int n = (int)(sizeof words / sizeof *words) - 1;
    simgrid_init(&n, words);
}

int main(int argc, char **argv)
{
    for (int i = 0; argc == 5 && i < SCALE_NETWORKS; i++)
        if (strcmp(argv[1], scale_networks[i].name) == 0) job.network = &scale_networks[i];
    if (!job.network || (job.ranks = atoi(argv[2])) < 2 || (job.bytes = strtoull(argv[3], NULL, 10) << 10) == 0) {
        fprintf(stderr, "usage: sparse_simgrid 'fat tree'|dragonfly RANKS KIB PLATFORM.xml\n");
        return 2;
    }
    if (!write_platform(argv[4])) {
        perror(argv[4]);
        return 1;
    }
    start_simgrid(argv[0]);
    simgrid_load_platform(argv[4]);
    printf(SCALE_COLUMNS ",seconds\n");
    job.barrier = sg_barrier_init((unsigned)job.ranks);
    for (int r = 0; r < job.ranks; r++) {
        char name[32], self[32], *words[] = {name, self, NULL};
        snprintf(name, sizeof name, "rank %d", r);
        snprintf(self, sizeof self, "%d", r);
        char host[32];
        snprintf(host, sizeof host, "h%d", r);
        sg_actor_create(name, sg_host_by_name(host), work, 2, words);
    }
    simgrid_run();
    if (job.failed) fprintf(stderr, "sparse_simgrid: %d reductions have failed\n", job.failed);
    return job.failed != 0;
}
