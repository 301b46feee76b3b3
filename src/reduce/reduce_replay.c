/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_replay.c: LUCID_SPARSE=measure at MPI_Finalize: reductions of the program once more, with the inputs that were kept
 * (reduce_kept.c), by the library's routine and as LUCID_SPARSE=on would run them, in turns. That is what a prediction is best made of: it
 * has the inputs as they were, the library as it is and whatever Lucid finds out by trying.
 *
 * Rank 0 asks for calls, by their place; a call that all processes have kept is run, one of every sort. All decide alike: by what they have
 * agreed on, and by rank 0's clock. Then come calls on communicators of some processes, in all groups that have called a place at once.
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
    struct lucid_reduce_comm *comm;
    MPI_Comm together; /* all that run it: several communicators' processes, where it is one of some */
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
    MPI_Comm comm = replay->comm->comm;
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
    struct lucid_reduce_comm *own = replay->comm;
    struct lucid_reduction reduction = replay->kept->reduction;
    struct sparse_outcome outcome = {.left = false};
    struct sparse_collective *collective;
    struct sparse_call call;
    reduction.input = replay->input;
    reduction.output = replay->output;
    lucid_reduce_describe(&reduction, own, replay->counts, &replay->kept->operator, 0, &call);
    struct sparse_parameters parameters = own->parameters;
    parameters.short_bytes = sparse_short_least(lucid_params()); /* what is kept is run, whether it would be looked at is said elsewhere */
    call.parameters = &parameters;
    call.blocking = true;
    enum sparse_status status = lucid_reduce_create(&call, own, &collective);
    if (status == SPARSE_PENDING) status = lucid_reduce_go_on(own, collective, &outcome);
    if (status == SPARSE_FAILED) replay->failed = true;
    if (status != SPARSE_NOT_OURS) return;
    library(replay);
    if (outcome.left) sparse_state_passed(own->state, NULL, &own->parameters, 0);
}

static void run_once(struct replay *replay, int round)
{
    for (int turn = 0; turn < 2; turn++) {
        PMPI_Barrier(replay->together);
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
    const MPI_Comm comm = replay->together;
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
    if (!lucid_reduce_counts(&kept->reduction, replay->comm->transport.size, &replay->counts)) ok = 0;
    if (!replay->input || !replay->output || !replay->state) ok = 0;
    if (ok) lucid_reduce_kept_restore(kept, replay->input);
    PMPI_Allreduce(&ok, &everywhere, 1, MPI_INT, MPI_MIN, replay->together);
    return everywhere;
}

/* A kept call that all processes of `own` have, and those of `together` of theirs. False where it could not be run, or for want of memory. */
static bool run_again(struct lucid_reduce_comm *own, MPI_Comm together, const struct lucid_reduce_kept *kept, double until,
                      struct lucid_reduce_replayed *result)
{
    struct replay *replay = calloc(1, sizeof *replay);
    int ok = replay != NULL, everywhere = 0;
    PMPI_Allreduce(&ok, &everywhere, 1, MPI_INT, MPI_MIN, together);
    if (!everywhere) {
        free(replay);
        return false;
    }
    replay->kept = kept;
    replay->comm = own;
    replay->together = together;
    bool done = prepare(replay);
    if (done) {
        struct sparse_state *learned = own->state;
        own->state = replay->state;
        set_allocator(kept);
        done = run_in_turns(replay, until, result);
        own->state = learned;
    }
    sparse_state_destroy(replay->state);
    free(replay->counts);
    free(replay->input);
    free(replay->output);
    free(replay);
    return done;
}

static bool is_known(const struct lucid_reduce_replays *replays, const struct lucid_reduce_replayed *one)
{
    for (const struct lucid_reduce_replayed *r = replays->calls; r < replays->calls + replays->n; r++)
        if (r->sort == one->sort && r->ranks == one->ranks && lucid_reduce_same_place(&r->place, &one->place)) return true;
    return false;
}

/* Seconds that are left, by rank 0's clock. */
static double rest(MPI_Comm world, double end)
{
    double left = end - PMPI_Wtime();
    PMPI_Bcast(&left, 1, MPI_DOUBLE, 0, world);
    return left;
}

/* The calls of a place, later ones first: a program's first ones are its least usual. `end` is when all is to be over, by rank 0's clock; `left`
 * how many places are to come, this one included. */
static void replay_place(struct lucid_reduce_comm *world, const struct lucid_reduce_overlap *place, double end, int left,
                         struct lucid_reduce_replays *replays)
{
    for (int number = LUCID_REDUCE_SAMPLES - 1; number >= 0 && replays->n < LUCID_REDUCE_REPLAYS; number--) {
        const struct lucid_reduce_kept *kept = lucid_reduce_kept_of(&place->place, place->elements, number);
        struct lucid_reduce_replayed one = {.place = place->place, .ranks = world->transport.size};
        const double more = rest(world->comm, end), until = PMPI_Wtime() + more / (left * 2);
        uint64_t exceptions;
        if (more <= 0) return;
        if (!is_common(kept, world->comm, &exceptions)) continue;
        one.sort = lucid_reduce_sort(kept->elements, kept->operator.size, exceptions);
        if (!is_known(replays, &one) && run_again(world, world->comm, kept, until, &one)) replays->calls[replays->n++] = one;
    }
}

/* Runs it in all groups that have kept it, in step: in the program they are as well at the same point, and a group that is in the library while
 * another is not would have its share of the processors. Collective over `world`; `own` is NULL at processes without it. */
static bool run_parts(MPI_Comm world, struct lucid_reduce_comm *own, const struct lucid_reduce_kept *kept, double seconds,
                      struct lucid_reduce_replayed *result)
{
    MPI_Comm together;
    double mine[3] = {0}, all[3];
    PMPI_Comm_split(world, own ? 0 : MPI_UNDEFINED, 0, &together);
    if (own) {
        if (run_again(own, together, kept, PMPI_Wtime() + seconds, result)) {
            mine[0] = result->library;
            mine[1] = result->lucid;
            mine[2] = 1;
        }
        PMPI_Comm_free(&together);
    }
    PMPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_MAX, world);
    result->library = all[0];
    result->lucid = all[1];
    return all[2] > 0;
}

