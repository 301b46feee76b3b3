# SPDX-License-Identifier: BSD-3-Clause
"""What `lucid run --sparse=measure` found: how sparse the vectors of a program's reductions are, by where it calls them."""

from __future__ import annotations

import json
import os
from typing import List, NamedTuple, Optional, Tuple

from . import units
from .errors import LucidError
from .terminal import Terminal

FILE = "sparse.json"
FORMAT = 1
HEADS = ("reductions", "called in", "calls", "vector", "differ", "at any", "encoded", "gain", "at most")
LEGEND = ("calls: of all ranks. differ: from the most common value, at a rank; at any: at one rank or more, as some calls showed. gain: time",
          "of the library's calls over that with lucid run --sparse, as calls run again at the program's end took (~: by the cost model",
          "alone); at most: were reading the inputs once all that is left")


class Site(NamedTuple):
    """One place in the program. Ratios: what the MPI library's routine took over the time with Lucid, added up over the sorts of vectors
    at the place. Predicted: as some of the calls took when they were run again at MPI_Finalize, with and without Lucid; for sorts of which
    none was, as the cost model has it, with the overlap that some calls showed (where that is not known: for independent positions). Bound:
    were reading the inputs once, as fast as that went, all that there is to do."""

    call: str
    where: str
    calls: int        # of all ranks
    ranks: int        # of the communicator, on average
    vector: float     # bytes of a rank's vector, on average
    density: float    # share of the elements that stand out, at a rank
    union: Optional[float]  # ... at one rank or more; None: not known
    encoded: float    # bytes of the vector in the sparse form, over its own bytes
    seconds: float    # in the library's blocking calls, of all ranks
    predicted: float
    bound: float
    replayed: float   # share of the calls that are of a sort of which one was run again


class Found(NamedTuple):
    """The places, those with the most bytes first, and the calls whose operator is the program's own and not declared."""

    sites: List[Site]
    undeclared: int


def load(directory: str) -> Optional[Found]:
    """What is in a report; None where reductions were not looked at."""
    path = os.path.join(directory, FILE)
    if not os.path.exists(path):
        return None
    try:
        with open(path, encoding="utf-8") as stream:
            values = json.load(stream)
        if values["format"] != FORMAT:
            raise LucidError(f"{path}: written by another version of Lucid (format {values['format']}, not {FORMAT})", code=2)
        sites = [_site(entry) for entry in values["sites"]]
        undeclared = int(values.get("undeclared_calls", 0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
        raise LucidError(f"{path}: damaged, or not a file of lucid run --sparse=measure", code=2) from error
    return Found(sorted(sites, key=lambda site: -site.calls * site.vector), undeclared)


def _site(entry) -> Site:
    total = entry["elements"] * entry["element_bytes"]
    where = entry["function"] or "%s+0x%x" % (entry["object"], entry["offset"])
    return Site(entry["call"], where, entry["calls"], entry["ranks"], total / entry["calls"], entry["exceptions"] / entry["elements"],
                float(entry["union_share"]) if "union_share" in entry else None, entry["encoded_bytes"] / total,
                entry.get("library_seconds", 0.0), entry["predicted_ratio"], entry["bound_ratio"], float(entry.get("replayed_share", 0)))


def cells(site: Site) -> Tuple[str, ...]:
    """A place as the tables have it, under HEADS."""
    return (site.call, units.plain(site.where), str(site.calls), units.size(site.vector), _share(site.density),
            "?" if site.union is None else _share(site.union), _share(site.encoded),
            ("" if site.replayed >= 0.5 else "~") + f"{site.predicted:.2f}", f"{site.bound:.2f}")


def _share(value: float) -> str:
    return f"{100 * value:.3g} %" if value >= 1e-6 or value == 0 else "< 0.0001 %"


def notes(found: Found) -> List[str]:
    """What is said below the table."""
    lines = list(LEGEND) if found.sites else ["no call was looked at"]
    if found.undeclared:
        lines.append(f"{units.plural(found.undeclared, 'call')} with operators of the program's own were not looked at: "
                     "lucid_op_set_elementwise() declares one")
    return lines


def render(found: Found, terminal: Terminal, top: int) -> List[str]:
    """The table of `lucid show`."""
    rows = [cells(site) for site in found.sites[:top]]
    rows = [(call, where if len(where) <= 32 else where[:31] + "…", *rest) for call, where, *rest in rows]
    widths = [max(len(row[i]) for row in [HEADS, *rows]) for i in range(len(HEADS))]

    def line(row) -> str:
        return "  ".join(text.ljust(width) if i < 2 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths)))

    lines = [terminal.bold(line(HEADS)), *map(line, rows)] if rows else [terminal.bold(HEADS[0])]
    if len(found.sites) > top:
        lines.append(f"and {len(found.sites) - top} more")
    return lines + ["  " + note for note in notes(found)]


def as_json(found: Found) -> dict:
    """The same as values, for `lucid show --format json`."""
    return {"sites": [site._asdict() for site in found.sites], "undeclared_calls": found.undeclared}
