# SPDX-License-Identifier: BSD-3-Clause
"""The ring of ring.c, with mpi4py."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
out, received = bytearray(1000), bytearray(1000)
for _ in range(10):
    world.Sendrecv([out, MPI.BYTE], (rank + 1) % size, 0, [received, MPI.BYTE], (rank - 1) % size, 0)
mine, total = array("d", [rank]), array("d", [0])
world.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE], MPI.SUM)
if rank == 0:
    print("sum %g of %d" % (total[0], size), flush=True)
