# SPDX-License-Identifier: BSD-3-Clause
"""lucid compare: two runs side by side."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from typing import List

from .. import compare, compare_figure, reports, units
from ..errors import LucidError
from ..report import compare_page
from ..terminal import Terminal

_DESCRIPTION = """\
Puts two reports side by side: run time, time in MPI (of runs with --time), bytes and messages, what went between nodes, what
communicators cost where that was recorded (lucid run --startup), and B over A. With one report of lucid run --place, its first
run and its second.
"""

_EPILOG = """\
examples:
  lucid run -o without -- mpirun -n 16 ./app
  lucid run -o with --sparse -- mpirun -n 16 ./app
  lucid compare without with
  lucid compare without with -o both.html    the same as a page with both matrices (.svg, .png: the figure alone)
"""

_TYPES = (".png", ".svg", ".html")


def setup_parser(commands) -> None:
    """Adds the command's options."""
    parser = commands.add_parser("compare", help="two reports side by side", description=_DESCRIPTION, epilog=_EPILOG,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="A", help="report directory or session file")
    parser.add_argument("b", metavar="B", nargs="?", help="another one")
    parser.add_argument("-o", "--output", metavar="FILE", help="write FILE: .png, .svg or .html")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="what is printed")


def main(arguments) -> int:
    """lucid compare"""
    kind = os.path.splitext(arguments.output)[1].lower() if arguments.output else ""
    if arguments.output and kind not in _TYPES:
        raise LucidError(f"{arguments.output}: the extension says what is written: {', '.join(_TYPES)}", code=2)
    found = compare.compare(*compare.two(arguments.a, arguments.b))
    if arguments.output:
        write = {".png": compare_figure.png, ".svg": lambda one: compare_figure.svg_file(one).encode(),
                 ".html": lambda one: compare_page.render(one).encode()}[kind]
        reports.write_whole(arguments.output, write(found))
    elif arguments.format == "json":
        json.dump(compare.as_json(found), sys.stdout, indent=1)
        print()
    else:
        print("\n".join(line.rstrip() for line in render(found, Terminal())))
    return 0


def render(found: compare.Comparison, terminal: Terminal) -> List[str]:
    """The table in the terminal."""
    cells = [(row.label, compare.shown(row.a, row.unit), compare.shown(row.b, row.unit), compare.ratio(row)) for row in found.rows]
    room = max(12, (terminal.width - 40) // 2)
    names = [_name(side.name, room) for side in (found.a, found.b)]
    widths = [max([12, len(names[i]), *(len(cell[i + 1]) for cell in cells)]) for i in (0, 1)]
    lines = [terminal.bold(f"{'':<28}{names[0]:>{widths[0]}}  {names[1]:>{widths[1]}}{'B / A':>9}")]
    for side, word in ((found.a, "A"), (found.b, "B")):
        lines.insert(len(lines) - 1, f"{word}: {units.plain(side.name)}: {_about(side)}")
    lines.insert(2, "")
    lines += [f"{label:<28}{a:>{widths[0]}}  {b:>{widths[1]}}{ratio:>9}" for label, a, b, ratio in cells]
    for note in found.notes:
        lines += textwrap.wrap("note: " + note, terminal.width, subsequent_indent="      ", break_on_hyphens=False)
    return lines


def _about(side: compare.Side) -> str:
    session = side.session
    return f"{units.plural(session.size, 'rank')} on {units.plural(len(session.nodes), 'node')}, source {session.source['name']}"


def _name(text: str, room: int) -> str:
    text = units.plain(text)
    return text if len(text) <= room else "…" + text[1 - room:]
