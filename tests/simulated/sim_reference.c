/* SPDX-License-Identifier: BSD-3-Clause */
/* See sim_reference.h. Written without any of the code under test but the operators' loops. */
#include "sim_reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim_ranks.h"
#include "sparse_types.h"

enum sim_tree sim_tree_of(enum sparse_kind kind, enum sparse_algorithm algorithm)
{
    const bool chain = algorithm == SPARSE_SCAN_CHAIN;
    if (kind == SPARSE_SCAN) return chain ? SIM_SCAN_CHAIN : SIM_SCAN;
    if (kind == SPARSE_EXSCAN) return chain ? SIM_EXSCAN_CHAIN : SIM_EXSCAN;
    if (algorithm == SPARSE_REDUCE_CHAIN) return SIM_CHAIN;
    if (algorithm == SPARSE_ALLREDUCE_LEADERS) return SIM_LEADERS;
    if (algorithm == SPARSE_REDUCE_LEADERS) return SIM_LEADERS_CHAIN;
    bool left = algorithm == SPARSE_REDUCE_DIRECT || algorithm == SPARSE_ALLREDUCE_RING ||
                algorithm == SPARSE_ALLREDUCE_SHARES || algorithm == SPARSE_SCATTER_PAIRWISE;
    return left ? SIM_LEFT : SIM_CUBE;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);
    if (!to) abort();
    if (bytes) memcpy(to, from, bytes);
    return to;
}

/* left = left op right */
static void join(const struct sparse_operator *operator, void *left, const void *right, size_t count)
{
    void *result = copy_of(right, count * operator->size);
    operator->apply(left, result, count, operator->context);
    memcpy(left, result, count * operator->size);
    free(result);
}

/* Pairs at the front, then a balanced tree over what is left. */
static void *cube(const struct sparse_operator *operator, int ranks, size_t count, const char *vectors)
{
    size_t bytes = count * operator->size;
    int places = 1, extra;
    while (2 * places <= ranks) places *= 2;
    extra = ranks - places;
    char *work = malloc((size_t)places * bytes + 1);
    if (!work) abort();
    for (int v = 0; v < places; v++) {
        const char *first = vectors + (size_t)(v < extra ? 2 * v : v + extra) * bytes;
        memcpy(work + (size_t)v * bytes, first, bytes);
        if (v < extra) join(operator, work + (size_t)v * bytes, first + bytes, count);
    }
    for (int step = 1; step < places; step *= 2)
        for (int v = 0; v < places; v += 2 * step)
            join(operator, work + (size_t)v * bytes, work + (size_t)(v + step) * bytes, count);
    return work;
}

static void *fold_left(const struct sparse_operator *operator, int ranks, size_t count, const char *vectors)
{
    size_t bytes = count * operator->size;
    void *result = copy_of(vectors, bytes);
    for (int r = 1; r < ranks; r++) join(operator, result, vectors + (size_t)r * bytes, count);
    return result;
}

/* From both ends to the root: what comes from below it, its own, what comes from above. */
void *sim_reference_chain(const struct sparse_operator *operator, int ranks, int root, size_t count, const void *vectors)
{
    size_t bytes = count * operator->size;
    const char *vector = vectors;
    char *result = fold_left(operator, root + 1, count, vector);
    if (root == ranks - 1) return result;
    char *above = copy_of(vector + (size_t)(ranks - 1) * bytes, bytes);
    for (int r = ranks - 2; r > root; r--) operator->apply(vector + (size_t)r * bytes, above, count, operator->context);
    join(operator, result, above, count);
    free(above);
    return result;
}

/* A balanced tree, without its last branches, over each node's ranks, and a cube over the nodes, or a chain to one of them. */
void *sim_reference_leaders(const struct sparse_operator *operator, int ranks, int per_node, int root, size_t count, const void *vectors)
{
    size_t bytes = count * operator->size;
    int nodes = (ranks + per_node - 1) / per_node;
    char *work = copy_of(vectors, (size_t)ranks * bytes);
    for (int node = 0; node < nodes; node++) {
        int first = node * per_node, end = first + per_node < ranks ? first + per_node : ranks;
        for (int step = 1; step < per_node; step *= 2)
            for (int v = first; v + step < end; v += 2 * step)
                join(operator, work + (size_t)v * bytes, work + (size_t)(v + step) * bytes, count);
        memmove(work + (size_t)node * bytes, work + (size_t)first * bytes, bytes);
    }
    void *result = root < 0 ? cube(operator, nodes, count, work) : sim_reference_chain(operator, nodes, root / per_node, count, work);
    free(work);
    return result;
}

