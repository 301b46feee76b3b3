# SPDX-License-Identifier: BSD-3-Clause
"""Reader of session files: who sent what to whom, and where everybody sat.

    import lucid
    session = lucid.load("lucid-report/run.json")
    for (sender, receiver), traffic in session.matrix("coll").items():
        print(sender, receiver, traffic.messages, traffic.bytes)
    print(session.between_nodes())

Row = sender everywhere. Needs the standard library only; Session.array() needs numpy.
"""

from __future__ import annotations

import heapq
import os
from dataclasses import dataclass, field
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from . import validate
from .errors import LucidError, SessionError, reason

Kinds = Union[None, str, Iterable[str]]

#: Kinds that are nobody's collective and nobody's own send; the reports give each a line of its own.
LIBRARY_KINDS = ("library", "undivided")


class Traffic(NamedTuple):
    """An amount of traffic."""

    messages: int
    bytes: int

    def plus(self, messages: int, volume: int) -> "Traffic":
        """This and that much more."""
        return Traffic(self.messages + messages, self.bytes + volume)


NOTHING = Traffic(0, 0)


@dataclass(frozen=True)
class Node:
    """A machine of the job. Figures are None where the run could not find them."""

    name: str
    model: Optional[str]
    packages: Optional[int]
    numa: Optional[int]
    cores: Optional[int]
    pus: Optional[int]


@dataclass(frozen=True)
class Rank:
    """A process. `node` is an index into Session.nodes; package, numa and core are None unless it is bound inside one."""

    rank: int
    world: int
    node: int
    pid: Optional[int]
    cpus: Optional[str]
    package: Optional[int]
    numa: Optional[int]
    core: Optional[int]


class Cell(NamedTuple):
    """What one rank sent to another in messages of one kind; `kind` is an index into Session.kinds."""

    sender: int
    receiver: int
    kind: int
    messages: int
    bytes: int


