/* SPDX-License-Identifier: BSD-3-Clause
 * place_cg.c: conjugate gradients with NAS CG's messages before and after reordering (the paper's figure 7).
 *
 * usage: place_cg CLASS given|random SEED ITERATIONS      (class S, W, A or B; 0 iterations: all of the class's)
 *
 * `given`: the ranks as the launcher has placed them; `random`: shuffled. The first outer iteration, which the benchmark does not
 * time, is recorded; lucid_comm_reorder() decides for the class's number of iterations to come and the bytes of the matrix to be
 * moved; the matrix follows its rank. Then the iterations on either communicator take turns, and so do iterations of the messages
 * alone. Where nothing is reordered, "after" is the same communicator, and what deciding took is all that it cost.
 * Prints class,placement,seed,side,iteration,seconds,mpi_seconds,messages_seconds and a line "decision,...".
 */
#include <math.h>
#include <string.h>

#include "place_bench.h"
#include "place_cg_solver.h"

static const struct cg_class classes[] = {{'S', 1400, 7, 15, 10, 8.5971775078648},
                                          {'W', 7000, 8, 15, 12, 10.362595087124},
                                          {'A', 14000, 11, 15, 20, 17.130235054029},
                                          {'B', 75000, 13, 75, 60, 22.712745482631}};

/** A communicator and all that belongs to it. */
struct side {
    const char *name;
    MPI_Comm comm;
    struct cg_solver solver;
    struct cg_matrix matrix;
};

struct job {
    const struct cg_class *kind;
    const char *placement;
    unsigned seed;
    int iterations;
    struct side side[2];
};

static MPI_Comm place_ranks(const struct job *job)
{
    int size, rank;
    MPI_Comm comm;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *order = place_allocate((size_t)size * sizeof *order);
    for (int i = 0; i < size; i++) order[i] = i;
    srand(job->seed);
    for (int i = size - 1; strcmp(job->placement, "random") == 0 && i > 0; i--) {
        int j = rand() % (i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, order[rank], &comm);
    free(order);
    return comm;
}

/** Gives the matrix to whoever has the rank now, as a program does that does not make it anew. */
static void move_matrix(const struct cg_matrix *from, struct cg_matrix *to, const int *k, MPI_Comm comm)
{
    int room = from->entries;
    MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_INT, MPI_MAX, comm);
    to->rows = from->rows;
    to->start = place_allocate(((size_t)from->rows + 1) * sizeof(int));
    to->column = place_allocate((size_t)room * sizeof(int));
    to->value = place_allocate((size_t)room * sizeof(double));
    memcpy(to->start, from->start, ((size_t)from->rows + 1) * sizeof(int));
    memcpy(to->column, from->column, (size_t)from->entries * sizeof(int));
    memcpy(to->value, from->value, (size_t)from->entries * sizeof(double));
    int status = lucid_redistribute(to->start, to->rows + 1, MPI_INT, k, comm);
    if (status == LUCID_SUCCESS) status = lucid_redistribute(to->column, room, MPI_INT, k, comm);
    if (status == LUCID_SUCCESS) status = lucid_redistribute(to->value, room, MPI_DOUBLE, k, comm);
    place_need(status == LUCID_SUCCESS, "cannot redistribute the matrix");
    to->entries = to->start[to->rows];
}

static void say_decision(const struct job *job, const lucid_decision_t *d, double seconds, const unsigned long long between[2])
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("decision,%c,%s,%u,%d,%.6f,%.6f,%.6f,%.6f,%llu,%llu\n", job->kind->name, job->placement, job->seed, d->reordered,
               seconds, d->measuring, d->before, d->after, between[0], between[1]);
}

static unsigned long long record(struct side *side, lucid_session_t *session)
{
    *session = place_record(side->comm);
    cg_solver_step(&side->solver, &side->matrix);
    place_recorded(*session);
    return place_between(side->comm, *session);
}

