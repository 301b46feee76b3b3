/* SPDX-License-Identifier: BSD-3-Clause
 * soak_steps.h: what a random program does with its communicators. All processes draw the same; members of the communicator act.
 * Whatever a step receives goes into the checksum; what it sends to whom is written down, for the sessions (soak_sessions.h).
 */
#ifndef SOAK_STEPS_H
#define SOAK_STEPS_H

#include <stdint.h>

#include "random_calls.h"
#include "random_comms.h"

enum { LARGEST = 300000, SPARSE_MOST = 60000 };

static uint64_t checksum;
static uint64_t sent_count[RANKS_LIMIT], sent_bytes[RANKS_LIMIT]; /* point-to-point, by rank in MPI_COMM_WORLD */
static char *outgoing, *incoming; /* LARGEST bytes */

static unsigned draw_below(unsigned below)
{
    return (unsigned)draw((int)below);
}

static void mix(const void *data, size_t bytes)
{
    const unsigned char *from = data;
    uint64_t word;
    for (; bytes >= sizeof word; bytes -= sizeof word, from += sizeof word) {
        memcpy(&word, from, sizeof word);
        checksum = (checksum ^ word) * UINT64_C(0x100000001b3);
        checksum ^= checksum >> 29;
    }
    for (; bytes > 0; bytes--) checksum = (checksum ^ *from++) * UINT64_C(0x100000001b3);
}

static void sends(const struct known *one, int to, int times, size_t bytes)
{
    sent_count[one->member[to]] += (uint64_t)times;
    sent_bytes[one->member[to]] += (uint64_t)times * bytes;
}

static void prepare(int step, int bytes)
{
    for (int i = 0; i < bytes; i++) outgoing[i] = (char)(rank * 31 + step * 7 + i);
    memset(incoming, 0, (size_t)bytes);
}

static void persistent(const struct known *one, int bytes, int to, int from, int times)
{
    MPI_Request requests[2];
    CHECK_OK(MPI_Send_init(outgoing, bytes, MPI_CHAR, to, 5, one->comm, &requests[0]));
    CHECK_OK(MPI_Recv_init(incoming, bytes, MPI_CHAR, from, 5, one->comm, &requests[1]));
    for (int i = 0; i < times; i++) {
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 2; i++) CHECK_OK(MPI_Request_free(&requests[i]));
}

