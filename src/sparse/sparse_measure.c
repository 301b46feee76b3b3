/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_measure.c: see sparse_measure.h. */
#include "sparse_measure.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 3, ROUNDS = 4, LONG = 64 * 1024 };
static char shared[2 * LONG]; /* for those without memory: what is sent does not matter */

/* What rank 0 tells the others: what to measure, and afterwards the result. */
struct plan {
    int known;
    int within, between; /* shifts; 0: there is no such pair */
    struct sparse_rates rates;
};

struct meter {
    const struct sparse_transport *transport;
    const struct sparse_surroundings *surroundings;
    int tag;
    char *scratch;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct measured {
    int size, within, between;
    struct sparse_rates rates;
} last; /* communicators of one shape follow each other */

double sparse_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int await(const struct meter *meter, union sparse_request *request)
{
    const struct sparse_transport *transport = meter->transport;
    for (bool done = false; !done;) {
        size_t bytes;
        int rc = transport->test(transport->context, request, &done, &bytes);
        if (rc) return rc;
        if (!done && meter->surroundings->progress) meter->surroundings->progress(meter->surroundings->context);
    }
    return 0;
}

static int send(const struct meter *meter, const void *buffer, size_t bytes, int peer)
{
    union sparse_request request;
    int rc = meter->transport->isend(meter->transport->context, buffer, bytes, peer, meter->tag, &request);
    return rc ? rc : await(meter, &request);
}

static int receive(const struct meter *meter, void *buffer, size_t bytes, int peer)
{
    union sparse_request request;
    int rc = meter->transport->irecv(meter->transport->context, buffer, bytes, peer, meter->tag, &request);
    return rc ? rc : await(meter, &request);
}

/* Rank 0's to all, down a binomial tree. */
static int broadcast(const struct meter *meter, void *bytes, size_t count)
{
    int rank = meter->transport->rank, size = meter->transport->size, rc = 0, mask = 1;
    while (mask < size && !(rank & mask)) mask <<= 1;
    if (rank) rc = receive(meter, bytes, count, rank - mask);
    for (mask >>= 1; mask > 0 && !rc; mask >>= 1)
        if (rank + mask < size) rc = send(meter, bytes, count, rank + mask);
    return rc;
}

static bool near(const struct meter *meter, int rank)
{
    return meter->surroundings->on_my_node(meter->surroundings->context, rank);
}

/* Two rings: of a node's ranks, or of all ranks, some places on. */
struct ring {
    int next, previous;
};

static struct ring ring_of(const struct meter *meter, int by, bool on_node)
{
    int rank = meter->transport->rank, size = meter->transport->size;
    struct ring ring = {(rank + by) % size, (rank + size - by) % size};
    if (!on_node) return ring;
    for (ring.next = (rank + 1) % size; !near(meter, ring.next);) ring.next = (ring.next + 1) % size;
    for (ring.previous = (rank + size - 1) % size; !near(meter, ring.previous);) ring.previous = (ring.previous + size - 1) % size;
    return ring;
}

static int exchange(const struct meter *meter, const struct ring *ring, size_t bytes)
{
    const struct sparse_transport *t = meter->transport;
    union sparse_request incoming, outgoing;
    int rc = t->irecv(t->context, meter->scratch + LONG, bytes, ring->previous, meter->tag, &incoming);
    if (rc) return rc;
    rc = t->isend(t->context, meter->scratch, bytes, ring->next, meter->tag, &outgoing);
    if (!rc) rc = await(meter, &outgoing);
    if (!rc) return await(meter, &incoming);
    t->cancel(t->context, &incoming);
    return rc;
}

/* Seconds of a shift on average. Each waits for the neighbour's one before, so that nobody's message is there already. */
static int shift(const struct meter *meter, const struct ring *ring, size_t bytes, double *seconds)
{
    int rc = 0;
    double start = sparse_seconds();
    for (int i = 0; i < ROUNDS && !rc; i++) rc = exchange(meter, ring, bytes);
    *seconds = (sparse_seconds() - start) / ROUNDS;
    return rc;
}

static int measure_level(const struct meter *meter, int by, bool on_node, double *latency, double *bandwidth)
{
    const struct ring ring = ring_of(meter, by, on_node);
    double brief = 0, whole = 0; /* the quickest: disturbances only add */
    int rc = exchange(meter, &ring, LONG); /* connects */
    for (int i = 0; i < TRIES && !rc; i++) {
        double small, large = 0;
        rc = shift(meter, &ring, 1, &small);
        if (!rc) rc = shift(meter, &ring, LONG, &large);
        if (i == 0 || small < brief) brief = small;
        if (i == 0 || large < whole) whole = large;
    }
    if (rc || !(whole > 0)) return rc;
    *latency = brief < whole ? brief : 0;
    *bandwidth = (double)LONG / (whole - *latency);
    return 0;
}

static int smallest_shift(const struct meter *meter, bool on_node)
{
    for (int rank = 1; rank < meter->transport->size; rank++)
        if (near(meter, rank) == on_node) return rank;
    return 0;
}

static void make_plan(const struct meter *meter, struct plan *plan)
{
    plan->within = smallest_shift(meter, true);
    plan->between = smallest_shift(meter, false);
    pthread_mutex_lock(&lock);
    plan->known = last.size == meter->transport->size && last.within == plan->within && last.between == plan->between;
    if (plan->known) plan->rates = last.rates;
    pthread_mutex_unlock(&lock);
}

/* Messages of a node take longer than that only where others are at work, too, which they may not be for long: programs start beside what else does.
 * The formulas would have a node be a slow network from then on, and the measured calls could put right only what is tried. */
static void believe(struct sparse_rates *rates)
{
    static const double longest = 20e-6, slowest = 0.5e9; /* of ranks that have a processor each */
    const double share = rates->ranks_per_processor > 1 ? rates->ranks_per_processor : 1;
    if (rates->latency_node > longest * share) rates->latency_node = longest * share;
    if (rates->bandwidth_node < slowest / share) rates->bandwidth_node = slowest / share;
}

/* What the measured shifts mean to the model, which has a node's ranks one behind the other: where they are not, every rank has a
 * node to itself and its share of the link. */
static void interpret(const struct meter *meter, struct plan *plan)
{
    struct sparse_rates *rates = &plan->rates;
    int ranks = 0;
    bool consecutive = true;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (int rank = 0; rank < meter->transport->size; rank++) {
        if (!near(meter, rank)) continue;
        if (rank != ranks) consecutive = false;
        ranks++;
    }
    rates->ranks_per_node = consecutive ? ranks : 1;
    rates->ranks_per_processor = processors > 0 ? (double)ranks / (double)processors : 1;
    if (plan->within) believe(rates);
    if (!plan->between) {
        rates->latency_network = rates->latency_node;
        rates->bandwidth_network = rates->bandwidth_node;
    } else {
        if (consecutive) rates->bandwidth_network *= ranks; /* all of a node's ranks sent at once */
        if (!plan->within) {
            rates->latency_node = rates->latency_network;
            rates->bandwidth_node = rates->bandwidth_network;
        }
    }
    pthread_mutex_lock(&lock);
    last = (struct measured){meter->transport->size, plan->within, plan->between, *rates};
    pthread_mutex_unlock(&lock);
}

/* The first ranks of a node, as many as it has processors. */
static bool has_processor(const struct meter *meter)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long before = 0;
    for (int rank = 0; rank < meter->transport->rank; rank++) before += near(meter, rank);
    return processors <= 0 || before < processors;
}

