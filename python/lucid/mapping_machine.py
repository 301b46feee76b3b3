# SPDX-License-Identifier: BSD-3-Clause
"""Machines to map onto: as a tree of places with costs, from a session (where its ranks sat) or from text."""

from __future__ import annotations

import os
import re
from array import array
from dataclasses import dataclass, field, replace
from typing import Dict, List, Optional, Sequence, Tuple

from . import units
from .errors import LucidError, reason
from .mapping_library import Level, Tree
from .session import Rank, Session

#: Levels inside a node, by name: a machine that begins with one of them is a single node.
_INSIDE = ("package", "socket", "numa", "die", "group", "cache", "l3", "l2", "l1", "core", "pu", "thread", "hwthread")
_NODES = ("node", "host")

#: What lies between two ranks of a job, and what it costs unless --costs says otherwise. Within a node the kernel moves the
#: bytes: far cheaper than a network, a little dearer the further the caches are apart.
JOB_COSTS = (("node", 100.0), ("package", 10.0), ("numa", 5.0), ("core", 1.0), ("thread", 0.5))

_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*\Z")


def processes(count: int) -> str:
    """'1 process', '16 processes'."""
    return f"{count:,} process{'' if count == 1 else 'es'}"


@dataclass
class Machine:
    """Places for as many processes as there are, in the order of a walk over the nodes. `order[place]` is the process that sits
    there before anything is moved."""

    text: str
    levels: List[Level]
    order: List[int]
    slots: List[Optional[str]]              # of a place: the cores there, as rankfiles want them
    hosts: List[str] = field(default_factory=list)  # of a node: its name, if known
    note: str = ""
    place_of: List[int] = field(init=False)  # [process]

    def __post_init__(self):
        self.place_of = [0] * len(self.order)
        for place, process in enumerate(self.order):
            self.place_of[process] = place

    @property
    def size(self) -> int:
        """Number of places, and of processes."""
        return len(self.order)

    def tree(self) -> Tree:
        """The whole tree."""
        return Tree.make(self.levels)

    def node_level(self) -> Optional[int]:
        """The level that separates nodes, or None if all of the machine is one."""
        for number, level in enumerate(self.levels):
            if level.name in _NODES:
                return number
        return None if self.levels[0].name in _INSIDE else 0

    def node_tree(self) -> Tree:
        """The tree from the nodes inwards, so that what is between its outermost groups is what the network carries."""
        number = self.node_level()
        if number is None:
            return Tree.make([Level("node", 0.0, array("i", bytes(4 * self.size)))] + self.levels)
        return Tree.make(self.levels[number:])

    def node_of(self) -> Sequence[int]:
        """The node of every place."""
        number = self.node_level()
        return self.levels[number].group if number is not None else array("i", bytes(4 * self.size))

    def nodes(self) -> int:
        """Number of nodes."""
        return max(self.node_of()) + 1

    def set_costs(self, costs: Sequence[float]) -> None:
        """Replaces the cost of every level, outermost first."""
        names = [level.name for level in self.levels]
        if len(costs) != len(names):
            raise LucidError(f"--costs: {units.plural(len(costs), 'cost')} for {units.plural(len(names), 'level')} "
                             f"({', '.join(names)})", code=2)
        self.levels = [level._replace(cost=cost) for level, cost in zip(self.levels, costs)]

    def set_hosts(self, names: Sequence[str]) -> None:
        """Names the nodes; names that are too many are left out."""
        if len(names) < self.nodes():
            raise LucidError(f"--hosts: {units.plural(len(names), 'name')} for {units.plural(self.nodes(), 'node')}", code=2)
        self.hosts = list(names[:self.nodes()])


def from_text(text: str, size: int) -> Machine:
    """A machine from lucid_topology_read()'s notation, of which the first `size` places are used."""
    levels = Tree.read(text).levels()
    have = len(levels[-1].group)
    if have < size:
        raise LucidError(f"topology: {text} has {units.plural(have, 'place')} for {processes(size)}", code=2)
    note = f"the first {units.count(size)} of {units.count(have)} places are used" if have > size else ""
    levels = [level._replace(group=level.group[:size]) for level in levels]
    machine = Machine(text, levels, list(range(size)), [None] * size, note=note)
    machine.slots = _cores_in_order(machine)
    return machine


