# SPDX-License-Identifier: BSD-3-Clause
"""Report directories: making one without touching another run's, and finding what is in one.

A run's directory holds run.json (the whole run), phase-<level>.json (one per MPI_Pcontrol level), startup.json (what communicators
cost: --startup), sparse.json (what reductions are given: --sparse=measure) and lucid.json (how the program was started and how it
ended). With --place it holds two such directories, before and after, and the rankfile of the second.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import re
import tempfile
from typing import Dict, List, NamedTuple, Optional, Tuple

from .errors import LucidError, SessionError, reason
from .session import Session, load, read_json

DEFAULT = "lucid-report"
_PHASE = re.compile(r"^phase-(-?\d+)\.json$")
_TRIAL = 65536  # bytes that must fit before a program is started for a report


class Directory(NamedTuple):
    """A report directory: its absolute path, as the user would type it, and whether it was made for this run."""

    path: str
    shown: str
    made: bool


def prepare(named: Optional[str], force: bool = False) -> Directory:
    """A directory for a new report: `named`, or lucid-report, lucid-report-2, ... whichever is free. LucidError if none can
    be written."""
    try:
        directory = _named(named, force) if named else _next_free()
    except OSError as error:
        raise LucidError(f"cannot make the report directory {named or DEFAULT}: {reason(error)}", code=125) from None
    try:
        with tempfile.TemporaryFile(dir=directory.path) as trial:
            trial.write(b"\0" * _TRIAL)
            trial.flush()
    except OSError as error:
        discard(directory)
        what = "no space left on the device" if error.errno == errno.ENOSPC else reason(error)
        raise LucidError(f"cannot write to the report directory {directory.shown}: {what}", code=125) from None
    return directory


def _next_free() -> Directory:
    """mkdir decides, so that two runs started at once do not share a directory."""
    number = 1
    while True:
        name = DEFAULT if number == 1 else f"{DEFAULT}-{number}"
        try:
            os.mkdir(name)
            return Directory(os.path.abspath(name), name, True)
        except FileExistsError:
            number += 1


def _named(named: str, force: bool) -> Directory:
    if not os.path.isdir(named):
        os.makedirs(named)
        return Directory(os.path.abspath(named), named, True)
    old = files(named)
    if old and not force:
        raise LucidError(f"{named} holds the report of another run: choose another directory, or --force to replace it",
                         code=125)
    for path in old:
        os.unlink(path)
    return Directory(os.path.abspath(named), named, False)


def files(directory: str) -> List[str]:
    """The files of a report that are there."""
    found = [os.path.join(directory, name) for name in ("run.json", "lucid.json", "startup.json", "sparse.json")]
    found += [path for path in glob.glob(os.path.join(glob.escape(directory), "phase-*.json"))
              if _PHASE.match(os.path.basename(path))]
    return [path for path in found if os.path.exists(path)]


def parts(directory: str) -> List[str]:
    """The directories of the two runs of --place that are there: before, after."""
    found = (os.path.join(directory, name) for name in ("before", "after"))
    return [path for path in found if os.path.isfile(os.path.join(path, "run.json"))]


def one(path: str) -> str:
    """The report of a single run that a path stands for: of --place's two runs, the last one."""
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, "run.json")) and parts(path):
        return parts(path)[-1]
    return path


def discard(directory: Directory) -> None:
    """Takes away a directory that was made for a run that left nothing in it."""
    if directory.made:
        try:
            os.rmdir(directory.path)
        except OSError:
            pass  # not empty: then somebody wants it


def phases(directory: str) -> List[Tuple[int, str]]:
    """The phases of a report: (level, path), by level."""
    found = []
    for path in files(directory):
        match = _PHASE.match(os.path.basename(path))
        if match:
            found.append((int(match.group(1)), path))
    return sorted(found)


def newest() -> str:
    """The latest report of this directory; LucidError where there is none."""
    found = [path for path in map(one, glob.glob(DEFAULT + "*")) if os.path.isfile(os.path.join(path, "run.json"))]
    if not found:
        raise LucidError("no report here: name a report directory or a session file", code=2)
    return max(found, key=lambda path: os.path.getmtime(os.path.join(path, "run.json")))


def open_session(path: str, phase: Optional[int] = None) -> Session:
    """The session of a report directory (the run, or a phase; with --place, of the last run) or of a file."""
    path = one(path)
    if not os.path.isdir(path):
        if phase is not None:
            raise LucidError(f"--phase needs a report directory, and {path} is not one", code=2)
        return load(path)
    if phase is not None:
        wanted = os.path.join(path, f"phase-{phase}.json")
        if not os.path.exists(wanted):
            there = ", ".join(str(level) for level, _ in phases(path)) or "none (run with --phases)"
            raise LucidError(f"{path}: no phase {phase}; phases there: {there}", code=2)
        return load(wanted)
    wanted = os.path.join(path, "run.json")
    if not os.path.exists(wanted):
        raise SessionError(path, "no report in this directory (no run.json)")
    return load(wanted)


def read_run(directory: str) -> Optional[dict]:
    """lucid.json of a report directory as values, or None where it is not there; SessionError where it is damaged."""
    path = os.path.join(directory, "lucid.json")
    if not os.path.exists(path):
        return None
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != "lucid-run":
        raise SessionError(path, 'not a run\'s description (it does not say "format": "lucid-run")')
    return data


def write_whole(path: str, content: bytes) -> None:
    """Writes a file that appears whole under its name, or not at all. LucidError otherwise."""
    folder = os.path.dirname(os.path.abspath(path))
    temporary = None
    try:
        mask = os.umask(0)
        os.umask(mask)
        handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise LucidError(f"cannot write {path}: {reason(error)}") from None


def write_run(directory: Directory, values: Dict[str, object]) -> None:
    """Writes lucid.json."""
    data = {"format": "lucid-run", "version": 1, **values}
    write_whole(os.path.join(directory.path, "lucid.json"), (json.dumps(data, indent=1) + "\n").encode())
