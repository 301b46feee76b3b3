/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_kernels: how fast vectors are encoded, decoded and merged on one core, next to memcpy and to reading alone.
 *
 * --megabytes M  of the vector (128)        --repeats R  of every step, in turns (9)
 * --type double|int64|float|int32           --cpu C      to be pinned to; -1: none
 * --density D    in percent; can be given once; without it: 0 0.01 0.1 1 5 10 50 100
 *
 * LUCID_SIMD chooses the kernels. Output: a CSV line for every repetition, with the time for a whole vector (of "pile", which adds up
 * eight messages, an eighth of its time).
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sparse_block.h"

#define SMALL ((size_t)256 * 1024)
enum { PILE = 8 }; /* messages, of two in turns */

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return argv[i + 1];
    return otherwise;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

struct kernels {
    struct sparse_layout layout;
    size_t bytes, length[2];
    unsigned char *vector[2], *message[2], *out, *accumulator;
    const char *type;
    volatile uint64_t sink;
};

/* Zeros, and random positive numbers at random places. */
static void fill(const struct kernels *k, double percent, unsigned side)
{
    uint64_t state = 88172645463325252u + side, limit = (uint64_t)(percent / 100 * 4294967296.0);
    size_t size = k->layout.operator->size;
    memset(k->vector[side], 0, k->bytes);
    for (size_t i = 0; i < k->layout.count; i++) {
        uint64_t r = random_bits(&state);
        if (r >> 32 >= limit) continue;
        double real = 1.0 + (double)(r & 0xffffff);
        float single = (float)real;
        uint64_t whole = (r & 0xffffff) + 1;
        const void *from = &whole;
        if (strcmp(k->type, "double") == 0) from = &real;
        if (strcmp(k->type, "float") == 0) from = &single;
        memcpy(k->vector[side] + i * size, from, size);
    }
}

static void step_memcpy(struct kernels *k) { memcpy(k->out, k->vector[0], k->bytes); }

static void step_memset(struct kernels *k) { memset(k->out, 0, k->bytes); }

/* Reading alone, wide enough for the memory to be what it waits for: the most that a scan can reach. */
static void step_read(struct kernels *k)
{
    typedef uint64_t wide __attribute__((vector_size(64), aligned(8), may_alias));
    const wide *at = (const void *)k->vector[0];
    wide a = {0}, b = {0};
    for (size_t i = 0; i + 1 < k->bytes / sizeof(wide); i += 2) {
        a |= at[i];
        b |= at[i + 1];
    }
    a |= b;
    k->sink = a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7];
}

static void step_encode(struct kernels *k)
{
    k->length[0] = sparse_encode(&k->layout, 0, k->layout.blocks, k->vector[0], false, k->message[0], NULL);
}

static void step_check(struct kernels *k)
{
    if (!sparse_check(&k->layout, 0, k->layout.blocks, k->message[0], k->length[0])) abort();
}

static void step_decode(struct kernels *k) { sparse_decode(&k->layout, 0, k->layout.blocks, k->message[0], k->out); }
static void step_decode_past(struct kernels *k) { sparse_decode_past(&k->layout, 0, k->layout.blocks, k->message[0], k->out); }

static void step_merge(struct kernels *k)
{
    (void)sparse_merge(&k->layout, 0, k->layout.blocks, k->message[0], k->message[1], false, k->out, NULL);
}

static void step_merge_dense(struct kernels *k)
{
    sparse_merge_dense(&k->layout, 0, k->layout.blocks, k->message[1], false, k->accumulator, NULL);
}

/* Added up as ranks' vectors are: the first is written, the others are joined to it while a block of the result is in the caches. */
static void step_pile(struct kernels *k)
{
    size_t at[PILE];
    for (int i = 0; i < PILE; i++) at[i] = i % 2 ? (size_t)(k->message[1] - k->message[0]) : 0;
    sparse_pile(&k->layout, k->message[0], at, PILE, SPARSE_CACHED, k->out);
}

/* The operator's own loop. */
static void step_loop(struct kernels *k)
{
    k->layout.operator->apply(k->vector[1], k->accumulator, k->layout.count, NULL);
}

static void step_sample(struct kernels *k)
{
    k->sink = (uint64_t)(1000 * sparse_sample(k->layout.operator, k->vector[0], k->layout.count, 64, NULL));
}

