/* SPDX-License-Identifier: BSD-3-Clause
 * hier_random.c: random blocking collective operations, each on a communicator of coll/hier and on one with the same ranks that
 * Open MPI serves alone; every byte of every buffer must be the same. Communicators: dups and splits with scattered ranks, made and
 * freed on the way. Types with gaps, types that differ between the ranks, in place, count 0, operators that do not commute.
 * Arguments: rounds, seed.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hier_counter.h"

enum { TYPES = 6, MAX_EXTENT = 64 };
enum what { BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, GATHER, SCATTER, IBARRIER, IBCAST, IALLREDUCE, WHATS };

static uint64_t state;
static MPI_Datatype types[TYPES];
static MPI_Op own_sum, first_one;
static int failures;

static unsigned draw(unsigned below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (unsigned)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % below;
}

static void add_ints(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* Associative, does not commute. */
static void keep_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    memcpy(inout, in, (size_t)*count * sizeof(int));
}

static void make_types(void)
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
}

typedef struct call {
    enum what what;
    int count, root, in_place, type;
    MPI_Op op;
    int differs; /* odd ranks have one contiguous type in the place of many ints */
} call_t;

static call_t draw_call(int size)
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

static void perform(const call_t *call, MPI_Comm comm, char *in, char *out)
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
static void fill(char *data, size_t bytes, const call_t *call, int salt)
{
    if (call->type == 1)
        for (size_t i = 0; i < bytes / 8; i++) ((double *)data)[i] = (double)((i * 7 + (size_t)salt * 13) % 1000);
    else
        for (size_t i = 0; i < bytes / 4; i++) ((int *)data)[i] = (int)((i * 7 + (size_t)salt * 13) % 1000);
}

static void check(const call_t *call, MPI_Comm mine, MPI_Comm theirs, int round)
{
    int rank, size;
    MPI_Comm_rank(mine, &rank);
    MPI_Comm_size(mine, &size);
    size_t bytes = ((size_t)call->count * (size_t)size + 2) * MAX_EXTENT;
    if (call->what <= ALLREDUCE || call->what >= IBARRIER) bytes = ((size_t)call->count + 2) * MAX_EXTENT;
    char *memory = malloc(4 * bytes), *in[2] = {memory, memory + bytes}, *out[2] = {memory + 2 * bytes, memory + 3 * bytes};
    for (int i = 0; i < 2; i++) {
        fill(in[i], bytes, call, rank);
        fill(out[i], bytes, call, rank + 100);
        perform(call, i ? theirs : mine, in[i] + MAX_EXTENT, out[i] + MAX_EXTENT);
    }
    if (memcmp(in[0], in[1], bytes) || memcmp(out[0], out[1], bytes)) {
        fprintf(stderr, "round %d: operation %d, count %d, type %d, root %d, in place %d, %d ranks: rank %d has another result\n",
                round, call->what, call->count, call->type, call->root, call->in_place, size, rank);
        failures++;
    }
    free(memory);
}

static MPI_Comm without_hier(MPI_Comm comm)
{
    MPI_Comm other;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", "^hier,han");
    MPI_Comm_dup_with_info(comm, info, &other);
    MPI_Info_free(&info);
    return other;
}

/* A dup, or a part with its ranks in another order. */
static MPI_Comm draw_comm(void)
{
    MPI_Comm comm;
    int rank, parts = 1 + (int)draw(3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t salt = state;
    if (draw(2) == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, (int)(((salt >> 20) + (uint64_t)rank * (uint64_t)rank) % (uint64_t)parts),
                       (int)((uint64_t)rank * (salt >> 40) % 13), &comm);
    return comm;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 400, total, rank;
    MPI_Comm mine[3], theirs[3];
    MPI_Init(&argc, &argv);
    if (hier_counters_open() != 0) {
        printf("SKIP: coll/hier is not there\n");
        return 77;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state = UINT64_C(88172645463325252) + (argc > 2 ? strtoull(argv[2], NULL, 10) : 0) * 1000;
    make_types();
    MPI_Op_create(add_ints, 1, &own_sum);
    MPI_Op_create(keep_first, 0, &first_one);
    for (int i = 0; i < 3; i++) theirs[i] = without_hier(mine[i] = draw_comm());
    for (int round = 0; round < rounds; round++) {
        int which = (int)draw(3), size;
        if (draw(10) == 0) {
            MPI_Comm_free(&mine[which]);
            MPI_Comm_free(&theirs[which]);
            theirs[which] = without_hier(mine[which] = draw_comm());
        }
        uint64_t kept = state; /* parts have different sizes, but must draw as often */
        MPI_Comm_size(mine[which], &size);
        call_t call = draw_call(size);
        state = kept + 12345;
        check(&call, mine[which], theirs[which], round);
    }
    long calls = hier_counter("calls"), expected = argc > 3 ? atol(argv[3]) : 0;
    if (calls < expected) {
        fprintf(stderr, "rank %d: coll/hier performed %ld operations; at least %ld expected\n", rank, calls, expected);
        failures++;
    }
    if (rank == 0)
        printf("coll/hier: %ld operations performed, %ld handed on; %ld communicators predicted, %ld discovered, %ld agreements\n",
               calls, hier_counter("passed"), hier_counter("predicted"), hier_counter("discovered"), hier_counter("agreements"));
    hier_counters_close();
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return total != 0;
}