/* Call `number` of a part: `own` is this process's communicator, or NULL. False: the time is over. */
static bool replay_part_call(MPI_Comm world, struct lucid_reduce_comm *own, const struct lucid_reduce_part *part, int number,
                             double end, struct lucid_reduce_replays *replays)
{
    const struct lucid_reduce_kept *kept = own ? part->kept[number] : NULL;
    struct lucid_reduce_replayed one = {.place = part->place, .ranks = (int)part->ranks};
    uint64_t exceptions, mine[3] = {0}, all[3];
    const double more = rest(world, end);
    if (more <= 0) return false;
    if (own && is_common(kept, own->comm, &exceptions)) {
        mine[0] = 1;
        mine[1] = exceptions;
        mine[2] = kept->operator.size;
    }
    PMPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, world);
    if (all[0] == 0) return true;
    one.sort = lucid_reduce_sort(part->elements, all[2] / all[0], all[1] / all[0]);
    if (!is_known(replays, &one) && run_parts(world, mine[0] ? own : NULL, kept, more / 4, &one)) replays->calls[replays->n++] = one;
    return true;
}

static bool replay_part(MPI_Comm world, const struct lucid_reduce_part *part, double end, struct lucid_reduce_replays *replays)
{
    bool more = true;
    MPI_Comm comm = lucid_reduce_part_comm(world, part);
    struct lucid_reduce_comm *own = comm != MPI_COMM_NULL ? lucid_reduce_comm(comm) : NULL;
    for (int number = LUCID_REDUCE_SAMPLES - 1; more && number >= 0 && replays->n < LUCID_REDUCE_REPLAYS; number--)
        more = replay_part_call(world, own, part, number, end, replays);
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
    return more && replays->n < LUCID_REDUCE_REPLAYS;
}

void lucid_reduce_replay(struct lucid_reduce_comm *world, const struct lucid_reduce_overlap *overlaps, int n,
                         struct lucid_reduce_replays *replays)
{
    struct lucid_reduce_part part;
    int seconds = lucid_params()->replay;
    PMPI_Bcast(&seconds, 1, MPI_INT, 0, world->comm);
    const double end = PMPI_Wtime() + seconds;
    replays->n = 0;
    for (int i = 0; i < n && seconds > 0; i++) replay_place(world, &overlaps[i], end, n - i, replays);
    bool more = seconds > 0;
    while (more && rest(world->comm, end) > 0 && lucid_reduce_next_part(world->comm, &part))
        more = replay_part(world->comm, &part, end, replays);
}
