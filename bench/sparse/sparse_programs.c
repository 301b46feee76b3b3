/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_programs.c: three programs whose reductions are sparse by nature, each run in turns with the library's own reductions and
 * with Lucid's. A row of OUT.csv is one run of one of them; results must agree.
 *
 * sparse_programs OUT.csv REPEATS SCALE
 *   bfs     level-synchronous breadth-first search from vertex 0 of an R-MAT graph of 2^SCALE vertices, 16 edges each, in one
 *           dimension: every level ends with MPI_Allreduce(MPI_MIN) of all parents (int64, "no parent" is a large number)
 *   padded  every rank fills its part of a vector of 2^SCALE doubles, the rest is zero: MPI_Allreduce(MPI_SUM), as in SKIRT's
 *           ProcessManager::sumToAll and BIGSTICK's Lanczos vectors
 *   tally   batches of events that hit bins of a histogram of 2^SCALE doubles, clustered: MPI_Reduce(MPI_SUM) to rank 0 per batch, as
 *           in OpenMC
 * Needs coll/sparse (LUCID_SPARSE_PRIORITY), whose info key lucid_sparse makes the two communicators.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static size_t n; /* vertices, elements, bins */
static double reducing; /* seconds in reductions of this run */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* ---- breadth-first search ---- */

static uint64_t *edges; /* pairs; this rank's part of the graph: edges whose number is the rank's, modulo the ranks */
static size_t edge_count;

static uint64_t endpoint(uint64_t edge, uint64_t *other)
{
    uint64_t u = 0, v = 0;
    for (size_t bit = n >> 1; bit; bit >>= 1) { /* quadrants with 0.57, 0.19, 0.19, 0.05 */
        double x = (double)(mixed(edge * 64 + bit) >> 11) / 9007199254740992.0;
        if (x >= 0.76) u |= bit;
        if ((x >= 0.57 && x < 0.76) || x >= 0.95) v |= bit;
    }
    *other = mixed(v + 1) & (n - 1); /* vertices shuffled */
    return mixed(u + 1) & (n - 1);
}

static void make_graph(void)
{
    edge_count = 16 * n / (size_t)size;
    edges = allocate(2 * edge_count * sizeof *edges);
    for (size_t i = 0; i < edge_count; i++) edges[2 * i] = endpoint(i * (size_t)size + (size_t)rank, &edges[2 * i + 1]);
}

static void visit(int64_t *next, const int64_t *parent, const int64_t *level, int64_t now, uint64_t from, uint64_t to)
{
    if (level[from] == now && parent[to] == INT64_MAX && (int64_t)from < next[to]) next[to] = (int64_t)from;
}

static double search(MPI_Comm comm)
{
    int64_t *parent = allocate(n * sizeof *parent), *next = allocate(n * sizeof *next), *all = allocate(n * sizeof *all);
    int64_t *level = allocate(n * sizeof *level), sum = 0;
    uint64_t root = endpoint(0, &(uint64_t){0});
    for (size_t v = 0; v < n; v++) parent[v] = INT64_MAX, level[v] = -1;
    MPI_Bcast(&root, 1, MPI_UINT64_T, 0, comm);
    parent[root] = (int64_t)root;
    level[root] = 0;
    for (int64_t now = 0, found = 1; found; now++) {
        for (size_t v = 0; v < n; v++) next[v] = INT64_MAX;
        for (size_t i = 0; i < edge_count; i++) {
            visit(next, parent, level, now, edges[2 * i], edges[2 * i + 1]);
            visit(next, parent, level, now, edges[2 * i + 1], edges[2 * i]);
        }
        reducing -= MPI_Wtime();
        MPI_Allreduce(next, all, (int)n, MPI_INT64_T, MPI_MIN, comm);
        reducing += MPI_Wtime();
        found = 0;
        for (size_t v = 0; v < n; v++)
            if (all[v] != INT64_MAX) parent[v] = all[v], level[v] = now + 1, found++;
    }
    for (size_t v = 0; v < n; v++) sum += parent[v] == INT64_MAX ? 0 : (int64_t)(mixed(v ^ (uint64_t)parent[v]) >> 20);
    free(parent), free(next), free(all), free(level);
    return (double)(sum % 1000000007);
}

