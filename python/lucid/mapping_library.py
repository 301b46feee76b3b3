# SPDX-License-Identifier: BSD-3-Clause
"""The mapper of liblucid (lucid_map.h), called through ctypes. Everything else about mapping is built on this module."""

from __future__ import annotations

import ctypes
from array import array
from typing import Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import places
from .errors import LucidError

ALGORITHMS = ("auto", "identity", "treematch", "multilevel", "scotch")
_WHY = 256


class _Matrix(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int), ("entries", ctypes.c_size_t), ("row_start", ctypes.c_void_p),
                ("column", ctypes.c_void_p), ("count", ctypes.c_void_p), ("bytes", ctypes.c_void_p)]


class _Options(ctypes.Structure):
    _fields_ = [("algorithm", ctypes.c_char_p), ("messages", ctypes.c_int), ("seconds", ctypes.c_double),
                ("threads", ctypes.c_int), ("seed", ctypes.c_uint64), ("starts", ctypes.c_int), ("fixed", ctypes.c_void_p)]


class _Cost(ctypes.Structure):
    _fields_ = [("cost", ctypes.c_double), ("between_bytes", ctypes.c_uint64), ("link_bytes", ctypes.c_uint64)]


class _Result(ctypes.Structure):
    _fields_ = [("before", _Cost), ("after", _Cost), ("seconds", ctypes.c_double), ("algorithm", ctypes.c_char_p)]


class Cost(NamedTuple):
    """What a mapping costs: J, the bytes between groups of the outermost level, and the most that one of them moves."""

    cost: float
    between: int
    link: int


class Found(NamedTuple):
    """A mapping: process i gets rank k[i]."""

    k: List[int]
    before: Cost
    after: Cost
    seconds: float
    algorithm: str


class Level(NamedTuple):
    """A level of a machine: the cost between two places that part here, and the group of every place."""

    name: str
    cost: float
    group: Sequence[int]


class Matrix:
    """Who sends what to whom, in compressed rows. `row_start` and `values` hold 64-bit integers, `column` 32-bit ones; anything
    with the buffer interface will do (array.array, numpy arrays) and is used where it lies."""

    def __init__(self, size: int, row_start, column, volume, messages=None):
        self.size = size
        self.row_start, self.column, self.bytes = row_start, column, volume
        self.messages = volume if messages is None else messages
        self._raw = _Matrix(size, len(column), _address(row_start), _address(column), _address(self.messages),
                            _address(self.bytes))

    @classmethod
    def from_cells(cls, size: int, cells: Iterable[Tuple[int, int, int, int]]) -> "Matrix":
        """From (sender, receiver, messages, bytes), each pair at most once."""
        ordered = sorted(cells)
        row_start = array("Q", bytes(8 * (size + 1)))
        for cell in ordered:
            row_start[cell[0] + 1] += 1
        for row in range(size):
            row_start[row + 1] += row_start[row]
        return cls(size, row_start, array("i", (c[1] for c in ordered)), array("Q", (c[3] for c in ordered)),
                   array("Q", (c[2] for c in ordered)))

    def weighed_by_messages(self) -> "Matrix":
        """The same matrix with messages in the place of bytes."""
        return Matrix(self.size, self.row_start, self.column, self.messages, self.messages)

    def reference(self):
        """For a C function."""
        return ctypes.byref(self._raw)


def _address(buffer) -> Optional[int]:
    """Where a buffer's elements begin; None if it has none."""
    view = memoryview(buffer)
    if not view.nbytes:
        return None
    if not view.contiguous or view.readonly:
        raise ValueError("a matrix needs contiguous, writable buffers")
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


_loaded: Optional[ctypes.CDLL] = None


def _library() -> ctypes.CDLL:
    """liblucid, with the mapper's functions declared."""
    global _loaded
    if _loaded is None:
        path = places.library()
        try:
            library = ctypes.CDLL(path)
            _declare(library)
        except (OSError, AttributeError) as error:
            raise LucidError(f"{path}: no library with a mapper: {error}", code=125) from None
        _loaded = library
    return _loaded


