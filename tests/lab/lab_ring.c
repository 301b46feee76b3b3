/* SPDX-License-Identifier: BSD-3-Clause
 * lab_ring: every rank sends to the next one, so that an order of ranks can be good or bad. Prints one line per rank,
 * "rank <r> host <name> cpus <list>": where it is, and the CPUs that it may use.
 */
#include <stdio.h>
#include <string.h>

#include <mpi.h>

enum { BYTES = 10000, ROUNDS = 20 };

static void allowed_cpus(char *list, int size)
{
    char line[4096];
    FILE *status = fopen("/proc/self/status", "r");
    snprintf(list, (size_t)size, "unknown");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Cpus_allowed_list: %255s", list) == 1) break;
    if (status) fclose(status);
}

int main(int argc, char **argv)
{
    static char out[BYTES], in[BYTES];
    char host[MPI_MAX_PROCESSOR_NAME], cpus[256];
    int rank, size, length;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    memset(out, rank, sizeof out);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Sendrecv(out, BYTES, MPI_CHAR, (rank + 1) % size, 0, in, BYTES, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    allowed_cpus(cpus, sizeof cpus);
    printf("rank %d host %s cpus %s\n", rank, host, cpus);
    MPI_Finalize();
    return 0;
}
