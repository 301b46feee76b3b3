/* SPDX-License-Identifier: BSD-3-Clause
 * random_calls.h: random collective operations, blocking and nonblocking: types with gaps, types that differ between the ranks, in
 * place, count 0, operators that do not commute. No sum is rounded, so that every right result is the same bit by bit.
 */
#ifndef RANDOM_CALLS_H
#define RANDOM_CALLS_H

#include <mpi.h>
#include <stdint.h>
#include <string.h>

enum { TYPES = 6, MAX_EXTENT = 64 };
enum what { BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, GATHER, SCATTER, IBARRIER, IBCAST, IALLREDUCE, WHATS };

static MPI_Datatype types[TYPES];
static MPI_Op own_sum, first_one;

static void add_ints(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* Associative, does not commute. */
static void keep_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    memcpy(inout, in, (size_t)*count * sizeof(int));
}

static inline void make_types(void)
{
    int lengths[2] = {1, 2};
    MPI_Aint offsets[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_CHAR, MPI_INT}, raw;
    types[0] = MPI_INT;
    types[1] = MPI_DOUBLE;
    MPI_Type_contiguous(3, MPI_INT, &types[2]);
    MPI_Type_vector(2, 1, 3, MPI_INT, &types[3]); /* with a gap */
    MPI_Type_create_struct(2, lengths, offsets, parts, &raw);
    MPI_Type_create_resized(raw, 0, 24, &types[4]);
    MPI_Type_create_resized(MPI_INT, -4, 12, &types[5]); /* begins before its address */
    for (int i = 2; i < TYPES; i++) MPI_Type_commit(&types[i]);
    MPI_Type_free(&raw);
    MPI_Op_create(add_ints, 1, &own_sum);
    MPI_Op_create(keep_first, 0, &first_one);
}

static inline void free_types(void)
{
    for (int i = 2; i < TYPES; i++) MPI_Type_free(&types[i]);
    MPI_Op_free(&own_sum);
    MPI_Op_free(&first_one);
}

typedef struct call {
    enum what what;
    int count, root, in_place, type;
    MPI_Op op;
    int differs; /* odd ranks have one contiguous type in the place of many ints */
} call_t;

/* draw(n): a number below n. */
static inline call_t draw_call(int size, unsigned (*draw)(unsigned))
{
    static const int counts[] = {0, 1, 2, 7, 64, 500, 3000, 20000, 60000};
    call_t call = {(enum what)draw(WHATS), counts[draw(draw(4) == 0 ? 9 : 7)], (int)draw((unsigned)size),
                   draw(2) == 0, 0, MPI_SUM, 0};
    int reduces = call.what == REDUCE || call.what == ALLREDUCE || call.what == IALLREDUCE;
    call.type = (int)draw(reduces ? 2 : TYPES);
    if (reduces) {
        unsigned kind = draw(6);
        if (kind == 1) call.op = MPI_MAX;
        if (kind == 2) call.op = own_sum;
        if (kind == 3) call.op = first_one;
        if (kind >= 2 && kind <= 3) call.type = 0;
    } else {
        call.differs = call.type == 0 && call.count > 0 && draw(3) == 0;
    }
    return call;
}

static inline void perform(const call_t *call, MPI_Comm comm, char *in, char *out)
{
    int rank, count = call->count;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = types[call->type], made = MPI_DATATYPE_NULL;
    MPI_Comm_rank(comm, &rank);
    if (call->differs && rank % 2) {
        MPI_Type_contiguous(count, MPI_INT, &made);
        MPI_Type_commit(&made);
        type = made;
        count = 1;
    }
    int at_root = rank == call->root;
    void *input = call->in_place ? MPI_IN_PLACE : in, *root_input = call->in_place && at_root ? MPI_IN_PLACE : in;
    switch (call->what) {
    case BARRIER: MPI_Barrier(comm); break;
    case BCAST: MPI_Bcast(out, count, type, call->root, comm); break;
    case REDUCE: MPI_Reduce(root_input, out, count, type, call->op, call->root, comm); break;
    case ALLREDUCE: MPI_Allreduce(input, out, count, type, call->op, comm); break;
    case ALLGATHER: MPI_Allgather(input, count, type, out, count, type, comm); break;
    case GATHER: MPI_Gather(root_input, count, type, out, count, type, call->root, comm); break;
    case SCATTER:
        MPI_Scatter(in, count, type, call->in_place && at_root ? MPI_IN_PLACE : out, count, type, call->root, comm);
        break;
    case IBARRIER: MPI_Ibarrier(comm, &request); break;
    case IBCAST: MPI_Ibcast(out, count, type, call->root, comm, &request); break;
    case IALLREDUCE: MPI_Iallreduce(input, out, count, type, call->op, comm, &request); break;
    case WHATS: break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (made != MPI_DATATYPE_NULL) MPI_Type_free(&made);
}

/* Small whole numbers in every element, of ints and doubles alike, so that no sum is rounded; gaps keep what was there. */
static inline void fill(char *data, size_t bytes, const call_t *call, int salt)
{
    if (call->type == 1)
        for (size_t i = 0; i < bytes / 8; i++) ((double *)data)[i] = (double)((i * 7 + (size_t)salt * 13) % 1000);
    else
        for (size_t i = 0; i < bytes / 4; i++) ((int *)data)[i] = (int)((i * 7 + (size_t)salt * 13) % 1000);
}

/* Of a buffer, with a margin of MAX_EXTENT at either end. */
static inline size_t bytes_of(const call_t *call, int size)
{
    int of_all = call->what > ALLREDUCE && call->what < IBARRIER;
    return ((size_t)call->count * (size_t)(of_all ? size : 1) + 2) * MAX_EXTENT;
}

#endif
