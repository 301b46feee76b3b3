/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_declared.c: the operators that the program has declared element-wise (lucid_sparse.h).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <lucid_sparse.h>

#include "reduce.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t *declared;
static size_t capacity;
static _Atomic size_t number; /* changed under the lock; who reads 0 needs no lock */

static size_t find(uintptr_t op)
{
    size_t i = 0;
    while (i < number && declared[i] != op) i++;
    return i;
}

static int insert(uintptr_t op)
{
    if (find(op) < number) return LUCID_SUCCESS;
    if (number == capacity) {
        size_t more = capacity ? 2 * capacity : 16;
        uintptr_t *grown = realloc(declared, more * sizeof *grown);
        if (!grown) return LUCID_ERR_INTERNAL;
        declared = grown;
        capacity = more;
    }
    declared[number] = op;
    number++;
    return LUCID_SUCCESS;
}

int lucid_op_set_elementwise(MPI_Op op)
{
    if (op == MPI_OP_NULL) return LUCID_ERR_ARG;
    pthread_mutex_lock(&lock);
    int rc = insert((uintptr_t)op);
    pthread_mutex_unlock(&lock);
    return rc;
}

void lucid_op_forget(MPI_Op op)
{
    if (number == 0) return;
    pthread_mutex_lock(&lock);
    size_t i = find((uintptr_t)op);
    if (i < number) {
        declared[i] = declared[number - 1];
        number--;
    }
    pthread_mutex_unlock(&lock);
}

static bool is_declared(uintptr_t op)
{
    if (number == 0) return false;
    pthread_mutex_lock(&lock);
    bool found = find(op) < number;
    pthread_mutex_unlock(&lock);
    return found;
}

bool lucid_op_declared(MPI_Op op)
{
    return is_declared((uintptr_t)op);
}

/** For coll/sparse, which has no MPI_Op but the library's own object: in Open MPI the handle is its address. */
LUCID_PUBLIC bool lucid_op_is_elementwise(const void *op)
{
    return is_declared((uintptr_t)op);
}
