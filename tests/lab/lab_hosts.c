/* SPDX-License-Identifier: BSD-3-Clause
 * lab_hosts: what an MPI program sees of the lab. Prints one line per rank, "rank <r> host <name> shared <ranks> hosts <n>":
 * its host, how many ranks share memory with it, and how many such groups there are. Fails if ranks of one group are on
 * different hosts, or if data do not arrive intact.
 */
#include <stdio.h>
#include <string.h>

#include <mpi.h>

enum { NAME = 64, MAX_RANKS = 1024 };

static char names[MAX_RANKS][NAME];

static int same_host_everywhere(MPI_Comm comm, const char *mine)
{
    int size;
    MPI_Comm_size(comm, &size);
    MPI_Allgather(mine, NAME, MPI_CHAR, names, NAME, MPI_CHAR, comm);
    for (int i = 0; i < size; i++)
        if (strcmp(names[i], mine) != 0) return 0;
    return 1;
}

/* Every rank gets one number from every other. */
static int exchange_is_intact(int rank, int size)
{
    static int out[MAX_RANKS], in[MAX_RANKS];
    for (int i = 0; i < size; i++) out[i] = rank * size + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        if (in[i] != i * size + rank) return 0;
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size, shared_rank, shared_size, leader, hosts, length, good;
    char processor[MPI_MAX_PROCESSOR_NAME], name[NAME] = {0};
    MPI_Comm shared;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MAX_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Get_processor_name(processor, &length);
    snprintf(name, sizeof name, "%.*s", NAME - 1, processor);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_rank(shared, &shared_rank);
    MPI_Comm_size(shared, &shared_size);
    leader = shared_rank == 0;
    MPI_Allreduce(&leader, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    good = same_host_everywhere(shared, name) && exchange_is_intact(rank, size);
    printf("rank %d host %s shared %d hosts %d\n", rank, name, shared_size, hosts);
    fflush(stdout);
    MPI_Comm_free(&shared);
    MPI_Finalize();
    return good ? 0 : 1;
}
