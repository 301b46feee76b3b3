# SPDX-License-Identifier: BSD-3-Clause
"""What can be told of a program before it is started: whether it is there, may be executed, and which MPI it is linked with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import NamedTuple, Optional

from . import launchers, places
from .errors import LucidError

_INTERPRETER = re.compile(r"^(sh|bash|dash|ksh|zsh|g?make|(python|perl)[\d.]*)$")
_LIBMPI = re.compile(r"^libmpi(ch|_abi|_cray|_gnu\w*|_intel|_nvidia)?\.so(\.\d+)*$")


class Linked(NamedTuple):
    """The MPI library in a program's list of libraries."""

    soname: str
    path: str


class Program(NamedTuple):
    """A program as found: `elf` tells compiled programs from scripts; `mpi` is None where no MPI is linked dynamically."""

    path: str
    elf: bool
    mpi: Optional[Linked]

    @property
    def runs_others(self) -> bool:
        """A script, or what runs scripts: what it is linked with itself says nothing."""
        return not self.elf or _INTERPRETER.match(os.path.basename(self.path)) is not None


def find(word: str) -> str:
    """The file that a shell would run for `word`; LucidError with a shell's codes: 127 not found, 126 not executable."""
    found = shutil.which(word)
    if found:
        return found
    if os.sep in word:
        if os.path.isdir(word):
            raise LucidError(f"{word}: is a directory, not a program", code=126)
        if os.path.exists(word):
            raise LucidError(f"{word}: not executable (chmod +x?)", code=126)
        raise LucidError(f"{word}: no such program", code=127)
    local = " (in this directory it is ./%s)" % word if os.path.isfile(word) else ""
    raise LucidError(f"{word}: no such program in the search path{local}", code=127)


def look(path: str) -> Program:
    """What kind of program a file is."""
    try:
        with open(path, "rb") as file:
            elf = file.read(4) == b"\x7fELF"
    except OSError:
        elf = False
    return Program(path, elf, linked_mpi(path) if elf else None)


def linked_mpi(path: str) -> Optional[Linked]:
    """The MPI library that a program or library is linked with, as the loader would find it here."""
    try:
        ldd = shutil.which("ldd") or "/usr/bin/ldd"  # a search path may hold an MPI library alone
        listed = subprocess.run([ldd, path], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    for line in listed.stdout.decode("utf-8", "replace").splitlines():
        parts = line.split()
        if parts and _LIBMPI.match(os.path.basename(parts[0])):
            target = parts[2] if len(parts) > 2 and parts[1] == "=>" and parts[2] != "not" else ""
            return Linked(os.path.basename(parts[0]), target)
    return None


def check_mpi(program: Program, liblucid: str) -> None:
    """LucidError if the program is linked with another MPI than liblucid. Programs that load MPI by themselves pass."""
    if program.mpi is None:
        return
    own = linked_mpi(liblucid)
    if own is None:
        return
    theirs = program.mpi
    if theirs.soname == own.soname:
        if not theirs.path or not own.path or os.path.realpath(theirs.path) == os.path.realpath(own.path):
            return
        here, there = places.mpi_of(own.path), places.mpi_of(theirs.path)
        if here is None or there is None or (here.name, here.series) == (there.name, there.series):
            return
        raise _other(program, f"{there} ({theirs.path})", f"{here} ({own.path})")
    raise _other(program, theirs.path or theirs.soname, own.path or own.soname)


def check_launcher(word: str, launcher: launchers.Launcher, program: Optional[Program], liblucid: str) -> Optional[str]:
    """None where launcher `word` belongs to liblucid's MPI, or does not say whose it is; else what does not fit. LucidError if the
    program may load its MPI by itself: it would get liblucid's, and not the one that it is started for."""
    theirs, mpi = launchers.family_said(launcher.version), places.mpi_name_of(liblucid)
    own = launchers.family_of(mpi)
    if theirs is None or own is None or theirs == own:
        return None
    mpirun = f"{shutil.which(word) or word} is {'MPICH' if theirs == 'hydra' else 'Open MPI'}'s"
    built = places.known("MPIEXEC")
    better = f"{built} fits" if built and shutil.which(built) else f"use {mpi}'s"
    if program is None or program.mpi is None:
        raise LucidError(f"{mpirun}, but this Lucid was built for {mpi}: {better}, or build Lucid for the other MPI", code=125)
    return f"{mpirun}, but {program.path} is linked with {mpi}: its processes may not find each other ({better})"


def _other(program: Program, theirs: str, own: str) -> LucidError:
    return LucidError(f"{program.path} is linked with {theirs}, but this Lucid was built for {own}: build Lucid for that MPI",
                      code=125)
