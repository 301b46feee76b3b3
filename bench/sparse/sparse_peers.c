/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_peers.c: one reduction by MPICH's own algorithms and by the preloaded liblucid, in turns, in one process.
 *
 * sparse_peers OUT.csv CHECK.csv TWIN NODES REPEATS SECONDS CALL BYTES PATTERN DENSITY [CALL BYTES PATTERN DENSITY ...]
 *   TWIN: a copy of liblucid in another file; NODES: of equal size, ranks one behind the other
 *   SECONDS: what a routine may take of them in all; then it has five repetitions, or one if they are very long
 *   CALL: reduce, allreduce, reduce_scatter_block; BYTES: of the whole vector; PATTERN: random, disjoint, dense
 * A row of OUT.csv is one routine: how often Lucid itself ran the call (and did not leave it to the library), the bytes that one
 * more call sent out of all nodes' network interfaces, and the slowest rank's microseconds in every repetition. Every result is
 * compared with the library's. CHECK.csv tells whether what is forced really runs. Needs LD_PRELOAD and LUCID_SPARSE=on; see
 * sparse_peers.py.
 */
#include "sparse_peers.h"
#include "turns.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, MOST_REPEATS = 64, LEAST_REPEATS = 5, PROBED = 16384 };

static int rank, size, nodes;
static MPI_Comm comms[MOST];
static bool usable[PEER_CALLS][MOST];
static const char *const calls[PEER_CALLS] = {"reduce", "allreduce", "reduce_scatter_block"};

struct job {
    struct peer_call call;
    const char *pattern;
    double density, seconds;
    int repeats;
    size_t bytes;
    double *in, *out, *reference;
};

static void fail(const char *what, const char *name)
{
    if (rank == 0) fprintf(stderr, "sparse_peers: %s: %s\n", name, what);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

static bool stands_out(const struct job *job, size_t i)
{
    if (strcmp(job->pattern, "dense") == 0) return true;
    if (strcmp(job->pattern, "disjoint") == 0) return i * (size_t)size / (size_t)job->call.count == (size_t)rank;
    return turns_uniform(((uint64_t)(rank + 1) << 44) + i) < job->density;
}

static void fill(struct job *job)
{
    for (size_t i = 0; i < (size_t)job->call.count; i++)
        job->in[i] = stands_out(job, i) ? 1 + (double)(turns_mixed(i + (size_t)rank) % 100) : 0;
}

static int run(int r, struct peer_call *call)
{
    call->comm = comms[r];
    return peer_run(&peer_routines[r], call);
}

static void run_or_fail(int r, struct job *job)
{
    if (run(r, &job->call) != MPI_SUCCESS) fail("the call fails", peer_routines[r].name);
}

static double slowest(double mine)
{
    double all = mine;
    PMPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return all;
}

static double timed(int r, struct job *job, unsigned long long *taken)
{
    unsigned long long before = peer_taken(&peer_routines[r]);
    peer_select(&peer_routines[r]);
    PMPI_Barrier(MPI_COMM_WORLD);
    double spent = -MPI_Wtime();
    run_or_fail(r, job);
    spent += MPI_Wtime();
    peer_select_default(&peer_routines[r]);
    *taken = peer_taken(&peer_routines[r]) - before;
    return slowest(spent);
}

/* What this node has sent to others until now. */
static uint64_t node_sent(void)
{
    char line[512], name[64];
    unsigned long long bytes;
    uint64_t total = 0;
    if (nodes < 2 || rank % (size / nodes) != 0) return 0;
    FILE *file = fopen("/proc/self/net/dev", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " %63[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %llu", name, &bytes) == 2 && strcmp(name, "lo") != 0)
            total += bytes;
    if (file) fclose(file);
    return total;
}

static uint64_t between_nodes(int r, struct job *job)
{
    uint64_t sent, total = 0;
    peer_select(&peer_routines[r]);
    PMPI_Barrier(MPI_COMM_WORLD);
    sent = node_sent();
    PMPI_Barrier(MPI_COMM_WORLD);
    run_or_fail(r, job);
    peer_select_default(&peer_routines[r]);
    PMPI_Barrier(MPI_COMM_WORLD);
    sent = node_sent() - sent;
    PMPI_Reduce(&sent, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return total;
}

static void same_result(int r, const struct job *job)
{
    size_t bytes = job->call.kind == PEER_SCATTER ? job->bytes / (size_t)size
                   : job->call.kind == PEER_ALLREDUCE || rank == 0 ? job->bytes : 0;
    int wrong = memcmp(job->out, job->reference, bytes) != 0, any;
    PMPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any) fail("another result than the library's", peer_routines[r].name);
}