def _declare(library: ctypes.CDLL) -> None:
    pointer, text, integer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    size = ctypes.c_size_t
    for name, result, arguments in (
            ("lucid_topology_read", integer, [text, pointer, text, size]),
            ("lucid_topology_make", integer, [integer, integer, pointer, pointer, ctypes.c_double, pointer]),
            ("lucid_topology_leaves", integer, [pointer]),
            ("lucid_topology_levels", integer, [pointer]),
            ("lucid_topology_level", integer, [pointer, integer, pointer, pointer, pointer]),
            ("lucid_topology_free", None, [pointer]),
            ("lucid_map", integer, [pointer, pointer, pointer, pointer, pointer, text, size]),
            ("lucid_map_evaluate", integer, [pointer, pointer, pointer, pointer, text, size])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


def _check(code: int, why: ctypes.Array, what: str) -> None:
    """Raises what the library says; it says it for people."""
    if code != 0:
        text = why.value.decode("utf-8", "replace")
        raise LucidError(text or f"{what}: the library gave up (error {code})", code=2 if code == -10 else 1)


class Tree:
    """A machine as the library has it."""

    def __init__(self, handle: ctypes.c_void_p):
        self.handle = handle

    def __del__(self):
        if self.handle and _loaded:
            _loaded.lucid_topology_free(self.handle)

    @classmethod
    def read(cls, text: str) -> "Tree":
        """From text: "node:64 numa:2 core:16", "machine.xml", "64*machine.xml"."""
        handle, why = ctypes.c_void_p(), ctypes.create_string_buffer(_WHY)
        _check(_library().lucid_topology_read(text.encode("utf-8", "surrogateescape"), ctypes.byref(handle), why, _WHY), why,
               "topology")
        return cls(handle)

    @classmethod
    def make(cls, levels: Sequence[Level]) -> "Tree":
        """From levels, outermost first; the last one has to separate all places."""
        outer, leaves = levels[:-1], len(levels[-1].group)
        groups = array("i")
        for level in outer:
            groups.extend(level.group)
        costs = array("d", (level.cost for level in outer))
        handle = ctypes.c_void_p()
        code = _library().lucid_topology_make(leaves, len(outer), _address(groups), _address(costs), levels[-1].cost,
                                              ctypes.byref(handle))
        if code != 0:
            raise LucidError("topology: not a machine: no places, more than 8 levels, or groups that are no tree", code=2)
        return cls(handle)

    def levels(self) -> List[Level]:
        """All levels, outermost first."""
        library, found = _library(), []
        leaves = library.lucid_topology_leaves(self.handle)
        for number in range(library.lucid_topology_levels(self.handle)):
            name, cost, group = ctypes.c_char_p(), ctypes.c_double(), array("i", bytes(4 * leaves))
            library.lucid_topology_level(self.handle, number, ctypes.byref(name), ctypes.byref(cost), _address(group))
            found.append(Level((name.value or b"").decode("ascii", "replace"), cost.value, group))
        return found


def find(matrix: Matrix, tree: Tree, algorithm: str = "auto", messages: bool = False, seconds: float = 0.0, threads: int = 0,
         seed: int = 0, starts: int = 0, fixed: Optional[Sequence[int]] = None) -> Found:
    """lucid_map(): a mapping that costs no more than the identity."""
    k, held = array("i", bytes(4 * max(matrix.size, 1))), array("i", fixed) if fixed is not None else None
    options = _Options(algorithm.encode(), int(messages), seconds, threads, seed, starts, _address(held) if held else None)
    result, why = _Result(), ctypes.create_string_buffer(_WHY)
    _check(_library().lucid_map(matrix.reference(), tree.handle, ctypes.byref(options), _address(k), ctypes.byref(result), why,
                                _WHY), why, "map")
    return Found(list(k[:matrix.size]), _cost(result.before), _cost(result.after), result.seconds, result.algorithm.decode())


def evaluate(matrix: Matrix, tree: Tree, k: Sequence[int]) -> Cost:
    """lucid_map_evaluate(): what a mapping costs, by bytes."""
    held, cost, why = array("i", k), _Cost(), ctypes.create_string_buffer(_WHY)
    _check(_library().lucid_map_evaluate(matrix.reference(), tree.handle, _address(held), ctypes.byref(cost), why, _WHY), why,
           "map")
    return _cost(cost)


def _cost(raw: _Cost) -> Cost:
    return Cost(raw.cost, raw.between_bytes, raw.link_bytes)
