# SPDX-License-Identifier: BSD-3-Clause
"""From a session, or any matrix, to ranks that sit where their messages are.

    import lucid
    from lucid import mapping
    problem = mapping.of_session(lucid.load("lucid-report/run.json"))
    best = problem.solve()
    best.k                  # process i gets rank k[i]
    best.after.between      # bytes between nodes that are left

A machine is a tree whose leaves are places for one process each. Process i has rank i and does what rank i does; if it gets
rank k[i], it does what rank k[i] did (Inria RR 9292, section 5, Fig. 1). J is the sum over all pairs of ranks of their traffic
times the cost of what lies between them.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import mapping_library as library
from .mapping_formats import LAUNCHERS, matrix_of, permutation, read_matrix_market
from .mapping_machine import Machine, from_session, from_text
from .errors import LucidError
from .session import Session


class Figures(NamedTuple):
    """What an order costs: J, and what crosses between nodes, in all and over the busiest node's link."""

    cost: float
    between: int
    link: int


class Mapping(NamedTuple):
    """An order: process i gets rank k[i], and the place p is then rank ranks[p]'s."""

    k: List[int]
    ranks: List[int]
    before: Figures
    after: Figures
    algorithm: str
    seconds: float

    @property
    def ratio(self) -> float:
        """J relative to the order there was; 1 where nothing costs anything."""
        return self.after.cost / self.before.cost if self.before.cost > 0 else 1.0


class Problem:
    """A matrix and a machine for it. `cells`: (sender, receiver) -> (messages, bytes). by: 'bytes' or 'messages'."""

    def __init__(self, cells: Dict[Tuple[int, int], Tuple[int, int]], machine: Machine, by: str = "bytes",
                 world: Optional[Sequence[int]] = None):
        self.machine, self.by, self.world = machine, by, world
        self._bytes = matrix_of(cells, machine)
        self._matrix = self._bytes.weighed_by_messages() if by == "messages" else self._bytes
        self._tree, self._nodes = machine.tree(), machine.node_tree()

    def set_costs(self, costs: Sequence[float]) -> None:
        """Other costs of the machine's levels, outermost first."""
        self.machine.set_costs(costs)
        self._tree, self._nodes = self.machine.tree(), self.machine.node_tree()

    def solve(self, fixed: Optional[Sequence[int]] = None, **options) -> Mapping:
        """The best order that mapping_library.find() finds with these options: algorithm, seconds, threads, seed, starts.
        fixed: of a process: the rank it must have, or -1."""
        machine, placed = self.machine, None
        if fixed is not None:
            placed = [-1 if rank < 0 else machine.place_of[rank] for rank in (fixed[process] for process in machine.order)]
        found = library.find(self._matrix, self._tree, fixed=placed, **options)
        return self._mapping(found.k, found.algorithm, found.seconds)

    def score(self, k: Sequence[int]) -> Mapping:
        """The figures of any order."""
        at = self.machine.place_of
        return self._mapping([at[k[process]] for process in self.machine.order], "", 0.0)

    def _mapping(self, k: Sequence[int], algorithm: str, seconds: float) -> Mapping:
        """A mapping from one between places."""
        order, result = self.machine.order, [0] * self.machine.size
        for place, new in enumerate(k):
            result[order[place]] = order[new]
        before, after = self._figures(range(self.machine.size)), self._figures(k)
        return Mapping(result, [order[new] for new in k], before, after, algorithm, seconds)

    def _figures(self, k: Sequence[int]) -> Figures:
        between = library.evaluate(self._bytes, self._nodes, k)
        return Figures(library.evaluate(self._matrix, self._tree, k).cost, between.between, between.link)

    def text(self, mapping: Mapping, form: str) -> str:
        """What goes into a file: 'permutation', or a format of LAUNCHERS."""
        if form == "permutation":
            return permutation(mapping.k)
        if self.world is None:
            return LAUNCHERS[form](mapping.ranks, self.machine)
        if sorted(self.world) != list(range(len(self.world))):
            raise LucidError(f"--format {form} places a whole job, and the session covers a part of one: use permutation", code=2)
        return LAUNCHERS[form]([self.world[rank] for rank in mapping.ranks], self.machine)


def of_session(session: Session, topology: str = "session", kinds=None, by: str = "bytes") -> Problem:
    """The problem of a session, on the machine it ran on or on one described by text."""
    machine = from_session(session) if topology == "session" else from_text(topology, session.size)
    return Problem(session.matrix(kinds), machine, by, [rank.world for rank in session.ranks])


def of_matrix_market(path: str, topology: str) -> Problem:
    """The problem of a matrix in Matrix Market format, whose values are bytes."""
    size, cells = read_matrix_market(path)
    return Problem({pair: (1, value) for pair, value in cells.items()}, from_text(topology, size))
