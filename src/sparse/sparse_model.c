/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost formulas. Every algorithm's file has its own in words; here they are in seconds of the slowest rank.
 *
 * A step is latency + bytes on the wire + encoded bytes read and written at the merge rate (dense: operand bytes at the rate
 * of adding). Step k of the cube reaches 2^k ranks far: inside the node while that is less than the ranks of a node, else over
 * the network, which the node's ranks share. Transfers and work overlap except for the first and last slice's.
 *
 * Ranks must come to the same answer, to the bit, on processors for which the mathematical library has different code: only
 * IEEE's basic operations are used, also for logarithms and powers. */
#include "sparse_model.h"

#include <math.h>
#include <string.h>

#include "sparse_nodes.h"

static const char *const names[SPARSE_ALGORITHMS] = {
    "library", "reduce_binomial", "reduce_halving", "reduce_direct", "reduce_chain", "reduce_leaders",
    "allreduce_doubling", "allreduce_halving", "allreduce_ring", "allreduce_leaders", "allreduce_shares", "scatter_halving", "scatter_pairwise", "scan_doubling",
    "scan_chain"};

const char *sparse_algorithm_name(enum sparse_algorithm algorithm)
{
    return (unsigned)algorithm < SPARSE_ALGORITHMS ? names[algorithm] : "unknown";
}

void sparse_rates_default(struct sparse_rates *rates)
{
    *rates = (struct sparse_rates){
        .scan = 15e9, .merge = 8e9, .add = 6e9, .copy = 8e9, .latency_node = 0.5e-6, .bandwidth_node = 5e9,
        .latency_network = 5e-6, .bandwidth_network = 1.25e9, .ranks_per_node = 1,
        .ranks_per_processor = 1};
}

void sparse_parameters_default(struct sparse_parameters *parameters)
{
    *parameters = (struct sparse_parameters){
        .short_bytes = SPARSE_SHORT_MOST, .slice_bytes = (size_t)1 << 20, .past_bytes = (size_t)4 << 20,
        .large_bytes = (size_t)1 << 20, .keep = (size_t)32 << 20,
        .sample_lines = 64, .patience = 4, .every = 32, .margin = 1.1, .algorithm = SPARSE_LIBRARY};
    sparse_rates_default(&parameters->rates);
}

static const double ln2 = 0.69314718055994531;

/* 1 / i: a division takes several times as long as a product, and the terms of a choice wait for each other. */
static const double inverse[] = {0,        1 / 1.0,  1 / 2.0,  1 / 3.0,  1 / 4.0,  1 / 5.0,  1 / 6.0,  1 / 7.0,  1 / 8.0,
                                 1 / 9.0,  1 / 10.0, 1 / 11.0, 1 / 12.0, 1 / 13.0, 1 / 14.0, 1 / 15.0, 1 / 16.0, 1 / 17.0};

/* Natural logarithm and its inverse, to nine digits. */
static double logarithm(double x)
{
    int exponent;
    double m = frexp(x, &exponent), t = (m - 1) / (m + 1), sum = 0;
    for (int i = 17; i >= 1; i -= 2) sum = sum * t * t + inverse[i];
    return 2 * t * sum + exponent * ln2;
}

static double exponential(double x)
{
    double whole = floor(x / ln2 + 0.5), rest = x - whole * ln2, sum = 1;
    if (whole < -1000) return 0;
    for (int i = 12; i >= 1; i--) sum = 1 + sum * (rest * inverse[i]);
    return ldexp(sum, (int)whole);
}

static double independent(double density, double k, double growth)
{
    double power = growth == 1 ? k : exponential(growth * logarithm(k));
    return 1 - exponential(power * logarithm(1 - density));
}

double sparse_union(const struct sparse_estimate *e, double k)
{
    if (e->density >= 1) return 1;
    if (e->density <= 0) return 0;
    if (e->growth <= 1) return independent(e->density, k, e->growth);
    double weight = 2 * e->growth - 2;
    return (1 - weight) * independent(e->density, k, 1) + weight * fmin(1, k * e->density);
}

