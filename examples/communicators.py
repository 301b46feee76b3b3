# SPDX-License-Identifier: BSD-3-Clause
"""communicators.c in Python: 1,000 communicators, of which a few are used. Nothing of Lucid is in this program."""
import ctypes

from mpi4py import MPI

COUNT, USED = 1000, 10
WORLD = MPI.COMM_WORLD


class Mallinfo2(ctypes.Structure):
    """struct mallinfo2 of malloc.h"""
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]


mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Mallinfo2


def main():
    rank = WORLD.Get_rank()
    WORLD.Barrier()  # not the first operation's cost is to be seen here, but the communicators'
    start, before = MPI.Wtime(), mallinfo2().uordblks
    comms = [WORLD.Dup() for _ in range(COUNT)]
    seconds, size = MPI.Wtime() - start, mallinfo2().uordblks - before
    total = sum(comms[i * COUNT // USED].allreduce(rank) for i in range(USED))
    if rank == 0:
        print("%d communicators of %d ranks, %d of them used: total %d" % (COUNT, WORLD.Get_size(), USED, total))
        print("making one took %.2f ms and %.2f kB of memory" % (1e3 * seconds / COUNT, size / 1e3 / COUNT), flush=True)
    for comm in comms:
        comm.Free()


main()
