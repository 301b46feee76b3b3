# SPDX-License-Identifier: BSD-3-Clause
"""What communicators cost: startup.json of a report (lucid run --startup), read, added up and shown."""

from __future__ import annotations

import os
from typing import Dict, List, NamedTuple, Optional

from . import components, launchers, places, units
from .errors import LucidError, SessionError
from .session import read_json
from .terminal import Terminal

FILE = "startup.json"
_HIER_PRIORITY = "95"
MODES = {"share": "share", "delay": "delay", "alone": "off"}
_LAYERS = {"off": "Open MPI's own selection", "delay": "modules selected at the first operation",
           "share": "modules selected at the first operation, shared within groups"}
_COST = ("bytes", "bytes_of_a_process", "ids", "messages", "message_bytes", "seconds")


class Startup(NamedTuple):
    """A report of what communicators cost."""

    layer: str
    ranks: int
    communicators: List[dict]


def load(directory: str) -> Optional[Startup]:
    """The report in a directory, None where there is none; SessionError where it is damaged."""
    path = os.path.join(directory, FILE)
    if not os.path.exists(path):
        return None
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != "lucid-startup" or data.get("version") != 1:
        raise SessionError(path, 'not a report of what communicators cost ("format": "lucid-startup", "version": 1)')
    try:
        for one in data["communicators"]:
            _check(one)
        return Startup(str(data["layer"]), int(data["ranks"]), data["communicators"])
    except (KeyError, TypeError, ValueError) as error:
        raise SessionError(path, f"damaged: {type(error).__name__} {error}") from None


def _check(one: dict) -> None:
    for key in ("name", "modules"):
        if not isinstance(one[key], str):
            raise TypeError(key)
    for key in ("created_by", "used_by", "allreduce"):
        if not isinstance(one[key], (str, type(None))):
            raise TypeError(key)
    for part in ("creation", "first_use"):
        for key in _COST:
            if isinstance(one[part][key], bool) or not isinstance(one[part][key], (int, float)):
                raise TypeError(key)
    if not isinstance(one["size"], int):
        raise TypeError("size")


def variables(mode: str, path: Dict[str, str]) -> Dict[str, str]:
    """What the ranks must know for `lucid run --startup`; path: where Open MPI finds the component."""
    if not path:
        raise LucidError("--startup needs coll/lazy, which Lucid has where it was built for Open MPI 4.1 or 5.0 with its internal "
                         "headers, and an ompi_info beside mpirun or in the search path", code=125)
    # above Open MPI's own components; it leaves communicators on one node to them
    hier = {"LUCID_HIER_PRIORITY": _HIER_PRIORITY} if mode != "alone" and components.find("hier") else {}
    return {**path, "LUCID_LAZY": MODES[mode], "LUCID_STARTUP": "1", **hier}


def preloads(mode: Optional[str], mpirun: Optional[str], liblucid: str) -> str:
    """What is preloaded: liblucid, and behind it the components where Open MPI was built to load none."""
    found = places.beside("lucid_components.so") if mode and components.loads(mpirun) is False else None
    return launchers.appended(liblucid, found) if found else liblucid


def _kept(one: dict) -> int:
    """Bytes of a process that a communicator has come to, ready or not."""
    return one["creation"]["bytes_of_a_process"] + one["first_use"]["bytes_of_a_process"]


def totals(startup: Startup) -> Dict[str, Dict[str, float]]:
    """Sums over all communicators."""
    return {part: {key: sum(one[part][key] for one in startup.communicators) for key in _COST}
            for part in ("creation", "first_use")}


def render(startup: Startup, terminal: Terminal, top: int) -> List[str]:
    """The table that `lucid show` prints."""
    made = [one for one in startup.communicators if one["created_by"] != "MPI_Init" or one["used_by"]]
    shown = sorted(made, key=lambda one: (-_kept(one), one["name"]))[:max(top, 0)]
    states = {state: sum(one["modules"] == state for one in startup.communicators) for state in ("waiting", "own", "shared")}
    lines = [terminal.bold(f"communicators: {_LAYERS.get(startup.layer, startup.layer)}"),
             f"{len(startup.communicators)} in all: {states['own']} with modules of their own, {states['shared']} with shared "
             f"ones, {states['waiting']} without",
             terminal.bold(f"{'':<24}{'':>6}{'':>20}{'at creation':>22}  {'':<15}{'at first use':>22}"),
             terminal.bold(f"{'name':<24}{'size':>6}  {'created by':<18}{'bytes':>8}{'sent':>8}{'ids':>6}  {'ready by':<15}"
                           f"{'bytes':>8}{'sent':>8}{'ids':>6}  modules")]
    lines += [_line(one) for one in shown]
    if len(shown) < len(made):
        lines.append(f"and {len(made) - len(shown)} more (--top N)")
    total = totals(startup)
    first, second = total["creation"], total["first_use"]
    lines.append(terminal.bold(f"{'total':<24}{'':>6}  {'':<18}{units.size(first['bytes']):>8}{int(first['messages']):>8}"
                               f"{int(first['ids']):>6}  {'':<15}{units.size(second['bytes']):>8}{int(second['messages']):>8}"
                               f"{int(second['ids']):>6}"))
    return lines + ["bytes: heap of the largest process, in the total of all; sent: messages of all processes; ids: context ids"]


def _line(one: dict) -> str:
    first, second = one["creation"], one["first_use"]
    name = units.plain(one["name"])
    name = name if len(name) <= 23 else name[:22] + "…"
    by = units.plain((one["created_by"] or "inside the library").replace("MPI_", ""))[:17]
    modules = one["modules"] + (f" ({units.plain(one['allreduce'])})" if one["allreduce"] else "")
    return (f"{name:<24}{one['size']:>6}  {by:<18}{units.size(first['bytes_of_a_process']):>8}{first['messages']:>8}"
            f"{first['ids']:>6}  {units.plain(one['used_by'] or '-')[:14]:<15}{units.size(second['bytes_of_a_process']):>8}"
            f"{second['messages']:>8}{second['ids']:>6}  {modules}")
