// SPDX-License-Identifier: BSD-3-Clause
// ring.cpp: the ring of ring.c, in C++.
#include <iostream>
#include <vector>

#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<char> out(1000), in(1000);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(out.data(), 1000, MPI_BYTE, (rank + 1) % size, 0, in.data(), 1000, MPI_BYTE, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double mine = rank, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::cout << "sum " << sum << " of " << size << std::endl;
    MPI_Finalize();
    return 0;
}
