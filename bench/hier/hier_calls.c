/* SPDX-License-Identifier: BSD-3-Clause
 * hier_calls.c: time per call of blocking collective operations by coll/hier, coll/han and coll/tuned, in one process: three
 * communicators with the same ranks that differ in who serves them. Blocks of calls take turns, in changing order. Writes one
 * line per block to standard output: operation,bytes,component,block,microseconds per call. A block is a row of calls without a
 * barrier between them, timed from the first rank that begins to the last that ends (one machine, one clock): with more ranks
 * than processors, a barrier before every call would measure who is scheduled when.
 *   hier_calls [-o operation,...] [-s bytes,...] [-r blocks] [-b milliseconds per block]
 * bytes: of the vector (bcast, reduce, allreduce), of a rank's block (allgather, gather, scatter).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SERVERS = 3, SIZES = 40, MOST_CALLS = 50 };
static const char *const server_name[SERVERS] = {"hier", "han", "tuned"};
static const char *const without[SERVERS] = {NULL, "^hier", "^hier,han"};
static MPI_Comm served_by[SERVERS], plain;
static int rank, size;
static char *in, *out;

typedef void (*call_fn)(MPI_Comm comm, int bytes);
static void barrier(MPI_Comm c, int n) { MPI_Barrier(c); }
static void bcast(MPI_Comm c, int n) { MPI_Bcast(out, n, MPI_BYTE, 0, c); }
static void reduce(MPI_Comm c, int n) { MPI_Reduce(in, out, n / 8, MPI_DOUBLE, MPI_SUM, 0, c); }
static void allreduce(MPI_Comm c, int n) { MPI_Allreduce(in, out, n / 8, MPI_DOUBLE, MPI_SUM, c); }
static void allgather(MPI_Comm c, int n) { MPI_Allgather(in, n, MPI_BYTE, out, n, MPI_BYTE, c); }
static void gather(MPI_Comm c, int n) { MPI_Gather(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, c); }
static void scatter(MPI_Comm c, int n) { MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, c); }

static const struct {
    const char *name;
    call_fn call;
    int blocks; /* one per rank */
} operation[] = {{"barrier", barrier, 0},     {"bcast", bcast, 0},   {"reduce", reduce, 0},  {"allreduce", allreduce, 0},
                 {"allgather", allgather, 1}, {"gather", gather, 1}, {"scatter", scatter, 1}};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Microseconds per call, on all ranks. */
static double time_block(call_fn call, MPI_Comm comm, int bytes, int calls)
{
    double span[2], edge[2];
    MPI_Barrier(plain);
    span[0] = -now();
    for (int i = 0; i < calls; i++) call(comm, bytes);
    span[1] = now();
    MPI_Allreduce(span, edge, 2, MPI_DOUBLE, MPI_MAX, plain);
    return (edge[1] + edge[0]) / calls;
}

static void measure(int which, int bytes, int repeats, double budget)
{
    call_fn call = operation[which].call;
    double slowest = 0;
    for (int s = 0; s < SERVERS; s++) { /* warm: connections, set-up, pages */
        (void)time_block(call, served_by[s], bytes, 1);
        double t = time_block(call, served_by[s], bytes, 1);
        if (t > slowest) slowest = t;
    }
    int calls = (int)(budget / slowest);
    calls = calls < 1 ? 1 : calls > MOST_CALLS ? MOST_CALLS : calls;
    for (int r = 0; r < repeats; r++)
        for (int k = 0; k < SERVERS; k++) {
            int s = (r + (r / SERVERS % 2 ? SERVERS - k : k)) % SERVERS;
            double t = time_block(call, served_by[s], bytes, calls);
            if (rank == 0) printf("%s,%d,%s,%d,%.2f\n", operation[which].name, bytes, server_name[s], r, t);
        }
    if (rank == 0) fflush(stdout);
}

static MPI_Comm make(const char *preference)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    if (preference) MPI_Info_set(info, "ompi_comm_coll_preference", preference);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static int read_sizes(char *text, int *sizes)
{
    int n = 0;
    for (char *word = strtok(text, ","); word && n < SIZES; word = strtok(NULL, ",")) sizes[n++] = atoi(word);
    return n;
}

static int is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static char all[] = "8,64,512,4096,16384,65536,262144,1048576,4194304";
    const char *only = NULL;
    char *list = all;
    int sizes[SIZES], repeats = 15, option, most = 0;
    double budget = 20000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((option = getopt(argc, argv, "o:s:r:b:")) != -1) {
        if (option == 'o') only = optarg;
        if (option == 's') list = optarg;
        if (option == 'r') repeats = atoi(optarg);
        if (option == 'b') budget = atof(optarg) * 1000;
    }
    int count = read_sizes(list, sizes);
    for (int i = 0; i < count; i++) most = sizes[i] > most ? sizes[i] : most;
    in = calloc(1, (size_t)most + 8);
    out = calloc((size_t)size, (size_t)most + 8); /* pages that are not used are not there */
    for (int s = 0; s < SERVERS; s++) served_by[s] = make(without[s]);
    plain = make("^hier,han");
    for (int o = 0; o < (int)(sizeof operation / sizeof *operation); o++) {
        if (only && !is_listed(only, operation[o].name)) continue;
        for (int i = 0; i < (operation[o].call == barrier ? 1 : count); i++)
            measure(o, operation[o].call == barrier ? 0 : sizes[i], repeats, budget);
    }
    MPI_Finalize();
    return 0;
}