/* ---- everyone fills its part ---- */

static double pad(MPI_Comm comm)
{
    double *mine = allocate(n * sizeof *mine), *all = allocate(n * sizeof *all), sum = 0;
    size_t first = n * (size_t)rank / (size_t)size, end = n * (size_t)(rank + 1) / (size_t)size;
    for (int round = 0; round < 4; round++) {
        for (size_t i = first; i < end; i++) mine[i] = (double)(mixed(i + (size_t)round) % 1000);
        reducing -= MPI_Wtime();
        MPI_Allreduce(mine, all, (int)n, MPI_DOUBLE, MPI_SUM, comm);
        reducing += MPI_Wtime();
        for (size_t i = 0; i < n; i += 97) sum += all[i];
    }
    free(mine), free(all);
    return sum;
}

/* ---- batches of a tally ---- */

static double tally(MPI_Comm comm)
{
    double *mine = allocate(n * sizeof *mine), *all = allocate(n * sizeof *all), sum = 0;
    for (uint64_t batch = 0; batch < 8; batch++) {
        memset(mine, 0, n * sizeof *mine);
        for (uint64_t event = 0; event < n / 2048; event++) { /* a track: some bins in a row */
            uint64_t at = mixed(batch * 7919 + event * 104729 + (uint64_t)rank) & (n - 1);
            for (size_t k = 0; k < 8 && at + k < n; k++) mine[at + k] += (double)(k + 1);
        }
        reducing -= MPI_Wtime();
        MPI_Reduce(mine, all, (int)n, MPI_DOUBLE, MPI_SUM, 0, comm);
        reducing += MPI_Wtime();
        for (size_t i = 0; rank == 0 && i < n; i++) sum += all[i] * (double)(i % 13);
    }
    free(mine), free(all);
    return sum;
}

static const struct program {
    const char *name;
    double (*run)(MPI_Comm comm);
} programs[] = {{"bfs", search}, {"padded", pad}, {"tally", tally}};

static MPI_Comm communicator(const char *how)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "lucid_sparse", how);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static double one_run(const struct program *program, MPI_Comm comm, double *seconds, double *slowest)
{
    reducing = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), result = program->run(comm), spent = MPI_Wtime() - start;
    MPI_Reduce(&spent, seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&reducing, slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return result;
}

int main(int argc, char **argv)
{
    static const char *const how[] = {"off", "auto"}, *const names[] = {"library", "lucid"};
    MPI_Comm comms[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *out = rank == 0 && argc == 4 ? fopen(argv[1], "w") : NULL;
    if (argc != 4 || (rank == 0 && !out)) MPI_Abort(MPI_COMM_WORLD, 2);
    n = (size_t)1 << atoi(argv[3]);
    if (out) fprintf(out, "ranks,program,elements,routine,repeat,seconds,reducing\n");
    for (int i = 0; i < 2; i++) comms[i] = communicator(how[i]);
    make_graph();
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        double result[2], seconds = 0, slowest = 0;
        for (int repeat = -1; repeat < atoi(argv[2]); repeat++) /* the first one is not counted */
            for (int k = 0; k < 2; k++) {
                int i = (k + repeat + 2) % 2;
                result[i] = one_run(&programs[p], comms[i], &seconds, &slowest);
                if (out && repeat >= 0)
                    fprintf(out, "%d,%s,%zu,%s,%d,%.6f,%.6f\n", size, programs[p].name, n, names[i], repeat, seconds, slowest);
            }
        if (rank == 0 && result[0] != result[1]) {
            fprintf(stderr, "sparse_programs: %s: %.17g with the library, %.17g with lucid\n", programs[p].name, result[0], result[1]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    if (out) fclose(out);
    free(edges);
    MPI_Finalize();
    return 0;
}