@dataclass
class Session:
    """A session as it was written. Everything is checked: a Session that load() returned is consistent."""

    path: str
    name: str
    created: str
    lucid: str
    seconds: float
    command: List[str]
    mpi: Dict[str, str]
    source: Dict[str, object]
    size: int
    nodes: List[Node]
    ranks: List[Rank]
    kinds: List[str]
    classes: Dict[str, List[str]]
    lost: int
    cells: List[Cell]
    outside: List[Tuple[int, int, int, int]]
    histograms: Dict[str, List[int]]
    in_mpi: Optional[Dict[str, float]] = None # seconds: mean and most of the ranks; lucid run --time
    _index: Dict[str, int] = field(default_factory=dict, repr=False)
    _latest: Tuple = field(default=(None, None), repr=False, compare=False)  # the selection asked for last, and its matrix

    def select(self, kinds: Kinds = None) -> List[int]:
        """Indices of the kinds that a class ('p2p', 'coll', 'osc', 'user', 'all'), a kind ('kind:bcast' or 'bcast'), several
        of them, or None for everything stand for. A name that is both a class and a kind means the class."""
        if kinds is None or kinds == "all":
            return list(range(len(self.kinds)))
        names = [kinds] if isinstance(kinds, str) else list(kinds)
        chosen: set = set()
        for name in names:
            chosen.update(self._meaning(name))
        return sorted(chosen)

    def _meaning(self, name: str) -> List[int]:
        if name == "all":
            return list(range(len(self.kinds)))
        if name == "user":
            name = "kind:p2p"
        elif name in self.classes:
            return [self._index[kind] for kind in self.classes[name]]
        kind = name[5:] if name.startswith("kind:") else name
        if kind not in self._index:
            known = ", ".join(sorted({*self.classes, *self.kinds, "user", "all"}))
            raise LucidError(f"no class or kind of traffic is called '{kind}'; there are {known}", code=2)
        return [self._index[kind]]

    def matrix(self, kinds: Kinds = None) -> Dict[Tuple[int, int], Traffic]:
        """The sparse matrix: (sender, receiver) -> Traffic."""
        wanted = tuple(self.select(kinds))
        if self._latest[0] != wanted:
            self._latest = (wanted, self._add_up(set(wanted)))
        return dict(self._latest[1])

    def _add_up(self, wanted: set) -> Dict[Tuple[int, int], Traffic]:
        sums: Dict[Tuple[int, int], Traffic] = {}
        for sender, receiver, kind, messages, volume in self.cells:
            if kind in wanted:
                key = (sender, receiver)
                old = sums.get(key)
                sums[key] = Traffic(messages, volume) if old is None else Traffic(old[0] + messages, old[1] + volume)
        return sums

    def array(self, kinds: Kinds = None, what: str = "bytes"):
        """The dense matrix as a numpy array of 64-bit unsigned integers, row = sender."""
        import numpy

        dense = numpy.zeros((self.size, self.size), dtype=numpy.uint64)
        for (sender, receiver), traffic in self.matrix(kinds).items():
            dense[sender, receiver] = getattr(traffic, what)
        return dense

    def total(self, kinds: Kinds = None) -> Traffic:
        """Messages and bytes sent within the session's communicator."""
        wanted = set(self.select(kinds))
        rows = [cell for cell in self.cells if cell.kind in wanted]
        return Traffic(sum(cell.messages for cell in rows), sum(cell.bytes for cell in rows))

    def by_kind(self) -> Dict[str, Traffic]:
        """Totals of every kind that occurs, in the file's order of kinds."""
        sums = [NOTHING] * len(self.kinds)
        for cell in self.cells:
            sums[cell.kind] = sums[cell.kind].plus(cell.messages, cell.bytes)
        return {kind: traffic for kind, traffic in zip(self.kinds, sums) if traffic != NOTHING}

    def between_nodes(self, kinds: Kinds = None) -> Traffic:
        """The part of total() that went from one node to another."""
        return self.by_distance(kinds)["between"]

    def by_distance(self, kinds: Kinds = None) -> Dict[str, Traffic]:
        """total() by how far apart the two ranks sit: 'itself', 'package', 'node', 'between'."""
        sums = {name: [0, 0] for name in ("itself", "package", "node", "between")}
        home = [rank.node for rank in self.ranks]
        for (sender, receiver), (messages, volume) in self.matrix(kinds).items():
            sum_ = sums["between" if home[sender] != home[receiver] else self.distance(sender, receiver)]
            sum_[0] += messages
            sum_[1] += volume
        return {name: Traffic(*sum_) for name, sum_ in sums.items()}

    def distance(self, one: int, other: int) -> str:
        """How far apart two ranks sit; 'node' also where the run did not find their packages."""
        a, b = self.ranks[one], self.ranks[other]
        if one == other:
            return "itself"
        if a.node != b.node:
            return "between"
        return "package" if a.package is not None and a.package == b.package else "node"

    def top_pairs(self, number: int, by: str = "bytes", kinds: Kinds = None) -> List[Tuple[int, int, Traffic]]:
        """The pairs with the most bytes (or messages), largest first; ties by rank."""
        first, second = (1, 0) if by == "bytes" else (0, 1)
        ordered = heapq.nsmallest(number, ((-t[first], -t[second], pair) for pair, t in self.matrix(kinds).items() if t[first] > 0))
        return [(s, r, Traffic(*((-a, -b) if by == "messages" else (-b, -a)))) for a, b, (s, r) in ordered]

    def histogram(self, kinds: Kinds = None) -> List[int]:
        """Messages by size: bin 0 has those of 0 bytes, bin b those of 2^(b-1) <= bytes < 2^b."""
        bins = [0] * validate.BINS
        for kind in self.select(kinds):
            for i, value in enumerate(self.histograms.get(self.kinds[kind], ())):
                bins[i] += value
        return bins

    def outside_total(self, kinds: Kinds = None) -> Traffic:
        """Messages and bytes sent to processes outside MPI_COMM_WORLD; not in total()."""
        wanted = set(self.select(kinds))
        rows = [row for row in self.outside if row[1] in wanted]
        return Traffic(sum(row[2] for row in rows), sum(row[3] for row in rows))

    def group_of(self, kind: str) -> str:
        """What a kind is in the reports: 'user', 'coll', 'osc', 'library' or 'undivided'."""
        for name in ("coll", "osc"):
            if kind in self.classes.get(name, ()):
                return name
        return kind if kind in LIBRARY_KINDS else "user"

    def members(self) -> List[List[int]]:
        """The ranks of each node, in the order of Session.nodes."""
        members: List[List[int]] = [[] for _ in self.nodes]
        for rank in self.ranks:
            members[rank.node].append(rank.rank)
        return members


def load(path) -> Session:
    """Reads a session file (run.json, phase-<level>.json, or what lucid_session_write() wrote). SessionError otherwise."""
    data = read_json(path)
    try:
        validate.check(data)
    except (validate.Invalid, RecursionError) as error:
        raise SessionError(path, str(error)) from None
    return _build(os.fspath(path), data)


def read_json(path):
    """The values of a JSON file; SessionError, in one line, for whatever is wrong with it."""
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise SessionError(path, reason(error)) from None
    if not raw.strip():
        raise SessionError(path, "the file is empty")
    try:
        return validate.parse(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise SessionError(path, f"not text: byte {error.start} is not UTF-8") from None
    except validate.Invalid as error:
        raise SessionError(path, str(error)) from None


def _build(path: str, data: dict) -> Session:
    nodes = [Node(n["name"], *(n.get(k) for k in ("model", "packages", "numa", "cores", "pus"))) for n in data["nodes"]]
    ranks = [Rank(r["rank"], r["world"], r["node"], *(r.get(k) for k in ("pid", "cpus", "package", "numa", "core")))
             for r in data["ranks"]]
    return Session(
        path=path, name=data.get("name") or "", created=data["created"], lucid=data["lucid"], seconds=float(data["seconds"]),
        command=data["command"], mpi=data["mpi"], source=data["source"], size=data["size"], nodes=nodes, ranks=ranks,
        kinds=data["kinds"], classes=data["classes"], lost=data["lost"], cells=[Cell(*cell) for cell in data["cells"]],
        outside=[tuple(row) for row in data["outside"]], histograms=data["histograms"], in_mpi=data.get("seconds_in_mpi"),
        _index={kind: i for i, kind in enumerate(data["kinds"])})
