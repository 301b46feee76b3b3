# SPDX-License-Identifier: BSD-3-Clause
"""The table that the demo ends with: what, before, after, the ratio, the paper's figure."""
import statistics
from typing import List, NamedTuple

from lucid import units

HEAD = ("what", "without", "with Lucid", "ratio", "in the paper")


class Row(NamedTuple):
    """One measured pair; several values of a side are repeats, of which the median is shown."""

    what: str
    before: List[float]
    after: List[float]
    unit: str    # 's', 'bytes', 'count'
    paper: str


def shown(value: float, unit: str) -> str:
    """A figure with its unit."""
    return {"s": units.seconds, "bytes": units.size, "count": lambda v: units.count(round(v))}[unit](value)


def ratio(before: float, after: float) -> str:
    """How many times less it has become: '2.9 x'."""
    if after <= 0:
        return "all gone" if before > 0 else "-"
    times = before / after
    return f"{times:.2f} x" if times < 9.995 else f"{times:.1f} x" if times < 99.95 else f"{times:.0f} x"


def cells(row: Row) -> List[str]:
    """A row as the table shows it."""
    before, after = statistics.median(row.before), statistics.median(row.after)
    return [row.what, shown(before, row.unit), shown(after, row.unit), ratio(before, after), row.paper]


def render(rows: List[Row], notes: List[str]) -> str:
    """The table, and the notes below it."""
    lines = [list(HEAD)] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    text = ["  ".join(f"{cell:<{width}}" if i in (0, 4) else f"{cell:>{width}}"
                      for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines]
    text.insert(1, "-" * max(map(len, text)))
    return "\n".join(text + [""] + notes) + "\n"