double sparse_growth(double density, double joined, double k)
{
    if (density <= 0 || density >= 1 || k <= 1 || joined <= density) return 0;
    double middle = independent(density, k, 1), most = fmin(1, k * density);
    if (joined >= 1 && middle >= 1) return 1; /* as rounded: any growth would do */
    if (joined > middle) return most - middle < 1e-9 ? 1 : 1 + fmin(1, (joined - middle) / (most - middle)) / 2;
    return fmax(0, logarithm(logarithm(1 - joined) / logarithm(1 - density)) / logarithm(k));
}

double sparse_full(size_t size)
{
    return 1 - 0.25 / (double)size; /* a bitmap of eight times that many bits is as long as what it saves */
}

double sparse_bytes_per_element(const struct sparse_estimate *e, double density, double part_elements, bool dense)
{
    double full = (double)e->size, head = (24 + full) / fmax(1, part_elements);
    double each = e->per_exception > 0 ? e->per_exception : full + 2;
    double least = fmin(density * each, density * full + 0.125);
    return (dense ? full : fmin(least, full)) + head;
}

/* What the formulas are made of. */
struct costs {
    const struct sparse_estimate *estimate;
    const struct sparse_rates *rates;
    bool dense;
    int steps, cube;
    bool folds;
    double elements, part; /* of the vector; of a part */
    double slices;
    double wire, latency, work;
};

static double encoded(const struct costs *c, double ranks)
{
    return sparse_bytes_per_element(c->estimate, sparse_union(c->estimate, ranks), c->part, c->dense);
}

static void message(struct costs *c, double distance, double bytes)
{
    bool near = distance < c->rates->ranks_per_node;
    double share = c->rates->ranks_per_node > 1 ? c->rates->ranks_per_node : 1;
    if (share > c->estimate->ranks) share = c->estimate->ranks;
    c->latency += near ? c->rates->latency_node : c->rates->latency_network;
    c->wire += bytes / (near ? c->rates->bandwidth_node : c->rates->bandwidth_network / share);
}

/* Two operands of `ranks` ranks each. */
static void merge(struct costs *c, double elements, double ranks)
{
    if (c->dense) c->work += elements * (double)c->estimate->size / c->rates->add;
    else c->work += elements * (2 * encoded(c, ranks) + encoded(c, 2 * ranks)) / c->rates->merge;
}

static void write_out(struct costs *c, double elements)
{
    c->work += elements * (double)c->estimate->size / c->rates->copy;
}

static void fold(struct costs *c)
{
    if (!c->folds) return;
    message(c, 1, c->elements * encoded(c, 1));
    merge(c, c->elements, 1);
}

/* Ranks behind what is exchanged in step k. */
static double ranks_at(const struct costs *c, int k)
{
    return ldexp(1, k) * c->estimate->ranks / c->cube;
}

/* All of the vector in every step. */
static void doubling(struct costs *c, double merges)
{
    fold(c);
    for (int k = 0; k < c->steps; k++) {
        message(c, ldexp(1, k), c->elements * encoded(c, ranks_at(c, k)));
        merge(c, merges * c->elements, ranks_at(c, k));
    }
}

static void halving(struct costs *c)
{
    fold(c);
    for (int k = 0; k < c->steps; k++) {
        double half = ldexp(c->elements, -k - 1);
        message(c, ldexp(1, k), half * encoded(c, ranks_at(c, k)));
        merge(c, half, ranks_at(c, k));
    }
}

static void gathering(struct costs *c)
{
    for (int k = c->steps - 1; k >= 0; k--) message(c, ldexp(1, k), ldexp(c->elements, -k - 1) * encoded(c, c->estimate->ranks));
}

static void handing_back(struct costs *c, double elements)
{
    if (c->folds) message(c, 1, elements * encoded(c, c->estimate->ranks));
}

/* Encoded vectors that are read where they are shown (sparse_boards.h): `elements` of each of the other ranks', when the last word is there. */
static bool on_boards(struct costs *c, double elements)
{
    if (!c->estimate->boards || c->dense || c->slices > 1) return false;
    const double bytes = (c->estimate->ranks - 1) * elements * encoded(c, 1);
    c->latency += c->rates->latency_node;
    c->wire += bytes / c->rates->copy;
    c->work += 2 * bytes / c->rates->merge;
    return true;
}

/* Whether a halving shows its vectors, and what is joined (sparse_allreduce_boards.c). */
static bool shows(enum sparse_algorithm algorithm, bool dense, const struct sparse_estimate *e)
{
    return algorithm == SPARSE_ALLREDUCE_HALVING && e->shown && !dense;
}

