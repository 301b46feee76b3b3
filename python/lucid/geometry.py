# SPDX-License-Identifier: BSD-3-Clause
"""Where things are in a heat map's figure, in pixels; SVG and PNG are the same figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List

from .grid import Grid
from .units import plain

PLOT = 560           # side of the matrix
INK, FAINT = "#1b1f24", "#5b6470"
_CHARACTER = 6.5     # width of one at the size of labels
TITLE = 78           # baseline of the title of the columns
_BAR, _FOOT = 116, 34


def cut(text: str, most: int) -> str:
    """Text of at most `most` characters, plain."""
    text = plain(text)
    return text if len(text) <= most else text[:most - 1] + "…"


@dataclass(frozen=True)
class Geometry:
    """The measures of one figure."""

    labels: List[str]     # of rows and columns, cut to what fits
    upright: bool         # columns' labels stand upright
    left: float           # where the matrix begins
    top: float
    names: float          # room for the nodes' names, right of the matrix
    width: float
    height: float

    @property
    def bar(self) -> float:
        """Where the colour bar begins."""
        return self.left + PLOT + self.names + 26

    def rows(self) -> List[int]:
        """Rows that get their label."""
        return _thinned(len(self.labels), 13)

    def columns(self) -> List[int]:
        """Columns that get theirs."""
        return _thinned(len(self.labels), 14 if self.upright else max(map(len, self.labels)) * _CHARACTER + 8)


def measure(grid: Grid) -> Geometry:
    """The measures of a grid's figure."""
    labels = [cut(label, 14) for label in grid.labels]
    widest = max(map(len, labels)) * _CHARACTER
    upright = widest > 30
    names = 14 + _CHARACTER * max(len(cut(span.label, 16)) for span in grid.spans) if grid.spans else 0
    left, top = widest + 44, TITLE + 20 + (widest if upright else 12)
    return Geometry(labels, upright, left, top, names, left + PLOT + names + _BAR, top + PLOT + _FOOT)


def _thinned(rows: int, room: float) -> List[int]:
    """Every first, second, fourth, ... row, so that labels `room` pixels wide do not touch."""
    side = PLOT / rows
    step = next((s for s in (1, 2, 4, 8, 16, 32, 64, 128, 256) if s * side >= room), 512)
    return list(range(0, rows, step))
