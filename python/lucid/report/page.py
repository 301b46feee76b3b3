# SPDX-License-Identifier: BSD-3-Clause
"""Puts the page together: one file, no address but its own."""

from __future__ import annotations

import json
import os
import shlex

from .. import __version__, reports, sparse_sites, svg
from ..scale import hexadecimal, on_white
from ..session import Session
from . import parts, views

_HERE = os.path.dirname(os.path.abspath(__file__))


def render(report: str, session: Session, phase, order: str) -> str:
    """The page of a session; of a report directory's run together with its phases."""
    directory = report if os.path.isdir(report) else os.path.dirname(report)
    name = "run" if phase is None else f"phase {phase}"
    pages = [views.shown("0", name if os.path.isdir(report) else session.name or name, session, order)]
    if os.path.isdir(report) and phase is None:
        pages += [views.shown(str(level), f"phase {level}", reports.open_session(report, level), order)
                  for level, _ in reports.phases(report)]
    notes = reports.read_run(directory) if os.path.isfile(os.path.join(directory, "lucid.json")) else None
    found = sparse_sites.load(directory) if os.path.isdir(report) and phase is None else None
    return document(parts.text(_title(session)),
                    _body(pages, notes, found) + _SCRIPT.format(data=_data(pages), script=resource("page.js")))


def document(title: str, body: str) -> str:
    """A page that needs no other file; the title is HTML already."""
    return _DOCUMENT.format(title=title, style=resource("page.css"), version=__version__, body=body)


def _title(session: Session) -> str:
    return shlex.join(session.command) or session.name or "session"


def resource(name: str) -> str:
    """A file beside this one, without its licence line."""
    with open(os.path.join(_HERE, name), encoding="utf-8") as file:
        return file.read().split("*/\n", 1)[1]


def _data(pages) -> str:
    values = {"sessions": [views.as_values(page) for page in pages],
              "colors": [hexadecimal(on_white(k / 255)) for k in range(256)]}
    return json.dumps(values, separators=(",", ":")).replace("<", "\\u003c")


def _body(pages, notes, found) -> str:
    page = pages[0]
    session, everything = page.session, page.views[0]
    figure = svg.figure(page.grid, page.grid.fold(session.matrix()), "bytes", "", "")
    return _BODY.format(
        title=parts.text(_title(session)), figures=parts.figures(session), sessions=_sessions(pages),
        gallery=parts.gallery(page), figure=figure, traffic=parts.traffic(session), distances=parts.distances(everything),
        pairs=parts.pairs(session, everything), sizes=parts.sizes(everything), topology=parts.topology(session),
        reductions="" if found is None else parts.reductions(found),
        measured=parts.measured(session), run=parts.run(session, notes), axis=parts.text(page.grid.axis()),
        lines="; lines part the nodes" if page.grid.boundaries() else "",
        whole="" if len(pages) == 1 else "<small>the whole run</small>")


def _sessions(pages) -> str:
    if len(pages) == 1:
        return ""
    options = "".join(f'<option value="{i}">{parts.text(page.label)}</option>' for i, page in enumerate(pages))
    return f'<label class="script">part of the run <select id="session">{options}</select></label>'


_DOCUMENT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Lucid {version}">
<title>{title} · Lucid</title>
<style>
{style}</style>
</head>
<body>
{body}</body>
</html>
"""

_SCRIPT = """\
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
"""

_BODY = """\
<header>
<p class="kicker">Where the messages went</p>
<h1>{title}</h1>
{figures}
</header>
<main>
<section aria-labelledby="matrix-title">
<h2 id="matrix-title">Who sends what to whom</h2>
<p class="controls">{sessions}<span class="script segmented" role="group" aria-label="measure"><button type="button" data-by="bytes"
aria-pressed="true">bytes</button><button type="button" data-by="messages" aria-pressed="false">messages</button></span>
<span class="note">Row = sender, column = receiver ({axis}). Logarithmic colours, white = nothing{lines}.</span></p>
<div class="matrix"><figure id="figure">{figure}</figure>{gallery}</div>
<p class="shown script" id="shown" aria-live="polite">all traffic</p>
</section>
<div class="two">
<section><h2>Traffic by class and kind {whole}</h2>{traffic}
<h2>Largest pairs <small class="what"></small></h2>{pairs}</section>
<section><h2>How far it went <small class="what"></small></h2>{distances}
<h2>Message sizes <small class="what"></small></h2>{sizes}</section>
</div>
{reductions}<section><h2>Topology</h2>{topology}</section>
<div class="two">
<section><h2>How it was measured</h2>{measured}</section>
<section><h2>The run</h2>{run}</section>
</div>
</main>
<div id="hint" role="tooltip" hidden></div>
"""