/* Groups of a power of two of ranks before this one, the nearest (and smallest) first. */
static void prefix(const struct sparse_operator *operator, int rank, bool exclusive, size_t count, const char *vectors,
                   char *result)
{
    size_t bytes = count * operator->size;
    bool started = !exclusive;
    int end = rank;
    if (started) memcpy(result, vectors + (size_t)rank * bytes, bytes);
    for (int group = 1; group <= rank; group *= 2) {
        if (!(rank & group)) continue;
        end -= group;
        char *sum = cube(operator, group, count, vectors + (size_t)end * bytes);
        if (started) join(operator, sum, result, count);
        memcpy(result, sum, bytes);
        free(sum);
        started = true;
    }
}

/* From left to right: all up to this rank, or up to the one before it. */
static void prefix_of_chain(const struct sparse_operator *operator, int rank, bool exclusive, size_t count, const char *vectors, char *result)
{
    const int taken = exclusive ? rank : rank + 1;
    if (taken == 0) return;
    char *sum = fold_left(operator, taken, count, vectors);
    memcpy(result, sum, count * operator->size);
    free(sum);
}

void *sim_reference(const struct sparse_operator *operator, enum sim_tree tree, int ranks, size_t count, const void *vectors)
{
    size_t bytes = count * operator->size;
    if (tree == SIM_CUBE) return cube(operator, ranks, count, vectors);
    if (tree == SIM_LEFT) return fold_left(operator, ranks, count, vectors);
    char *all = calloc((size_t)ranks, bytes);
    if (!all) abort();
    const bool exclusive = tree == SIM_EXSCAN || tree == SIM_EXSCAN_CHAIN, chain = tree == SIM_SCAN_CHAIN || tree == SIM_EXSCAN_CHAIN;
    for (int r = 0; r < ranks; r++) (chain ? prefix_of_chain : prefix)(operator, r, exclusive, count, vectors, all + (size_t)r * bytes);
    return all;
}

static double some_double(uint64_t *random, bool special)
{
    static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, DBL_MIN / 8, -DBL_MAX, 1e300, 1};
    uint64_t r = sim_random(random);
    return special && r >> 60 < 9 ? specials[r >> 60] : ((double)(r >> 11) / 0x1p53 - 0.3) * 1000;
}

/* An element of any type; small numbers, so that products and sums mean something. */
static void some_element(const struct sparse_operator *operator, uint64_t *random, bool special, char *element)
{
    memset(element, 0, operator->size);
    double d[2] = {some_double(random, special), some_double(random, special)};
    float f = (float)d[0];
    long double l[2] = {d[0], d[1]};
    int32_t i = (int32_t)(sim_random(random) >> 33) % 100;
    uint64_t word = sim_random(random);
    switch (operator->type) {
    case SPARSE_FLOAT: memcpy(element, &f, sizeof f); break;
    case SPARSE_DOUBLE: memcpy(element, d, sizeof *d); break;
    case SPARSE_LONG_DOUBLE: memcpy(element, l, sizeof *l); break;
    case SPARSE_DOUBLE_COMPLEX: memcpy(element, d, sizeof d); break;
    case SPARSE_DOUBLE_INT:
        memcpy(element, d, sizeof *d);
        memcpy(element + sizeof *d, &i, sizeof i);
        break;
    case SPARSE_LOGICAL32:
    case SPARSE_BOOL: element[0] = (char)(word & 1); break;
    default:
        for (size_t at = 0; at < operator->size; at += 4, word = sim_random(random))
            memcpy(element + at, &word, operator->size - at < 4 ? operator->size - at : 4);
    }
}

static bool differs(enum sim_pattern pattern, double density, uint64_t *random, uint64_t *same, int rank, int ranks, size_t i,
                    size_t count)
{
    double u = (double)(sim_random(random) >> 11) / 0x1p53, v = (double)(sim_random(same) >> 11) / 0x1p53;
    size_t width = (size_t)((double)count * density) + 1, start = count ? (size_t)rank * 7919 * 31 % count : 0;
    switch (pattern) {
    case SIM_ALL_SAME: return false;
    case SIM_SAME_POSITIONS: return v < density;
    case SIM_DISJOINT: return i >= (size_t)rank * count / (size_t)ranks && i < ((size_t)rank + 1) * count / (size_t)ranks;
    case SIM_CLUSTERED: return (i + count - start) % count < width;
    case SIM_POWER_LAW: return u < 0.5 * pow((double)count * 0.5 / (double)(i + 1), 1) * density / log((double)count + 2);
    case SIM_DENSE: return true;
    case SIM_LATE: return u < density || (rank == ranks - 1 && i > count / 3 * 2);
    default: return u < density;
    }
}

