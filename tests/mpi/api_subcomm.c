/* SPDX-License-Identifier: BSD-3-Clause
 * api_subcomm.c: a session on a communicator records what its members send each other, whatever communicator carries
 * it, and nothing else. The example of the paper: even and odd processes; ranks 0 and 2 talk through MPI_COMM_WORLD.
 */
#include <MPI_Monitoring.h>

#include "api_check.h"

static int size;

/* Everybody sends 10 + receiver bytes to everybody, itself included. */
static void everybody_to_everybody(MPI_Comm comm)
{
    char out[256] = {0}, in[256];
    int n, rank;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &rank);
    for (int shift = 0; shift < n; shift++) {
        int to = (rank + shift) % n, from = (rank + n - shift) % n;
        MPI_Sendrecv(out, 10 + to, MPI_BYTE, to, 0, in, sizeof(in), MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
    }
}

/* Pairs of neighbours, one even and one odd, talk through an inter-communicator; the last of an odd number does not. */
static void across(MPI_Comm half)
{
    MPI_Comm inter;
    int rank, other;
    char out[64] = {0}, in[64];
    if (size < 2) return;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check_rank % 2 ? 0 : 1, 5, &inter);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &other);
    int partner = rank < other ? rank : MPI_PROC_NULL;
    MPI_Sendrecv(out, 33, MPI_BYTE, partner, 0, in, sizeof(in), MPI_BYTE, partner, 0, inter, MPI_STATUS_IGNORE);
    MPI_Comm_free(&inter);
}

static MPI_M_msid begin(MPI_Comm comm)
{
    MPI_M_msid id;
    CHECK_OK(MPI_M_start(comm, &id));
    return id;
}

/* Every member sent every member `times` messages of 10 + world rank bytes; members are every `stride`-th process. */
static void expect(MPI_M_msid id, int members, int first, int stride, int times)
{
    uint64_t count[64], bytes[64];
    int elements;
    CHECK_OK(lucid_session_size(id, &elements));
    CHECK_EQUAL(elements, members);
    CHECK_OK(lucid_session_get(id, LUCID_KINDS_USER, count, bytes));
    for (int i = 0; i < members; i++) {
        CHECK_EQUAL(count[i], times);
        CHECK_EQUAL(bytes[i], times * (10 + first + stride * i));
    }
}

static void even_and_odd(MPI_Comm half)
{
    int members, parity = check_rank % 2;
    MPI_Comm_size(half, &members);
    MPI_M_msid world = begin(MPI_COMM_WORLD), mine = begin(half), self = begin(MPI_COMM_SELF);
    everybody_to_everybody(MPI_COMM_WORLD);
    CHECK_OK(MPI_M_suspend(MPI_M_ALL_MSID));
    expect(world, size, 0, 1, 1);
    expect(mine, members, parity, 2, 1);
    expect(self, 1, check_rank, 1, 1);

    CHECK_OK(MPI_M_reset(MPI_M_ALL_MSID));
    CHECK_OK(MPI_M_continue(MPI_M_ALL_MSID));
    everybody_to_everybody(MPI_COMM_SELF);
    CHECK_OK(MPI_M_suspend(MPI_M_ALL_MSID));
    uint64_t count[64], bytes[64];
    CHECK_OK(lucid_session_get(mine, LUCID_KINDS_USER, count, bytes));
    for (int i = 0; i < members; i++) CHECK_EQUAL(bytes[i], i == check_rank / 2 ? 10 : 0);
    CHECK_OK(MPI_M_free(world));
    CHECK_OK(MPI_M_free(mine));
    CHECK_OK(MPI_M_free(self));
}

/* Members never meet across the halves, so the inter-communicator shows in the session on MPI_COMM_WORLD alone. */
static void inter_communicator(MPI_Comm half)
{
    uint64_t count[64], bytes[64];
    int members, partner = check_rank ^ 1;
    MPI_Comm_size(half, &members);
    MPI_M_msid world = begin(MPI_COMM_WORLD), mine = begin(half);
    across(half);
    CHECK_OK(MPI_M_suspend(MPI_M_ALL_MSID));
    CHECK_OK(lucid_session_get(world, LUCID_KINDS_USER, count, bytes));
    for (int i = 0; i < size; i++) CHECK_EQUAL(bytes[i], i == partner ? 33 : 0);
    CHECK_OK(lucid_session_get(mine, LUCID_KINDS_USER, count, bytes));
    for (int i = 0; i < members; i++) CHECK_EQUAL(count[i], 0);
    CHECK_OK(MPI_M_free(world));
    CHECK_OK(MPI_M_free(mine));
}

/* The matrix of a sub-communicator with its ranks reversed: rows and columns are ranks of that communicator. */
static void reversed(void)
{
    MPI_Comm comm;
    size_t cells = (size_t)size * (size_t)size;
    unsigned long *counts = calloc(cells, sizeof(*counts)), *sizes = calloc(cells, sizeof(*sizes));
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comm);
    MPI_M_msid id = begin(comm);
    everybody_to_everybody(MPI_COMM_WORLD);
    CHECK_OK(MPI_M_suspend(id));
    CHECK_OK(MPI_M_allgather_data(id, counts, sizes, MPI_M_P2P_ONLY));
    for (int from = 0; from < size; from++) {
        for (int to = 0; to < size; to++) {
            CHECK_EQUAL(counts[from * size + to], 1);
            CHECK_EQUAL(sizes[from * size + to], 10 + size - 1 - to);
        }
    }
    CHECK_OK(MPI_M_free(id));
    MPI_Comm_free(&comm);
    free(counts);
    free(sizes);
}

/* A process need not be a member of anything; nor need all be in a session. */
static void part_of_the_processes(void)
{
    MPI_Comm first;
    MPI_M_msid id = 0;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0 ? 0 : MPI_UNDEFINED, 0, &first);
    if (check_rank == 0) id = begin(first);
    everybody_to_everybody(MPI_COMM_WORLD);
    if (check_rank != 0) return;
    CHECK_OK(MPI_M_suspend(id));
    expect(id, 1, 0, 1, 1);
    CHECK_OK(MPI_M_free(id));
    MPI_Comm_free(&first);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half);
    CHECK_OK(MPI_M_init());
    even_and_odd(half);
    inter_communicator(half);
    reversed();
    part_of_the_processes();
    CHECK_OK(MPI_M_finalize());
    MPI_Comm_free(&half);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
