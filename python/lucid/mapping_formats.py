# SPDX-License-Identifier: BSD-3-Clause
"""Files about rank orders: reading permutations, fixed ranks and matrices; writing permutations, rankfiles, rank orders and
hostfiles for launchers."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, Sequence, Tuple

from . import units
from .errors import LucidError, reason
from .mapping_library import Matrix
from .mapping_machine import Machine, check_hosts, processes

_NUMBER = re.compile(r"[0-9]{1,10}\Z")
_MOST = 2 ** 64 - 1


def read_text(path: str) -> str:
    """A text file, whatever bytes are in it."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise LucidError(f"{path}: {reason(error)}", code=2) from None


def _rank(word: str, size: int, where: str) -> int:
    """A rank below `size`."""
    if not _NUMBER.match(word):
        raise LucidError(f"{where}: '{units.plain(word)[:40]}' is not a rank", code=2)
    if int(word) >= size:
        raise LucidError(f"{where}: rank {int(word)} is out of range: there are {processes(size)}", code=2)
    return int(word)


def parse_permutation(text: str, size: int, name: str) -> List[int]:
    """Ranks separated by white space or commas, `#` begins a comment: k[0], k[1], ... LucidError if it is not a permutation."""
    k: List[int] = []
    line_of: Dict[int, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        for word in line.split("#")[0].replace(",", " ").split():
            rank = _rank(word, size, f"{name}: line {number}")
            if rank in line_of:
                raise LucidError(f"{name}: line {number}: rank {rank} for the second time (first in line {line_of[rank]})", code=2)
            line_of[rank] = number
            k.append(rank)
    if len(k) != size:
        raise LucidError(f"{name}: {units.plural(len(k), 'rank')} for {processes(size)}", code=2)
    return k


def parse_fixed(text: str, size: int) -> List[int]:
    """`0=3,1=5`, or a file with a line `0=3` or `0 3` each: process 0 must have rank 3. [process]: its rank or -1."""
    name, content = ("--fixed", text) if "=" in text else (text, read_text(text))
    fixed, taken = [-1] * size, {}  # type: List[int], Dict[int, int]
    for number, line in enumerate(content.replace(",", "\n").split("\n"), start=1):
        words = line.split("#")[0].replace("=", " ").split()
        where = name if name == "--fixed" else f"{name}: line {number}"
        if not words:
            continue
        if len(words) != 2:
            raise LucidError(f"{where}: '{units.plain(line)[:40]}' is not of the form PROCESS=RANK", code=2)
        process, rank = (_rank(word, size, where) for word in words)
        if fixed[process] >= 0 or rank in taken:
            what = f"process {process}" if fixed[process] >= 0 else f"rank {rank}"
            raise LucidError(f"{where}: {what} is given twice", code=2)
        fixed[process] = rank
        taken[rank] = process
    return fixed


def inverse(k: Sequence[int]) -> List[int]:
    """The permutation that undoes k."""
    back = [0] * len(k)
    for process, rank in enumerate(k):
        back[rank] = process
    return back


# ---- matrices ---------------------------------------------------------------------------------------------------------


def read_matrix_market(path: str) -> Tuple[int, Dict[Tuple[int, int], int]]:
    """The size of a matrix in Matrix Market coordinates, and (sender, receiver) -> value."""
    lines = read_text(path).split("\n")
    head = lines[0].lower().split()
    if len(head) != 5 or head[:3] != ["%%matrixmarket", "matrix", "coordinate"] or \
            head[3] not in ("integer", "real", "pattern") or head[4] not in ("general", "symmetric"):
        raise LucidError(f"{path}: not a sparse matrix in Matrix Market format (integer, real or pattern; general or symmetric)",
                         code=2)
    body = [(number, line.split()) for number, line in enumerate(lines[1:], start=2) if line.strip() and line[0] != "%"]
    if not body or len(body[0][1]) != 3 or not all(map(_NUMBER.match, body[0][1])):
        raise LucidError(f"{path}: the line with rows, columns and entries is missing", code=2)
    rows, columns, entries = map(int, body[0][1])
    if rows != columns or not 0 < rows < 2 ** 24:
        raise LucidError(f"{path}: {rows} rows and {columns} columns: not a matrix of who sends to whom", code=2)
    if len(body) - 1 != entries:
        raise LucidError(f"{path}: {units.plural(len(body) - 1, 'line')} for the {units.count(entries)} entries it promises",
                         code=2)
    cells: Dict[Tuple[int, int], int] = {}
    for number, words in body[1:]:
        sender, receiver, value = _entry(words, head[3] == "pattern", rows, f"{path}: line {number}")
        for pair in {(sender, receiver), (receiver, sender)} if head[4] == "symmetric" else ((sender, receiver),):
            cells[pair] = min(cells.get(pair, 0) + value, _MOST)
    return rows, cells


def _entry(words: Sequence[str], pattern: bool, size: int, where: str) -> Tuple[int, int, int]:
    """One line of coordinates, counted from 0."""
    if len(words) != (2 if pattern else 3) or not all(map(_NUMBER.match, words[:2])):
        raise LucidError(f"{where}: not an entry", code=2)
    row, column = int(words[0]) - 1, int(words[1]) - 1
    if not (0 <= row < size and 0 <= column < size):
        raise LucidError(f"{where}: row or column outside 1 to {size}", code=2)
    try:
        value = 1 if pattern else int(words[2]) if words[2].isdigit() else round(float(words[2]))
    except (ValueError, OverflowError):
        value = -1
    if not 0 <= value <= _MOST:
        raise LucidError(f"{where}: the value is not a number from 0 to 2^64 - 1", code=2)
    return row, column, value


def matrix_of(cells: Dict[Tuple[int, int], Tuple[int, int]], machine: Machine) -> Matrix:
    """The matrix between places, from (sender, receiver) -> (messages, bytes) between processes."""
    at = machine.place_of
    return Matrix.from_cells(machine.size, ((at[s], at[r], messages, volume) for (s, r), (messages, volume) in cells.items()))


# ---- what launchers read ----------------------------------------------------------------------------------------------


def permutation(k: Sequence[int]) -> str:
    """One line per process: its rank."""
    return "".join(f"{rank}\n" for rank in k)


def rank_order(ranks: Sequence[int], machine: Machine) -> str:
    """MPICH_RANK_ORDER of HPE Cray MPI: the ranks in the order of the places, a line per node."""
    lines = ["# MPICH_RANK_REORDER_METHOD=3 and this file as MPICH_RANK_ORDER in the working directory; nodes are filled in order"]
    nodes, row = machine.node_of(), []  # type: Sequence[int], List[str]
    for place, rank in enumerate(ranks):
        row.append(str(rank))
        if place + 1 == machine.size or nodes[place + 1] != nodes[place]:
            lines.append(",".join(row))
            row = []
    return "\n".join(lines) + "\n"


def hostfile(ranks: Sequence[int], machine: Machine) -> str:
    """SLURM_HOSTFILE: the host of every rank, in the order of the ranks."""
    if not machine.hosts:
        raise LucidError("--format slurm needs the names of the nodes: --hosts a,b,... or --hosts FILE", code=2)
    check_hosts(machine.hosts, "the session's nodes")
    nodes = machine.node_of()
    return "".join(f"{machine.hosts[nodes[place]]}\n" for place in inverse(ranks))


def rankfile(ranks: Sequence[int], machine: Machine) -> str:
    """Open MPI 4.1: `rank N=host slot=cores`, rank 0 first (4.1 takes it for a duplicate elsewhere)."""
    return _rankfile(ranks, machine, f"mpirun -n {len(ranks)} -rf FILE PROGRAM", "Open MPI 4.1")


def rankfile5(ranks: Sequence[int], machine: Machine) -> str:
    """Open MPI 5.0 and PRRTE: the same lines, but places that overlap are refused unless nothing is bound."""
    return _rankfile(ranks, machine, f"mpirun -n {len(ranks)} --map-by rankfile:file=FILE "
                     f"{'--bind-to none ' if overlapping(machine) else ''}PROGRAM", "Open MPI 5.0")


def overlapping(machine: Machine) -> bool:
    """Whether some places of a machine may share a core."""
    return len(set(zip(machine.node_of(), machine.slots))) < machine.size or \
        any(slot and not slot.isdigit() for slot in machine.slots)


def prrte_reads(path: str) -> bool:
    """Whether PRRTE 3.0 is known to read a rankfile of this path: it takes what is behind a dash or a colon for something else, and the
    letters "pe", anywhere, for an order to bind, which --bind-to none then contradicts. Other special characters were not tried."""
    return re.fullmatch(r"[A-Za-z0-9_./]+", path) is not None and "pe" not in path.lower()


def _rankfile(ranks: Sequence[int], machine: Machine, command: str, what: str) -> str:
    if machine.hosts:
        check_hosts(machine.hosts, "the session's nodes")
    nodes, lines = machine.node_of(), [f"# {what}: {command}"]
    for rank, place in enumerate(inverse(ranks)):
        slot = machine.slots[place]
        if slot is None:
            raise LucidError("a rankfile names cores, and the session does not say how many its nodes have: describe the machine "
                             "with --topology", code=2)
        host = machine.hosts[nodes[place]] if machine.hosts else f"+n{nodes[place]}"
        lines.append(f"rank {rank}={host} slot={slot}")
    return "\n".join(lines) + "\n"


#: Of the formats for launchers: (rank of every place, machine) -> text.
LAUNCHERS: Dict[str, Callable[[Sequence[int], Machine], str]] = {
    "rankfile": rankfile, "rankfile5": rankfile5, "mpich": rank_order, "slurm": hostfile}
FORMATS = ("permutation", *LAUNCHERS)
