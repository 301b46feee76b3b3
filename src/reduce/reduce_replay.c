/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_replay.c: LUCID_SPARSE=measure at MPI_Finalize: reductions of the program once more, with the inputs that were kept
 * (reduce_kept.c), by the library's routine and as LUCID_SPARSE=on would run them, in turns. That is what a prediction is best made of: it
 * has the inputs as they were, the library as it is and whatever Lucid finds out by trying.
 *
 * Rank 0 asks for calls, by their place; a call that all processes have kept is run, one of every sort. All decide alike: by what they have
 * agreed on, and by rank 0's clock.
 */
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "../sparse/sparse_state.h"
#include "reduce_sites.h"

/* Calls of each; what counts are those of the second half, when the core has found out what is quickest. */
enum { ROUNDS = 64, BATCH = 2 };

struct replay {
    const struct lucid_reduce_kept *kept;
    struct lucid_reduce_comm *world;
    struct sparse_state *state; /* of this call alone */
    char *input, *output;
    size_t *counts;
    double seconds[2][ROUNDS]; /* the library's, Lucid's */
    bool failed;
};

/* An allocator that was given long vectors back keeps them for the next ones, and the library's own memory is not new in every call any
 * more, as it may have been in the program: page faults there for half of a vector and more say so. (glibc's threshold grows with what is
 * freed.) */
static void set_allocator(const struct lucid_reduce_kept *kept)
{
#ifdef M_MMAP_THRESHOLD
    static bool set;
    const int sort = lucid_reduce_sort(kept->elements, kept->operator.size, kept->exceptions);
    const double pages = (double)(kept->elements * kept->operator.size) / (double)sysconf(_SC_PAGESIZE);
    const bool anew = lucid_reduce_faults_of(&kept->reduction, sort) >= pages / 2;
    if (!anew && !set) return;
    set = true;
    mallopt(M_MMAP_THRESHOLD, anew ? 128 << 10 : 32 << 20);
    mallopt(M_TRIM_THRESHOLD, anew ? 128 << 10 : 64 << 20);
    if (anew) (void)malloc_trim(0);
#endif
}

/* Whether all processes have kept the same call. *exceptions: the mean of theirs. */
static bool is_common(const struct lucid_reduce_kept *kept, MPI_Comm comm, uint64_t *exceptions)
{
    const struct lucid_reduction *r = kept ? &kept->reduction : NULL;
    int64_t mine[16] = {0}, least[16];
    uint64_t own = kept ? kept->exceptions : 0;
    int size;
    if (kept) {
        const int64_t values[] = {1, (int64_t)kept->order, (int64_t)kept->elements, r->kind, r->root, kept->operator.op, kept->operator.type,
                                  r->counts != NULL};
        for (int i = 0; i < 8; i++) {
            mine[i] = values[i];
            mine[8 + i] = -values[i];
        }
    }
    PMPI_Allreduce(mine, least, 16, MPI_INT64_T, MPI_MIN, comm);
    PMPI_Allreduce(&own, exceptions, 1, MPI_UINT64_T, MPI_SUM, comm);
    PMPI_Comm_size(comm, &size);
    *exceptions /= (uint64_t)size;
    bool same = least[0] == 1;
    for (int i = 0; i < 8; i++) same = same && least[i] == -least[8 + i];
    return same;
}

static void library(const struct replay *replay)
{
    const struct lucid_reduction *r = &replay->kept->reduction;
    const int n = (int)r->count;
    MPI_Comm comm = replay->world->comm;
    switch (r->kind) {
    case SPARSE_REDUCE: PMPI_Reduce(replay->input, replay->output, n, r->type, r->op, r->root, comm); break;
    case SPARSE_ALLREDUCE: PMPI_Allreduce(replay->input, replay->output, n, r->type, r->op, comm); break;
    case SPARSE_SCAN: PMPI_Scan(replay->input, replay->output, n, r->type, r->op, comm); break;
    case SPARSE_EXSCAN: PMPI_Exscan(replay->input, replay->output, n, r->type, r->op, comm); break;
    default:
        if (r->counts) PMPI_Reduce_scatter(replay->input, replay->output, r->counts, r->type, r->op, comm);
        else PMPI_Reduce_scatter_block(replay->input, replay->output, n, r->type, r->op, comm);
    }
}

/* As lucid_reduce_run() does it. */
static void with_lucid(struct replay *replay)
{
    struct lucid_reduce_comm *world = replay->world;
    struct lucid_reduction reduction = replay->kept->reduction;
    struct sparse_outcome outcome = {.left = false};
    struct sparse_collective *collective;
    struct sparse_call call;
    reduction.input = replay->input;
    reduction.output = replay->output;
    lucid_reduce_describe(&reduction, world, replay->counts, &replay->kept->operator, 0, &call);
    call.blocking = true;
    enum sparse_status status = lucid_reduce_create(&call, world, &collective);
    if (status == SPARSE_PENDING) status = lucid_reduce_go_on(world, collective, &outcome);
    if (status == SPARSE_FAILED) replay->failed = true;
    if (status != SPARSE_NOT_OURS) return;
    library(replay);
    if (outcome.left) sparse_state_passed(world->state, &world->parameters, 0);
}

