# SPDX-License-Identifier: BSD-3-Clause
"""Strict reading of a session file's JSON: everything the reader relies on is checked here, once.

A problem is reported as one line that names the place in the file: 'cells[17]: the receiver is 9, but there are 4 ranks'.
"""

from __future__ import annotations

import json

FORMAT = "lucid-session"
VERSION = 1
BINS = 65
LARGEST = 2**64 - 1
MOST_RANKS = 2**26 - 1


class Invalid(ValueError):
    """What is wrong, and where."""


def parse(text: str):
    """JSON text to Python values; Invalid where it is not JSON, is cut short or holds what JSON does not."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            raise Invalid(f"the file is cut short (line {error.lineno})") from None
        raise Invalid(f"not JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise Invalid("not a session: nested too deeply") from None
    except ValueError as error:
        raise Invalid(f"not a session: {error}") from None


def _no_constant(name: str):
    raise ValueError(f"{name} is not a number that JSON knows")


def check(data) -> None:
    """Raises Invalid unless `data` is a whole, consistent session of this version."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Invalid('not a Lucid session (it does not say "format": "lucid-session")')
    version = data.get("version")
    if not _is_whole(version) or version != VERSION:
        raise Invalid(f"session format version {_short(version)}, but this lucid reads version {VERSION}: use a newer lucid")
    _check_head(data)
    size = number(data, "size", "", least=1, most=MOST_RANKS)
    nodes = _check_nodes(data)
    _check_ranks(data, size, nodes)
    kinds = _check_kinds(data)
    _check_cells(data, size, kinds)
    _check_outside(data, size, kinds)
    _check_histograms(data, kinds)


def _time(data, key: str, where: str) -> None:
    seconds = field(data, key, where)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e12:
        raise Invalid(f"{where}{key}: expected a time in seconds, found {_short(seconds)}")


def _check_head(data) -> None:
    optional_text(data, "name", "")
    for key in ("created", "lucid"):
        text(data, key, "")
    _time(data, "seconds", "")
    if data.get("seconds_in_mpi") is not None:
        spent = mapping(data, "seconds_in_mpi", "")
        for key in ("mean", "most"):
            _time(spent, key, "seconds_in_mpi.")
    strings(data, "command", "")
    mpi = mapping(data, "mpi", "")
    for key in ("library", "standard", "thread_level"):
        text(mpi, key, "mpi.")
    source = mapping(data, "source", "")
    text(source, "name", "source.")
    for key in ("decomposed", "one_sided", "kinds", "persistent", "user", "interposed"):
        if not isinstance(field(source, key, "source."), bool):
            raise Invalid(f"source.{key}: expected true or false, found {_short(source[key])}")
    strings(source, "blind", "source.")
    number(data, "lost", "")


def _check_nodes(data) -> int:
    nodes = array(data, "nodes", "")
    for i, node in enumerate(nodes):
        where = f"nodes[{i}]."
        if not isinstance(node, dict):
            raise Invalid(f"nodes[{i}]: expected an object, found {_short(node)}")
        text(node, "name", where)
        optional_text(node, "model", where)
        for key in ("packages", "numa", "cores", "pus"):
            optional_number(node, key, where)
    return len(nodes)


def _check_ranks(data, size: int, nodes: int) -> None:
    ranks = array(data, "ranks", "")
    if len(ranks) != size:
        raise Invalid(f"ranks: {len(ranks)} entries, but size says {size}")
    for i, rank in enumerate(ranks):
        where = f"ranks[{i}]."
        if not isinstance(rank, dict):
            raise Invalid(f"ranks[{i}]: expected an object, found {_short(rank)}")
        if number(rank, "rank", where) != i:
            raise Invalid(f"ranks[{i}].rank: expected {i}, found {rank['rank']}")
        number(rank, "world", where, most=MOST_RANKS)
        if number(rank, "node", where) >= nodes:
            raise Invalid(f"ranks[{i}].node: node {rank['node']}, but there are {nodes} nodes")
        optional_text(rank, "cpus", where)
        for key in ("pid", "package", "numa", "core"):
            optional_number(rank, key, where)


def _check_kinds(data) -> int:
    kinds = strings(data, "kinds", "")
    if len(set(kinds)) != len(kinds):
        raise Invalid("kinds: a name stands there twice")
    classes = mapping(data, "classes", "")
    for name in classes:
        for kind in strings(classes, name, "classes."):
            if kind not in kinds:
                raise Invalid(f"classes.{_short(name)}: {_short(kind)} is not one of the kinds")
    return len(kinds)