/* Parts of all vectors, and those of the result, are copied from where they are. */
static void showing(struct costs *c)
{
    c->latency += c->rates->latency_node;
    c->wire += c->elements * (encoded(c, 1) + encoded(c, c->estimate->ranks)) / c->rates->copy;
    if (c->folds) merge(c, c->elements / c->cube, 1);
    for (int k = 0; k < c->steps; k++) merge(c, ldexp(c->elements, -k - 1), ranks_at(c, k));
}

/* p - 1 messages of `elements` as they were at the start, added to a dense result. A ring's slowest edge, and most of what comes in pairs,
 * are between nodes; a ring has one such edge per node, which it does not share. To a root all are sent at once: each takes it as much as
 * within a node, and those of one node do not wait for each other, for the latency has been measured with a message of each of its ranks. */
enum senders { RING, PAIRS, TO_ROOT };
static void directly(struct costs *c, double elements, enum senders senders)
{
    const double p = c->estimate->ranks, bytes = elements * encoded(c, 1), per_node = fmin(p, fmax(1, c->rates->ranks_per_node));
    if (on_boards(c, elements)) return;
    const double here = senders == TO_ROOT || per_node >= p ? per_node : 1, far = p - here, share = senders == PAIRS ? per_node : 1;
    c->latency += senders == TO_ROOT ? (p - 1) * c->rates->latency_node + (ceil(p / here) - 1) * c->rates->latency_network
                                     : (here - 1) * c->rates->latency_node + far * c->rates->latency_network;
    c->wire += (here - 1) * bytes / c->rates->bandwidth_node + far * bytes / (c->rates->bandwidth_network / share);
    c->work += (p - 1) * (c->dense ? elements * (double)c->estimate->size / c->rates->add : 2 * bytes / c->rates->merge);
}

/* The same in log2 p steps, the farthest ranks first, with twice as many vectors in each, which are one message. */
static void gathering_vectors(struct costs *c, double elements)
{
    int p = c->estimate->ranks;
    double bytes = elements * encoded(c, 1);
    if (on_boards(c, elements)) return;
    if (!sparse_ring_doubles(p)) {
        directly(c, elements, RING);
        return;
    }
    for (int distance = p / 2; distance > 0; distance /= 2)
        message(c, distance, p / (2 * distance) * bytes);
    c->work += (p - 1) * (c->dense ? elements * (double)c->estimate->size / c->rates->add : 2 * bytes / c->rates->merge);
}

/* What every rank of a chain does: one vector in, one out, each over a link of its own. */
static void passing_on(struct costs *c)
{
    bool near = sparse_near(c->rates, c->estimate->ranks);
    c->latency += near ? c->rates->latency_node : c->rates->latency_network;
    c->wire += c->elements * encoded(c, c->estimate->ranks) / (near ? c->rates->bandwidth_node : c->rates->bandwidth_network);
    merge(c, c->elements, c->estimate->ranks / 2.0);
}

/* A message between nodes that none of the node's other ranks sends beside it. */
static void between(struct costs *c, double bytes)
{
    c->latency += c->rates->latency_network;
    c->wire += bytes / c->rates->bandwidth_network;
}

static double bytes_of(const struct costs *c)
{
    return c->elements * (double)c->estimate->size;
}

/* The nodes of all ranks, and a node's ranks. */
struct nodes {
    int per_node, count, cube;
};

static struct nodes nodes_of(const struct costs *c)
{
    const int ranks = c->estimate->ranks, per_node = c->rates->ranks_per_node < ranks ? c->rates->ranks_per_node : ranks;
    struct nodes nodes = {per_node, per_node > 0 ? (ranks + per_node - 1) / per_node : ranks, 1};
    while (nodes.cube <= nodes.count / 2) nodes.cube *= 2;
    return nodes;
}

/* With one rank on each node it is no way of its own; nor for two or three on one. For long dense vectors it is no good one on few nodes: a
 * node's ranks wait while one of them adds. On one node the messages are fewer than any other way's, which counts where ranks share
 * processors; on more than two a leader sends parts of the vector. */
