/* SPDX-License-Identifier: BSD-3-Clause
 * One-sided calls: all five kinds, to the right rank of MPI_COMM_WORLD, without breaking shared windows.
 */
#include "pmpi_row.h"

enum { N = 4 };

static long out[N], in[N], before[N];

/* target: rank in the window's group; world: the same process in MPI_COMM_WORLD. */
static void all_kinds(const char *where, MPI_Win win, int target, int world)
{
    const uint64_t all = N * sizeof(long), one = sizeof(long);
    row_begin();
    MPI_Win_lock_all(0, win);
    MPI_Put(out, N, MPI_LONG, target, 0, N, MPI_LONG, win);
    row_expect(LUCID_KIND_PUT, world, 1, all);
    MPI_Win_flush(target, win);
    MPI_Get(in, N, MPI_LONG, target, 0, N, MPI_LONG, win);
    row_expect(LUCID_KIND_GET, world, 1, all);
    MPI_Win_flush(target, win);
    MPI_Accumulate(out, N, MPI_LONG, target, 0, N, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(target, win);
    MPI_Get_accumulate(out, N, MPI_LONG, in, N, MPI_LONG, target, 0, N, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(target, win);
    MPI_Get_accumulate(NULL, 0, MPI_LONG, in, N, MPI_LONG, target, 0, N, MPI_LONG, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    row_expect(LUCID_KIND_ACCUMULATE, world, 3, 3 * all);
    MPI_Fetch_and_op(out, in, MPI_LONG, target, 0, MPI_SUM, win);
    MPI_Win_flush(target, win);
    row_expect(LUCID_KIND_FETCH_AND_OP, world, 1, one);
    MPI_Compare_and_swap(out, before, in, MPI_LONG, target, 0, win);
    MPI_Win_flush(target, win);
    row_expect(LUCID_KIND_COMPARE_AND_SWAP, world, 1, one);
    MPI_Win_unlock_all(win);
    row_end(where);
}

static void with_requests(MPI_Win win, int target, int world)
{
    const uint64_t all = N * sizeof(long);
    MPI_Request request;
    row_begin();
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Rput(out, N, MPI_LONG, target, 0, N, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    row_expect(LUCID_KIND_PUT, world, 1, all);
    MPI_Rget(in, N, MPI_LONG, target, 0, N, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    row_expect(LUCID_KIND_GET, world, 1, all);
    MPI_Raccumulate(out, N, MPI_LONG, target, 0, N, MPI_LONG, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(out, N, MPI_LONG, in, N, MPI_LONG, target, 0, N, MPI_LONG, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    row_expect(LUCID_KIND_ACCUMULATE, world, 2, 2 * all);
    MPI_Win_unlock(target, win);
    row_end("with requests");
}

static void fence(MPI_Win win, int target, int world)
{
    row_begin();
    MPI_Win_fence(0, win);
    MPI_Put(out, N, MPI_LONG, MPI_PROC_NULL, 0, N, MPI_LONG, win);
    MPI_Put(out, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    row_expect(LUCID_KIND_PUT, world, 1, sizeof(long));
    MPI_Win_fence(0, win);
    row_end("fence, and nobody");
}

/* Windows over shared memory go on working, and what is put into them is seen. */
static void shared(void)
{
    MPI_Comm node;
    MPI_Win win;
    long *mine, *theirs;
    int rank, size, unit;
    MPI_Aint length;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -row_rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    CHECK_EQUAL(size, row_size); /* the tests run on one machine */
    MPI_Win_allocate_shared(N * sizeof(long), sizeof(long), MPI_INFO_NULL, node, &mine, &win);
    mine[0] = row_rank;
    MPI_Win_fence(0, win);
    for (int i = 0; i < size; i++) {
        CHECK_OK(MPI_Win_shared_query(win, i, &length, &unit, &theirs));
        CHECK_EQUAL(length, N * sizeof(long));
        CHECK_EQUAL(unit, sizeof(long));
        CHECK_EQUAL(theirs[0], row_size - 1 - i); /* the node's communicator is reversed */
    }
    MPI_Win_fence(0, win);
    all_kinds("a shared window", win, (rank + 1) % size, row_size - 1 - (rank + 1) % size);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    MPI_Comm reversed;
    MPI_Win win;
    long *base, memory[N] = {0};
    MPI_Init(&argc, &argv);
    row_open();
    const int target = (row_rank + 1) % row_size;
    MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    all_kinds("an allocated window", win, target, target);
    with_requests(win, target, target);
    fence(win, target, target);
    MPI_Win_free(&win);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -row_rank, &reversed);
    MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, reversed, &win);
    all_kinds("a window over a reversed communicator", win, row_size - 1 - target, target);
    MPI_Win_free(&win);
    MPI_Comm_free(&reversed);
    shared();
    row_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