def _check_cells(data, size: int, kinds: int) -> None:
    seen = set()
    messages = volume = 0
    for i, cell in enumerate(array(data, "cells", "")):
        _check_row(cell, f"cells[{i}]", ("sender", size), ("receiver", size), ("kind", kinds))
        key = (cell[0] * size + cell[1]) * kinds + cell[2]
        if key in seen:
            raise Invalid(f"cells[{i}]: the same sender, receiver and kind stand there twice")
        seen.add(key)
        messages += cell[3]
        volume += cell[4]
    totals = mapping(data, "totals", "")
    for key, found in (("messages", messages), ("bytes", volume)):
        if number(totals, key, "totals.") != found:
            raise Invalid(f"totals.{key}: says {totals[key]}, but the cells add up to {found}")


def _check_row(row, where: str, *indices) -> None:
    if not isinstance(row, list) or len(row) != len(indices) + 2:
        raise Invalid(f"{where}: expected {len(indices) + 2} numbers, found {_short(row)}")
    for value in row:
        if type(value) is not int or not 0 <= value <= LARGEST:
            raise Invalid(f"{where}: expected whole numbers from 0 up, found {_short(value)}")
    for value, (name, limit) in zip(row, indices):
        if value >= limit:
            raise Invalid(f"{where}: the {name} is {value}, but there are {limit} {'kinds' if name == 'kind' else 'ranks'}")


def _check_outside(data, size: int, kinds: int) -> None:
    for i, row in enumerate(array(data, "outside", "")):
        _check_row(row, f"outside[{i}]", ("sender", size), ("kind", kinds))


def _check_histograms(data, kinds: int) -> None:
    histograms = mapping(data, "histograms", "")
    for name, bins in histograms.items():
        if name not in data["kinds"]:
            raise Invalid(f"histograms: {_short(name)} is not one of the kinds")
        if not isinstance(bins, list) or len(bins) != BINS:
            raise Invalid(f"histograms.{_short(name)}: expected {BINS} numbers")
        for value in bins:
            if type(value) is not int or not 0 <= value <= LARGEST:
                raise Invalid(f"histograms.{_short(name)}: expected whole numbers from 0 up, found {_short(value)}")


def field(data: dict, key: str, where: str):
    """The value of a field that must be there."""
    if key not in data:
        raise Invalid(f"{where}{key} is missing")
    return data[key]


def text(data: dict, key: str, where: str) -> str:
    """A field that is a string."""
    value = field(data, key, where)
    if not isinstance(value, str):
        raise Invalid(f"{where}{key}: expected a text, found {_short(value)}")
    return value


def optional_text(data: dict, key: str, where: str) -> None:
    """A field that is a string, null, or not there."""
    if data.get(key) is not None:
        text(data, key, where)


def _is_whole(value) -> bool:
    return type(value) is int


def number(data: dict, key: str, where: str, least: int = 0, most: int = LARGEST) -> int:
    """A field that is a whole number in a range."""
    value = field(data, key, where)
    if not _is_whole(value) or not least <= value <= most:
        raise Invalid(f"{where}{key}: expected a whole number from {least} up, found {_short(value)}")
    return value


def optional_number(data: dict, key: str, where: str) -> None:
    """A field that is a whole number, null, or not there."""
    if data.get(key) is not None:
        number(data, key, where)


def mapping(data: dict, key: str, where: str) -> dict:
    """A field that is an object."""
    value = field(data, key, where)
    if not isinstance(value, dict):
        raise Invalid(f"{where}{key}: expected an object, found {_short(value)}")
    return value


def array(data: dict, key: str, where: str) -> list:
    """A field that is an array."""
    value = field(data, key, where)
    if not isinstance(value, list):
        raise Invalid(f"{where}{key}: expected an array, found {_short(value)}")
    return value


def strings(data: dict, key: str, where: str) -> list:
    """A field that is an array of strings."""
    value = array(data, key, where)
    for i, item in enumerate(value):
        if not isinstance(item, str):
            raise Invalid(f"{where}{key}[{i}]: expected a text, found {_short(item)}")
    return value


def _short(value) -> str:
    """A value as it may stand in an error line."""
    shown = json.dumps(value)
    return shown if len(shown) <= 40 else shown[:37] + "..."
