/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_mpi.c: one reduction by several routines in turns, on communicators that differ in nothing but the routine.
 *
 * sparse_mpi OUT.csv NODES REPEATS CALL TYPE BYTES PATTERN DENSITY [CALL TYPE BYTES PATTERN DENSITY ...]
 *   CALL: reduce, allreduce, reduce_scatter_block, scan, exscan, or one of the first three with an i in front (and waited for), or with
 *   _init behind it (a persistent one, started and waited for); TYPE: int, double; BYTES: of the whole vector
 *   PATTERN: random, same, disjoint, clustered, power, dense, changing
 * A row of OUT.csv is one repetition: the slowest rank's seconds; on one node, from 1 MiB on, also of what nobody can do without
 * ("floor"). Every routine runs once more with a session around it, which counts what all ranks send, and what of it goes to other nodes
 * (NODES of equal size; ranks one behind the other); its result is compared with that of the library's own. All of a job is taken
 * while the first two processors are as far from each other as when it began (apart.h); SPARSE_MPI_APART=near or far: as said there, if
 * that comes within a minute; any: wherever they are and go, which is little beside a slow network. Needs coll/sparse (LUCID_SPARSE_PRIORITY) and coll_tuned_use_dynamic_rules=1; on several nodes, for
 * coll/sparse above coll/hier as lucid run --all has it, LUCID_HIER_PRIORITY.
 */
#define _GNU_SOURCE
#include <lucid.h>
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart.h"
#include "floor.h"
#include "turns.h"

static int rank, size, nodes;

/* The routines. `several`: the preference of components where there are several nodes. `algorithm`: of coll/tuned, for reduce,
 * allreduce, reduce_scatter_block. "gather": what a program does that knows whose part of disjoint inputs is
 * whose, and looks whether that is so: no reduction. */
enum { ROUTINES = 8, CALLS = 11, TUNED = 3, ALLREDUCE = 1, IALLREDUCE = 6, PERSISTENT = 8 };
static const struct routine {
    const char *name, *sparse;
    bool on_one;
    const char *several;
    int algorithm[TUNED];
} routines[ROUTINES] = {
    {"library", "off", true, "^hier", {0, 0, 0}},
    {"again", "off", true, "^hier", {0, 0, 0}},
    {"rabenseifner", "off", true, "^hier", {7, 6, 3}},
    {"han", "off", false, "han,tuned,libnbc,basic,^hier", {0, 0, 0}},
    {"twin", "always,dense", true, "^hier", {0, 0, 0}},
    {"lucid", "auto", true, "^hier", {0, 0, 0}},
    {"lucid+hier", "auto", false, NULL, {0, 0, 0}},
    {"gather", "off", true, "^hier", {0, 0, 0}},
};
static const char *const calls[CALLS] = {"reduce", "allreduce", "reduce_scatter_block", "scan", "exscan", "ireduce", "iallreduce",
                                         "ireduce_scatter_block", "reduce_init", "allreduce_init", "reduce_scatter_block_init"};

struct job {
    int call;
    MPI_Datatype type;
    size_t width, count;
    const char *type_name, *pattern;
    double density;
    char *in, *out, *reference;
};

static bool gathers(const struct routine *routine)
{
    return strcmp(routine->name, "gather") == 0;
}

/* Of calls that coll/tuned and coll/han do not have, "rabenseifner" and "han" would be the library's again. */
static bool has(const struct job *job, const struct routine *routine)
{
    if (gathers(routine)) return strcmp(job->pattern, "disjoint") == 0 && (job->call == ALLREDUCE || job->call == IALLREDUCE);
    const bool there = nodes > 1 || routine->on_one, special = routine->algorithm[0] != 0 || strcmp(routine->name, "han") == 0;
    return there && (job->call < TUNED || !special);
}

static void force(int call, int algorithm)
{
    char name[80];
    int index, count;
    MPI_T_cvar_handle handle;
    snprintf(name, sizeof name, "coll_tuned_%s_algorithm", calls[call]);
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) return;
    MPI_T_cvar_write(handle, &algorithm);
    MPI_T_cvar_handle_free(&handle);
}

