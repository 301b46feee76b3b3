# SPDX-License-Identifier: BSD-3-Clause
"""How the variables of a run reach the ranks, and LD_PRELOAD only the ranks.

A command is looked through for a launcher's name, behind words that only start another command (env, time, nice, timeout,
the project's own lab). What the launcher is decides how it is told: Open MPI's -x, Hydra's -genv, Slurm's --export. Without
a launcher the program is started as it stands, with the variables in its environment.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import Dict, List, NamedTuple, Optional

_MPIRUN = re.compile(r"^(mpirun|mpiexec|orterun|prterun)([.\d_-].*)?$")
_SKIPPED = {"env", "time", "nice", "nohup", "setsid", "stdbuf", "timeout", "ionice"}

# Options of mpirun and mpiexec that take one word, or two; all others take none.
_ONE = {"n", "np", "c", "N", "npernode", "npersocket", "H", "host", "hosts", "hostfile", "machinefile", "default-hostfile", "f",
        "map-by", "bind-to", "rank-by", "x", "wdir", "wd", "path", "prefix", "output-filename", "timeout", "report-uri", "stdin",
        "am", "tune", "personality", "cpu-set", "cpu-list", "rf", "rankfile", "output", "display", "runtime-options", "dvm-uri",
        "ppn", "genvlist", "envlist", "launcher", "launcher-exec", "iface", "rmk", "max-restarts", "ompi-server", "hnp",
        "perhost", "genvall", "add-hostfile", "add-host", "server-wait-time", "pset", "get-stack-traces", "bootstrap"}
_TWO = {"mca", "gmca", "omca", "prtemca", "pmixmca", "gpmixmca", "genv", "env"}
_NONE = {"genvall", "get-stack-traces"}

# What launchers say of themselves.
_SAID = {"hydra": ("HYDRA", "Intel(R) MPI", "MPICH"), "openmpi": ("Open MPI", "OpenRTE", "PRRTE", "prte")}


class Launcher(NamedTuple):
    """The launcher in a command: the index of its word, and how it is told about variables."""

    index: int
    family: str   # 'openmpi', 'hydra', 'slurm'
    version: str  # its first line of --version, where it was asked


def find(command: List[str]) -> Optional[Launcher]:
    """The launcher of a command, or None if the program is started directly."""
    i = _behind_prefixes(command)
    if i >= len(command):
        return None
    name = os.path.basename(command[i])
    if name == "srun":
        return Launcher(i, "slurm", "")
    if name == "lab" and i + 1 < len(command) and _MPIRUN.match(command[i + 1]):
        return _asked(i + 1, command[:i + 2])
    if not _MPIRUN.match(name):
        return None
    return _asked(i, command[i:i + 1])


def _asked(index: int, words: List[str]) -> Launcher:
    version = ask_version(words)
    return Launcher(index, family(os.path.basename(words[-1]), version), version.splitlines()[0].strip() if version else "")


def _behind_prefixes(command: List[str]) -> int:
    """Index of the first word that is not one of the harmless prefixes, nor an option or value of theirs."""
    i = 0
    while i < len(command) and os.path.basename(command[i]) in _SKIPPED:
        name = os.path.basename(command[i])
        i += 1
        while i < len(command) and (command[i].startswith("-") or (name == "env" and "=" in command[i])):
            i += 2 if command[i] in ("-n", "-u", "-k", "-s", "-c", "-f") and name != "setsid" and "=" not in command[i] else 1
        if name == "timeout":
            i += 1
    return i


def ask_version(words: List[str]) -> str:
    """What `mpirun --version` prints, '' if it does not answer."""
    try:
        asked = subprocess.run([*words, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.decode("utf-8", "replace") if asked.returncode == 0 else ""


def family(name: str, version: str) -> str:
    """Whose launcher it is, by what it says of itself, else by its name."""
    return family_said(version) or ("hydra" if "hydra" in name or "mpich" in name else "openmpi")


def family_said(version: str) -> Optional[str]:
    """Whose launcher it is, or None if it does not say."""
    return next((name for name, words in _SAID.items() if any(word in version for word in words)), None)


def family_of(mpi: str) -> Optional[str]:
    """Whose launchers start the programs of an MPI library of this name, or None if that is not known."""
    return "openmpi" if mpi == "Open MPI" else "hydra" if mpi.startswith(("MPICH", "MVAPICH", "Intel(R) MPI")) else None


def program_word(command: List[str], launcher: Optional[Launcher]) -> Optional[str]:
    """The program that a command starts in the end, where that can be told."""
    if launcher is None:
        i = _behind_prefixes(command)
        return command[i] if i < len(command) else None
    if launcher.family == "slurm":
        return None
    i = options_end(command, launcher)
    return command[i] if i < len(command) else None


def options_end(command: List[str], launcher: Launcher) -> int:
    """Index of the first word behind the options of an mpirun: its program, if there is one."""
    i = launcher.index + 1
    while i < len(command) and command[i].startswith("-"):
        option = command[i].lstrip("-")
        i += 1 if "=" in option or option in _NONE else 3 if option in _TWO else 2 if option in _ONE else 1
    return min(i, len(command))


def with_variables(command: List[str], launcher: Optional[Launcher], variables: Dict[str, str], preload: str,
                   environment: Dict[str, str]):
    """The command and the environment to start it with, so that the ranks get `variables` and LD_PRELOAD has `preload`
    (where it is not '')."""
    environment = {**environment, **variables}
    if launcher is None:
        if preload:
            environment["LD_PRELOAD"] = appended(environment.get("LD_PRELOAD"), preload)
        return list(command), environment
    head, rest = command[:launcher.index + 1], command[launcher.index + 1:]
    tell = {"openmpi": _openmpi, "hydra": _hydra, "slurm": _slurm}[launcher.family]
    return head + tell(rest, variables, preload, environment), environment


def appended(present: Optional[str], preload: str) -> str:
    """What is preloaded already keeps its place before liblucid: some tools must come first."""
    return f"{present}:{preload}" if present else preload


def _load(environment: Dict[str, str], preload: str) -> str:
    return appended(environment.get("LD_PRELOAD"), preload) if preload else ""


def _openmpi(rest: List[str], variables: Dict[str, str], preload: str, environment: Dict[str, str]) -> List[str]:
    rest = list(rest)
    told = not preload
    for i, word in enumerate(rest[:-1]):
        if preload and word in ("-x", "--x") and re.match(r"LD_PRELOAD(=|$)", rest[i + 1]):
            present = rest[i + 1][11:] if "=" in rest[i + 1] else environment.get("LD_PRELOAD")
            rest[i + 1] = "LD_PRELOAD=" + appended(present, preload)
            told = True
    options = [] if told else ["-x", "LD_PRELOAD=" + _load(environment, preload)]
    for name in variables:
        options += ["-x", name]
    contexts = _split(rest)
    return _join([options + context for context in contexts])


def _split(words: List[str]) -> List[List[str]]:
    """The application contexts of an MPMD command, which a lone colon parts."""
    contexts: List[List[str]] = [[]]
    for word in words:
        if word == ":":
            contexts.append([])
        else:
            contexts[-1].append(word)
    return contexts


def _join(contexts: List[List[str]]) -> List[str]:
    words = list(contexts[0])
    for context in contexts[1:]:
        words += [":", *context]
    return words


def _hydra(rest: List[str], variables: Dict[str, str], preload: str, environment: Dict[str, str]) -> List[str]:
    options = ["-genv", "LD_PRELOAD", _load(environment, preload)] if preload else []
    for name, value in variables.items():
        options += ["-genv", name, value]
    return options + list(rest)


def _slurm(rest: List[str], variables: Dict[str, str], preload: str, environment: Dict[str, str]) -> List[str]:
    """Slurm takes one --export; the user's own is kept and extended. Names alone are taken from the environment."""
    rest = list(rest)
    base = environment.get("SLURM_EXPORT_ENV", "ALL")
    for i, word in enumerate(rest):
        if word.startswith("--export="):
            base = word[len("--export="):]
            del rest[i]
            break
        if word == "--export" and i + 1 < len(rest):
            base = rest[i + 1]
            del rest[i:i + 2]
            break
    names = [] if base in ("NONE", "NIL") else [base]
    load = ["LD_PRELOAD=" + _load(environment, preload)] if preload else []
    return ["--export=" + ",".join([*names, *load, *variables]), *rest]
