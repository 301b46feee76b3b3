# SPDX-License-Identifier: BSD-3-Clause
"""lucid show: a report in the terminal, as a figure, as a page, as a table."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys

from .. import export, grid, png, reports, sparse_sites, startup, summary, summary_text, svg, units
from ..errors import LucidError
from ..report import page
from ..terminal import Terminal
from . import options

_DESCRIPTION = """\
Shows a report that `lucid run` left, or any session file: who sent what to whom, by class and kind of traffic, and how much
of it went between nodes. Without REPORT the latest ./lucid-report is shown.
"""

_EPILOG = """\
examples:
  lucid show                               the latest report, in the terminal
  lucid show lucid-report --class coll     collectives only
  lucid show lucid-report --kind allreduce --messages
  lucid show lucid-report --phase 2        the phase of MPI_Pcontrol(2)
  lucid show lucid-report -o report.html   a page in one file: topology, matrices by class and kind, largest pairs
  lucid show lucid-report -o matrix.svg    the heat map alone (.png needs matplotlib)
  lucid show lucid-report -o matrix.mtx    the numbers, for other programs (.csv: a line per pair and kind)

classes: p2p = every point-to-point message, those that collectives are made of included; user = the program's own sends;
coll = what collectives are made of; osc = one-sided; all = everything, nothing twice.
"""

_TYPES = (".png", ".svg", ".html", ".mtx", ".csv")


def setup_parser(commands) -> None:
    """Adds the command's options."""
    parser = commands.add_parser("show", help="show a report", description=_DESCRIPTION, epilog=_EPILOG,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", nargs="?", metavar="REPORT", help="report directory or session file")
    parser.add_argument("-o", "--output", metavar="FILE", help="write FILE: .png, .svg, .html, .mtx or .csv")
    options.traffic(parser, "show")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="how many of the largest pairs (default 10)")
    parser.add_argument("--order", choices=["node", "rank"], default="node",
                        help="order of the matrix: each node's ranks together (default), or as numbered")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="what is printed")


def main(arguments) -> int:
    """lucid show"""
    if arguments.output:
        _check_type(arguments.output)
    report = reports.one(arguments.report) if arguments.report else reports.newest()
    session = reports.open_session(report, arguments.phase)
    kinds, what = _selection(session, arguments)
    if arguments.output:
        reports.write_whole(arguments.output, _content(report, session, kinds, what, arguments))
    elif arguments.format == "json":
        values = summary.as_json(session, kinds, arguments.by, arguments.top)
        found = _reductions(report, arguments)
        json.dump({**values, "reductions": sparse_sites.as_json(found)} if found else values, sys.stdout, indent=1)
        print()
    else:
        lines = summary_text.render(session, Terminal(), kinds, arguments.by, arguments.top, arguments.order, what)
        _print(lines + _sparse(report, arguments) + _startup(report, arguments) + _phases(report, arguments))
    return 0


def _reductions(report: str, arguments):
    """What the reductions of the whole run were given, or None."""
    return sparse_sites.load(report) if os.path.isdir(report) and arguments.phase is None else None


def _sparse(report: str, arguments) -> list:
    """The same as lines, where this was looked at."""
    found = _reductions(report, arguments)
    return ["", *sparse_sites.render(found, Terminal(), arguments.top)] if found else []


def _startup(report: str, arguments) -> list:
    """What communicators cost, where the whole run was shown and this was recorded."""
    found = startup.load(report) if os.path.isdir(report) and arguments.phase is None else None
    return ["", *startup.render(found, Terminal(), arguments.top)] if found else []


def _phases(report: str, arguments) -> list:
    """That there are phases, where the whole run was shown."""
    found = reports.phases(report) if os.path.isdir(report) and arguments.phase is None else []
    if not found:
        return []
    return ["", f"phases: {', '.join(str(level) for level, _ in found)} (--phase LEVEL shows one)"]


def _print(lines) -> None:
    """Prints; where the locale's encoding has no blocks and arrows, in UTF-8 all the same."""
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        sys.stdout.buffer.write(text.encode("utf-8"))


def _check_type(path: str) -> None:
    if os.path.splitext(path)[1].lower() not in _TYPES:
        raise LucidError(f"{path}: the extension says what is written: {', '.join(_TYPES)}", code=2)


def _selection(session, arguments):
    """The kinds that the options ask for, and what to call them."""
    if arguments.kind:
        names = arguments.kind.split(",")
        kinds = [f"kind:{name}" for name in names]
        session.select(kinds)
        return kinds, "kind " + ", ".join(names)
    words = {"p2p": "point-to-point, collectives' messages included", "user": "the program's own point-to-point messages",
             "coll": "collectives", "osc": "one-sided"}
    if arguments.class_ in words:
        session.select(arguments.class_)
        return arguments.class_, words[arguments.class_]
    return None, "all traffic"


def _content(report: str, session, kinds, what: str, arguments) -> bytes:
    """What goes into the file."""
    kind = os.path.splitext(arguments.output)[1].lower()
    if kind == ".mtx":
        return export.matrix_market(session, kinds, arguments.by).encode()
    if kind == ".csv":
        return export.table(session, kinds).encode()
    if kind == ".html":
        return page.render(report, session, arguments.phase, arguments.order).encode()
    rows = grid.layout(session, order=arguments.order)
    folded = rows.fold(session.matrix(kinds))
    title = shlex.join(session.command) or session.name or "session"
    if arguments.phase is not None:
        title += f" (phase {arguments.phase})"
    subtitle = " · ".join([f"{arguments.by}, {what}", units.plural(session.size, "rank") + " on " +
                           units.plural(len(session.nodes), "node"), "row = sender"])
    if kind == ".png":
        return png.figure(rows, folded, arguments.by, title, subtitle)
    return svg.document(svg.figure(rows, folded, arguments.by, title, subtitle)).encode()
