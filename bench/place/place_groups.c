/* SPDX-License-Identifier: BSD-3-Clause
 * place_groups.c: groups of processes that call MPI_Allgather, spread over the nodes and reordered (the paper's figure 6).
 *
 * usage: place_groups REPETITIONS GROUP LIMIT SIZES ITERATIONS      (sizes in ints, both lists with commas)
 *
 * Groups are GROUP consecutive ranks. For every cell: t1, n iterations; one iteration recorded, and Lucid's decision for n
 * iterations to come; t2, the reordering and the groups made anew (done by `always` where the decision was no); t3, n iterations
 * on the new groups. Cells of more than LIMIT seconds on either side are left out.
 * Prints ints,iterations,repetition,t1,t2,t3,reordered,before,after,spent,creating,measuring,between_before,between_after.
 */
#include <string.h>

#include "place_bench.h"

enum { MOST = 16 };

struct work {
    int ints, group;
    int *in, *out;
};

struct cell {
    double t1, t2, t3;
    lucid_decision_t decision;
    unsigned long long between[2];
};

static double gather(const struct work *work, MPI_Comm group, int iterations)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < iterations; i++) MPI_Allgather(work->in, work->ints, MPI_INT, work->out, work->ints, MPI_INT, group);
    return place_slowest(MPI_Wtime() - begin);
}

static void check(const struct work *work, MPI_Comm group)
{
    int size, rank;
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &size);
    for (int i = 0; i < work->ints; i++) work->in[i] = rank * 3 + i;
    MPI_Allgather(work->in, work->ints, MPI_INT, work->out, work->ints, MPI_INT, group);
    for (int i = 0; i < size * work->ints; i++)
        place_need(work->out[i] == i / work->ints * 3 + i % work->ints, "an allgather gave a wrong result");
}

static double split(const struct work *work, MPI_Comm comm, MPI_Comm *group)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    double begin = MPI_Wtime();
    MPI_Comm_split(comm, rank / work->group, rank, group);
    return MPI_Wtime() - begin;
}

static unsigned long long bytes_between(const struct work *work, MPI_Comm group)
{
    lucid_session_t session = place_record(MPI_COMM_WORLD);
    MPI_Allgather(work->in, work->ints, MPI_INT, work->out, work->ints, MPI_INT, group);
    place_recorded(session);
    unsigned long long bytes = place_between(MPI_COMM_WORLD, session);
    lucid_session_free(session);
    return bytes;
}

/** The decision, and the reordered communicator with its groups, by force if need be. */
static MPI_Comm reorder(const struct work *work, int iterations, double change, lucid_session_t session, struct cell *cell,
                        MPI_Comm *group)
{
    MPI_Comm comm;
    lucid_reorder_options_t options = {.recorded = 1, .remaining = (uint64_t)iterations, .change_seconds = change};
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    place_need(lucid_comm_reorder(MPI_COMM_WORLD, session, &options, &comm, &cell->decision) == LUCID_SUCCESS, "cannot reorder");
    double once = cell->decision.measuring;
    if (!cell->decision.reordered) {
        options.always = 1;
        once = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        place_need(lucid_comm_reorder(MPI_COMM_WORLD, session, &options, &comm, NULL) == LUCID_SUCCESS, "cannot reorder");
    }
    split(work, comm, group);
    cell->t2 = place_slowest(MPI_Wtime() - begin - once);
    return comm;
}

static struct cell measure(const struct work *work, int iterations)
{
    struct cell cell = {.t1 = 0};
    MPI_Comm group, packed;
    double change = place_slowest(split(work, MPI_COMM_WORLD, &group));
    check(work, group);
    cell.t1 = gather(work, group, iterations);
    lucid_session_t session = place_record(MPI_COMM_WORLD);
    MPI_Allgather(work->in, work->ints, MPI_INT, work->out, work->ints, MPI_INT, group);
    place_recorded(session);
    cell.between[0] = place_between(MPI_COMM_WORLD, session);
    MPI_Comm comm = reorder(work, iterations, change, session, &cell, &packed);
    lucid_session_free(session);
    check(work, packed);
    cell.t3 = gather(work, packed, iterations);
    cell.between[1] = bytes_between(work, packed);
    MPI_Comm_free(&group);
    MPI_Comm_free(&packed);
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    return cell;
}

static void print(const struct work *work, int iterations, int repetition, const struct cell *c)
{
    const lucid_decision_t *d = &c->decision;
    printf("%d,%d,%d,%.6f,%.6f,%.6f,%d,%.9f,%.9f,%.6f,%.6f,%.6f,%llu,%llu\n", work->ints, iterations, repetition, c->t1, c->t2,
           c->t3, d->reordered, d->before, d->after, d->mapping, d->creating, d->measuring, c->between[0], c->between[1]);
    fflush(stdout);
}

/** Seconds of an iteration as the groups stand now: what is too long to be measured is left out. */
static double estimate(const struct work *work)
{
    MPI_Comm group;
    split(work, MPI_COMM_WORLD, &group);
    gather(work, group, 1);
    double seconds = gather(work, group, 3) / 3;
    MPI_Comm_free(&group);
    return seconds;
}

static int read_list(char *text, int *value)
{
    int n = 0;
    for (char *word = strtok(text, ","); word && n < MOST; word = strtok(NULL, ",")) value[n++] = atoi(word);
    return n;
}

int main(int argc, char **argv)
{
    int size[MOST], iterations[MOST], rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    place_need(argc == 6, "usage: place_groups REPETITIONS GROUP LIMIT SIZES ITERATIONS");
    place_need(lucid_init() == LUCID_SUCCESS, "cannot start Lucid");
    int sizes = read_list(argv[4], size), lengths = read_list(argv[5], iterations);
    for (int repetition = 0; repetition < atoi(argv[1]); repetition++)
        for (int s = 0; s < sizes; s++) {
            struct work work = {.ints = size[s], .group = atoi(argv[2])};
            work.in = place_allocate((size_t)work.ints * sizeof *work.in);
            work.out = place_allocate((size_t)work.ints * (size_t)work.group * sizeof *work.out);
            double each = estimate(&work);
            for (int i = 0; i < lengths && (i == 0 || each * iterations[i] <= atof(argv[3])); i++) {
                struct cell cell = measure(&work, iterations[i]);
                if (rank == 0) print(&work, iterations[i], repetition, &cell);
            }
            free(work.in);
            free(work.out);
        }
    lucid_finalize();
    MPI_Finalize();
    return 0;
}
