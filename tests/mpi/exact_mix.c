/* SPDX-License-Identifier: BSD-3-Clause
 * exact_mix.c: a program of many calls that writes its matrices; exact_compare.py runs it with two sources, which must
 * see the same messages. Usage: exact_mix PREFIX
 */
#include <MPI_Monitoring.h>

#include "api_check.h"

#define BYTES 200000

static int size;
static char *out, *in;

static void user_messages(void)
{
    MPI_Request requests[2];
    for (int i = 1; i <= 5; i++) {
        int to = (check_rank + i) % size, from = (check_rank + size * i - i) % size;
        MPI_Irecv(in, i * 1000, MPI_BYTE, from, i, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, i * 1000, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void blocking_collectives(MPI_Comm comm)
{
    int n, rank, counts[64], displacements[64], equal[64];
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < n; i++) {
        counts[i] = 100 * (i + 1);         /* what process i is sent, */
        equal[i] = 100 * (rank + 1);       /* so this process gets as much from everyone */
        displacements[i] = 100 * (n + 1) * i;
    }
    MPI_Barrier(comm);
    MPI_Bcast(out, BYTES, MPI_BYTE, n - 1, comm);
    MPI_Reduce(out, in, 1000, MPI_INT, MPI_SUM, 0, comm);
    MPI_Allreduce(out, in, 20000, MPI_INT, MPI_MAX, comm);
    MPI_Gather(out, 500, MPI_BYTE, in, 500, MPI_BYTE, 0, comm);
    MPI_Scatter(out, 500, MPI_BYTE, in, 500, MPI_BYTE, 0, comm);
    MPI_Allgather(out, 3000, MPI_BYTE, in, 3000, MPI_BYTE, comm);
    MPI_Alltoall(out, 4000, MPI_BYTE, in, 4000, MPI_BYTE, comm);
    MPI_Alltoall(out, 10, MPI_BYTE, in, 10, MPI_BYTE, comm);
    MPI_Scan(out, in, 100, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(out, in, 100, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(out, in, 100, MPI_INT, MPI_SUM, comm);
    MPI_Alltoallv(out, counts, displacements, MPI_BYTE, in, equal, displacements, MPI_BYTE, comm);
}

static void nonblocking_collectives(void)
{
    MPI_Request requests[4];
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(out, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallreduce(MPI_IN_PLACE, in, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    MPI_Ialltoall(out, 100, MPI_BYTE, in + BYTES / 2, 100, MPI_BYTE, MPI_COMM_WORLD, &requests[3]);
    user_messages();
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void communicators(void)
{
    MPI_Comm half, copy;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
    MPI_Comm_dup(half, &copy);
    blocking_collectives(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

static void write_matrices(MPI_M_msid id, const char *prefix)
{
    static const struct {
        const char *name;
        int flags;
    } sets[] = {{"p2p", MPI_M_P2P_ONLY}, {"coll", MPI_M_COLL_ONLY}, {"all", MPI_M_ALL_COMM}};
    for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
        char name[4096];
        snprintf(name, sizeof(name), "%s.%s", prefix, sets[i].name);
        CHECK_OK(MPI_M_rootflush(id, 0, name, sets[i].flags));
        CHECK_OK(MPI_M_flush(id, name, sets[i].flags));
    }
}

int main(int argc, char **argv)
{
    MPI_M_msid id;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    out = calloc(4, BYTES);
    in = calloc(4, BYTES);
    CHECK_OK(MPI_M_init());
    CHECK_OK(MPI_M_start(MPI_COMM_WORLD, &id));
    user_messages();
    blocking_collectives(MPI_COMM_WORLD);
    nonblocking_collectives();
    communicators();
    CHECK_OK(MPI_M_suspend(id));
    write_matrices(id, argc > 1 ? argv[1] : "mix");
    CHECK_OK(MPI_M_free(id));
    CHECK_OK(MPI_M_finalize());
    free(out);
    free(in);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
