/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_leak.c: prints how many bytes of heap a communicator leaves behind that has been used and freed; the largest process's.
 * lazy_compare.py puts it beside what Open MPI alone leaves.
 */
#include <malloc.h>

#include "lazy_check.h"

#define TIMES 400

static double heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

static void round_of(int way)
{
    MPI_Comm made;
    int rank, one = 1, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (way % 2) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    else CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made));
    if (way >= 2) CHECK_OK(MPI_Barrier(made));
    if (way >= 4) CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made));
    CHECK_OK(MPI_Comm_free(&made));
}

int main(int argc, char **argv)
{
    double before, left[6], largest[6];
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
    lazy_check_presence();
    for (int way = 0; way < 6; way++) {
        for (int i = 0; i < 50; i++) round_of(way);
        left[way] = 1e9;
        for (int window = 0; window < 3; window++) { /* a list that grows does so in one of them, a leak in all */
            before = heap();
            for (int i = 0; i < TIMES; i++) round_of(way);
            double more = (heap() - before) / TIMES;
            if (more < left[way]) left[way] = more;
        }
    }
    CHECK_OK(MPI_Reduce(left, largest, 6, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD));
    for (int way = 0; check_rank == 0 && way < 6; way++) printf("left %d %.1f\n", way, largest[way]);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
