/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_calls_mpi.c: see sparse_calls.h.
 */
#include "sparse_calls.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

struct pair {
    double value;
    int index;
};

enum { SUM_DOUBLE, MAX_INT, OR_BYTE, FIRST_PAIR, USER, UNDECLARED, KINDS };
static MPI_Op user, undeclared;
static MPI_Datatype affine;

/* x -> ax + b over the integers modulo 2^32, combined as functions: not commutative, and element by element. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const uint32_t *f = in;
    uint32_t *g = inout;
    for (int i = 0; i < *n; i++) {
        g[2 * i + 1] = g[2 * i] * f[2 * i + 1] + g[2 * i + 1];
        g[2 * i] = g[2 * i] * f[2 * i];
    }
}

/* A user's operator that nothing is known of. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

void calls_open(void)
{
    MPI_Op_create(compose, 0, &user);
    MPI_Op_create(add, 1, &undeclared);
    MPI_Type_contiguous(2, MPI_UINT32_T, &affine);
    MPI_Type_commit(&affine);
    int (*declare)(MPI_Op) = (int (*)(MPI_Op))dlsym(RTLD_DEFAULT, "lucid_op_set_elementwise");
    if (declare) declare(user);
}

void calls_close(void)
{
    MPI_Type_free(&affine);
    MPI_Op_free(&user);
    MPI_Op_free(&undeclared);
}

bool calls_kind(int kind, struct call *call)
{
    const struct call kinds[KINDS] = {
        [SUM_DOUBLE] = {.name = "sum of double", .type = MPI_DOUBLE, .op = MPI_SUM, .width = 8, .data = 8},
        [MAX_INT] = {.name = "max of int", .type = MPI_INT, .op = MPI_MAX, .width = 4, .data = 4},
        [OR_BYTE] = {.name = "or of bytes", .type = MPI_BYTE, .op = MPI_BOR, .width = 1, .data = 1},
        [FIRST_PAIR] = {.name = "minloc", .type = MPI_DOUBLE_INT, .op = MPI_MINLOC, .width = sizeof(struct pair), .data = 12},
        [USER] = {.name = "a declared operator", .type = affine, .op = user, .width = 8, .data = 8},
        [UNDECLARED] = {.name = "an undeclared operator", .type = MPI_INT, .op = undeclared, .width = 4, .data = 4},
    };
    if (kind >= KINDS) return false;
    *call = kinds[kind];
    call->kind = kind;
    return true;
}

static uint32_t mixed(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
    x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
    return (uint32_t)(x >> 33);
}

/* 0: the background. */
static uint32_t number(const struct call *call, int rank, size_t i)
{
    uint32_t random = mixed((uint64_t)rank << 40 ^ i << 3 ^ (unsigned)call->kind);
    switch (call->pattern) {
    case 0: return random % 100 ? 0 : 1 + random % 50;                           /* 1 %, independent */
    case 1: return mixed(i) % 100 ? 0 : 1 + random % 50;                         /* the same positions */
    case 2: return (i / 64 + (size_t)rank) % 7 ? 0 : 1 + random % 50;            /* clustered */
    case 3: return 0;                                                            /* nothing */
    default: return 1 + random % 50;                                             /* dense */
    }
}

void calls_fill(const struct call *call, int rank, size_t from, size_t n, char *vector)
{
    memset(vector, 0, n * call->width);
    for (size_t i = 0; i < n; i++) {
        uint32_t x = number(call, rank, from + i);
        struct pair pair = {x ? -(double)x : 7.5, x ? rank : -3};
        switch (call->kind) {
        case SUM_DOUBLE: ((double *)vector)[i] = x; break;
        case OR_BYTE: ((uint8_t *)vector)[i] = (uint8_t)x; break;
        case FIRST_PAIR: memcpy(vector + i * sizeof pair, &pair, 12); break;
        case USER: memcpy(vector + 8 * i, (uint32_t[]){2 * x + 1, x + 3}, 8); break;
        default: ((int *)vector)[i] = (int)x - (call->kind == MAX_INT ? 20 : 0);
        }
    }
}

static void least(struct pair *left, const struct pair *right)
{
    if (right->value < left->value || (right->value == left->value && right->index < left->index)) *left = *right;
}

void calls_combine(const struct call *call, char *left, const char *right, size_t n)
{
    for (size_t i = 0; i < n; i++) switch (call->kind) {
        case SUM_DOUBLE: ((double *)left)[i] += ((const double *)right)[i]; break;
        case OR_BYTE: ((uint8_t *)left)[i] |= ((const uint8_t *)right)[i]; break;
        case FIRST_PAIR: least((struct pair *)left + i, (const struct pair *)right + i); break;
        case MAX_INT: if (((const int *)right)[i] > ((int *)left)[i]) ((int *)left)[i] = ((const int *)right)[i]; break;
        case USER: {
            uint32_t both[2];
            int one = 1;
            memcpy(both, right + 8 * i, 8);
            compose(left + 8 * i, both, &one, NULL);
            memcpy(left + 8 * i, both, 8);
            break;
        }
        default: ((int *)left)[i] += ((const int *)right)[i];
        }
}

/* One of the three forms of a call; without persistent collectives, the nonblocking one as a persistent request cannot be had. */
#if defined(TEST_PERSISTENT)
#define GLUE(a, b) a##b
#define NAMED(prefix, name) GLUE(prefix, name)
#define FORM(Name, name, ...)                                                                             \
    do {                                                                                                  \
        if (form == BLOCKING) MPI_##Name(__VA_ARGS__);                                                    \
        else if (form == NONBLOCKING) MPI_I##name(__VA_ARGS__, request);                                  \
        else NAMED(TEST_PERSISTENT, Name##_init)(__VA_ARGS__, MPI_INFO_NULL, request);                    \
    } while (0)
#else
static void no_start(MPI_Request *request)
{
    MPI_Send_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}
#define FORM(Name, name, ...)                                                                             \
    do {                                                                                                  \
        if (form == NONBLOCKING) MPI_I##name(__VA_ARGS__, request);                                       \
        else MPI_##Name(__VA_ARGS__);                                                                     \
        if (form == PERSISTENT) no_start(request);                                                        \
    } while (0)
#endif

void calls_reduce(enum form form, const void *in, void *out, const struct call *call, int root, MPI_Comm comm, MPI_Request *request)
{
    FORM(Reduce, reduce, in, out, (int)call->count, call->type, call->op, root, comm);
}

void calls_allreduce(enum form form, const void *in, void *out, const struct call *call, MPI_Comm comm, MPI_Request *request)
{
    FORM(Allreduce, allreduce, in, out, (int)call->count, call->type, call->op, comm);
}

void calls_scatter(enum form form, const void *in, void *out, const struct call *call, const int *counts, bool block, MPI_Comm comm,
                   MPI_Request *request)
{
    if (block) FORM(Reduce_scatter_block, reduce_scatter_block, in, out, counts[0], call->type, call->op, comm);
    else FORM(Reduce_scatter, reduce_scatter, in, out, counts, call->type, call->op, comm);
}

void calls_scan(enum form form, const void *in, void *out, const struct call *call, bool exclusive, MPI_Comm comm, MPI_Request *request)
{
    if (exclusive) FORM(Exscan, exscan, in, out, (int)call->count, call->type, call->op, comm);
    else FORM(Scan, scan, in, out, (int)call->count, call->type, call->op, comm);
}
