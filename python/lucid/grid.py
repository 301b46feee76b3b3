# SPDX-License-Identifier: BSD-3-Clause
"""A matrix as a figure shows it: ranks in the order of their nodes, gathered into groups where there are too many.

At most FIGURE_RANKS ranks stand for themselves; above, a row is a node (or a block of ranks, if there is one node; or a
block of nodes, if there are very many). Where the page is narrow, ranks of one node share a row first.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Dict, List, NamedTuple, Tuple

from . import units
from .session import Session, Traffic

FIGURE_RANKS = 512


class Span(NamedTuple):
    """Neighbouring rows that share a node."""

    start: int
    end: int
    label: str


@dataclass
class Grid:
    """The layout of a figure's rows and columns."""

    members: List[List[int]]  # the ranks of each row
    labels: List[str]
    spans: List[Span]         # the nodes along the axis; empty where a row is a node or more
    unit: str                 # 'rank', 'ranks' (blocks), 'node', 'nodes' (blocks)
    regrouped: bool           # rows are not in the order of the ranks

    @property
    def size(self) -> int:
        """Rows, and columns."""
        return len(self.members)

    def boundaries(self) -> List[int]:
        """Rows at which a new node begins, the first one left out."""
        return [span.start for span in self.spans[1:]]

    def fold(self, matrix: Dict[Tuple[int, int], Traffic]) -> Dict[Tuple[int, int], Traffic]:
        """A matrix of ranks as a matrix of this grid's rows."""
        row = {rank: i for i, ranks in enumerate(self.members) for rank in ranks}
        folded: Dict[Tuple[int, int], Traffic] = {}
        for (sender, receiver), traffic in matrix.items():
            key = (row[sender], row[receiver])
            old = folded.get(key)
            folded[key] = traffic if old is None else Traffic(old[0] + traffic[0], old[1] + traffic[1])
        return folded

    def axis(self) -> str:
        """What a row is, in words."""
        if self.unit == "ranks":
            words = f"blocks of up to {max(map(len, self.members))} ranks"
        elif self.unit == "nodes":
            words = "blocks of neighbouring nodes"
        else:
            words = self.unit
        return words + (", grouped by node" if self.regrouped and self.unit in ("rank", "ranks") else "")


def layout(session: Session, limit: int = FIGURE_RANKS, order: str = "node") -> Grid:
    """The grid of a session with at most `limit` rows. order: 'node' keeps a node's ranks together, 'rank' does not."""
    homes = _homes(session)
    if order == "rank":
        return _rank_order(session, limit)
    ranks = [rank for home in homes for rank in home[1]]
    regrouped = ranks != sorted(ranks)
    if session.size <= min(limit, FIGURE_RANKS):
        return Grid([[r] for r in ranks], [str(r) for r in ranks], _spans(homes, 1), "rank", regrouped)
    if session.size <= FIGURE_RANKS or len(homes) == 1:
        size = _block(homes, limit)
        if size:
            blocks = [home[1][i:i + size] for home in homes for i in range(0, len(home[1]), size)]
            return Grid(blocks, [units.ranges(b) for b in blocks], _spans(homes, size), "ranks", regrouped)
    return _by_nodes(homes, limit, regrouped)


def _homes(session: Session) -> List[Tuple[str, List[int]]]:
    """The nodes that have ranks, by their lowest rank, each with its name and ranks."""
    homes = [(node.name, ranks) for node, ranks in zip(session.nodes, session.members()) if ranks]
    return sorted(homes, key=lambda home: home[1][0])


def _rank_order(session: Session, limit: int) -> Grid:
    size = -(-session.size // min(limit, FIGURE_RANKS))
    blocks = [list(range(i, min(i + size, session.size))) for i in range(0, session.size, size)]
    spans = []
    for i, block in enumerate(blocks):
        name = session.nodes[session.ranks[block[0]].node].name
        if spans and spans[-1].label == name:
            spans[-1] = Span(spans[-1].start, i + 1, name)
        else:
            spans.append(Span(i, i + 1, name))
    pure = all(len({session.ranks[rank].node for rank in block}) == 1 for block in blocks)
    if not pure or len(spans) > len(session.nodes):
        spans = []
    return Grid(blocks, [units.ranges(b) for b in blocks], spans, "rank" if size == 1 else "ranks", False)


def _block(homes, limit: int) -> int:
    """The smallest number of ranks per row so that `limit` rows are enough, or a somewhat larger one that divides all nodes
    evenly; 0 if nodes alone are too many."""
    if len(homes) > limit:
        return 0
    size = 1
    while sum(-(-len(ranks) // size) for _, ranks in homes) > limit:
        size += 1
    even = (n for n in range(size, 2 * size) if all(len(ranks) % n == 0 for _, ranks in homes))
    return next(even, size)


def _spans(homes, size: int) -> List[Span]:
    spans, start = [], 0
    for name, ranks in homes:
        end = start + -(-len(ranks) // size)
        spans.append(Span(start, end, name))
        start = end
    return spans


def _by_nodes(homes, limit: int, regrouped: bool) -> Grid:
    size = -(-len(homes) // limit)
    blocks = [homes[i:i + size] for i in range(0, len(homes), size)]
    members = [[rank for _, ranks in block for rank in ranks] for block in blocks]
    labels = [_from_to(block[0][0], block[-1][0]) for block in blocks]
    return Grid(members, labels, [], "node" if size == 1 else "nodes", regrouped)


def _from_to(first: str, last: str) -> str:
    """'node08…11' for node08 to node11."""
    if first == last:
        return first
    same = len(os.path.commonprefix([first, last]))
    while same and first[same - 1].isdigit():
        same -= 1
    return f"{first}…{last[same:]}"