static const struct {
    const char *name;
    void (*run)(struct kernels *);
    int vectors; /* that a step is through with */
} steps[] = {{"memcpy", step_memcpy, 1}, {"memset", step_memset, 1}, {"read", step_read, 1}, {"encode", step_encode, 1},
             {"check", step_check, 1}, {"decode", step_decode, 1}, {"decode_past", step_decode_past, 1}, {"merge", step_merge, 1},
             {"merge_dense", step_merge_dense, 1}, {"pile", step_pile, PILE}, {"loop", step_loop, 1}, {"sample", step_sample, 1}};

/* Long enough for the clock: short vectors many times. */
static double timed(struct kernels *k, void (*run)(struct kernels *))
{
    size_t times = k->bytes < 64 * SMALL ? 64 * SMALL / k->bytes : 1;
    double since = now();
    for (size_t i = 0; i < times; i++) {
        run(k);
        __asm__ volatile("" ::: "memory");
    }
    return (now() - since) / (double)times;
}

static void measure(struct kernels *k, double percent, int repeats)
{
    fill(k, percent, 0);
    fill(k, percent, 1);
    memcpy(k->accumulator, k->vector[0], k->bytes);
    step_encode(k);
    k->length[1] = sparse_encode(&k->layout, 0, k->layout.blocks, k->vector[1], false, k->message[1], NULL);
    for (int r = 0; r < repeats; r++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            double seconds = timed(k, steps[s].run) / steps[s].vectors;
            printf("%s,%s,%zu,%g,%s,%d,%.9f\n", sparse_simd(), k->type, k->bytes, percent, steps[s].name, r, seconds);
        }
    fflush(stdout);
}

/* At another place in its page every time: loads behind stores to the same place of another page wait for nothing. */
static void *touched(size_t bytes)
{
    static size_t skew;
    unsigned char *memory = aligned_alloc(4096, (bytes + 8 * 4096) / 4096 * 4096);
    if (!memory) {
        fprintf(stderr, "sparse_kernels: out of memory: take fewer --megabytes\n");
        exit(1);
    }
    skew += 7 * 64;
    return memset(memory + skew, 1, bytes);
}

static void kernels_init(struct kernels *k, const struct sparse_operator *operator, const char *type, size_t bytes)
{
    k->type = type;
    k->bytes = bytes / 64 * 64;
    sparse_layout_init(&k->layout, operator, k->bytes / operator->size, 1);
    size_t bound = sparse_bound(&k->layout, 0, k->layout.blocks);
    for (int i = 0; i < 2; i++) k->vector[i] = touched(k->bytes);
    k->message[0] = touched(2 * bound + 7 * 64);
    k->message[1] = k->message[0] + bound + 7 * 64;
    k->out = touched(bound);
    k->accumulator = touched(k->bytes);
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < 0) return;
    CPU_SET(cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; enum sparse_type type; } types[] = {
        {"double", SPARSE_DOUBLE}, {"int64", SPARSE_INT64}, {"float", SPARSE_FLOAT}, {"int32", SPARSE_INT32}};
    static const char *const densities[] = {"0", "0.01", "0.1", "1", "5", "10", "50", "100"};
    const char *name = option(argc, argv, "--type", "double"), *density = option(argc, argv, "--density", NULL);
    double megabytes = atof(option(argc, argv, "--megabytes", "128"));
    struct sparse_operator operator = {0};
    struct kernels kernels = {0};
    pin(atoi(option(argc, argv, "--cpu", "-1")));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0) (void)sparse_operator_predefined(SPARSE_SUM, types[i].type, &operator);
    if (!operator.apply || megabytes <= 0) {
        fprintf(stderr, "sparse_kernels: --type is double, int64, float or int32, --megabytes more than 0\n");
        return 2;
    }
    kernels_init(&kernels, &operator, name, (size_t)(megabytes * 1048576));
    printf("simd,type,bytes,density,kernel,repeat,seconds\n");
    int repeats = atoi(option(argc, argv, "--repeats", "9"));
    if (density) measure(&kernels, atof(density), repeats);
    else
        for (size_t i = 0; i < sizeof densities / sizeof *densities; i++) measure(&kernels, atof(densities[i]), repeats);
    return 0;
}
