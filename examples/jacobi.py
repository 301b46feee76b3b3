# SPDX-License-Identifier: BSD-3-Clause
"""jacobi.c in Python: the ranks are put where their messages are, once, if that pays."""
from lucid_ctypes import Session, redistribute  # before mpi4py.MPI

import numpy
from mpi4py import MPI

ROWS, COLUMNS, WATCHED, ITERATIONS = 32, 4096, 10, 500
WORLD = MPI.COMM_WORLD


def exchange(comm, plate):
    """The neighbours' rows."""
    rank, size = comm.Get_rank(), comm.Get_size()
    above = rank - 1 if rank > 0 else MPI.PROC_NULL
    below = rank + 1 if rank < size - 1 else MPI.PROC_NULL
    comm.Sendrecv(plate[1], above, 0, plate[ROWS + 1], below, 0)
    comm.Sendrecv(plate[ROWS], below, 0, plate[0], above, 0)


def reorder(session, plate):
    """The communicator for the iterations that remain: the session tells who talks to whom."""
    comm, decision, new_rank = session.reorder(recorded=WATCHED, remaining=ITERATIONS - WATCHED, moved_bytes=plate.nbytes)
    if decision.reordered:
        redistribute(plate, MPI.DOUBLE, new_rank, WORLD)
    if WORLD.Get_rank() == 0:
        print(("reordered: " if decision.reordered else "not reordered: ") + decision.reason, flush=True)
        if decision.reordered:
            print("predicted communication of an iteration: %.1f ms before, %.1f ms after"
                  % (1e3 * decision.before, 1e3 * decision.after), flush=True)
    return comm


def main():
    rank, size = WORLD.Get_rank(), WORLD.Get_size()
    plate = numpy.zeros((ROWS + 2, COLUMNS))  # this rank's rows, and a neighbour's row above and below
    if rank == 0:
        plate[0] = 100  # degrees at the upper edge
    comm, session = WORLD, Session(WORLD, "jacobi")
    for i in range(ITERATIONS):
        if i == WATCHED:
            session.suspend()
            comm = reorder(session, plate)
            session.free()
        exchange(comm, plate)
        plate[1:-1, 1:-1] = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
    total = WORLD.reduce(plate[1:-1].sum(), MPI.SUM)
    if rank == 0:
        print("%d x %d points on %d ranks: after %d iterations the mean temperature is %.6f degrees"
              % (size * ROWS, COLUMNS, size, ITERATIONS, total / (size * ROWS * COLUMNS)), flush=True)
    if comm is not WORLD:
        comm.Free()


main()
