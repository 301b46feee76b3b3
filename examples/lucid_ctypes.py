# SPDX-License-Identifier: BSD-3-Clause
"""Lucid for mpi4py programs, through ctypes: what the examples use of lucid.h, lucid_place.h and lucid_sparse.h.

Import it before mpi4py.MPI. The library is found where LUCID_LIBRARY says, or by the system (LD_LIBRARY_PATH); under
`lucid run` it is loaded already.
"""
import ctypes
import os
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_uint64, c_void_p

# All that is loaded later finds Lucid's MPI functions first.
_lib = ctypes.CDLL(os.environ.get("LUCID_LIBRARY", "liblucid.so.0"), mode=ctypes.RTLD_GLOBAL)

from mpi4py import MPI  # noqa: E402

_lib.lucid_error_string.restype = c_char_p
_Handle = c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_int) else c_void_p  # MPICH: a number; Open MPI: a pointer


class _Options(Structure):
    _fields_ = [("kinds", c_uint64), ("recorded", c_uint64), ("remaining", c_uint64), ("moved_bytes", c_uint64),
                ("change_seconds", c_double), ("always", c_int), ("everywhere", c_int), ("algorithm", c_char_p),
                ("seconds", c_double), ("seed", c_uint64), ("k", POINTER(c_int))]


class _MapCost(Structure):
    _fields_ = [("cost", c_double), ("between_bytes", c_uint64), ("link_bytes", c_uint64)]


class _MapResult(Structure):
    _fields_ = [("before", _MapCost), ("after", _MapCost), ("seconds", c_double), ("algorithm", c_char_p)]


class Decision(Structure):
    """lucid_decision_t"""
    _fields_ = [("reordered", c_int), ("_reason", c_char * 160), ("before", c_double), ("after", c_double),
                ("mapping", c_double), ("measuring", c_double), ("creating", c_double), ("moving", c_double),
                ("break_even", c_uint64), ("map", _MapResult), ("latency", c_double * 2), ("bandwidth", c_double * 2)]

    @property
    def reason(self):
        return self._reason.decode()


def _check(code):
    if code != 0:
        raise RuntimeError(_lib.lucid_error_string(code).decode())


def _handle(mpi_object):
    return _Handle.from_address(MPI._addressof(mpi_object))


class Session:
    """A window on the traffic between the processes of a communicator; active until it is suspended."""

    def __init__(self, comm, name=None):
        self.comm, self.id = comm, c_int()
        code = _lib.lucid_init()
        if code != -8:  # LUCID_ERR_MULTIPLE_CALL: there is another session
            _check(code)
        _check(_lib.lucid_session_start(_handle(comm), name.encode() if name else None, byref(self.id)))

    def suspend(self):
        _check(_lib.lucid_session_suspend(self.id))

    def free(self):
        _check(_lib.lucid_session_free(self.id))

    def reorder(self, **options):
        """lucid_comm_reorder(): (communicator, decision, new_rank); the communicator is the session's own if it does not pay."""
        new_rank = (c_int * self.comm.Get_size())()
        decision, comm = Decision(), MPI.Comm()
        given = _Options(k=new_rank, **options)
        _check(_lib.lucid_comm_reorder(_handle(self.comm), self.id, byref(given), c_void_p(MPI._addressof(comm)), byref(decision)))
        return (MPI.Intracomm(comm) if decision.reordered else self.comm), decision, new_rank


def redistribute(array, datatype, new_rank, comm):
    """lucid_redistribute(): every rank's array, in place, to the process that has this rank now. `array`: a numpy array."""
    _check(_lib.lucid_redistribute(c_void_p(array.ctypes.data), c_int(array.size), _handle(datatype), new_rank, _handle(comm)))


def set_elementwise(op):
    """lucid_op_set_elementwise(): the operator works element by element."""
    _check(_lib.lucid_op_set_elementwise(_handle(op)))
