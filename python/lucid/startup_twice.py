# SPDX-License-Identifier: BSD-3-Clause
"""lucid run --startup=compare: a run in Open MPI's own way and one with coll/lazy, and what communicators cost in each."""

from __future__ import annotations

import copy
import os
import sys
from typing import Callable, Dict, List

from . import placed, reports, startup, units
from .errors import LucidError


def run(arguments, once: Callable) -> int:
    """Both runs, by `once(arguments) -> exit code`; the first one's code where it fails."""
    if arguments.place:
        raise LucidError("--startup=compare and --place each run the program twice: take one of them", code=2)
    if arguments.dry_run:
        return once(_part(arguments, arguments.output or reports.DEFAULT, "before", "alone"))
    whole = reports.prepare(arguments.output, arguments.force)
    try:
        return _twice(arguments, whole, once)
    finally:
        reports.discard(whole)  # if nothing was left in it


def _twice(arguments, whole: reports.Directory, once: Callable) -> int:
    placed.clear(whole.path, arguments.force)
    code = once(_part(arguments, whole.shown, "before", "alone"))
    if code == 0:
        code = once(_part(arguments, whole.shown, "after", "share"))
    if code == 0 and not arguments.quiet:
        for line in lines(whole.path):
            print(f"lucid run --startup: {line}", file=sys.stderr)
    return code


def _part(arguments, directory: str, name: str, mode: str):
    part = copy.copy(arguments)
    part.startup, part.output = mode, os.path.join(directory, name)
    return part


def _sums(directory: str) -> Dict[str, float]:
    found = startup.load(directory)
    if found is None:
        raise LucidError(f"{directory} has no startup.json: communicators were not looked at there")
    total = startup.totals(found)
    return {key: total["creation"][key] + total["first_use"][key] for key in total["creation"]}


def lines(directory: str) -> List[str]:
    """What communicators cost in the two runs of a report, in two lines."""
    return [f"{name}: communicators took {units.size(cost['bytes'])}, {int(cost['messages'])} messages, {int(cost['ids'])} context "
            f"ids, {1000 * cost['seconds']:.1f} ms"
            for name, cost in (("Open MPI alone", _sums(os.path.join(directory, "before"))),
                               ("with coll/lazy", _sums(os.path.join(directory, "after"))))]