def _cores_in_order(machine: Machine) -> List[Optional[str]]:
    """The core of every place: places are cores, in order, unless a level says what the cores are."""
    cores = next((level.group for level in machine.levels if level.name == "core"), machine.levels[-1].group)
    nodes, first, slots = machine.node_of(), {}, []  # type: Sequence[int], Dict[int, int], List[Optional[str]]
    for place in range(machine.size):
        slots.append(str(cores[place] - first.setdefault(nodes[place], cores[place])))
    return slots


def from_session(session: Session) -> Machine:
    """The machine of a session: as many places as ranks, where the ranks sat. Levels that separate nothing are left out."""
    home = [_home(session, rank) for rank in _even(session)]
    order = sorted(range(session.size), key=lambda rank: (home[rank], rank))
    levels: List[Level] = []
    for depth, (name, cost) in enumerate(JOB_COSTS[:-1], start=1):
        group = _numbered([home[rank][:depth] for rank in order])
        if depth == 1 or group[-1] > levels[-1].group[-1]:
            levels.append(Level(name, cost, group))
    if levels[-1].group[-1] + 1 < session.size:
        together = levels[-1].name  # ranks that nothing separates: bound to one core, or free to move
        levels.append(Level("rank", JOB_COSTS[-1][1] if together == "core" else JOB_COSTS[-2][1],
                            array("i", range(session.size))))
    slots = [_slot(session, session.ranks[rank]) for rank in order]
    used = _numbered([(session.ranks[rank].node,) for rank in order])
    hosts = [""] * (used[-1] + 1)
    for place, rank in enumerate(order):
        hosts[used[place]] = session.nodes[session.ranks[rank].node].name
    return Machine("session", levels, order, slots, hosts)


def _even(session: Session) -> List[Rank]:
    """The ranks, with what is not known of all ranks of a node forgotten of the others there, level by level."""
    ranks = list(session.ranks)
    for name in ("package", "numa", "core"):
        unknown = {rank.node for rank in ranks if getattr(rank, name) is None}
        ranks = [replace(rank, **{name: None}) if rank.node in unknown else rank for rank in ranks]
    return ranks


def _home(session: Session, rank: Rank) -> Tuple[int, int, int, int]:
    """Where a rank sits, outermost first."""
    package, numa, core = ((-1 if value is None else value) for value in (rank.package, rank.numa, rank.core))
    return rank.node, package, numa, core


def _numbered(keys: Sequence[Tuple[int, ...]]) -> array:
    """Numbers for ascending keys, without gaps."""
    group = array("i", [0])
    for before, here in zip(keys, keys[1:]):
        group.append(group[-1] + (here != before))
    return group


def _slot(session: Session, rank: Rank) -> Optional[str]:
    """The cores that a rank may use: its core, its package, or all of its node's; None where the session cannot say."""
    if rank.core is not None:
        return str(rank.core)
    node = session.nodes[rank.node]
    if rank.package is not None and (node.packages or 0) > 1:
        return f"{rank.package}:*"
    if not node.cores:
        return None
    return f"0-{node.cores - 1}" if node.cores > 1 else "0"


def read_hosts(text: str) -> List[str]:
    """Names from "a,b,c", or from a file with a line per host or slot, of which the first word counts."""
    if "," in text or not os.path.exists(text) and _HOST.match(text):
        names = text.split(",")
        if len(set(names)) < len(names):
            raise LucidError("--hosts: a host is named twice", code=2)
    else:
        try:
            with open(text, encoding="utf-8", errors="replace") as file:
                lines = [line.split("#")[0].split() for line in file]
        except OSError as error:
            raise LucidError(f"--hosts: {text}: {reason(error)}", code=2) from None
        names = list(dict.fromkeys(words[0] for words in lines if words))
    check_hosts(names, "--hosts")
    return names


def check_hosts(names: Sequence[str], where: str) -> None:
    """Raises if a name could not stand in a rankfile or hostfile."""
    for name in names:
        if not _HOST.match(name):
            raise LucidError(f"{where}: {units.plain(name)[:60]!r} is not the name of a host", code=2)
    if not names:
        raise LucidError(f"{where}: no host is named", code=2)
