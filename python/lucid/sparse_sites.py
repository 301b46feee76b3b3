# SPDX-License-Identifier: BSD-3-Clause
"""What `lucid run --sparse=measure` found: how sparse the vectors of a program's reductions are, by where it calls them."""

from __future__ import annotations

import json
import os
from typing import List, NamedTuple, Optional

from . import units
from .errors import LucidError
from .terminal import Terminal

FILE = "sparse.json"


class Site(NamedTuple):
    """One place in the program. Ratios: time of the MPI library's routine over the sparse one's, by the cost model; predicted for
    independent positions, bound for the same positions at all ranks; 1: the library's own routine would run."""

    call: str
    where: str
    calls: int        # of all ranks
    ranks: int        # of the communicator, on average
    vector: float     # bytes of a rank's vector, on average
    density: float    # share of the elements that stand out
    encoded: float    # bytes of the vector in the sparse form, over its own bytes
    predicted: float
    bound: float


def load(directory: str) -> Optional[List[Site]]:
    """The sites of a report, those with the most bytes first; None where it has none."""
    path = os.path.join(directory, FILE)
    if not os.path.exists(path):
        return None
    try:
        with open(path, encoding="utf-8") as stream:
            sites = [_site(entry) for entry in json.load(stream)["sites"]]
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise LucidError(f"{path}: not a file of lucid run --sparse=measure ({error!r})", code=2) from error
    return sorted(sites, key=lambda site: -site.calls * site.vector)


def _site(entry) -> Site:
    total = entry["elements"] * entry["element_bytes"]
    where = entry["function"] or "%s+0x%x" % (entry["object"], entry["offset"])
    return Site(entry["call"], where, entry["calls"], entry["ranks"], total / entry["calls"], entry["exceptions"] / entry["elements"],
                entry["encoded_bytes"] / total, entry["predicted_ratio"], entry["bound_ratio"])


def render(sites: List[Site], terminal: Terminal, top: int) -> List[str]:
    """The table of `lucid show`."""
    head = f"{'reductions':<24}{'called in':<26}{'calls':>8}{'vector':>10}{'differ':>9}{'encoded':>9}{'gain':>7}{'at most':>9}"
    lines = [terminal.bold(head)]
    for site in sites[:top]:
        lines.append(f"  {site.call:<22}{units.plain(site.where)[:25]:<26}{site.calls:>8}{units.size(site.vector):>10}"
                     f"{100 * site.density:>8.3g}%{100 * site.encoded:>8.3g}%{site.predicted:>7.2f}{site.bound:>9.2f}")
    if len(sites) > top:
        lines.append(f"  and {len(sites) - top} more")
    return lines + ["  gain: time of the library's routine over the sparse one's, predicted for positions that are independent",
                    "  between ranks; at most: for the same positions everywhere; 1: the library's routine runs"]
