# SPDX-License-Identifier: BSD-3-Clause
"""What a session says, in figures: one place where they are worked out, for the terminal, the HTML page and JSON."""

from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Tuple

from . import units
from .session import NOTHING, Session, Traffic

GROUPS = (("user", "point-to-point"), ("coll", "collectives"), ("library", "MPI library's own"),
          ("undivided", "user or collective"), ("osc", "one-sided"))

DISTANCES = (("itself", "a rank to itself"), ("package", "within a package"), ("node", "within a node"),
             ("between", "between nodes"))

_SIGHT = (("decomposed", "collectives as the messages they are made of", "collectives as they are called, not the messages they cause"),
          ("user", "user messages apart from collectives", "user messages and collectives together"),
          ("kinds", "the kind of every collective", "no kinds of collectives"),
          ("one_sided", "one-sided traffic", "no one-sided traffic"),
          ("persistent", "persistent and partitioned sends", "no persistent or partitioned sends"))


class Line(NamedTuple):
    """A line of the traffic table."""

    label: str
    kind: str     # '' for a group's own line
    group: str
    traffic: Traffic


def table(session: Session, kinds=None) -> List[Line]:
    """Traffic by group, and within collectives and one-sided traffic by kind; what does not occur is left out."""
    wanted = {session.kinds[i] for i in session.select(kinds)}
    by_kind = {kind: traffic for kind, traffic in session.by_kind().items() if kind in wanted}
    lines: List[Line] = []
    for group, label in GROUPS:
        members = [(kind, t) for kind, t in by_kind.items() if session.group_of(kind) == group]
        if not members:
            continue
        total = NOTHING
        for _, traffic in members:
            total = total.plus(*traffic)
        lines.append(Line(label, "", group, total))
        if group in ("coll", "osc"):
            members.sort(key=lambda m: (-m[1].bytes, -m[1].messages))
            lines += [Line(kind, kind, group, traffic) for kind, traffic in members]
    return lines


def mpi_name(session: Session) -> str:
    """'Open MPI 4.1.4' from what MPI_Get_library_version says."""
    library = session.mpi["library"].strip()
    known = re.match(r"(Open MPI) v(\S+?),?(\s|$)", library) or re.match(r"(MPICH) Version:\s*(\S+)", library)
    if known:
        return f"{known.group(1)} {known.group(2)}"
    return library.splitlines()[0].split(",")[0][:60] if library else "an unnamed MPI library"


def sight(session: Session) -> Tuple[List[str], List[str]]:
    """What the source sees, and what it does not, in words."""
    sees, misses = [], []
    for key, yes, no in _SIGHT:
        (sees if session.source[key] else misses).append(yes if session.source[key] else no)
    misses += [str(line) for line in session.source["blind"]]
    if session.lost:
        misses.append(f"{units.messages(session.lost)} that could not be counted: memory ran out")
    return sees, misses


def in_mpi(session: Session) -> str:
    """'time in MPI: 1.2 s on average, 1.5 s at most', or nothing where it was not measured."""
    if not session.in_mpi:
        return ""
    share = f" ({units.percent(session.in_mpi['mean'], session.seconds)} of the run)" if session.seconds else ""
    return f"time in MPI: {units.seconds(session.in_mpi['mean'])} a rank on average{share}, {units.seconds(session.in_mpi['most'])} at most"


def bins(histogram: List[int], step: int = 2) -> List[Tuple[str, int]]:
    """A histogram's occupied stretch as (sizes, messages), `step` powers of two at a time."""
    merged: List[Tuple[str, int]] = [("0 B", histogram[0])]
    for low in range(1, len(histogram), step):
        merged.append((_sizes(1 << (low - 1), 1 << (low - 1 + step)), sum(histogram[low:low + step])))
    used = [i for i, (_, value) in enumerate(merged) if value]
    return merged[used[0]:used[-1] + 1] if used else []


def _sizes(least: int, beyond: int) -> str:
    """'4 – 15 B', '1 – 4 KiB', '256 KiB – 1 MiB'."""
    if beyond <= 1024:
        return f"{least} – {beyond - 1} B"
    low, high = units.power(least) + "B", units.power(beyond) + "B"
    same = low.split(" ")[1] == high.split(" ")[1]
    return f"{low.split(' ')[0] if same else low} – {high}"


def node_models(session: Session) -> List[Tuple[str, int]]:
    """What the nodes are, each sort once, with how many there are."""
    sorts: Dict[str, int] = {}
    for node in session.nodes:
        parts = [node.model or "unknown processor"]
        parts += [units.plural(n, word) for n, word in ((node.packages, "package"), (node.cores, "core")) if n]
        sorts[", ".join(parts)] = sorts.get(", ".join(parts), 0) + 1
    return sorted(sorts.items(), key=lambda item: -item[1])


def as_json(session: Session, kinds, by: str, top: int) -> dict:
    """The summary as values, for `lucid show --format json`."""
    def amount(traffic: Traffic) -> dict:
        return {"messages": traffic.messages, "bytes": traffic.bytes}

    def home(rank: int) -> str:
        return session.nodes[session.ranks[rank].node].name

    return {
        "name": session.name, "created": session.created, "seconds": session.seconds, "seconds_in_mpi": session.in_mpi, "command": session.command,
        "ranks": session.size, "nodes": [node.name for node in session.nodes], "mpi": session.mpi, "source": session.source,
        "total": amount(session.total(kinds)),
        "kinds": {line.kind or line.group: amount(line.traffic) for line in table(session, kinds)
                  if line.kind or line.group not in ("coll", "osc")},
        "classes": {name: amount(session.total(name)) for name in session.classes},
        "distance": {name: amount(traffic) for name, traffic in session.by_distance(kinds).items()},
        "outside": amount(session.outside_total(kinds)), "lost": session.lost, "histogram": session.histogram(kinds),
        "pairs": [{"sender": s, "receiver": r, "sender_node": home(s), "receiver_node": home(r), **amount(t)}
                  for s, r, t in session.top_pairs(top, by, kinds)],
    }