/* A processor's rates by all at once that have one, as in a reduction: they share memory. More would only take turns. */
static int measure(const struct meter *meter, struct plan *plan)
{
    int rc = 0;
    sparse_rates_default(&plan->rates);
    if (has_processor(meter)) (void)sparse_rates_calibrate(&plan->rates);
    if (plan->within) rc = measure_level(meter, plan->within, true, &plan->rates.latency_node, &plan->rates.bandwidth_node);
    if (plan->between && !rc) rc = measure_level(meter, plan->between, false, &plan->rates.latency_network, &plan->rates.bandwidth_network);
    return rc;
}

int sparse_measure(const struct sparse_transport *transport, int tag, const struct sparse_surroundings *surroundings,
                   struct sparse_rates *rates)
{
    struct meter meter = {transport, surroundings, tag, NULL};
    struct plan plan;
    memset(&plan, 0, sizeof plan); /* padding goes over the wire */
    if (transport->rank == 0) make_plan(&meter, &plan);
    int rc = broadcast(&meter, &plan, sizeof plan);
    if (!rc && !plan.known) {
        char *own = calloc(2, LONG); /* other threads may be measuring, too */
        meter.scratch = own ? own : shared;
        rc = measure(&meter, &plan);
        free(own);
        if (rc) return rc;
        if (transport->rank == 0) interpret(&meter, &plan);
        rc = broadcast(&meter, &plan, sizeof plan);
    }
    if (!rc) *rates = plan.rates;
    return rc;
}

int sparse_measure_tell(const struct sparse_transport *transport, int tag, const struct sparse_surroundings *surroundings, void *bytes,
                        size_t count)
{
    const struct meter meter = {transport, surroundings, tag, NULL};
    return broadcast(&meter, bytes, count);
}
