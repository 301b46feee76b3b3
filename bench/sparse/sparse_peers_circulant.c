/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_peers_circulant.c: MPI_Reduce to rank 0 by circulant graphs (J. L. Traeff, "Optimal Broadcast Schedules in Logarithmic
 * Time", ACM TOPC 2025): the broadcast's schedule backwards. The vector is cut into n blocks; after n - 1 + ceil(log2 P) rounds, of
 * which each takes one block in and one out, rank 0 has them all.
 *
 * This is the algorithm that MPICH 5.1 calls circ_graph, with its default sizes: blocks of 128 KiB, eight messages in flight.
 */
#include "sparse_peers.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 31, IN_FLIGHT = 8, BLOCK_BYTES = 131072 };

struct schedule {
    int size, rounds, skip[ROUNDS + 1], sends[ROUNDS], receives[ROUNDS];
};

/* The block that a rank is the first in its region to get: the last of the skips that lead from 0 to it. */
static int base_block(const struct schedule *s, int rank)
{
    if (rank == 0) return s->rounds;
    for (int k = s->rounds - 1; k >= 0; k--) {
        if (rank < s->skip[k]) continue;
        rank -= s->skip[k];
        if (rank == 0) return k;
    }
    return -1;
}

/* The greatest base block of ranks after `low` up to `high` that is not in `used`, a set; else that of `low` itself. */
static int best_block(const struct schedule *s, int low, int high, unsigned used)
{
    int best = -1;
    for (int r = low + 1; r <= high; r++) {
        int block = base_block(s, (r + s->size) % s->size);
        if (block > best && !(used >> block & 1)) best = block;
    }
    return best >= 0 ? best : base_block(s, (low + s->size) % s->size);
}

/* What `rank` receives in a broadcast from 0, round by round; sends in a reduction. Negative: of the turn before. */
static void turn(const struct schedule *s, int rank, int blocks[ROUNDS])
{
    int own = base_block(s, rank);
    unsigned used = 1u << own;
    for (int k = 0; k < s->rounds; k++) {
        int block = best_block(s, rank - s->skip[k + 1], rank - s->skip[k], used);
        used |= 1u << block;
        blocks[k] = block == s->rounds ? own : block - s->rounds;
    }
}

static void plan(struct schedule *s, int rank, int size)
{
    int others[ROUNDS];
    s->size = size;
    s->rounds = 0;
    while (1 << s->rounds < size) s->rounds++;
    s->skip[s->rounds] = size;
    for (int k = s->rounds - 1; k >= 0; k--) s->skip[k] = (s->skip[k + 1] + 1) / 2;
    turn(s, rank, s->sends);
    for (int k = 0; k < s->rounds; k++) {
        turn(s, (rank + s->skip[k]) % size, others);
        s->receives[k] = others[k];
    }
}

/* Messages in flight: a ring of receives, each with its memory, and one of sends. */
struct flight {
    const struct peer_call *call;
    char *sum, *landed[IN_FLIGHT];
    int width, elements, blocks;
    MPI_Request receives[IN_FLIGHT], sends[IN_FLIGHT];
    int block[IN_FLIGHT];
    unsigned received, combined, sent;
};

static int block_elements(const struct flight *f, int block)
{
    return block < f->blocks - 1 ? f->elements : f->call->count - (f->blocks - 1) * f->elements;
}

static char *block_start(const struct flight *f, int block)
{
    return f->sum + (size_t)block * (size_t)f->elements * (size_t)f->width;
}

static void combine_oldest(struct flight *f)
{
    unsigned slot = f->combined++ % IN_FLIGHT;
    int block = f->block[slot];
    PMPI_Wait(&f->receives[slot], MPI_STATUS_IGNORE);
    PMPI_Reduce_local(f->landed[slot], block_start(f, block), block_elements(f, block), f->call->type, f->call->op);
}

static void send(struct flight *f, int block, int peer)
{
    unsigned slot = f->sent++ % IN_FLIGHT, awaited = f->received;
    while (awaited > f->combined && f->block[(awaited - 1) % IN_FLIGHT] != block) awaited--;
    while (f->combined < awaited) combine_oldest(f);
    PMPI_Wait(&f->sends[slot], MPI_STATUS_IGNORE);
    PMPI_Isend(block_start(f, block), block_elements(f, block), f->call->type, peer, block, f->call->comm, &f->sends[slot]);
}

static void receive(struct flight *f, int block, int peer)
{
    if (f->received - f->combined == IN_FLIGHT) combine_oldest(f);
    unsigned slot = f->received++ % IN_FLIGHT;
    f->block[slot] = block;
    PMPI_Irecv(f->landed[slot], block_elements(f, block), f->call->type, peer, block, f->call->comm, &f->receives[slot]);
}

static void fly(struct flight *f, const struct schedule *s, int rank)
{
    int n = f->blocks, q = s->rounds, unused = (q - (n - 1) % q) % q, offset = n - 1;
    for (int i = n + q + unused - 2; i >= unused; i--) {
        int k = i % q, out = s->sends[k] + offset, in = s->receives[k] + offset, from = (rank + s->skip[k]) % s->size;
        if (out >= 0 && rank != 0) send(f, out < n ? out : n - 1, (rank - s->skip[k] + s->size) % s->size);
        if (in >= 0 && from != 0) receive(f, in < n ? in : n - 1, from);
        if (k == 0) offset -= q;
    }
    while (f->combined < f->received) combine_oldest(f);
    PMPI_Waitall(IN_FLIGHT, f->sends, MPI_STATUSES_IGNORE);
}

int peer_circulant(const struct peer_call *call)
{
    struct schedule s;
    struct flight f = {.call = call};
    int rank, size;
    PMPI_Comm_rank(call->comm, &rank);
    PMPI_Comm_size(call->comm, &size);
    PMPI_Type_size(call->type, &f.width);
    size_t bytes = (size_t)call->count * (size_t)f.width;
    f.elements = BLOCK_BYTES / f.width;
    f.blocks = call->count > f.elements ? (call->count + f.elements - 1) / f.elements : 1;
    f.sum = rank == 0 ? call->out : malloc(bytes);
    char *memory = malloc((size_t)IN_FLIGHT * BLOCK_BYTES);
    if (!f.sum || !memory) PMPI_Abort(call->comm, 1);
    for (int i = 0; i < IN_FLIGHT; i++) {
        f.landed[i] = memory + (size_t)i * BLOCK_BYTES;
        f.receives[i] = f.sends[i] = MPI_REQUEST_NULL;
    }
    memcpy(f.sum, call->in, bytes);
    plan(&s, rank, size);
    if (s.rounds > 0) fly(&f, &s, rank);
    if (rank != 0) free(f.sum);
    free(memory);
    return MPI_SUCCESS;
}
