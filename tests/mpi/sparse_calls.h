/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_calls.h: kinds of vectors and operators, and one function for every reduction in all its forms.
 */
#ifndef SPARSE_CALLS_H
#define SPARSE_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { PATTERNS = 5 };

/* What is reduced: `count` elements of `type`, `width` bytes apart, `data` of them not padding. */
struct call {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t width, data, count;
    int pattern, kind;
};

void calls_open(void);
void calls_close(void);

/* The kind's type and operator; false: there are no more kinds. */
bool calls_kind(int kind, struct call *call);

/* Elements from .. from + n - 1 of a rank's vector. */
void calls_fill(const struct call *call, int rank, size_t from, size_t n, char *vector);

/* left = left op right, by plain C. */
void calls_combine(const struct call *call, char *left, const char *right, size_t n);

void calls_reduce(enum form form, const void *in, void *out, const struct call *call, int root, MPI_Comm comm, MPI_Request *request);
void calls_allreduce(enum form form, const void *in, void *out, const struct call *call, MPI_Comm comm, MPI_Request *request);
void calls_scatter(enum form form, const void *in, void *out, const struct call *call, const int *counts, bool block, MPI_Comm comm,
                   MPI_Request *request);
void calls_scan(enum form form, const void *in, void *out, const struct call *call, bool exclusive, MPI_Comm comm,
                MPI_Request *request);

#endif
