/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_random.c SEED COUNT: random programs. Communicators are made, used and freed in an order that all processes draw from
 * one generator, so that it is legal; every process knows the members of every communicator and with them all results.
 * Nonblocking operations on two communicators are started in another order on every other process, which is legal, too.
 */
#include "lazy_check.h"

#define LIMIT 14
#define STEPS 120
#define RANKS_LIMIT 64

struct known {
    MPI_Comm comm; /* MPI_COMM_NULL on those that are not in it */
    int n, member[RANKS_LIMIT], own; /* ranks in MPI_COMM_WORLD, in order; own position or -1 */
};

static struct known known[LIMIT];
static int count, rank, size;
static unsigned long long state;

static int draw(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned long long)below);
}

/* A number that process `world` contributes to step `step`. */
static int value_of(int world, int step)
{
    return (world * 7919 + step * 31) % 1000 + 1;
}

static void find_own(struct known *one)
{
    one->own = -1;
    for (int i = 0; i < one->n; i++)
        if (one->member[i] == rank) one->own = i;
}

static struct known *append(int n)
{
    struct known *one = &known[count++];
    one->comm = MPI_COMM_NULL;
    one->n = n;
    return one;
}

static void check_members(const struct known *one)
{
    int found_size, found_rank;
    if (one->own < 0) {
        CHECK(one->comm == MPI_COMM_NULL);
        return;
    }
    CHECK_OK(MPI_Comm_size(one->comm, &found_size));
    CHECK_OK(MPI_Comm_rank(one->comm, &found_rank));
    CHECK_EQUAL(found_size, one->n);
    CHECK_EQUAL(found_rank, one->own);
}

static void make_whole(struct known *parent)
{
    int how = draw(3), dimension = parent->n, periodic = 0;
    struct known *one = append(parent->n);
    MPI_Request request;
    memcpy(one->member, parent->member, sizeof one->member);
    find_own(one);
    if (one->own < 0) return;
    if (how == 0) CHECK_OK(MPI_Comm_dup(parent->comm, &one->comm));
    if (how == 1) CHECK_OK(MPI_Cart_create(parent->comm, 1, &dimension, &periodic, 0, &one->comm));
    if (how == 2) {
        CHECK_OK(MPI_Comm_idup(parent->comm, &one->comm, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    check_members(one);
}

/* Two parts, or three, each in order or reversed; only the first one that this parent's seed names is remembered by all. */
static void make_split(struct known *parent)
{
    int parts = 2 + draw(2), reversed = draw(2), kept = draw(parts);
    struct known *one = append(0);
    MPI_Comm mine = MPI_COMM_NULL;
    for (int i = 0; i < parent->n; i++) {
        int position = reversed ? parent->n - 1 - i : i;
        if (position % parts == kept) one->member[one->n++] = parent->member[position];
    }
    find_own(one);
    if (parent->own < 0) return;
    CHECK_OK(MPI_Comm_split(parent->comm, parent->own % parts == kept ? 1 : MPI_UNDEFINED, reversed ? -parent->own : parent->own,
                            &mine));
    one->comm = mine;
    check_members(one);
}

/* A range of the parent's processes; collective over the parent, or over the range alone. */
static void make_from_group(struct known *parent)
{
    int first = draw(parent->n), n = 1 + draw(parent->n - first), alone = draw(2), range[1][3] = {{first, first + n - 1, 1}};
    struct known *one = append(n);
    MPI_Group all, part;
    memcpy(one->member, parent->member + first, (size_t)n * sizeof *one->member);
    find_own(one);
    if (parent->own < 0) return;
    CHECK_OK(MPI_Comm_group(parent->comm, &all));
    CHECK_OK(MPI_Group_range_incl(all, 1, range, &part));
    if (!alone) CHECK_OK(MPI_Comm_create(parent->comm, part, &one->comm));
    if (alone && one->own >= 0) CHECK_OK(MPI_Comm_create_group(parent->comm, part, 3, &one->comm));
    CHECK_OK(MPI_Group_free(&part));
    CHECK_OK(MPI_Group_free(&all));
    check_members(one);
}

static void make(void)
{
    struct known *parent = &known[draw(count)];
    int how = draw(4);
    if (count == LIMIT || parent->n == 0) return;
    if (how < 2) make_whole(parent);
    if (how == 2) make_split(parent);
    if (how == 3) make_from_group(parent);
}

static void drop(void)
{
    if (count < 2) return;
    int which = 1 + draw(count - 1);
    if (known[which].comm != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&known[which].comm));
    known[which] = known[--count];
}

static int sum_of(const struct known *one, int n, int step)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += value_of(one->member[i], step);
    return sum;
}

static void use_rooted(const struct known *one, int how, int root, int step)
{
    int mine = value_of(rank, step), got[RANKS_LIMIT] = {0}, all[RANKS_LIMIT];
    for (int i = 0; i < one->n; i++) all[i] = value_of(one->member[i], step + i);
    if (how == 2 && getenv("LUCID_TEST_NO_GATHER") != NULL) how = 1;
    if (how == 0) {
        got[0] = one->own == root ? mine : -1;
        CHECK_OK(MPI_Bcast(got, 1, MPI_INT, root, one->comm));
        CHECK_EQUAL(got[0], value_of(one->member[root], step));
    } else if (how == 1) {
        CHECK_OK(MPI_Reduce(&mine, got, 1, MPI_INT, MPI_SUM, root, one->comm));
        if (one->own == root) CHECK_EQUAL(got[0], sum_of(one, one->n, step));
    } else if (how == 2) {
        CHECK_OK(MPI_Gather(&mine, 1, MPI_INT, got, 1, MPI_INT, root, one->comm));
        for (int i = 0; one->own == root && i < one->n; i++) CHECK_EQUAL(got[i], value_of(one->member[i], step));
    } else {
        CHECK_OK(MPI_Scatter(all, 1, MPI_INT, got, 1, MPI_INT, root, one->comm));
        CHECK_EQUAL(got[0], value_of(rank, step + one->own));
    }
}

static void use_all(const struct known *one, int how, int step)
{
    int mine = value_of(rank, step), got[RANKS_LIMIT] = {0}, out[RANKS_LIMIT];
    for (int i = 0; i < one->n; i++) out[i] = mine + i;
    if (how == 0) {
        CHECK_OK(MPI_Allreduce(&mine, got, 1, MPI_INT, MPI_SUM, one->comm));
        CHECK_EQUAL(got[0], sum_of(one, one->n, step));
    } else if (how == 1) {
        CHECK_OK(MPI_Allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, one->comm));
        for (int i = 0; i < one->n; i++) CHECK_EQUAL(got[i], value_of(one->member[i], step));
    } else if (how == 2) {
        CHECK_OK(MPI_Alltoall(out, 1, MPI_INT, got, 1, MPI_INT, one->comm));
        for (int i = 0; i < one->n; i++) CHECK_EQUAL(got[i], value_of(one->member[i], step) + one->own);
    } else if (how == 3) {
        CHECK_OK(MPI_Scan(&mine, got, 1, MPI_INT, MPI_SUM, one->comm));
        CHECK_EQUAL(got[0], sum_of(one, one->own + 1, step));
    } else {
        CHECK_OK(MPI_Barrier(one->comm));
    }
}