static bool leads_nowhere(const struct costs *c, const struct nodes *nodes)
{
    enum { FEW = 4, LONG_ON_ONE = 4 * SPARSE_SHORT_MOST };
    const bool one = nodes->count == 1, doubles = nodes->cube <= 2;
    const double most = one ? LONG_ON_ONE : doubles ? SPARSE_SHORT_MOST : INFINITY;
    return nodes->per_node < 2 || (one && c->estimate->ranks < FEW) || (c->dense && bytes_of(c) >= most);
}

/* Up a tree, and down if there is a result for all, over `distance` ranks. One in twice as many has a message each time: where ranks share
 * processors a step takes the less for it, but for the turns they take. */
static void step_of_tree(struct costs *c, int distance, double result)
{
    const double shared = fmax(1, c->rates->ranks_per_processor), busy = fmax(1 / shared, 0.5 / distance);
    struct costs step = *c;
    step.latency = step.wire = step.work = 0;
    message(&step, distance, c->elements * encoded(c, distance));
    merge(&step, c->elements, distance);
    if (result > 0) message(&step, distance, result);
    c->latency += fmax(busy, 0.5) * step.latency;
    c->wire += busy * step.wire;
    c->work += busy * step.work;
}

/* Between the nodes: all of the vector in every step. */
static void doubling_of_nodes(struct costs *c, const struct nodes *nodes)
{
    for (int cube = 1; cube < nodes->cube; cube *= 2) {
        between(c, c->elements * encoded(c, cube * nodes->per_node));
        merge(c, c->elements, cube * nodes->per_node);
    }
}

/* Halves, and back to all. */
static void halving_of_nodes(struct costs *c, const struct nodes *nodes)
{
    for (int cube = 1; cube < nodes->cube; cube *= 2) {
        const double half = c->elements / (2 * cube);
        between(c, half * encoded(c, cube * nodes->per_node));
        merge(c, half, cube * nodes->per_node);
        between(c, half * encoded(c, c->estimate->ranks));
    }
}

/* Up a tree within the node, over the cube between them, and down again. */
static void over_leaders(struct costs *c)
{
    const struct nodes nodes = nodes_of(c);
    if (leads_nowhere(c, &nodes)) {
        c->latency = INFINITY;
        return;
    }
    const double n = c->elements, result = n * encoded(c, c->estimate->ranks);
    for (int k = 1; k < nodes.per_node; k *= 2) step_of_tree(c, k, result);
    (c->dense && nodes.cube > 2 && bytes_of(c) >= SPARSE_LEADERS_HALVE ? halving_of_nodes : doubling_of_nodes)(c, &nodes);
    if (nodes.cube == nodes.count) return;
    between(c, n * encoded(c, nodes.per_node));
    merge(c, n, nodes.per_node);
    between(c, result);
}

/* Up a tree within the node, and from one node to the next: in one slice a binomial tree is better, if not the same. */
static void along_leaders(struct costs *c)
{
    const struct nodes nodes = nodes_of(c);
    if (nodes.per_node < 2 || nodes.count == 1 || sparse_chain_slices(c->rates, c->dense, c->estimate->ranks, (size_t)bytes_of(c)) == 1) {
        c->latency = INFINITY;
        return;
    }
    for (int k = 1; k < nodes.per_node; k *= 2) step_of_tree(c, k, 0);
    between(c, c->elements * encoded(c, c->estimate->ranks));
    merge(c, c->elements, c->estimate->ranks / 2.0);
}

/* To a node's leader, which is alone in receiving, all at once; to the other leaders; and back. */
static void sharing_through_leaders(struct costs *c, double share)
{
    const struct nodes nodes = nodes_of(c);
    if (nodes.per_node > 1) message(c, 1, (nodes.per_node - 1) * share / fmax(1, c->rates->ranks_per_processor));
    const bool doubles = sparse_leaders_double(nodes.count, (size_t)bytes_of(c));
    for (int k = 1; k < nodes.count; k *= 2)
        if (doubles) between(c, k * nodes.per_node * share);
    if (!doubles) between(c, (nodes.count - 1) * nodes.per_node * share);
    if (nodes.per_node > 1) message(c, 1, bytes_of(c));
}

