/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_agree.c: the nonblocking allreduces by which context ids are agreed upon, and those of a program that look like them:
 * many at once, on several communicators, in place and not, among others, completed in another order on every process;
 * communicators made while some are under way; and idups that run before a communicator's first blocking operation on some
 * processes and after it on others. Argument: rounds.
 */
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

#include "lazy_check.h"

enum { COMMS = 3, AT_ONCE = 12 };

static int rank, size;
static uint64_t state = 88172645463325252u;

static unsigned draw(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % below;
}

/* The value of a process in an operation; extremes among them. */
static int value_of(int process, unsigned salt)
{
    unsigned mixed = ((unsigned)process * 2654435761u) ^ (salt * 40503u);
    mixed = (mixed ^ mixed >> 15) * 2246822519u;
    if (mixed % 17 == 0) return INT_MIN;
    return mixed % 19 == 0 ? INT_MAX : (int)(mixed >> 1) - (1 << 30);
}

static int expected(MPI_Op op, unsigned salt)
{
    int best = value_of(0, salt);
    for (int i = 1; i < size; i++) {
        int value = value_of(i, salt);
        if (op == MPI_MAX ? value > best : value < best) best = value;
    }
    return best;
}

struct call {
    MPI_Op op;
    unsigned salt;
    int kind, in_place, mine[2], got[2];
    long wide, wide_got;
};

/* kind 0: as an agreement is; 1: two ints; 2: a sum; 3: a long */
static void start(struct call *call, MPI_Comm comm, MPI_Request *request)
{
    call->salt = draw(1u << 30);
    call->op = draw(2) ? MPI_MAX : MPI_MIN;
    call->kind = draw(2) ? 0 : (int)draw(4);
    call->in_place = (int)draw(2);
    call->mine[0] = call->mine[1] = call->got[0] = call->got[1] = value_of(rank, call->salt);
    call->wide = call->mine[0];
    void *in = call->in_place ? MPI_IN_PLACE : (void *)call->mine;
    if (call->kind <= 1) CHECK_OK(MPI_Iallreduce(in, call->got, call->kind + 1, MPI_INT, call->op, comm, request));
    if (call->kind == 2) {
        call->got[0] = 1;
        CHECK_OK(MPI_Iallreduce(MPI_IN_PLACE, call->got, 1, MPI_INT, MPI_SUM, comm, request));
    }
    if (call->kind == 3) CHECK_OK(MPI_Iallreduce(&call->wide, &call->wide_got, 1, MPI_LONG, call->op, comm, request));
}

static void check(const struct call *call)
{
    int wanted = expected(call->op, call->salt);
    if (call->kind == 2) CHECK_EQUAL(call->got[0], size);
    else if (call->kind == 3) CHECK_EQUAL(call->wide_got, wanted);
    else CHECK_EQUAL(call->got[0], wanted);
    if (call->kind == 1) CHECK_EQUAL(call->got[1], wanted);
}

static void many_at_once(MPI_Comm *comm)
{
    struct call call[AT_ONCE];
    MPI_Request request[AT_ONCE];
    int left = AT_ONCE, order[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        start(&call[i], comm[draw(COMMS)], &request[i]);
        order[i] = i;
    }
    if (draw(4) == 0) { /* an agreement among them (freed before they are done, communicators make libnbc 4.1.4 fail) */
        MPI_Comm made;
        CHECK_OK(MPI_Comm_dup(comm[1], &made));
        CHECK_OK(MPI_Comm_free(&made));
    }
    uint64_t common = state;
    state += (uint64_t)rank * 977;
    (void)draw(2);
    for (; left > 0; left--) {
        int at = (int)draw((unsigned)left);
        CHECK_OK(MPI_Wait(&request[order[at]], MPI_STATUS_IGNORE));
        check(&call[order[at]]);
        order[at] = order[left - 1];
    }
    state = common;
}

/* On odd processes an idup makes all its steps before the first blocking operation, on even ones it may have hardly begun. */
static void idup_around_the_first(void)
{
    MPI_Comm parent, child;
    MPI_Request request;
    int flag, one = 1, sum = 0, root = rank;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    CHECK_OK(MPI_Comm_idup(parent, &child, &request));
    if (rank % 2) usleep(1000);
    for (int i = 0; i < (rank % 2 ? 20 : 0); i++) CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Bcast(&root, 1, MPI_INT, size - 1, parent));
    CHECK_EQUAL(root, size - 1);
    CHECK_OK(MPI_Barrier(parent));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, child));
    CHECK_EQUAL(sum, size);
    CHECK_OK(MPI_Comm_free(&child));
    CHECK_OK(MPI_Comm_free(&parent));
}

/* Nonblocking operations on one communicator and blocking ones on another of the same group, in different orders. */
static void two_of_a_group(void)
{
    MPI_Comm first, second;
    MPI_Request request[2];
    int text[64], largest[4] = {rank, -rank, 5, 7}, got[4], one = 1, sum = 0;
    for (int i = 0; i < 64; i++) text[i] = rank == 0 ? i : -1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &second));
    if (rank % 2) CHECK_OK(MPI_Barrier(second));
    CHECK_OK(MPI_Ibcast(text, 64, MPI_INT, 0, first, &request[0]));
    CHECK_OK(MPI_Iallreduce(largest, got, 4, MPI_INT, MPI_MAX, first, &request[1]));
    if (rank % 2 == 0) CHECK_OK(MPI_Barrier(second));
    CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(text[63], 63);
    CHECK_EQUAL(got[0], size - 1);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, first));
    CHECK_EQUAL(sum, size);
    CHECK_OK(MPI_Iallreduce(largest, got, 4, MPI_INT, MPI_MAX, first, &request[0]));
    CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, first, &request[1]));
    CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(got[0], size - 1);
    CHECK_EQUAL(sum, 1);
    CHECK_OK(MPI_Comm_free(&first));
    CHECK_OK(MPI_Comm_free(&second));
}

int main(int argc, char **argv)
{
    int provided, rounds = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Comm comm[COMMS];
    CHECK_OK(MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    if (!is_open_mpi()) return skip_test("coll/lazy is a component of Open MPI");
    lazy_check_presence();
    for (int i = 0; i < COMMS; i++) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    CHECK_OK(MPI_Barrier(comm[2])); /* one that is ready, two that wait */
    for (int i = 0; i < rounds; i++) {
        many_at_once(comm);
        if (i % 10 == 0) idup_around_the_first();
        if (i % 10 == 5) two_of_a_group();
    }
    for (int i = 0; i < COMMS; i++) CHECK_OK(MPI_Comm_free(&comm[i]));
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