void sim_fill(const struct sparse_operator *operator, enum sim_pattern pattern, double density, uint64_t seed, int rank, int ranks,
              size_t count, void *vector)
{
    uint64_t random = seed * 77777 + (uint64_t)rank * 2654435761u + 1, same = seed * 2 + 1;
    char background[SPARSE_MAX_SIZE] = {0}, *at = vector;
    if (pattern == SIM_BACKGROUNDS || (pattern == SIM_ALL_SAME && seed % 2)) some_element(operator, &random, true, background);
    for (int i = 0; i < 8; i++) (void)sim_random(&random);
    for (size_t i = 0; i < count; i++, at += operator->size) {
        if (differs(pattern, density, &random, &same, rank, ranks, i, count))
            some_element(operator, &random, pattern == SIM_SPECIAL || pattern == SIM_BACKGROUNDS || (pattern == SIM_DISJOINT && seed % 2), at);
        else memcpy(at, background, operator->size);
    }
}

/* x -> a x + b modulo 2^32, the left one applied last. */
static void compose(const void *in, void *inout, size_t count, void *context)
{
    const uint32_t *left = in;
    uint32_t *right = inout;
    for (size_t i = 0; i < 2 * count; i += 2) {
        right[i + 1] = left[i] * right[i + 1] + left[i + 1];
        right[i] *= left[i];
    }
}

/* Neither commutative nor associative, without a neutral element: any other bracketing or order shows. */
static void mix(const void *in, void *inout, size_t count, void *context)
{
    const uint32_t *left = in;
    uint32_t *right = inout;
    for (size_t i = 0; i < count; i++) right[i] = left[i] * 3 + (right[i] ^ (left[i] >> 3)) * 5 + 1;
}

struct sparse_operator sim_operator(int number)
{
    static const struct { enum sparse_op op; enum sparse_type type; } pairs[SIM_OPERATORS - 2] = {
        {SPARSE_SUM, SPARSE_DOUBLE}, {SPARSE_SUM, SPARSE_INT32}, {SPARSE_MIN, SPARSE_INT64}, {SPARSE_MAX, SPARSE_FLOAT},
        {SPARSE_PROD, SPARSE_DOUBLE_COMPLEX}, {SPARSE_MINLOC, SPARSE_DOUBLE_INT}, {SPARSE_LAND, SPARSE_INT8},
        {SPARSE_LXOR, SPARSE_INT32},
        {SPARSE_BOR, SPARSE_UINT64}, {SPARSE_SUM, SPARSE_LONG_DOUBLE}, {SPARSE_SUM, SPARSE_INT16}, {SPARSE_PROD, SPARSE_FLOAT},
        {SPARSE_MAXLOC, SPARSE_2INT}, {SPARSE_BAND, SPARSE_UINT8}};
    struct sparse_operator operator;
    bool made = number < SIM_OPERATORS - 2    ? sparse_operator_predefined(pairs[number].op, pairs[number].type, &operator)
                : number == SIM_OPERATORS - 2 ? sparse_operator_user(compose, NULL, 8, false, &operator)
                                              : sparse_operator_user(mix, NULL, 4, false, &operator);
    if (!made) abort();
    return operator;
}

bool sim_operator_exact(int number)
{
    struct sparse_operator operator = sim_operator(number);
    return number < SIM_OPERATORS - 1 && (operator.type <= SPARSE_UINT64 || operator.type == SPARSE_2INT ||
                                            operator.op == SPARSE_USER);
}

size_t sim_difference(const struct sparse_operator *operator, const void *a, const void *b, size_t count)
{
    char left[SPARSE_MAX_SIZE], right[SPARSE_MAX_SIZE];
    for (size_t i = 0; i < count; i++) {
        memcpy(left, (const char *)a + i * operator->size, operator->size);
        memcpy(right, (const char *)b + i * operator->size, operator->size);
        sparse_clear_padding(operator, left, 1);
        sparse_clear_padding(operator, right, 1);
        if (memcmp(left, right, operator->size) != 0) return i;
    }
    return SIZE_MAX;
}

void sim_soil(const struct sparse_operator *operator, void *vector, size_t count)
{
    char element[SPARSE_MAX_SIZE], *at = vector;
    for (size_t i = 0; i < count; i++, at += operator->size) {
        memset(element, (int)(i % 251) + 1, sizeof element);
        sparse_copy_data(operator, at, element, 1);
        memcpy(at, element, operator->size);
    }
}

bool sim_same_padding(const struct sparse_operator *operator, const void *a, const void *b, size_t count)
{
    char element[SPARSE_MAX_SIZE];
    for (size_t i = 0; i < count; i++) {
        const char *left = (const char *)a + i * operator->size;
        memcpy(element, (const char *)b + i * operator->size, operator->size);
        sparse_copy_data(operator, left, element, 1);
        if (memcmp(element, left, operator->size) != 0) return false;
    }
    return true;
}