static void start(const struct known *one, int how, int step, int *mine, int *got, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    *mine = value_of(rank, step);
    if (one->own < 0) return;
    if (how == 0) CHECK_OK(MPI_Iallreduce(mine, got, 1, MPI_INT, MPI_SUM, one->comm, request));
    if (how == 1) CHECK_OK(MPI_Iscan(mine, got, 1, MPI_INT, MPI_SUM, one->comm, request));
    if (how == 2) CHECK_OK(MPI_Ibarrier(one->comm, request));
}

/* Two at once, perhaps a blocking operation on a third communicator meanwhile. */
static void use_nonblocking(int step)
{
    const struct known *used[2] = {&known[draw(count)], &known[draw(count)]}, *third = &known[draw(count)];
    int how[2] = {draw(3), draw(3)}, mine[2], got[2] = {0}, swapped = used[0] != used[1] && rank % 2, blocking = draw(2);
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++) {
        int k = swapped ? 1 - i : i;
        start(used[k], how[k], step + k, &mine[k], &got[k], &requests[k]);
    }
    if (blocking && third->own >= 0) use_all(third, 0, step + 2);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 2; k++)
        if (used[k]->own >= 0 && how[k] < 2)
            CHECK_EQUAL(got[k], sum_of(used[k], how[k] == 0 ? used[k]->n : used[k]->own + 1, step + k));
}

static void use(int step)
{
    const struct known *one = &known[draw(count)];
    int kind = draw(3), how = draw(kind == 0 ? 4 : 5), root = one->n > 0 ? draw(one->n) : 0;
    if (kind == 2) use_nonblocking(step);
    else if (one->own < 0) return;
    else if (kind == 0) use_rooted(one, how, root, step);
    else use_all(one, how, step);
}

static void run_program(unsigned long long seed)
{
    state = seed * 0x9e3779b97f4a7c15ull + 1;
    count = 0;
    struct known *world = append(size);
    for (int i = 0; i < size; i++) world->member[i] = i;
    world->comm = MPI_COMM_WORLD;
    find_own(world);
    for (int step = 0; step < STEPS; step++) {
        int what = draw(10);
        if (what < 3) make();
        else if (what < 4) drop();
        else use(step);
    }
    while (count > 1) {
        count--;
        if (known[count].comm != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&known[count].comm));
    }
}

int main(int argc, char **argv)
{
    unsigned long long first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, programs = argc > 2 ? strtoull(argv[2], NULL, 10) : 20;
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    if (size > RANKS_LIMIT) return skip_test("made for 64 processes at most");
    lazy_check_presence();
    for (unsigned long long i = 0; i < programs; i++) {
        int before = check_failures;
        run_program(first + i);
        if (check_failures > before && rank == 0) fprintf(stderr, "seed %llu failed\n", first + i);
    }
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
