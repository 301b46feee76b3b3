# SPDX-License-Identifier: BSD-3-Clause
"""lucid run --place: a profiled run, a rank order from it, a second run in this order, and a comparison."""

from __future__ import annotations

import copy
import os
import shlex
import shutil
import sys
import textwrap
from typing import Callable, List

from . import launchers, mapping, mapping_formats, reports, units
from .errors import LucidError

# what the user has said of placement makes way for the rankfile in the second run
_VALUED = {"map-by", "rank-by", "rankfile", "rf"}
_BARE = {"bynode", "byslot", "bycore", "bysocket", "nolocal"}


def without_placement(words: List[str], valued=frozenset(_VALUED)) -> List[str]:
    """An mpirun's options without those that say where ranks go."""
    kept: List[str] = []
    i = 0
    while i < len(words):
        option = words[i].lstrip("-") if words[i].startswith("-") else ""
        if option in valued:
            i += 2
            continue
        if option not in _BARE and option.split("=")[0] not in valued:
            kept.append(words[i])
        i += 1
    return kept


def placed_command(command: List[str], rankfile: str, shared: bool = True) -> List[str]:
    """The command with its ranks placed by a rankfile. The user's --bind-to stays, unless places are `shared`: PRRTE refuses cores
    that are given twice while it is to bind anything."""
    launcher = launchers.find(command)
    end = launchers.options_end(command, launcher)
    head, options, program = command[:launcher.index + 1], without_placement(command[launcher.index + 1:end]), command[end:]
    if _is_4(launcher.version):
        return [*head, "-rf", rankfile, *options, *program]
    words = ["--map-by", "rankfile:file=" + rankfile]
    if shared or not any(word.lstrip("-").split("=")[0] == "bind-to" for word in options if word.startswith("-")):
        words, options = [*words, "--bind-to", "none"], without_placement(options, frozenset({"bind-to"}))
    return [*head, *words, *options, *program]


def _is_4(version: str) -> bool:
    return "(Open MPI) 4." in version or "(OpenRTE) 4." in version


def check(command: List[str]) -> None:
    """LucidError where the second run could not be started in another order."""
    launcher = launchers.find(command)
    if launcher is None or launcher.family != "openmpi":
        raise LucidError("--place needs Open MPI's mpirun in the command; for other launchers see lucid map --format", code=2)
    if ":" in command[launcher.index:]:
        raise LucidError("--place does not know how to place a command of several programs", code=2)


def run(arguments, once: Callable) -> int:
    """Both runs, by `once(arguments) -> exit code`; the first one's code where it fails."""
    check(arguments.program)
    if arguments.dry_run:
        return once(_part(arguments, arguments.output or reports.DEFAULT, "before", arguments.program))
    whole = reports.prepare(arguments.output, arguments.force)
    try:
        return _twice(arguments, whole, once)
    finally:
        reports.discard(whole)  # if nothing was left in it


def _twice(arguments, whole: reports.Directory, once: Callable) -> int:
    clear(whole.path, arguments.force)
    code = once(_part(arguments, whole.shown, "before", arguments.program))
    if code != 0:
        return code
    before = reports.open_session(os.path.join(whole.path, "before"))
    problem = mapping.of_session(before)
    found = problem.solve()
    if found.algorithm == "identity":
        _say("no better order than the present one was found: no second run")
        return 0
    rankfile = os.path.join(whole.path, "rankfile")
    form = "rankfile" if _is_4(launchers.find(arguments.program).version) else "rankfile5"
    reports.write_whole(rankfile, problem.text(found, form).encode())
    code = _run_placed(arguments, whole.shown, rankfile, mapping_formats.overlapping(problem.machine), once)
    if code == 0:
        _compare(whole, before)
    return code


def clear(directory: str, force: bool) -> None:
    """An earlier second run does not stay beside a new first one."""
    old = [path for part in reports.parts(directory) for path in reports.files(part)]
    if old and not force:
        raise LucidError(f"{directory} holds the reports of other runs: choose another directory, or --force to replace them", code=125)
    for path in old:
        os.unlink(path)


def _run_placed(arguments, directory: str, rankfile: str, shared: bool, once: Callable) -> int:
    """The second run. Where PRRTE does not read the rankfile because of its path it gets a copy under a relative name in the current
    directory, which mpirun shares."""
    command = arguments.program
    if mapping_formats.prrte_reads(rankfile) or _is_4(launchers.find(command).version):
        return once(_part(arguments, directory, "after", placed_command(command, rankfile, shared)))
    name = f".lucid_rankfile_{os.getpid()}"
    try:
        shutil.copyfile(rankfile, name)
        return once(_part(arguments, directory, "after", placed_command(command, name, shared)))
    finally:
        if os.path.exists(name):
            os.unlink(name)


def _part(arguments, directory: str, name: str, command: List[str]):
    part = copy.copy(arguments)
    part.place, part.program = False, command
    part.output = os.path.join(directory, name)
    return part


def _compare(whole, before) -> None:
    after = reports.open_session(os.path.join(whole.path, "after"))
    far = [session.between_nodes().bytes for session in (before, after)]
    seconds = [(reports.read_run(os.path.join(whole.path, name)) or {}).get("seconds") for name in ("before", "after")]
    text = f"placed: {units.size(far[0])} between nodes before, {units.size(far[1])} after"
    if far[0]:
        text += f" ({units.percent(far[1], far[0])})"
    if all(isinstance(value, (int, float)) for value in seconds):
        text += f"; {seconds[0]:.1f} s before, {seconds[1]:.1f} s after"
    _say(f"{text}. Rank order: {os.path.join(whole.shown, 'rankfile')} (lucid compare {shlex.quote(whole.shown)})")


def _say(text: str) -> None:
    width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 110))
    print("\n".join(textwrap.wrap("lucid: " + text, width, subsequent_indent="       ", break_on_hyphens=False,
                                  break_long_words=False)), file=sys.stderr)
