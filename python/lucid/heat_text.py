# SPDX-License-Identifier: BSD-3-Clause
"""The heat map in a terminal: one cell is two characters wide, so that it is about square.

Without colour a cell has one of four shades; with colour it is a full block in one of sixteen. Nothing sent is blank.
"""

from __future__ import annotations

from typing import Dict, List

from . import grid as grids
from . import units
from .scale import Scale, scale, viridis
from .session import Session
from .terminal import Terminal

_SHADES = "░▒▓█"
_COLORS = 16
_MOST_LABEL = 14
_ROW = {"rank": "rank", "ranks": "block of ranks", "node": "node", "nodes": "block of nodes"}


def render(session: Session, matrix, by: str, terminal: Terminal, order: str = "node") -> List[str]:
    """The lines of the map of `matrix` (of ranks)."""
    grid = _fit(session, terminal.width, order)
    folded = {key: getattr(traffic, by) for key, traffic in grid.fold(matrix).items()}
    steps = scale(folded.values())
    grouped = ", grouped by node" if grid.regrouped and grid.unit in ("rank", "ranks") else ""
    lines = [f"{by} from each {_ROW[grid.unit]} (row = sender) to each (column = receiver){grouped}"]
    if not steps:
        empty = by == "bytes" and any(traffic.messages for traffic in matrix.values())
        return lines + ["  only messages of 0 bytes: --messages shows them" if empty else "  nothing was sent"]
    margin = _margin(grid)
    lines += _header(grid, margin)
    edges = set(grid.boundaries())
    for i in range(grid.size):
        if i in edges:
            lines.append(" " * margin + terminal.dim(_rule(grid, edges)))
        lines.append(_label(grid, i, margin) + _cells(grid, i, folded, steps, edges, terminal))
    return lines + ["", *_legend(steps, by, terminal)]


def _fit(session: Session, width: int, order: str) -> grids.Grid:
    """The finest grid that fits the width."""
    limit = max(min(width // 2, grids.FIGURE_RANKS), 2)
    while True:
        grid = grids.layout(session, limit, order)
        if limit <= 2 or _margin(grid) + 2 * grid.size + len(grid.boundaries()) <= width:
            return grid
        limit -= 1


def _short(label: str) -> str:
    label = units.plain(label)
    return label if len(label) <= _MOST_LABEL else label[:_MOST_LABEL - 1] + "…"


def _margin(grid: grids.Grid) -> int:
    return max(len(_short(label)) for label in grid.labels) + 2


def _label(grid: grids.Grid, i: int, margin: int) -> str:
    return f"{_short(grid.labels[i]):>{margin - 1}} "


def _header(grid: grids.Grid, margin: int) -> List[str]:
    """The nodes' names above their columns, then the columns' own labels where there is room."""
    lines = []
    if grid.spans:
        names = " ".join(_squeeze(units.plain(s.label), 2 * (s.end - s.start)) for s in grid.spans)
        lines.append((" " * margin + names).rstrip())
    if grid.unit == "rank":
        edges, digits = set(grid.boundaries()), max(map(len, grid.labels))
        for place in range(digits):  # numbers stand upright: a column is two characters wide
            marks = ((" " if i in edges else "") + " " + f"{label:>{digits}}"[place] for i, label in enumerate(grid.labels))
            lines.append(" " * margin + "".join(marks).rstrip())
    return lines


def _squeeze(name: str, room: int) -> str:
    """A name in exactly `room` columns; its end tells nodes apart, so the start goes first."""
    return name.ljust(room) if len(name) <= room else "…" * (room > 2) + name[len(name) - room + (room > 2):]


def _rule(grid: grids.Grid, edges) -> str:
    return "".join(("┼" if j in edges else "") + "──" for j in range(grid.size))


def _cells(grid: grids.Grid, i: int, folded: Dict, steps: Scale, edges, terminal: Terminal) -> str:
    parts = []
    for j in range(grid.size):
        if j in edges:
            parts.append(terminal.dim("│"))
        value = folded.get((i, j), 0)
        parts.append(_cell(value, steps, terminal) if value > 0 else "  ")
    return "".join(parts).rstrip()


def _cell(value: int, steps: Scale, terminal: Terminal) -> str:
    if terminal.color:
        return terminal.paint("██", _color(steps.level(value, _COLORS)))
    return _SHADES[steps.level(value, len(_SHADES))] * 2


def _color(level: int):
    return viridis(0.1 + 0.9 * level / (_COLORS - 1))


def _legend(steps: Scale, by: str, terminal: Terminal) -> List[str]:
    show = units.size if by == "bytes" else lambda v: units.count(round(v))
    if terminal.color:
        ramp = "".join(terminal.paint("█", _color(i)) for i in range(_COLORS))
        return [f"{show(steps.low)} {ramp} {show(steps.high)}   log scale, blank: nothing"]
    if steps.high <= steps.low:
        return [f"██ {show(steps.high)}   blank: nothing"]
    starts = [f"{shade * 2} from {show(steps.value(i / len(_SHADES)))}" for i, shade in enumerate(_SHADES)]
    return ["   ".join(starts), f"largest {show(steps.high)}   log scale, blank: nothing"]