static void run_once(struct replay *replay, int round)
{
    for (int turn = 0; turn < 2; turn++) {
        PMPI_Barrier(replay->world->comm);
        const double since = PMPI_Wtime();
        if (turn == 0) library(replay);
        else with_lucid(replay);
        replay->seconds[turn][round] = PMPI_Wtime() - since;
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Until rank 0's clock says `until`, or there are enough. False where the core has failed at any process. */
static bool run_in_turns(struct replay *replay, double until, struct lucid_reduce_replayed *result)
{
    const MPI_Comm comm = replay->world->comm;
    int n = 0, more = 1, failed = 0, any = 0;
    while (more && n < ROUNDS) {
        for (int i = 0; i < BATCH; i++) run_once(replay, n++);
        more = PMPI_Wtime() < until;
        PMPI_Bcast(&more, 1, MPI_INT, 0, comm);
    }
    failed = replay->failed;
    PMPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, comm);
    PMPI_Allreduce(MPI_IN_PLACE, replay->seconds, 2 * ROUNDS, MPI_DOUBLE, MPI_MAX, comm);
    result->library = median(replay->seconds[0] + n / 2, n - n / 2);
    result->lucid = median(replay->seconds[1] + n / 2, n - n / 2);
    return !any;
}

static bool prepare(struct replay *replay)
{
    const struct lucid_reduce_kept *kept = replay->kept;
    const size_t bytes = kept->elements * kept->operator.size;
    int ok = 1, everywhere = 0;
    replay->input = malloc(bytes);
    replay->output = calloc(1, bytes);
    replay->state = sparse_state_create();
    if (!lucid_reduce_counts(&kept->reduction, replay->world->transport.size, &replay->counts)) ok = 0;
    if (!replay->input || !replay->output || !replay->state) ok = 0;
    if (ok) lucid_reduce_kept_restore(kept, replay->input);
    PMPI_Allreduce(&ok, &everywhere, 1, MPI_INT, MPI_MIN, replay->world->comm);
    return everywhere;
}

/* A kept call that all processes have. False where it could not be run, or for want of memory. */
static bool run_again(struct lucid_reduce_comm *world, const struct lucid_reduce_kept *kept, double until,
                      struct lucid_reduce_replayed *result)
{
    struct replay *replay = calloc(1, sizeof *replay);
    int ok = replay != NULL, everywhere = 0;
    PMPI_Allreduce(&ok, &everywhere, 1, MPI_INT, MPI_MIN, world->comm);
    if (!everywhere) {
        free(replay);
        return false;
    }
    replay->kept = kept;
    replay->world = world;
    bool done = prepare(replay);
    if (done) {
        struct sparse_state *learned = world->state;
        world->state = replay->state;
        set_allocator(kept);
        done = run_in_turns(replay, until, result);
        world->state = learned;
    }
    sparse_state_destroy(replay->state);
    free(replay->counts);
    free(replay->input);
    free(replay->output);
    free(replay);
    return done;
}

static bool is_known(const struct lucid_reduce_replayed *replays, int n, const struct lucid_reduce_place *place, int sort)
{
    for (int i = 0; i < n; i++)
        if (replays[i].sort == sort && lucid_reduce_same_place(&replays[i].place, place)) return true;
    return false;
}

/* The calls of a place, later ones first: a program's first ones are its least usual. `end` is when all is to be over, by rank 0's clock; `left`
 * how many places are to come, this one included. */
static int replay_place(struct lucid_reduce_comm *world, const struct lucid_reduce_overlap *place, double end, int left,
                        struct lucid_reduce_replayed *replays, int n)
{
    for (int number = LUCID_REDUCE_SAMPLES - 1; number >= 0 && n < LUCID_REDUCE_REPLAYS; number--) {
        struct lucid_reduce_kept *kept = lucid_reduce_kept_of(&place->place, place->elements, number);
        uint64_t exceptions;
        const double since = PMPI_Wtime();
        int more = since < end;
        PMPI_Bcast(&more, 1, MPI_INT, 0, world->comm);
        if (!more) return n;
        if (!is_common(kept, world->comm, &exceptions)) continue;
        const int sort = lucid_reduce_sort(kept->elements, kept->operator.size, exceptions);
        if (is_known(replays, n, &place->place, sort)) continue;
        replays[n] = (struct lucid_reduce_replayed){.place = place->place, .sort = sort};
        if (run_again(world, kept, since + (end - since) / (left * 2), &replays[n])) n++;
    }
    return n;
}

void lucid_reduce_replay(struct lucid_reduce_comm *world, const struct lucid_reduce_overlap *overlaps, int n,
                         struct lucid_reduce_replays *replays)
{
    int seconds = lucid_params()->replay;
    PMPI_Bcast(&seconds, 1, MPI_INT, 0, world->comm);
    const double end = PMPI_Wtime() + seconds;
    replays->n = 0;
    if (seconds == 0) return;
    for (int i = 0; i < n; i++) replays->n = replay_place(world, &overlaps[i], end, n - i, replays->calls, replays->n);
}
