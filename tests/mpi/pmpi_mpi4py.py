# SPDX-License-Identifier: BSD-3-Clause
"""An mpi4py program with liblucid preloaded: its sends and collectives are seen.

pmpi_mpi4py.py LAUNCHER...   itself under LAUNCHER, if there is an mpi4py (why: mpi4py_suite.sh)
"""
import ctypes
import importlib.util
import os
import re
import sys

if len(sys.argv) > 1:
    if importlib.util.find_spec("mpi4py") is None:
        print("SKIP: there is no mpi4py")
        sys.exit(77)
    os.execvp(sys.argv[1], [*sys.argv[1:], sys.executable, os.path.abspath(__file__)])

try:
    import mpi4py
    mpi4py.rc.initialize = False
    from mpi4py import MPI
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)

with open("/proc/self/maps", encoding="ascii") as maps:
    libraries = set(re.findall(r"/(libmpi|libmpich|libmpi_abi)\.so", maps.read()))
if len(libraries) != 1:
    print("SKIP: mpi4py was built for another MPI library than Lucid")
    sys.exit(77)

MPI.Init()
COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
RIGHT, LEFT = (RANK + 1) % SIZE, (RANK - 1) % SIZE
P2P, BCAST, ALLREDUCE, PUT = 0, 2, 13, 25

lucid = ctypes.CDLL(os.environ["LD_PRELOAD"])
Handle = ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p


def check(code):
    if code != 0:
        raise RuntimeError(f"code {code}")


def seen(session, kind):
    """{rank: (messages, bytes)} of what this process has sent."""
    counts, sizes = (ctypes.c_uint64 * SIZE)(), (ctypes.c_uint64 * SIZE)()
    check(lucid.lucid_session_get(session, ctypes.c_uint64(1 << kind), counts, sizes))
    return {peer: (counts[peer], sizes[peer]) for peer in range(SIZE) if counts[peer]}


def main():
    session = ctypes.c_int()
    data, space = bytearray(1000), bytearray(1000)
    check(lucid.lucid_init())
    check(lucid.lucid_session_start(Handle.from_address(MPI._addressof(COMM)), None, ctypes.byref(session)))
    COMM.Sendrecv(data, RIGHT, 0, space, LEFT, 0)
    send = COMM.Isend(data, RIGHT)
    COMM.Recv(space, LEFT)
    send.Wait()
    request = COMM.Send_init(data, RIGHT, 7)
    for _ in range(3):
        receive = COMM.Irecv(space, LEFT, 7)
        request.Start()
        request.Wait()
        receive.Wait()
    request.Free()
    COMM.Bcast(data, 0)
    COMM.Allreduce(bytearray(8), bytearray(8))
    window = MPI.Win.Allocate(64, comm=COMM)
    window.Fence()
    window.Put(bytearray(64), RIGHT)
    window.Fence()
    window.Free()
    check(lucid.lucid_session_suspend(session))
    others = [peer for peer in range(SIZE) if peer != RANK]
    expected = {P2P: {RIGHT: (5, 5000)}, BCAST: {peer: (1, 1000) for peer in others} if RANK == 0 else {},
                ALLREDUCE: {peer: (1, 8) for peer in others}, PUT: {RIGHT: (1, 64)}}
    for kind, row in expected.items():
        assert seen(session, kind) == row, (kind, seen(session, kind), row)
    check(lucid.lucid_session_free(session))
    check(lucid.lucid_finalize())


main()
MPI.Finalize() # mpi4py leaves to us what we have initialized
