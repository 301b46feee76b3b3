# SPDX-License-Identifier: BSD-3-Clause
"""histogram.c in Python: `lucid run --sparse` sends and adds only what is not zero."""
from lucid_ctypes import set_elementwise  # before mpi4py.MPI

import numpy
from mpi4py import MPI

CELLS, SHOWERS, HITS, NEVER = 1 << 22, 20, 1000, 0
WORLD = MPI.COMM_WORLD


def draws(seed):
    """Numbers that depend on the rank alone."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 33)


def record(rank, hits, first):
    """A shower hits cells near its centre."""
    draw = draws(rank + 1)
    for shower in range(SHOWERS):
        centre = next(draw) % (CELLS - 1024)
        for i in range(1, HITS + 1):
            cell = centre + next(draw) % 32 * (next(draw) % 32)
            hits[cell] += 1
            if first[cell] == NEVER:
                first[cell] = shower * HITS + i


def earlier(given, result, datatype):
    """The earlier of two times."""
    a, b = numpy.frombuffer(given, "i4"), numpy.frombuffer(result, "i4")
    b[:] = numpy.where((b == NEVER) | ((a != NEVER) & (a < b)), a, b)


def main():
    hits, first = numpy.zeros(CELLS, "i4"), numpy.zeros(CELLS, "i4")
    record(WORLD.Get_rank(), hits, first)
    op = MPI.Op.Create(earlier, commute=True)
    set_elementwise(op)
    WORLD.Barrier()
    start = MPI.Wtime()
    WORLD.Allreduce(MPI.IN_PLACE, hits, MPI.SUM)
    WORLD.Allreduce(MPI.IN_PLACE, first, op)
    seconds = MPI.Wtime() - start
    if WORLD.Get_rank() == 0:
        fullest = hits.argmax()
        print("%d hits in %d of %d cells; cell %d has most of them, %d"
              % (hits.sum(dtype="i8"), (hits > 0).sum(), CELLS, fullest, hits[fullest]))
        print("sum of the times of first hits: %d" % first.sum(dtype="i8"))
        print("two reductions of 16.8 MB took %.3f s" % seconds, flush=True)
    op.Free()


main()
