# SPDX-License-Identifier: BSD-3-Clause
"""Two reports side by side: one place where it is worked out what they have in common, for the terminal, figures and JSON."""

from __future__ import annotations

import os
import shlex
from typing import Dict, List, NamedTuple, Optional, Tuple

from . import reports, sparse_sites, startup, units
from .errors import LucidError
from .session import Session

REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")


class Row(NamedTuple):
    """One figure of both reports; None where a report does not have it."""

    key: str
    label: str
    unit: str  # 's', 'bytes', 'count', 'factor'
    a: Optional[float]
    b: Optional[float]

    @property
    def ratio(self) -> Optional[float]:
        """B over A, or None where that says nothing."""
        return self.b / self.a if self.a and self.b is not None else None


class Side(NamedTuple):
    """A report: as it was named, its session, and what it tells."""

    name: str
    session: Session
    figures: Dict[str, float]


class Comparison(NamedTuple):
    """Both sides, the figures that one of them has at least, and what to keep in mind."""

    a: Side
    b: Side
    rows: List[Row]
    notes: List[str]


_ROWS = (("run_time", "run time", "s"), ("recorded", "time recorded", "s"), ("in_mpi", "time in MPI, mean of ranks", "s"),
         ("bytes_between_nodes", "bytes between nodes", "bytes"), ("messages_between_nodes", "messages between nodes", "count"),
         ("bytes", "bytes", "bytes"), ("messages", "messages", "count"),
         ("point_to_point_bytes", "point-to-point, bytes", "bytes"), ("collective_bytes", "collectives, bytes", "bytes"),
         ("reduction_bytes", "reductions, bytes", "bytes"), ("one_sided_bytes", "one-sided, bytes", "bytes"),
         ("sparse_gain", "reductions, predicted gain", "factor"),
         ("communicators", "communicators", "count"), ("communicator_bytes", "bytes per communicator", "bytes"),
         ("startup_messages", "messages to set them up", "count"), ("startup_ids", "context ids", "count"),
         ("startup_seconds", "time to set them up", "s"))


def compare(a: str, b: str) -> Comparison:
    """Reads both reports. LucidError where one of them is none."""
    sides = _side(a), _side(b)
    _one_clock(sides)
    rows = [Row(key, label, unit, sides[0].figures.get(key), sides[1].figures.get(key)) for key, label, unit in _ROWS]
    rows = [row for row in rows if row.a or row.b]
    return Comparison(*sides, rows, _notes(*sides))


def two(a: str, b: Optional[str]) -> Tuple[str, str]:
    """The two reports that a command line names: two of them, or the directory of a run with --place."""
    if b is not None:
        return a, b
    parts = reports.parts(a)
    if len(parts) != 2:
        raise LucidError(f"{a} holds no two runs (lucid run --place leaves such a report): name two reports", code=2)
    return parts[0], parts[1]


def _side(name: str) -> Side:
    path = reports.one(name)
    session = reports.open_session(path)
    figures = _traffic(session)
    if os.path.isdir(path):
        seconds = (reports.read_run(path) or {}).get("seconds")
        if isinstance(seconds, (int, float)) and not isinstance(seconds, bool):
            figures["run_time"] = float(seconds)
        figures.update(_communicators(path))
        figures.update(_sparse(path))
    return Side(name, session, figures)


def _traffic(session: Session) -> Dict[str, float]:
    total, far = session.total(), session.between_nodes()
    reductions = [f"kind:{kind}" for kind in REDUCTIONS if kind in session.kinds]
    figures = {"recorded": session.seconds, "bytes": total.bytes, "messages": total.messages,
               "reduction_bytes": session.total(reductions).bytes if reductions else 0}
    if session.in_mpi:
        figures["in_mpi"] = session.in_mpi["mean"]
    if len(session.nodes) > 1:
        figures.update(bytes_between_nodes=far.bytes, messages_between_nodes=far.messages)
    for key, group in (("point_to_point_bytes", "user"), ("collective_bytes", "coll"), ("one_sided_bytes", "osc")):
        figures[key] = sum(traffic.bytes for kind, traffic in session.by_kind().items() if session.group_of(kind) == group)
    return figures


def _communicators(directory: str) -> Dict[str, float]:
    """What a communicator has come to on average, and what all of them have."""
    found = startup.load(directory)
    if found is None or not found.communicators:
        return {}
    sums = startup.totals(found)
    whole = {key: sums["creation"][key] + sums["first_use"][key] for key in sums["creation"]}
    return {"communicators": len(found.communicators), "communicator_bytes": whole["bytes_of_a_process"] / len(found.communicators),
            "startup_messages": whole["messages"], "startup_ids": whole["ids"], "startup_seconds": whole["seconds"]}


def _sparse(directory: str) -> Dict[str, float]:
    """The gain that --sparse=measure predicts, by the bytes of the vectors."""
    found = sparse_sites.load(directory)
    sites = found.sites if found else []
    volume = sum(site.calls * site.vector for site in sites)
    return {"sparse_gain": volume / sum(site.calls * site.vector / site.predicted for site in sites)} if volume else {}


def _one_clock(sides) -> None:
    """Wall times of both, or else how long both were recorded: not one of each."""
    both = all("run_time" in side.figures for side in sides)
    for side in sides:
        side.figures.pop("recorded" if both else "run_time", None)


def _notes(a: Side, b: Side) -> List[str]:
    """Why figures may differ for other reasons than the program's."""
    notes = []
    for what, one, other in (("ranks", a.session.size, b.session.size), ("nodes", len(a.session.nodes), len(b.session.nodes))):
        if one != other:
            notes.append(f"different numbers of {what}: {one:,} and {other:,}")
    for what, one, other in (("sources", a.session.source["name"], b.session.source["name"]),
                             ("commands", shlex.join(a.session.command), shlex.join(b.session.command))):
        if one != other:
            notes.append(f"different {what}: {units.plain(one) or 'unknown'} and {units.plain(other) or 'unknown'}")
    if ("communicators" in a.figures) != ("communicators" in b.figures):
        notes.append(f"only {(a if 'communicators' in a.figures else b).name} was recorded with --startup (--startup=alone records "
                     "and changes nothing)")
    return notes


def as_json(found: Comparison) -> dict:
    """The comparison as values."""
    def side(one: Side) -> dict:
        return {"report": one.name, "command": one.session.command, "created": one.session.created, "ranks": one.session.size,
                "nodes": len(one.session.nodes), "source": one.session.source["name"]}

    return {"a": side(found.a), "b": side(found.b), "notes": found.notes,
            "rows": [{"key": row.key, "label": row.label, "unit": row.unit, "a": row.a, "b": row.b, "ratio": row.ratio}
                     for row in found.rows]}


def shown(value: Optional[float], unit: str) -> str:
    """A figure as a table shows it; nothing where there is none."""
    if value is None:
        return "-"
    if unit == "factor":
        return f"{value:.2f}"
    return {"s": units.seconds, "bytes": units.size, "count": lambda v: units.count(round(v))}[unit](value)


def ratio(row: Row) -> str:
    """B over A: '0.69', '12.3', '' where that says nothing."""
    if row.ratio is None:
        return ""
    return f"{row.ratio:.2f}" if row.ratio < 9.995 else f"{row.ratio:.3g}" if row.ratio < 1e4 else "> 9999"
