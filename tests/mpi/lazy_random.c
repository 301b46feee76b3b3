/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_random.c SEED COUNT: random programs. Communicators are made, used and freed (random_comms.h); every process knows the
 * members of every communicator and with them all results.
 * Nonblocking operations on two communicators are started in another order on every other process, which is legal, too.
 */
#include "lazy_check.h"
#include "random_comms.h"

#define STEPS 120

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
    known_begin(seed);
    for (int step = 0; step < STEPS; step++) {
        int what = draw(10);
        if (what < 3) make();
        else if (what < 4) drop();
        else use(step);
    }
    known_end();
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