/* Between nodes each rank of one would receive all of the others' shares by any other way. */
static void sharing(struct costs *c)
{
    const int p = c->estimate->ranks;
    const enum sparse_gathering way = sparse_shares_gathering(c->rates, p, (size_t)bytes_of(c), (size_t)c->slices);
    const double share = bytes_of(c) / p;
    if (c->dense || !c->estimate->shares || (!sparse_near(c->rates, p) && way != SPARSE_GATHER_LEADERS)) c->latency = INFINITY;
    else if (way == SPARSE_GATHER_DIRECTLY) message(c, 1, (p - 1) * share);
    else if (way == SPARSE_GATHER_LEADERS) sharing_through_leaders(c, share);
    else if (way == SPARSE_GATHER_DOUBLING)
        for (int distance = 1; distance < p; distance *= 2) message(c, distance, distance * share);
    else
        for (int k = 1; k < p; k++) message(c, 1, share);
    write_out(c, 2 * c->elements / p);
}

static void cost_of(struct costs *c, enum sparse_algorithm algorithm)
{
    double n = c->elements, p = c->estimate->ranks;
    switch (algorithm) {
    case SPARSE_REDUCE_BINOMIAL: doubling(c, 1), write_out(c, n); break;
    case SPARSE_REDUCE_HALVING: halving(c), gathering(c), write_out(c, n); break;
    case SPARSE_REDUCE_DIRECT: directly(c, n, TO_ROOT), write_out(c, n); break;
    case SPARSE_REDUCE_CHAIN: passing_on(c), write_out(c, n); break;
    case SPARSE_REDUCE_LEADERS: along_leaders(c), write_out(c, n); break;
    case SPARSE_ALLREDUCE_DOUBLING: doubling(c, 1), write_out(c, n), handing_back(c, n); break;
    case SPARSE_ALLREDUCE_HALVING:
        if (shows(algorithm, c->dense, c->estimate)) showing(c);
        else halving(c), gathering(c), handing_back(c, n);
        write_out(c, n);
        break;
    case SPARSE_ALLREDUCE_RING: gathering_vectors(c, n), write_out(c, n); break;
    case SPARSE_ALLREDUCE_LEADERS: over_leaders(c), write_out(c, n); break;
    case SPARSE_ALLREDUCE_SHARES: sharing(c); break;
    case SPARSE_SCATTER_HALVING: halving(c), write_out(c, n / p), handing_back(c, n / p); break;
    case SPARSE_SCATTER_PAIRWISE: directly(c, n / p, PAIRS), write_out(c, n / p); break;
    case SPARSE_SCAN_DOUBLING: doubling(c, 2), write_out(c, n); break;
    case SPARSE_SCAN_CHAIN: passing_on(c), write_out(c, n); break;
    default: break;
    }
}

/* The hops of a chain after which its last slice is to come. Over a network those within a node take next to nothing; and there are as many
 * slices as to have two on each of its links. */
static double links_of_chain(const struct sparse_rates *rates, int ranks)
{
    int per_node = rates->ranks_per_node > 0 ? rates->ranks_per_node : 1;
    return sparse_near(rates, ranks) ? ranks - 2 : (ranks - 1) / per_node;
}

static double seconds(enum sparse_algorithm algorithm, bool dense, bool library, const struct sparse_estimate *e,
                      const struct sparse_parameters *parameters)
{
    double size = (double)e->size, bytes = (double)e->elements * size;
    double slice = fmax((double)parameters->slice_bytes, 8192.0 * e->ranks);
    bool near = sparse_near(&parameters->rates, e->ranks);
    double slices = (double)sparse_slices(algorithm, dense, near, (size_t)fmax(1, floor(bytes / slice)));
    if (algorithm == SPARSE_ALLREDUCE_RING)
        slices = ceil(slices * e->ranks / sparse_ring_room(e->ranks, (size_t)(bytes / slices), slices <= 1));
    if (algorithm == SPARSE_ALLREDUCE_SHARES) slices = (double)sparse_shares_slices(e->ranks, (size_t)slices);
    bool chain = sparse_is_chain(algorithm);
    slices = (double)sparse_least_slices(algorithm, dense, &parameters->rates, e->ranks, (size_t)bytes, (size_t)slices);
    struct costs c = {.estimate = e, .rates = &parameters->rates, .dense = dense, .cube = 1, .elements = (double)e->elements, .slices = slices};
    while (c.cube <= e->ranks / 2) c.cube *= 2, c.steps++;
    c.folds = c.cube < e->ranks;
    c.part = c.elements / slices / (sparse_cut_in_parts(algorithm) ? e->ranks : 1);
    if (c.part * size > 262144) c.part = 262144 / size;
    cost_of(&c, algorithm);
    if (library) return c.latency + c.wire + c.work;
    c.work += bytes / (dense ? c.rates->copy : c.rates->scan);
    double longer = fmax(c.wire, c.work), shorter = fmin(c.wire, c.work), steps = slices;
    if (shows(algorithm, dense, e)) steps += 2;
    if (chain) steps += links_of_chain(&parameters->rates, e->ranks), c.latency /= near ? 1 : 2;
    return steps * (c.latency + longer / slices) + shorter / slices;
}

