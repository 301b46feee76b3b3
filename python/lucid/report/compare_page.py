# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as a page: the table, the bars, and both matrices on one scale. One file, without a script."""

from __future__ import annotations

import shlex

from .. import compare, compare_figure, grid, svg
from ..scale import scale
from . import page
from .parts import text


def render(found: compare.Comparison) -> str:
    """The page."""
    title = f"{text(found.a.name)} and {text(found.b.name)}"
    return page.document(title, _BODY.format(title=title, figure=compare_figure.figure(found), table=_table(found),
                                             matrices=_matrices(found), notes=_notes(found)))


def _table(found: compare.Comparison) -> str:
    rows = "".join(f"<tr><th scope=row>{text(row.label)}</th><td>{compare.shown(row.a, row.unit)}</td>"
                   f"<td>{compare.shown(row.b, row.unit)}</td><td>{compare.ratio(row)}</td></tr>" for row in found.rows)
    return (f"<table><thead><tr><th></th><th scope=col>A: {text(found.a.name)}</th><th scope=col>B: {text(found.b.name)}</th>"
            f"<th scope=col>B / A</th></tr></thead><tbody>{rows}</tbody></table>")


def _matrices(found: compare.Comparison) -> str:
    sides = [(side, grid.layout(side.session)) for side in (found.a, found.b)]
    folded = [rows.fold(side.session.matrix()) for side, rows in sides]
    steps = scale(traffic.bytes for cells in folded for traffic in cells.values())
    parts = []
    for (side, rows), cells, word in zip(sides, folded, "AB"):
        drawn = svg.figure(rows, cells, "bytes", "", "", steps)
        command = shlex.join(side.session.command) or "(unknown command)"
        parts.append(f"<section><h2>{word}: {text(side.name)}</h2><p><code>{text(command)}</code></p><figure>{drawn}</figure></section>")
    return "".join(parts)


def _notes(found: compare.Comparison) -> str:
    return "".join(f"<li>{text(note)}</li>" for note in found.notes)


_BODY = """\
<header>
<p class="kicker">Two runs side by side</p>
<h1>{title}</h1>
</header>
<main>
<section>{table}<ul class="plain note">{notes}</ul></section>
<section><h2>Each figure on a scale of its own</h2><figure>{figure}</figure></section>
<p class="note">Matrices: bytes; row = sender, column = receiver. Logarithmic colours, the same for both; white = nothing.</p>
<div class="two">{matrices}</div>
</main>
"""
