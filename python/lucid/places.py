# SPDX-License-Identifier: BSD-3-Clause
"""Where liblucid, its helpers and the MPI it was built for are.

The build and the installation leave a module _paths (LIBRARY, LIBDIR, PROBE, MPI_NAME, MPI_VERSION, MPIEXEC) in this package;
without it, liblucid is looked for in a build tree around the sources.
"""

from __future__ import annotations

import glob
import importlib
import os
import re
import shutil
import subprocess
import sys
from typing import NamedTuple, Optional

from .errors import LucidError

_VERSION_CODE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
library.MPI_Get_library_version(text, ctypes.byref(length))
sys.stdout.write(text.value.decode('utf-8', 'replace'))
"""


def known(name: str) -> Optional[str]:
    """What the build said about itself, or None."""
    try:
        value = getattr(importlib.import_module("lucid._paths"), name, None)
    except ImportError:
        return None
    return value or None


def library() -> str:
    """The path of liblucid.so; LucidError where there is none."""
    named = os.environ.get("LUCID_LIBRARY")
    if named:
        if not os.path.isfile(named):
            raise LucidError(f"LUCID_LIBRARY={named}: no such file", code=125)
        return os.path.abspath(named)
    built = known("LIBRARY")
    if built:
        if os.path.isfile(built):
            return built
        raise LucidError(f"liblucid is not where it was installed: {built} (install again, or set LUCID_LIBRARY)", code=125)
    around = _around()
    if around:
        return around
    raise LucidError("liblucid.so not found: build Lucid (make), or set LUCID_LIBRARY to its path", code=125)


def _around() -> Optional[str]:
    """liblucid in a build tree beside the sources, the newest if there are several."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    found = [path for pattern in ("build/lib", "build/*/lib", "build-*/lib", "lib", "lib64", "lib/*-linux-gnu")
             for path in glob.glob(os.path.join(root, pattern, "liblucid.so.0"))]
    return max(found, key=os.path.getmtime) if found else None


def beside(name: str) -> Optional[str]:
    """A file of Lucid's own directory of modules: lucid_pml.so, lucid_doctor_probe."""
    folder = os.environ.get("LUCID_LIBDIR") or known("LIBDIR")
    try:
        folders = [folder] if folder else [os.path.join(os.path.dirname(library()), "lucid")]
    except LucidError:
        return None
    for path in (os.path.join(folder, name) for folder in folders):
        if os.path.isfile(path):
            return path
    return None


def mpiexec(named: Optional[str] = None) -> str:
    """The mpirun to start programs with: as named, the one Lucid was built with, or the first of the search path."""
    if named:
        found = shutil.which(named)
        if not found:
            raise LucidError(f"{named}: no such program (--mpiexec)", code=125)
        return found
    built = known("MPIEXEC")
    if built and shutil.which(built):
        return built
    for name in ("mpirun", "mpiexec"):
        found = shutil.which(name)
        if found:
            return found
    raise LucidError("no mpirun in the search path: install an MPI library or load its module, or name it with --mpiexec",
                     code=125)


class MPI(NamedTuple):
    """An MPI library: what it calls itself, and its series, inside which it is one and the same to Lucid."""

    text: str
    name: str
    series: str

    def __str__(self) -> str:
        return f"{self.name} {self.series}" if self.series else self.name


def identify(text: str) -> MPI:
    """The MPI whose MPI_Get_library_version() is `text`."""
    text = text.strip()
    found = re.match(r"Open MPI v(\d+\.\d+)", text)
    if found:
        return MPI(text, "Open MPI", found.group(1))
    found = re.match(r"(MPICH|MVAPICH\S*|Intel\(R\) MPI Library)\D*(\d+(\.\d+)?)", text)
    if found:
        return MPI(text, found.group(1), found.group(2))
    return MPI(text, text.split("\n")[0].split(",")[0] or "unknown MPI", "")


def identify_launcher(version: str) -> MPI:
    """The MPI whose mpirun says `version` of itself; Hydra, MPICH's, also says what it was built for."""
    found = re.search(r"\(Open MPI\) (\d+\.\d+)", version)
    if found:
        return MPI(version.strip(), "Open MPI", found.group(1))
    found = re.search(r"HYDRA[^\0]*?Version:\s*(\d+\.\d+)", version)
    if found:
        return MPI(version.strip(), "MPICH", found.group(1))
    return MPI(version.strip(), next(iter(version.strip().splitlines()), "") or "an unknown MPI", "")


def mpi_of(path: str) -> Optional[MPI]:
    """The MPI that a library (libmpi itself, or one that is linked with it) is or loads; asked in a process of its own."""
    try:
        asked = subprocess.run([sys.executable, "-c", _VERSION_CODE, path], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if asked.returncode != 0:
        return None
    return identify(asked.stdout.decode("utf-8", "replace"))


def mpi_name_of(liblucid: str) -> str:
    """What the MPI calls itself that a liblucid is for, '' where that cannot be told; asked only where no build has said it."""
    if liblucid == known("LIBRARY"):
        return known("MPI_NAME") or ""
    mpi = mpi_of(liblucid)
    return mpi.name if mpi else ""


def describe_parameters(path: str):
    """The rows (name, type, default, range, level, help) of liblucid's own table of parameters; [] where it has none."""
    code = ("import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).lucid_params_describe; f.restype = ctypes.c_char_p; "
            "sys.stdout.buffer.write(f())")
    try:
        asked = subprocess.run([sys.executable, "-c", code, path], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = asked.stdout.decode("utf-8", "replace").splitlines() if asked.returncode == 0 else []
    return [tuple(line.split("\t")) for line in lines if line.count("\t") == 5]
