/* SPDX-License-Identifier: BSD-3-Clause
 * place_collectives.c: MPI_Reduce and MPI_Bcast on the given order of ranks and on a better one (the paper's figure 5).
 *
 * usage: place_collectives lucid|distgraph|plain REPETITIONS BYTES...
 *
 * One call of each collective and size is recorded in a session. `lucid`: lucid_comm_reorder() makes a communicator of it;
 * `distgraph`: MPI_Dist_graph_create() with reorder = 1 gets the same matrix, as an example of what the MPI library does by itself;
 * `plain`: the given order alone. Calls on both communicators take turns. Prints
 * op,bytes,variant,repetition,seconds,between,making: bytes between nodes of one call (exact), and the seconds that making the
 * communicator took.
 */
#include <limits.h>
#include <string.h>

#include "place_bench.h"

struct call {
    const char *op;
    int count; /* of ints */
    int *in, *out;
};

static void fill(const struct call *call, int rank)
{
    for (int i = 0; i < call->count; i++) call->in[i] = rank + i % 7;
}

static void make_call(const struct call *call, MPI_Comm comm)
{
    if (strcmp(call->op, "reduce") == 0) MPI_Reduce(call->in, call->out, call->count, MPI_INT, MPI_SUM, 0, comm);
    else MPI_Bcast(call->in, call->count, MPI_INT, 0, comm);
}

/** Makes the call once and sees that the result is that of the ranks in comm. */
static void check_call(const struct call *call, MPI_Comm comm)
{
    int rank, size, good = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    fill(call, rank);
    make_call(call, comm);
    int reduce = strcmp(call->op, "reduce") == 0;
    for (int i = 0; i < call->count && (!reduce || rank == 0); i++)
        good &= reduce ? call->out[i] == size * (size - 1) / 2 + size * (i % 7) : call->in[i] == i % 7;
    place_need(good, "a collective gave a wrong result");
}

static unsigned long long bytes_between(const struct call *call, MPI_Comm comm)
{
    lucid_session_t session = place_record(comm);
    make_call(call, comm);
    place_recorded(session);
    unsigned long long bytes = place_between(comm, session);
    lucid_session_free(session);
    return bytes;
}

/** The MPI library's own reordering, by the session's rows. Weights are ints there: bytes are scaled to fit. */
static MPI_Comm by_dist_graph(lucid_session_t session)
{
    int rank, size, degree = 0;
    uint64_t most = 1, mine = 1;
    MPI_Comm made;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t *bytes = place_allocate((size_t)size * sizeof *bytes);
    int *to = place_allocate((size_t)size * 2 * sizeof *to), *weight = to + size;
    place_need(lucid_session_get(session, LUCID_KINDS_P2P, NULL, bytes) == LUCID_SUCCESS, "cannot read a session");
    for (int i = 0; i < size; i++)
        if (bytes[i] > mine) mine = bytes[i];
    MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        if (bytes[i] == 0 || i == rank) continue;
        to[degree] = i;
        weight[degree++] = (int)(1 + bytes[i] * 1000 / most);
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, to, weight, MPI_INFO_NULL, 1, &made);
    free(bytes);
    free(to);
    return made;
}

static MPI_Comm make_other(const char *how, const struct call *call, double *seconds)
{
    MPI_Comm made = MPI_COMM_NULL;
    lucid_reorder_options_t options = {.recorded = 1, .always = 1};
    lucid_session_t session = place_record(MPI_COMM_WORLD);
    make_call(call, MPI_COMM_WORLD);
    place_recorded(session);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (strcmp(how, "lucid") == 0)
        place_need(lucid_comm_reorder(MPI_COMM_WORLD, session, &options, &made, NULL) == LUCID_SUCCESS, "cannot reorder");
    else if (strcmp(how, "distgraph") == 0)
        made = by_dist_graph(session);
    *seconds = place_slowest(MPI_Wtime() - begin);
    lucid_session_free(session);
    return made;
}

static void compare(const char *how, const struct call *call, int repetitions)
{
    double making;
    MPI_Comm comm[2] = {MPI_COMM_WORLD, make_other(how, call, &making)};
    const char *name[2] = {"before", how};
    unsigned long long between[2] = {0, 0};
    int rank, variants = comm[1] == MPI_COMM_NULL ? 1 : 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int v = 0; v < variants; v++) {
        check_call(call, comm[v]);
        between[v] = bytes_between(call, comm[v]);
    }
    for (int i = 0; i < repetitions * variants; i++) {
        int v = i % variants;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        make_call(call, comm[v]);
        double seconds = place_slowest(MPI_Wtime() - begin);
        if (rank == 0)
            printf("%s,%zu,%s,%d,%.6f,%llu,%.6f\n", call->op, (size_t)call->count * sizeof *call->in, name[v], i / variants,
                   seconds, between[v], v ? making : 0.0);
    }
    if (comm[1] != MPI_COMM_WORLD && comm[1] != MPI_COMM_NULL) MPI_Comm_free(&comm[1]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    place_need(argc > 3, "usage: place_collectives lucid|distgraph|plain REPETITIONS BYTES...");
    place_need(lucid_init() == LUCID_SUCCESS, "cannot start Lucid");
    for (int a = 3; a < argc; a++) {
        long bytes = atol(argv[a]);
        place_need(bytes > 0 && bytes < INT_MAX, "a number of bytes is not one");
        struct call call = {.op = "reduce", .count = (int)(bytes / (long)sizeof(int))};
        call.in = place_allocate((size_t)bytes);
        call.out = place_allocate((size_t)bytes);
        compare(argv[1], &call, atoi(argv[2]));
        call.op = "bcast";
        compare(argv[1], &call, atoi(argv[2]));
        free(call.in);
        free(call.out);
    }
    lucid_finalize();
    MPI_Finalize();
    return 0;
}