static void probed(const struct known *one, int bytes, int to, int from, int synchronous)
{
    MPI_Request request;
    MPI_Status status;
    int arrived;
    if (synchronous) CHECK_OK(MPI_Issend(outgoing, bytes, MPI_CHAR, to, 6, one->comm, &request));
    else CHECK_OK(MPI_Isend(outgoing, bytes, MPI_CHAR, to, 6, one->comm, &request));
    CHECK_OK(MPI_Probe(from, 6, one->comm, &status)); /* MPI_ANY_SOURCE could find another's message of the next step */
    CHECK_OK(MPI_Get_count(&status, MPI_CHAR, &arrived));
    CHECK_EQUAL(arrived, bytes);
    CHECK_OK(MPI_Recv(incoming, bytes, MPI_CHAR, status.MPI_SOURCE, 6, one->comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Every member to the one `shift` ranks on, in one of five ways. */
static void step_messages(const struct known *one, int step)
{
    static const int sizes[] = {0, 1, 8, 100, 1000, 5000, 70000, LARGEST};
    int bytes = sizes[draw(draw(3) == 0 ? 8 : 6)], shift = 1 + draw(one->n), way = draw(5), times = way == 2 ? 1 + draw(3) : 1;
    if (one->own < 0) return;
    int to = (one->own + shift) % one->n, from = (one->own - shift % one->n + one->n) % one->n;
    MPI_Request requests[2];
    prepare(step, bytes);
    sends(one, to, times, (size_t)bytes);
    if (way == 0)
        CHECK_OK(MPI_Sendrecv(outgoing, bytes, MPI_CHAR, to, 4, incoming, bytes, MPI_CHAR, from, 4, one->comm, MPI_STATUS_IGNORE));
    if (way == 1) {
        CHECK_OK(MPI_Irecv(incoming, bytes, MPI_CHAR, from, 4, one->comm, &requests[0]));
        CHECK_OK(MPI_Isend(outgoing, bytes, MPI_CHAR, to, 4, one->comm, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    if (way == 2) persistent(one, bytes, to, from, times);
    if (way >= 3) probed(one, bytes, to, from, way == 4);
    mix(incoming, (size_t)bytes);
}

/* One of the operations that the test of coll/hier makes, too. */
static void step_collective(const struct known *one, int step)
{
    call_t call = draw_call(one->n, draw_below);
    if (one->own < 0) return;
    size_t bytes = bytes_of(&call, one->n);
    char *memory = malloc(2 * bytes), *in = memory, *out = memory + bytes;
    fill(in, bytes, &call, one->own + step);
    fill(out, bytes, &call, one->own + step + 100);
    perform(&call, one->comm, in + MAX_EXTENT, out + MAX_EXTENT);
    mix(out, bytes);
    free(memory);
}

/* Vectors of every length per rank: (rank + step) % 5 + 1 numbers. */
static int share(int world, int step)
{
    return (world + step) % 5 + 1;
}

static int layout(const struct known *one, int step, int *counts, int *starts)
{
    int sum = 0;
    for (int i = 0; i < one->n; i++) {
        starts[i] = sum;
        sum += counts[i] = share(one->member[i], step);
    }
    return sum;
}

static void varying(const struct known *one, int how, int wait, int root, int step, int *got)
{
    int counts[RANKS_LIMIT], starts[RANKS_LIMIT], equal[RANKS_LIMIT], at[RANKS_LIMIT], out[5 * RANKS_LIMIT];
    int sum = layout(one, step, counts, starts), mine = share(rank, step);
    MPI_Comm comm = one->comm;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 5 * RANKS_LIMIT; i++) out[i] = value_of(rank, step + i);
    for (int i = 0; i < one->n; i++) {
        equal[i] = mine;
        at[i] = i * mine;
    }
    if (how == 0 && !wait) CHECK_OK(MPI_Allgatherv(out, mine, MPI_INT, got, counts, starts, MPI_INT, comm));
    if (how == 0 && wait) CHECK_OK(MPI_Iallgatherv(out, mine, MPI_INT, got, counts, starts, MPI_INT, comm, &request));
    if (how == 1 && !wait) CHECK_OK(MPI_Gatherv(out, mine, MPI_INT, got, counts, starts, MPI_INT, root, comm));
    if (how == 1 && wait) CHECK_OK(MPI_Igatherv(out, mine, MPI_INT, got, counts, starts, MPI_INT, root, comm, &request));
    if (how == 2 && !wait) CHECK_OK(MPI_Scatterv(out, counts, starts, MPI_INT, got, mine, MPI_INT, root, comm));
    if (how == 2 && wait) CHECK_OK(MPI_Iscatterv(out, counts, starts, MPI_INT, got, mine, MPI_INT, root, comm, &request));
    if (how == 3 && !wait) CHECK_OK(MPI_Alltoallv(out, counts, starts, MPI_INT, got, equal, at, MPI_INT, comm));
    if (how == 3 && wait) CHECK_OK(MPI_Ialltoallv(out, counts, starts, MPI_INT, got, equal, at, MPI_INT, comm, &request));
    if (how == 4 && !wait) CHECK_OK(MPI_Reduce_scatter(out, got, counts, MPI_INT, MPI_SUM, comm));
    if (how == 4 && wait) CHECK_OK(MPI_Ireduce_scatter(out, got, counts, MPI_INT, MPI_SUM, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    mix(got, sizeof *got * (size_t)(how == 1 && one->own != root ? 0 : sum));
}

static void scanned(const struct known *one, int how, int wait, int step, int *got)
{
    int mine[3] = {value_of(rank, step), value_of(rank, step + 1), value_of(rank, step + 2)};
    MPI_Request request = MPI_REQUEST_NULL;
    if (how == 5 && !wait) CHECK_OK(MPI_Scan(mine, got, 3, MPI_INT, MPI_SUM, one->comm));
    if (how == 5 && wait) CHECK_OK(MPI_Iscan(mine, got, 3, MPI_INT, MPI_SUM, one->comm, &request));
    if (how == 6 && !wait) CHECK_OK(MPI_Exscan(mine, got, 3, MPI_INT, MPI_MAX, one->comm));
    if (how == 6 && wait) CHECK_OK(MPI_Iexscan(mine, got, 3, MPI_INT, MPI_MAX, one->comm, &request));
    if (how == 7 && !wait) CHECK_OK(MPI_Alltoall(outgoing, 3, MPI_INT, got, 3, MPI_INT, one->comm));
    if (how == 7 && wait) CHECK_OK(MPI_Ialltoall(outgoing, 3, MPI_INT, got, 3, MPI_INT, one->comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (how != 6 || one->own > 0) mix(got, sizeof *got * 3 * (size_t)(how == 7 ? one->n : 1)); /* rank 0 of an exscan: undefined */
}

/* The other collective operations, blocking and nonblocking. */
static void step_varying(const struct known *one, int step)
{
    int got[5 * RANKS_LIMIT] = {0}, how = draw(8), wait = draw(2), root = draw(one->n);
    if (one->own < 0) return;
    prepare(step, 12 * RANKS_LIMIT);
    if (how < 5) varying(one, how, wait, root, step, got);
    else scanned(one, how, wait, step, got);
}

/* The neighbours on a ring that is made for it. */
static void step_neighbours(const struct known *one, int step)
{
    int periodic = 1, dims = one->n, mine = value_of(rank, step), got[2] = {0, 0}, wait = draw(2);
    MPI_Comm ring;
    MPI_Request request = MPI_REQUEST_NULL;
    if (one->own < 0) return;
    CHECK_OK(MPI_Cart_create(one->comm, 1, &dims, &periodic, 1, &ring));
    if (wait) CHECK_OK(MPI_Ineighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, ring, &request));
    else CHECK_OK(MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, ring));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* ranks may have been given anew: the pair is some processes', whichever, in one order with Lucid and another without */
    CHECK(got[0] > 0 && got[1] > 0);
    CHECK_OK(MPI_Comm_free(&ring));
}

static void reduce_sparse(const struct known *one, int how, int root, int n, MPI_Op op, const int *in, int *out)
{
    MPI_Request request;
    int all = n / one->n * one->n;
    if (how == 0) CHECK_OK(MPI_Allreduce(in, out, n, MPI_INT, op, one->comm));
    if (how == 1) CHECK_OK(MPI_Reduce(in, out, n, MPI_INT, op, root, one->comm));
    if (how == 2) CHECK_OK(MPI_Scan(in, out, n, MPI_INT, op, one->comm));
    if (how == 3) CHECK_OK(MPI_Reduce_scatter_block(in, out, all / one->n, MPI_INT, op, one->comm));
    if (how == 4) {
        CHECK_OK(MPI_Iallreduce(in, out, n, MPI_INT, op, one->comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (how == 1 && one->own != root) return;
    mix(out, sizeof *out * (size_t)(how == 3 ? all / one->n : n));
}

/* Vectors of which most elements are the same, another number on every rank, perhaps. */
static void step_sparse(const struct known *one, int step)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BOR, MPI_BXOR, MPI_PROD};
    static const int lengths[] = {100, 5000, 20000, 40000, SPARSE_MOST};
    int n = lengths[draw(5)], how = draw(5), which = draw(7), root = draw(one->n), background = draw(3), apart = 1 + draw(300);
    MPI_Op op = which < 6 ? ops[which] : own_sum;
    if (one->own < 0) return;
    int *in = malloc(sizeof *in * (size_t)n), *out = calloc((size_t)n, sizeof *out);
    for (int i = 0; i < n; i++) in[i] = background == 2 ? one->own : background;
    for (int i = rank % apart; i < n; i += apart) in[i] = value_of(rank, step + i);
    reduce_sparse(one, how, root, n, op, in, out);
    free(in);
    free(out);
}

/* Puts and accumulates in a window that is made for it. */
static void step_window(const struct known *one, int step)
{
    int *base, mine = value_of(rank, step), add = draw(2);
    MPI_Win window;
    if (one->own < 0) return;
    CHECK_OK(MPI_Win_allocate(4 * sizeof *base, sizeof *base, MPI_INFO_NULL, one->comm, &base, &window));
    memset(base, 0, 4 * sizeof *base);
    CHECK_OK(MPI_Win_fence(0, window));
    int to = (one->own + 1) % one->n;
    if (add) CHECK_OK(MPI_Accumulate(&mine, 1, MPI_INT, to, 1, 1, MPI_INT, MPI_SUM, window));
    else CHECK_OK(MPI_Put(&mine, 1, MPI_INT, to, 2, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_fence(0, window));
    mix(base, 4 * sizeof *base);
    CHECK_OK(MPI_Win_free(&window));
}

#endif