/* The first call touches memory. Lucid's choice then tries who comes into question: with dense vectors, of which it looks at few, and
 * where little is between the best of them, that takes more calls. */
static void warm_up(int r, struct job *job)
{
    bool clear = strcmp(job->pattern, "random") == 0;
    int times = peer_routines[r].way != PEER_LUCID ? 2 : clear ? 12 : 80;
    unsigned long long before = peer_taken(&peer_routines[r]);
    memset(job->out, 0, job->bytes);
    peer_select(&peer_routines[r]);
    for (int i = 0; i < times; i++) run_or_fail(r, job);
    peer_select_default(&peer_routines[r]);
    if (r == 0) memcpy(job->reference, job->out, job->bytes);
    same_result(r, job);
    if (peer_routines[r].way == PEER_TWIN && peer_taken(&peer_routines[r]) - before != (unsigned long long)times)
        fail("has left calls to the library", "twin");
}

/* What the routines have taken in their turns; known to rank 0. */
struct turns {
    int done[MOST];
    unsigned long long taken[MOST];
    double seconds[MOST][MOST_REPEATS], spent[MOST];
};

/* Which routines have another turn, a set. */
static unsigned whose_turn(const struct job *job, const struct turns *turns)
{
    unsigned set = 0;
    for (int r = 0; r < peer_routine_count; r++) {
        bool long_enough = turns->done[r] >= LEAST_REPEATS ? turns->spent[r] > job->seconds : turns->spent[r] > 4 * job->seconds;
        if (usable[job->call.kind][r] && turns->done[r] < job->repeats && !long_enough) set |= 1u << r;
    }
    PMPI_Bcast(&set, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    return set;
}

static void take_turns(struct job *job, struct turns *turns)
{
    int order[MOST];
    unsigned set;
    for (int i = 0; (set = whose_turn(job, turns)); i++) {
        int n = 0;
        for (int r = 0; r < peer_routine_count; r++)
            if (set >> r & 1) order[n++] = r;
        turns_arrange(order, n, i);
        for (int k = 0; k < n; k++) {
            int r = order[k];
            unsigned long long taken;
            double seconds = timed(r, job, &taken);
            turns->seconds[r][turns->done[r]++] = seconds;
            turns->spent[r] += seconds;
            turns->taken[r] += taken;
        }
    }
}

static void measure(struct job *job, FILE *out)
{
    static struct turns turns;
    uint64_t between[MOST] = {0};
    const bool *in_turn = usable[job->call.kind];
    memset(&turns, 0, sizeof turns);
    for (int r = 0; r < peer_routine_count; r++) {
        if (!in_turn[r]) continue;
        warm_up(r, job);
        if (nodes > 1) between[r] = between_nodes(r, job);
    }
    take_turns(job, &turns);
    for (int r = 0; r < peer_routine_count && out; r++) {
        if (!in_turn[r]) continue;
        fprintf(out, "%d,%d,%s,%zu,%s,%g,%s,%llu,%llu,", size, nodes, calls[job->call.kind], job->bytes, job->pattern, job->density,
                peer_routines[r].name, turns.taken[r], (unsigned long long)between[r]);
        for (int i = 0; i < turns.done[r]; i++) fprintf(out, "%s%.1f", i ? " " : "", 1e6 * turns.seconds[r][i]);
        fprintf(out, "\n");
    }
    if (out) fflush(out);
}

static int kind_named(const char *name)
{
    int kind = 0;
    while (kind < PEER_CALLS && strcmp(name, calls[kind])) kind++;
    if (kind == PEER_CALLS) fail("is no call that is compared", name);
    return kind;
}

static void run_job(char **words, int repeats, double seconds, FILE *out)
{
    struct job job = {.pattern = words[2], .density = atof(words[3]), .seconds = seconds};
    job.repeats = repeats < MOST_REPEATS ? repeats : MOST_REPEATS;
    job.call = (struct peer_call){.kind = kind_named(words[0]), .type = MPI_DOUBLE, .op = MPI_SUM};
    job.call.count = (int)(strtoull(words[1], NULL, 10) / sizeof(double) / (size_t)size * (size_t)size);
    job.bytes = (size_t)job.call.count * sizeof(double);
    job.in = malloc(job.bytes), job.out = malloc(job.bytes), job.reference = malloc(job.bytes);
    if (!job.in || !job.out || !job.reference) fail("no memory", words[1]);
    job.call.in = job.in, job.call.out = job.out;
    fill(&job);
    measure(&job, out);
    free(job.in), free(job.out), free(job.reference);
}

static long combined; /* elements that this process has combined by the operators below */

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) ((double *)inout)[i] += ((double *)in)[i];
    combined += *count;
}

