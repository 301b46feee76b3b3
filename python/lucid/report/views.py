# SPDX-License-Identifier: BSD-3-Clause
"""What the page shows of a session: one view per class and kind of traffic, each with its totals, distances and pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Tuple

from .. import grid as grids
from .. import summary
from ..session import Session, Traffic
from .thumb import data_uri

PAIRS = 12


@dataclass
class View:
    """The traffic of some kinds."""

    key: str
    label: str
    depth: int                  # 0: everything, 1: a class, 2: a kind within it
    kinds: List[int]
    total: Traffic
    distances: Dict[str, Traffic]
    pairs: Dict[str, List[Tuple[int, int, Traffic]]]
    bins: List[int]
    picture: str                # the matrix of bytes as a data: address


@dataclass
class Shown:
    """A session as the page shows it."""

    key: str
    label: str
    session: Session
    grid: grids.Grid
    views: List[View]


def shown(key: str, label: str, session: Session, order: str) -> Shown:
    """Works a session out."""
    rows = grids.layout(session, order=order)
    return Shown(key, label, session, rows, _views(session, rows))


def _views(session: Session, rows: grids.Grid) -> List[View]:
    def view(*words) -> View:
        return _view(session, rows, *words)

    lines = summary.table(session)
    present = {line.group for line in lines}
    views = [view("all", "all traffic", 0, None)]
    if {"user", "coll"} <= present:
        views.append(view("class-p2p", "point-to-point, with collectives", 1, "p2p"))
    for line in lines:
        if line.kind:
            views.append(view(f"kind-{line.kind}", line.kind, 2, f"kind:{line.kind}"))
        elif line.group in ("coll", "osc"):
            views.append(view(f"class-{line.group}", line.label, 1, line.group))
        else:
            kinds = [f"kind:{kind}" for kind in session.by_kind() if session.group_of(kind) == line.group]
            views.append(view(f"class-{line.group}", line.label, 1, kinds))
    return views


def _view(session: Session, rows: grids.Grid, key: str, label: str, depth: int, kinds) -> View:
    picture = data_uri(rows.size, {at: t.bytes for at, t in rows.fold(session.matrix(kinds)).items()})
    return View(key, label, depth, session.select(kinds), session.total(kinds), session.by_distance(kinds),
                {by: session.top_pairs(PAIRS, by, kinds) for by in ("bytes", "messages")}, session.histogram(kinds), picture)


def as_values(page: Shown) -> dict:
    """A session for the page's script."""
    session, rows = page.session, page.grid
    place = {rank: i for i, ranks in enumerate(rows.members) for rank in ranks}
    folded: Dict[Tuple[int, int, int], List[int]] = {}
    for cell in session.cells:
        amount = folded.setdefault((place[cell.sender], place[cell.receiver], cell.kind), [0, 0])
        amount[0] += cell.messages
        amount[1] += cell.bytes
    flat = [value for (i, j, kind), amount in sorted(folded.items()) for value in (i, j, kind, *amount)]
    return {
        "key": page.key, "label": page.label, "size": rows.size, "labels": rows.labels, "unit": rows.unit,
        "nodes": [_row_node(page, i) for i in range(rows.size)], "cells": flat,
        "rankNodes": [session.nodes[rank.node].name for rank in session.ranks],
        "views": [{"key": v.key, "kinds": v.kinds, "total": list(v.total), "bins": _stretch(v.bins),
                   "distances": {name: list(traffic) for name, traffic in v.distances.items()},
                   "pairs": {by: [[s, r, *t] for s, r, t in pairs] for by, pairs in v.pairs.items()}} for v in page.views]}


def _row_node(page: Shown, row: int) -> str:
    if page.grid.unit in ("node", "nodes"):
        return ""
    session = page.session
    return session.nodes[session.ranks[page.grid.members[row][0]].node].name


def _stretch(bins: List[int]) -> List[List]:
    return [[label, value] for label, value in summary.bins(bins)]