static MPI_Comm communicator(const struct routine *routine)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "lucid_sparse", routine->sparse);
    if (nodes > 1 && routine->several) MPI_Info_set(info, "ompi_comm_coll_preference", routine->several);
    for (int call = 0; call < TUNED; call++) force(call, routine->algorithm[call]);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    for (int call = 0; call < TUNED; call++) force(call, 0);
    MPI_Info_free(&info);
    return comm;
}

static int stands_out(const struct job *job, size_t i, int round)
{
    const char *p = job->pattern;
    double d = job->density;
    uint64_t own = ((uint64_t)(rank + 1) << 44) + i;
    if (strcmp(p, "dense") == 0) return 1;
    if (strcmp(p, "same") == 0) return turns_uniform(i) < d;
    if (strcmp(p, "disjoint") == 0) return i * (size_t)size / job->count == (size_t)rank;
    if (strcmp(p, "clustered") == 0) return turns_uniform(((uint64_t)(rank + 1) << 44) + i / 256) < d;
    if (strcmp(p, "power") == 0) return turns_uniform(own) < d * 0.3 / sqrt(((double)i + 1) / (double)job->count) / 0.6;
    if (strcmp(p, "changing") == 0) return turns_uniform(own + ((uint64_t)round << 36)) < d * (round % 3 ? 0.1 : 2.8);
    return turns_uniform(own) < d;
}

static void fill(struct job *job, int round)
{
    for (size_t i = 0; i < job->count; i++) {
        int value = stands_out(job, i, round) ? 1 + (int)(turns_mixed(i + (size_t)rank) % 100) : 0;
        if (job->width == 8) ((double *)job->in)[i] = value;
        else ((int *)job->in)[i] = value;
    }
}

/* A job's persistent calls: one on each communicator. */
static struct { MPI_Comm comm; MPI_Request request; } made[ROUTINES];
static int there;