/** The other side, from one recorded iteration. */
static void reorder(struct job *job)
{
    struct side *before = &job->side[0], *after = &job->side[1];
    int size;
    lucid_session_t session;
    lucid_decision_t decision;
    unsigned long long between[2];
    MPI_Comm_size(before->comm, &size);
    int *k = place_allocate((size_t)size * sizeof *k);
    between[0] = record(before, &session);
    lucid_reorder_options_t options = {.recorded = 1, .remaining = (uint64_t)job->kind->niter, .k = k,
                                       .moved_bytes = (uint64_t)before->matrix.entries * (sizeof(double) + sizeof(int))};
    MPI_Allreduce(MPI_IN_PLACE, &options.moved_bytes, 1, MPI_UINT64_T, MPI_MAX, before->comm);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    place_need(lucid_comm_reorder(before->comm, session, &options, &after->comm, &decision) == LUCID_SUCCESS, "cannot reorder");
    if (decision.reordered) move_matrix(&before->matrix, &after->matrix, k, before->comm);
    else after->matrix = before->matrix;
    double seconds = place_slowest(MPI_Wtime() - begin);
    lucid_session_free(session);
    cg_solver_make(&after->solver, job->kind, after->comm);
    between[1] = record(after, &session);
    lucid_session_free(session);
    say_decision(job, &decision, seconds, between);
    free(k);
}

/** An iteration of the messages alone: the vectors are left as they are. */
static double messages_alone(struct side *side)
{
    double communicating = side->solver.communicating, zeta = side->solver.zeta;
    side->solver.only_messages = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    cg_solver_step(&side->solver, &side->matrix);
    double seconds = place_slowest(MPI_Wtime() - begin);
    side->solver.only_messages = 0;
    side->solver.communicating = communicating;
    side->solver.zeta = zeta;
    return seconds;
}

static void iterate(struct job *job, int iteration)
{
    for (int turn = 0; turn < 2; turn++) {
        struct side *side = &job->side[(iteration + turn) % 2];
        int rank;
        double mpi = side->solver.communicating;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        cg_solver_step(&side->solver, &side->matrix);
        double seconds = place_slowest(MPI_Wtime() - begin);
        mpi = side->solver.communicating - mpi;
        MPI_Bcast(&mpi, 1, MPI_DOUBLE, 0, side->comm);
        double alone = messages_alone(side);
        if (rank == 0)
            printf("%c,%s,%u,%s,%d,%.6f,%.6f,%.6f\n", job->kind->name, job->placement, job->seed, side->name, iteration, seconds,
                   mpi, alone);
    }
}

/** Both sides' results, against the published one where all iterations were made. */
static void verify(const struct job *job)
{
    double a = job->side[0].solver.zeta, b = job->side[1].solver.zeta;
    place_need(fabs(a - b) < 1e-10, "CG gives another result after reordering");
    place_need(job->iterations < job->kind->niter || fabs(a - job->kind->zeta) < 1e-10, "CG's zeta is not the published value");
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("zeta,%c,%s,%u,%d,%.13f,%.13f\n", job->kind->name, job->placement, job->seed, job->iterations, a, b);
}

int main(int argc, char **argv)
{
    struct job job = {.side = {{.name = "before"}, {.name = "after"}}};
    MPI_Init(&argc, &argv);
    place_need(argc == 5, "usage: place_cg S|W|A|B given|random SEED ITERATIONS");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].name == argv[1][0]) job.kind = &classes[i];
    place_need(job.kind != NULL, "the class must be S, W, A or B");
    place_need(lucid_init() == LUCID_SUCCESS, "cannot start Lucid");
    job.placement = argv[2];
    job.seed = (unsigned)atoi(argv[3]);
    job.iterations = atoi(argv[4]) > 0 ? atoi(argv[4]) : job.kind->niter;
    struct side *before = &job.side[0], *after = &job.side[1];
    before->comm = place_ranks(&job);
    cg_solver_make(&before->solver, job.kind, before->comm);
    cg_matrix_make(job.kind, &before->solver.block, &before->matrix);
    cg_solver_step(&before->solver, &before->matrix); /* connections, caches */
    reorder(&job);
    for (int i = 0; i < 2; i++) cg_solver_reset(&job.side[i].solver);
    for (int i = 0; i < job.iterations; i++) iterate(&job, i);
    verify(&job);
    if (after->comm != before->comm) {
        cg_matrix_free(&after->matrix);
        MPI_Comm_free(&after->comm);
    }
    cg_matrix_free(&before->matrix);
    MPI_Comm_free(&before->comm);
    for (int i = 0; i < 2; i++) cg_solver_free(&job.side[i].solver);
    lucid_finalize();
    MPI_Finalize();
    return 0;
}
