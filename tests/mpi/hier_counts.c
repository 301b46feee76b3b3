/* SPDX-License-Identifier: BSD-3-Clause
 * hier_counts.c: what coll/hier sends and takes, counted: messages of the first allreduce on the first communicator and of the
 * next, of a second communicator's first; messages and context ids that making and using communicators takes, against Open
 * MPI's own. Arguments: most messages of the first allreduce on all ranks together; nodes; expected set-ups: predicted or
 * discovered.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hier_counter.h"

static int rank, size, failures;

static long messages(void)
{
    long own = hier_counter("messages") + hier_counter("setup_messages"), all;
    PMPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void check(int good, const char *what, long value, long wanted)
{
    if (rank == 0) printf("%-60s %6ld\n", what, value);
    if (good) return;
    failures++;
    if (rank == 0) fprintf(stderr, "%s: %ld, but %ld expected\n", what, value, wanted);
}

/* Messages of one allreduce on comm; the counting itself uses MPI_COMM_WORLD, whose part is known. */
static long allreduce_on(MPI_Comm comm, long per_count)
{
    int one = 1, sum = 0;
    long before = messages();
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    long after = messages();
    if (sum != size) {
        fprintf(stderr, "rank %d: sum %d\n", rank, sum);
        failures++;
    }
    return after - before - per_count;
}

int main(int argc, char **argv)
{
    int one = 1, sum;
    MPI_Comm comm[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (hier_counters_open() != 0) {
        printf("SKIP: coll/hier is not there\n");
        return 77;
    }
    long most = atol(argv[1]), nodes = atol(argv[2]);
    int predicted = strcmp(argv[3], "predicted") == 0;
    long own = hier_counter("messages"), per_count;
    check(own == 0 && hier_counter("setup_messages") == 0 && hier_counter("calls") == 0, "messages of MPI_Init", own, 0);

    /* The first operation on the first communicator: counted per rank, summed up afterwards. */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    own = hier_counter("messages") + hier_counter("setup_messages");
    MPI_Allreduce(&own, &per_count, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(per_count <= most, "messages, first allreduce on the first communicator", per_count, most);
    if (predicted) check(per_count == 2 * (size - 1), "  which are those of the agreement", per_count, 2 * (size - 1));

    long first = messages();
    per_count = messages() - first;
    check(per_count == 2 * (size - 1), "messages, next allreduce", per_count, 2 * (size - 1));
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        first = allreduce_on(comm[i], per_count);
        if (predicted) check(first == 2 * (size - 1), "messages, first allreduce on a further communicator", first, 2 * (size - 1));
        else check(first > 2 * (size - 1), "messages, first allreduce on a further communicator", first, 2 * (size - 1));
    }
    long set_ups = hier_counter(argv[3]);
    check(set_ups == 4, "communicators set up this way", set_ups, 4);
    const char *kept = getenv("OMPI_MCA_coll_hier_shared_layouts"), *mapped = getenv("OMPI_MCA_coll_hier_shared_map");
    if (!kept) kept = getenv("LUCID_HIER_SHARED_LAYOUTS");
    long in_space = (!kept || atoi(kept) > 0) && (!mapped || atoi(mapped) > 0);
    long found = hier_counter("in_space");
    if (predicted) check(found == in_space, "layouts in the node's memory, one for all communicators", found, in_space);
    check(nodes > 1, "nodes", nodes, 2);
    for (int i = 0; i < 3; i++) MPI_Comm_free(&comm[i]);
    hier_counters_close();
    MPI_Finalize();
    return failures != 0;
}