/* A good dense routine: the better of our two forms without reading the vector first. Besides, new memory is written once before it is
 * used; and what goes over a root does so over a network: on one node, whose ranks share its memory and processors, that is no slower. */
static double library(enum sparse_algorithm like, const struct sparse_estimate *e, const struct sparse_parameters *parameters)
{
    static const enum sparse_algorithm dense[SPARSE_ALGORITHMS][2] = {
        [SPARSE_REDUCE_BINOMIAL] = {SPARSE_REDUCE_BINOMIAL, SPARSE_REDUCE_HALVING},
        [SPARSE_ALLREDUCE_DOUBLING] = {SPARSE_ALLREDUCE_DOUBLING, SPARSE_ALLREDUCE_HALVING},
        [SPARSE_SCATTER_HALVING] = {SPARSE_SCATTER_HALVING, SPARSE_SCATTER_PAIRWISE},
        [SPARSE_SCAN_DOUBLING] = {SPARSE_SCAN_DOUBLING, SPARSE_SCAN_DOUBLING}};
    enum sparse_algorithm family = like <= SPARSE_REDUCE_LEADERS      ? SPARSE_REDUCE_BINOMIAL
                                   : like <= SPARSE_ALLREDUCE_SHARES  ? SPARSE_ALLREDUCE_DOUBLING
                                   : like <= SPARSE_SCATTER_PAIRWISE  ? SPARSE_SCATTER_HALVING
                                                                      : SPARSE_SCAN_DOUBLING;
    const double good = fmin(seconds(dense[family][0], true, true, e, parameters), seconds(dense[family][1], true, true, e, parameters));
    const double fresh = (double)e->library.fresh / parameters->rates.copy;
    if (!e->library.at_root || family != SPARSE_SCATTER_HALVING || sparse_near(&parameters->rates, e->ranks)) return good + fresh;
    const double result = (double)e->elements * (double)e->size / parameters->rates.bandwidth_network;
    return seconds(SPARSE_REDUCE_BINOMIAL, true, true, e, parameters) + result * (e->ranks - 1) / e->ranks + fresh;
}

double sparse_cost(enum sparse_algorithm algorithm, enum sparse_algorithm like, bool dense, const struct sparse_estimate *estimate,
                   const struct sparse_parameters *parameters)
{
    if (algorithm == SPARSE_LIBRARY) return library(like, estimate, parameters);
    return seconds(algorithm, dense, false, estimate, parameters);
}

int sparse_agreement_per_node(const struct sparse_rates *rates, int ranks)
{
    bool pays = rates->latency_network >= 3 * rates->latency_node;
    return pays && sparse_nodes_matter(ranks, rates->ranks_per_node) ? rates->ranks_per_node : 1;
}

enum { TERMS = 64 }; /* bytes: struct sparse_terms */
double sparse_cost_of_asking(const struct sparse_estimate *e, const struct sparse_parameters *parameters)
{
    struct costs c = {.estimate = e, .rates = &parameters->rates, .cube = 1};
    const int per_node = sparse_agreement_per_node(&parameters->rates, e->ranks);
    if (per_node > 1) {
        const int nodes = (e->ranks + per_node - 1) / per_node;
        for (int k = 1; k < per_node; k *= 2)
            for (int way = 0; way < 2; way++) message(&c, k, TERMS);
        for (; c.cube <= nodes / 2; c.cube *= 2) between(&c, TERMS);
        for (int fold = 0; fold < 2 && c.cube < nodes; fold++) between(&c, TERMS);
        return c.latency + c.wire;
    }
    for (; c.cube <= e->ranks / 2; c.cube *= 2) message(&c, c.cube, TERMS);
    for (int fold = 0; fold < 2 && c.cube < e->ranks; fold++) message(&c, 1, TERMS);
    return c.latency + c.wire;
}