/* One call as it is forced, by its error code at any rank: errors of selection come before the first message, at all ranks. */
static int forced(int r, struct peer_call *call)
{
    int code, worst;
    peer_select(&peer_routines[r]);
    PMPI_Barrier(MPI_COMM_WORLD);
    code = run(r, call);
    peer_select_default(&peer_routines[r]);
    PMPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/* An algorithm is taken for the one that was asked for if it refuses what the others do not, one element for every rank and an
 * operator that does not commute. Binomial trees refuse nothing; there, how many elements each rank combines tells. */
static void probe(int kind, int r, FILE *check)
{
    static double in[PROBED], out[PROBED];
    struct peer_call call = {kind, in, out, PROBED / size * size, MPI_DOUBLE, MPI_SUM, MPI_COMM_NULL};
    long first = -1, most = -1;
    MPI_Op ordered, counted;
    PMPI_Op_create(add, 0, &ordered);
    PMPI_Op_create(add, 1, &counted);
    bool runs = forced(r, &call) == MPI_SUCCESS;
    call.op = ordered, call.count = kind == PEER_SCATTER ? size : 1;
    bool refuses = forced(r, &call) != MPI_SUCCESS;
    call.op = counted, call.count = PROBED / size * size, combined = 0;
    if (!refuses && forced(r, &call) == MPI_SUCCESS) {
        PMPI_Reduce(&combined, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
        first = combined;
    }
    PMPI_Op_free(&ordered);
    PMPI_Op_free(&counted);
    bool picky = peer_routines[r].way == PEER_FORCED && strcmp(peer_routines[r].name, "binomial") != 0;
    usable[kind][r] = runs && (refuses || !picky);
    const char *variable = peer_routines[r].variable ? peer_routines[r].variable : "";
    if (check)
        fprintf(check, "%d,%d,%s,%s,%s,%d,%d,%ld,%ld,%d\n", size, nodes, calls[kind], peer_routines[r].name, variable, runs,
                refuses, first, most, call.count);
}

static void prepare(const char *twin, const char *file)
{
    FILE *check = rank == 0 ? fopen(file, "w") : NULL;
    if (rank == 0 && !check) fail("cannot be written", file);
    if (check) fprintf(check, "ranks,nodes,call,routine,variable,runs,refuses,combined_by_root,combined_at_most,elements\n");
    peer_open_twin(twin);
    for (int r = 0; r < peer_routine_count; r++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[r]);
        MPI_Comm_set_errhandler(comms[r], MPI_ERRORS_RETURN);
        for (int kind = 0; kind < PEER_CALLS; kind++) {
            if (!peer_there(&peer_routines[r], kind)) continue;
            usable[kind][r] = true;
            if (peer_routines[r].way <= PEER_FORCED) probe(kind, r, check);
        }
    }
    if (check) fclose(check);
}

int main(int argc, char **argv)
{
    FILE *out = NULL;
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 11 || (argc - 7) % 4) fail("OUT.csv CHECK.csv TWIN NODES REPEATS SECONDS CALL BYTES PATTERN DENSITY ...", "usage");
    nodes = atoi(argv[4]);
    if (rank == 0 && !(out = fopen(argv[1], "w"))) fail("cannot be written", argv[1]);
    if (out) fprintf(out, "ranks,nodes,call,bytes,pattern,density,routine,taken,between,microseconds\n");
    prepare(argv[3], argv[2]);
    for (int i = 7; i < argc; i += 4) run_job(&argv[i], atoi(argv[5]), atof(argv[6]), out);
    for (int r = 0; r < peer_routine_count; r++) MPI_Comm_free(&comms[r]);
    if (out) fclose(out);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
