/* SPDX-License-Identifier: BSD-3-Clause
 * hier_random.c: random blocking collective operations, each on a communicator of coll/hier and on one with the same ranks that
 * Open MPI serves alone; every byte of every buffer must be the same. Communicators: dups and splits with scattered ranks, made and
 * freed on the way. The operations: random_calls.h. Arguments: rounds, seed.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hier_counter.h"
#include "random_calls.h"

static uint64_t state;
static int failures;

static unsigned draw(unsigned below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (unsigned)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % below;
}

static void check(const call_t *call, MPI_Comm mine, MPI_Comm theirs, int round)
{
    int rank, size;
    MPI_Comm_rank(mine, &rank);
    MPI_Comm_size(mine, &size);
    size_t bytes = bytes_of(call, size);
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
        call_t call = draw_call(size, draw);
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