static void make(const struct job *job, MPI_Comm comm, MPI_Request *request)
{
#if defined(BENCH_PERSISTENT)
#define GLUE(a, b) a##b
#define NAMED(prefix, name) GLUE(prefix, name)
    int count = (int)job->count;
    MPI_Info none = MPI_INFO_NULL;
    switch (job->call - PERSISTENT) {
    case 0: NAMED(BENCH_PERSISTENT, Reduce_init)(job->in, job->out, count, job->type, MPI_SUM, 0, comm, none, request); break;
    case 1: NAMED(BENCH_PERSISTENT, Allreduce_init)(job->in, job->out, count, job->type, MPI_SUM, comm, none, request); break;
    default: NAMED(BENCH_PERSISTENT, Reduce_scatter_block_init)(job->in, job->out, count / size, job->type, MPI_SUM, comm, none, request);
    }
#else
    if (rank == 0) fprintf(stderr, "sparse_mpi: this MPI has no persistent collectives\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
#endif
}

static void start(const struct job *job, MPI_Comm comm)
{
    int k = 0;
    while (k < there && made[k].comm != comm) k++;
    if (k == there) {
        made[there++].comm = comm;
        make(job, comm, &made[k].request);
    }
    MPI_Start(&made[k].request);
    MPI_Wait(&made[k].request, MPI_STATUS_IGNORE);
}

static void free_made(void)
{
    while (there > 0) MPI_Request_free(&made[--there].request);
}

static void reduce(const struct job *job, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int count = (int)job->count;
    if (job->call >= PERSISTENT) {
        start(job, comm);
        return;
    }
    switch (job->call) {
    case 0: MPI_Reduce(job->in, job->out, count, job->type, MPI_SUM, 0, comm); break;
    case ALLREDUCE: MPI_Allreduce(job->in, job->out, count, job->type, MPI_SUM, comm); break;
    case 2: MPI_Reduce_scatter_block(job->in, job->out, count / size, job->type, MPI_SUM, comm); break;
    case 3: MPI_Scan(job->in, job->out, count, job->type, MPI_SUM, comm); break;
    case 4: MPI_Exscan(job->in, job->out, count, job->type, MPI_SUM, comm); break;
    case 5: MPI_Ireduce(job->in, job->out, count, job->type, MPI_SUM, 0, comm, &request); break;
    case IALLREDUCE: MPI_Iallreduce(job->in, job->out, count, job->type, MPI_SUM, comm, &request); break;
    default: MPI_Ireduce_scatter_block(job->in, job->out, count / size, job->type, MPI_SUM, comm, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static bool is_zero(const char *from, size_t bytes)
{
    const uint64_t *in = (const void *)from;
    uint64_t any = 0;
    for (size_t i = 0; i < bytes / sizeof *in; i++) any |= in[i];
    return any == 0;
}

static void gather(const struct job *job, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = (int)job->count / size;
    const size_t part = (size_t)count * job->width, before = (size_t)rank * part;
    const char *own = job->in + before;
    if (!is_zero(job->in, before) || !is_zero(own + part, job->count * job->width - before - part)) MPI_Abort(MPI_COMM_WORLD, 1);
    if (job->call == ALLREDUCE) MPI_Allgather(own, count, job->type, job->out, count, job->type, comm);
    else MPI_Iallgather(own, count, job->type, job->out, count, job->type, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_by(const struct routine *routine, const struct job *job, MPI_Comm comm)
{
    if (gathers(routine)) gather(job, comm);
    else reduce(job, comm);
}

/* What is known of how far processors are from each other, since a job's measurement began; at rank 0. */
static struct {
    double now, least, most;
    int patience; /* seconds to wait for what is wanted */
} apart = {.patience = 60};

/* The others sleep meanwhile. */
static void look_at_processors(void)
{
    MPI_Request here;
    int done = 0;
    if (rank == 0) apart.now = apart_measure();
    MPI_Ibarrier(MPI_COMM_WORLD, &here);
    while (!done) {
        if (rank > 0) usleep(300);
        MPI_Test(&here, &done, MPI_STATUS_IGNORE);
    }
    if (apart.now < apart.least) apart.least = apart.now;
    if (apart.now > apart.most) apart.most = apart.now;
}

static bool any_will_do(void)
{
    const char *wanted = getenv("SPARSE_MPI_APART");
    return wanted && strcmp(wanted, "any") == 0;
}

static bool is_wanted(void)
{
    const char *wanted = getenv("SPARSE_MPI_APART");
    if (!wanted || any_will_do() || apart.now == 0) return true;
    return (apart.now >= APART_FAR) == (strcmp(wanted, "far") == 0);
}

static void wait_for_processors(void)
{
    int go = 0;
    for (int halves = 0; !go; halves++) {
        apart.least = 1e9, apart.most = 0;
        look_at_processors();
        go = is_wanted() || halves >= 2 * apart.patience;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!go) usleep(500000);
    }
    if (!is_wanted()) apart.patience = 5;
}

static bool stayed(void)
{
    int same = any_will_do() || (apart.least >= APART_FAR) == (apart.most >= APART_FAR);
    MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return same;
}

static double timed(const struct routine *routine, const struct job *job, MPI_Comm comm)
{
    double slowest, spent;
    MPI_Barrier(MPI_COMM_WORLD);
    spent = -MPI_Wtime();
    run_by(routine, job, comm);
    spent += MPI_Wtime();
    MPI_Reduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

/* What all ranks send in one call, and what of it leaves a node. */
static void counted(const struct routine *routine, const struct job *job, MPI_Comm comm, lucid_session_t session, uint64_t total[3])
{
    uint64_t counts[size], bytes[size], mine[3] = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    lucid_session_reset(session);
    lucid_session_continue(session);
    run_by(routine, job, comm);
    lucid_session_suspend(session);
    lucid_session_get(session, LUCID_KINDS_P2P, counts, bytes);
    for (int peer = 0; peer < size; peer++) {
        mine[0] += counts[peer];
        mine[1] += bytes[peer];
        if (peer * nodes / size != rank * nodes / size) mine[2] += bytes[peer];
    }
    MPI_Reduce(mine, total, 3, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}

static size_t result_bytes(const struct job *job)
{
    const size_t all = job->count * job->width;
    switch (job->call) {
    case 2: case 7: case 10: return all / (size_t)size;
    case 0: case 5: case 8: return rank == 0 ? all : 0;
    case 4: return rank > 0 ? all : 0;
    default: return all;
    }
}

/* The time of what no routine can do without. */
static double floor_of(const struct job *job)
{
    static volatile uint64_t looked_at;
    double slowest, spent;
    MPI_Barrier(MPI_COMM_WORLD);
    spent = -MPI_Wtime();
    looked_at = floor_read(job->in, job->count * job->width), (void)looked_at;
    floor_write(job->out, result_bytes(job));
    MPI_Barrier(MPI_COMM_WORLD);
    spent += MPI_Wtime();
    MPI_Reduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

static void same_result(const struct job *job, const struct routine *routine)
{
    int wrong = memcmp(job->out, job->reference, result_bytes(job)) != 0, any;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!any) return;
    if (rank == 0) fprintf(stderr, "sparse_mpi: %s: %s gives another result\n", calls[job->call], routine->name);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The routines that there are, in this repetition's order. */
static int in_turns(const MPI_Comm *comms, int order[ROUTINES], int repetition)
{
    int n = 0;
    for (int r = 0; r < ROUTINES; r++)
        if (comms[r] != MPI_COMM_NULL) order[n++] = r;
    turns_arrange(order, n, repetition);
    return n;
}

/* On one node, of up to so many bytes: what ran before has left its marks in the caches, and a call takes half as long behind itself. */
static bool is_short(const struct job *job)
{
    return nodes < 2 && job->count * job->width <= 1 << 20;
}

/* Calls before those that count, besides one whose result is looked at. The first measures, learns, touches memory; Lucid's choice then
 * tries who comes into question, and goes by what calls take where they are made: of short ones, between the others. The first 16 of those
 * below 64 KiB are timed only; looks at what takes as little as up to there then come as far apart as they take (sparse_state.c). */
static int warm_up_alone(const struct job *job, const struct routine *routine)
{
    if (is_short(job) || strcmp(routine->sparse, "auto") != 0) return 1;
    return job->count * job->width <= 65536 ? 200 : 40;
}

static void warm_up_in_turns(const struct job *job, const MPI_Comm *comms)
{
    int order[ROUTINES];
    for (int i = 0; is_short(job) && i < 80; i++)
        for (int k = 0, n = in_turns(comms, order, i); k < n; k++) (void)timed(&routines[order[k]], job, comms[order[k]]);
}

/* What is short, and what is expected to make no difference, needs more repetitions to show it. */
static int repeats_of(const struct job *job, int repeats)
{
    bool dense = strcmp(job->pattern, "dense") == 0;
    return is_short(job) ? 7 * repeats : dense || job->count * job->width <= 65536 ? 3 * repeats : repeats;
}

static void row(FILE *out, const struct job *job, const char *routine, int repetition, double seconds, const uint64_t total[3])
{
    fprintf(out, "%d,%d,%s,%s,%zu,%s,%g,%s,%d,%.9f,%llu,%llu,%llu,%.0f\n", size, nodes, calls[job->call], job->type_name,
            job->count * job->width, job->pattern, job->density, routine, repetition, seconds, (unsigned long long)total[0],
            (unsigned long long)total[1], (unsigned long long)total[2], apart.now);
}

static void measure(struct job *job, const MPI_Comm *comms, lucid_session_t session, int repeats, FILE *out)
{
    uint64_t total[ROUTINES][3];
    int order[ROUTINES];
    fill(job, 0);
    for (int r = 0; r < ROUTINES; r++) {
        if (comms[r] == MPI_COMM_NULL) continue;
        memset(job->out, 0, job->count * job->width);
        for (int i = 0; i < warm_up_alone(job, &routines[r]); i++) run_by(&routines[r], job, comms[r]);
        if (r == 0) memcpy(job->reference, job->out, job->count * job->width);
        same_result(job, &routines[r]);
        counted(&routines[r], job, comms[r], session, total[r]);
    }
    warm_up_in_turns(job, comms);
    look_at_processors();
    for (int i = 0; i < repeats_of(job, repeats); i++) {
        if (strcmp(job->pattern, "changing") == 0) fill(job, i);
        if (i % 5 == 4) look_at_processors();
        for (int k = 0, n = in_turns(comms, order, i); k < n; k++) {
            int r = order[k];
            double seconds = timed(&routines[r], job, comms[r]);
            if (rank == 0) row(out, job, routines[r].name, i, seconds, total[r]);
        }
    }
    look_at_processors();
    for (int i = 0; nodes == 1 && job->count * job->width >= 1 << 20 && i < repeats; i++) {
        double seconds = floor_of(job);
        if (rank == 0) row(out, job, "floor", i, seconds, (const uint64_t[3]){0});
    }
    look_at_processors();
}

/* With communicators of its own: what Lucid has learned from one is not known to the next. */
static void measure_anew(struct job *job, lucid_session_t session, int repeats, FILE *out)
{
    MPI_Comm comms[ROUTINES];
    wait_for_processors();
    for (int r = 0; r < ROUTINES; r++) comms[r] = has(job, &routines[r]) ? communicator(&routines[r]) : MPI_COMM_NULL;
    measure(job, comms, session, repeats, out);
    free_made();
    for (int r = 0; r < ROUTINES; r++)
        if (comms[r] != MPI_COMM_NULL) MPI_Comm_free(&comms[r]);
}

/* Again, a few times, if processors have moved meanwhile. */
static void measure_undisturbed(struct job *job, lucid_session_t session, int repeats, FILE *out)
{
    enum { TIMES = 8 };
    char *text = NULL;
    size_t bytes = 0;
    bool done = false;
    for (int i = 0; !done; i++) {
        FILE *kept = rank == 0 ? open_memstream(&text, &bytes) : NULL;
        if (rank == 0 && !kept) MPI_Abort(MPI_COMM_WORLD, 1);
        measure_anew(job, session, repeats, kept);
        if (kept) fclose(kept);
        done = stayed() || i + 1 == TIMES;
        if (rank == 0 && done) fwrite(text, 1, bytes, out), fflush(out);
        free(text);
        text = NULL;
    }
}

static void run(char **words, lucid_session_t session, int repeats, FILE *out)
{
    struct job job = {.call = 0, .type_name = words[1], .pattern = words[3], .density = atof(words[4])};
    while (job.call < CALLS - 1 && strcmp(words[0], calls[job.call])) job.call++;
    int is_double = strcmp(words[1], "double") == 0;
    job.type = is_double ? MPI_DOUBLE : MPI_INT;
    job.width = is_double ? sizeof(double) : sizeof(int);
    job.count = strtoull(words[2], NULL, 10) / job.width / (size_t)size * (size_t)size;
    if (strcmp(job.pattern, "disjoint") == 0) job.density = 1.0 / size;
    size_t bytes = job.count * job.width;
    job.in = malloc(bytes), job.out = malloc(bytes), job.reference = malloc(bytes);
    if (!job.in || !job.out || !job.reference) MPI_Abort(MPI_COMM_WORLD, 1);
    measure_undisturbed(&job, session, repeats, out);
    free(job.in), free(job.out), free(job.reference);
}

int main(int argc, char **argv)
{
    lucid_session_t session;
    FILE *out = NULL;
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 9 || (argc - 4) % 5) {
        if (rank == 0) fprintf(stderr, "usage: sparse_mpi OUT.csv NODES REPEATS CALL TYPE BYTES PATTERN DENSITY ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    nodes = atoi(argv[2]);
    if (rank == 0 && !(out = fopen(argv[1], "w"))) MPI_Abort(MPI_COMM_WORLD, 2);
    if (out) fprintf(out, "ranks,nodes,call,type,bytes,pattern,density,routine,repeat,seconds,messages,sent,between,apart\n");
    lucid_init();
    lucid_session_start(MPI_COMM_WORLD, "sparse_mpi", &session);
    lucid_session_suspend(session);
    for (int i = 4; i < argc; i += 5) run(&argv[i], session, atoi(argv[3]), out);
    lucid_session_free(session);
    lucid_finalize();
    if (out) fclose(out);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
