# SPDX-License-Identifier: BSD-3-Clause
"""lucid doctor: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from dataclasses import asdict
from typing import List

from .. import __version__, doctor
from ..terminal import Terminal

_DESCRIPTION = """\
Looks for MPI, mpirun and Lucid's library, and tries every traffic source by really sending messages between two processes
and counting them. Tries the mappers, sparse reductions and start-up in the same way. Says what a report would not show, and
what to do about it. Exit code 0 if at least one source works.
"""

_EPILOG = """\
sources: pml reads Open MPI's own function table (exact, collectives as the messages they are made of), mpit its monitoring
variables, pmpi counts the calls as they are made, with any MPI library. LUCID_SOURCE or lucid run --source chooses.
"""

_COLUMNS = ("point-to-point", "persistent", "collectives", "one-sided")


def setup_parser(commands) -> None:
    """Adds the command's options."""
    parser = commands.add_parser("doctor", help="what works here, and what does not", description=_DESCRIPTION, epilog=_EPILOG,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", metavar="PATH", help="the mpirun to try")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def main(arguments) -> int:
    """lucid doctor"""
    found = doctor.examine(arguments.mpiexec)
    if arguments.json:
        json.dump({"lucid": __version__, "ok": bool(found.working()), **asdict(found)}, sys.stdout, indent=1)
        print()
    else:
        print("\n".join(_render(found, Terminal())))
    return 0 if found.working() else 1


def _render(found: doctor.Findings, terminal: Terminal) -> List[str]:
    lines = [_line("Lucid", __version__),
             _line("library", found.library or "not found"),
             _line("MPI", f"{found.mpi} ({found.libmpi})" if found.mpi else "not found"),
             _line("launcher", f"{found.mpiexec}: {found.launcher}" if found.mpiexec else "not found")]
    if found.mpi.startswith("Open MPI"):
        lines.append(_line("pml module", found.module or "not there"))
    if found.trials:
        lines += ["", *_sources(found, terminal)]
    if found.systems:
        lines += ["", *_systems(found, terminal)]
    lines += _listed("problems", found.problems, terminal) + _listed("to know", found.notes, terminal)
    if found.parameters:
        lines += ["", *_parameters(found, terminal)]
    verdict = f"Lucid works here, with {found.chosen}." if found.chosen else "Lucid does not work here."
    return lines + ["", terminal.bold(verdict)]


def _line(name: str, value: str) -> str:
    return f"{name:<12}{value}"


def _sources(found: doctor.Findings, terminal: Terminal) -> List[str]:
    lines = [terminal.bold("source      " + "".join(f"{name:<16}" for name in _COLUMNS).rstrip())]
    for trial in found.trials:
        if trial.works:
            cells = {check["name"]: _verdict(trial, check) for check in trial.checks}
            text = "".join(f"{cells.get(name, ''):<16}" for name in _COLUMNS).rstrip()
        else:
            text = "does not work"
        lines.append(_line(trial.source + (" *" if trial.source == found.chosen else ""), text))
    return lines + ["* in use unless another is asked for; exact: counted to the message what was sent"]


_OPTIONS = {"traffic": "lucid run", "placement": "lucid run --place, lucid map", "sparse": "lucid run --sparse",
            "start-up": "lucid run --startup", "coll/hier": "lucid run --startup"}


def _systems(found: doctor.Findings, terminal: Terminal) -> List[str]:
    lines = [terminal.bold(f"{'system':<12}{'':<5}{'':<30}")]
    for system in found.systems:
        text = f"{'yes' if system.works else 'no':<5}{_OPTIONS.get(system.name, ''):<30}{system.how}"
        lines += textwrap.wrap(f"{system.name:<12}{text}", max(terminal.width, 80), subsequent_indent=" " * 47, break_on_hyphens=False)
    return lines


def _verdict(trial: doctor.Trial, check: dict) -> str:
    if not check["ran"]:
        return "MPI cannot"
    if check["counted"] == check["sent"]:
        return "as called" if trial.used == "pmpi" and check["name"] == "collectives" else "exact"
    if check["counted"][0] == 0:
        return "not seen"
    return "not all seen" if check["name"] == "collectives" and trial.blind else f"{check['counted'][0]} of {check['sent'][0]}"


def _listed(title: str, entries, terminal: Terminal) -> List[str]:
    lines = ["", terminal.bold(title)] if entries else []
    for what, remedy in entries:
        lines += textwrap.wrap("- " + what, terminal.width, subsequent_indent="  ", break_on_hyphens=False)
        if remedy:
            lines += textwrap.wrap("-> " + remedy, terminal.width, initial_indent="  ", subsequent_indent="     ",
                                   break_on_hyphens=False)
    return lines


def _parameters(found: doctor.Findings, terminal: Terminal) -> List[str]:
    lines = [terminal.bold("parameters (environment variables)")]
    for name, _, default, allowed, _, text in found.parameters:
        value = os.environ.get(name)
        now = f"; set to {value}" if value else ""
        lines += textwrap.wrap(f"{name} ({allowed}; default {default or 'none'}{now}): {text}", terminal.width,
                               subsequent_indent="    ", break_on_hyphens=False)
    return lines
