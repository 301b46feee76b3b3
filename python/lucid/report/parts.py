# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the page as HTML. What page.js renews has an id; without the script it stays as it is: all traffic."""

from __future__ import annotations

import shlex
from html import escape
from typing import List, Optional, Tuple

from .. import sparse_sites, summary, units
from ..session import Session
from .views import Shown, View

_CHIPS = 512  # ranks up to which the topology shows each


def text(value) -> str:
    """Text made safe for the page."""
    return escape(units.plain(str(value)), quote=True)


def rows_of(pairs: List[Tuple[str, str]]) -> str:
    """A list of names and values."""
    return "<dl>" + "".join(f"<div><dt>{text(k)}</dt><dd>{v}</dd></div>" for k, v in pairs) + "</dl>"


def figures(session: Session) -> str:
    """The few figures that matter, above everything."""
    total, far = session.total(), session.between_nodes()
    entries = [(units.size(total.bytes), "sent"), (units.count(total.messages), "messages"),
               (units.percent(far.bytes, total.bytes), "of the bytes between nodes"),
               (f"{units.count(session.size)} / {units.count(len(session.nodes))}", "ranks / nodes"),
               (units.seconds(session.seconds), "recorded")]
    if session.in_mpi:
        entries.append((units.seconds(session.in_mpi["mean"]), "in MPI, mean of ranks"))
    return '<ul class="figures">' + "".join(f"<li><b>{text(value)}</b> <span>{label}</span></li>" for value, label in entries) + "</ul>"


def gallery(page: Shown) -> str:
    """The matrices of all classes and kinds, small; with the script, each is a button."""
    total, items = page.session.total(), []
    for view in page.views:
        items.append(
            f'<button type="button" class="view depth{view.depth}" data-view="{text(view.key)}" aria-pressed="{str(view.depth == 0).lower()}">'
            f'<img alt="" width="104" height="104" src="{view.picture}">'
            f'<span class="name">{text(view.label)}</span>'
            f'<span class="amount">{units.size(view.total.bytes)}, {units.percent(view.total.bytes, total.bytes)}</span></button>')
    return '<div class="gallery" id="gallery">' + "".join(items) + "</div>"


def traffic(session: Session) -> str:
    """The table of classes and kinds."""
    total = session.total()
    lines = [*summary.table(session), summary.Line("total", "", "total", total)]
    body = ""
    for line in lines:
        mean = units.size(line.traffic.bytes / line.traffic.messages) if line.traffic.messages else ""
        kind = ' class="kind"' if line.kind else ' class="total"' if line.group == "total" else ""
        body += (f"<tr{kind}><th scope=row>{text(line.label)}</th><td>{units.count(line.traffic.messages)}</td>"
                 f"<td>{units.size(line.traffic.bytes)}</td><td>{mean}</td>"
                 f"<td>{units.percent(line.traffic.bytes, total.bytes)}</td></tr>")
    outside = session.outside_total()
    if outside.messages:
        body += (f"<tr><th scope=row>outside MPI_COMM_WORLD</th><td>{units.count(outside.messages)}</td>"
                 f"<td>{units.size(outside.bytes)}</td><td></td><td></td></tr>")
    return ("<table><thead><tr><th scope=col>traffic</th><th scope=col>messages</th><th scope=col>bytes</th>"
            f"<th scope=col>mean size</th><th scope=col>share</th></tr></thead><tbody>{body}</tbody></table>")


def distances(view: View) -> str:
    """How far the traffic went."""
    body = ""
    for name, label in summary.DISTANCES:
        amount = view.distances[name]
        share = amount.bytes / view.total.bytes if view.total.bytes else 0
        body += (f"<tr><th scope=row>{label}</th><td>{units.count(amount.messages)}</td><td>{units.size(amount.bytes)}</td>"
                 f"<td>{units.percent(amount.bytes, view.total.bytes)}</td>"
                 f'<td class="bar">{_bar(share)}</td></tr>')
    return ("<table><thead><tr><th scope=col>distance</th><th scope=col>messages</th><th scope=col>bytes</th>"
            f'<th scope=col>share</th><th></th></tr></thead><tbody id="distances">{body}</tbody></table>')


def _bar(share: float) -> str:
    return f'<i style="width:{100 * share:.1f}%"></i>' if share > 0 else ""


def pairs(session: Session, view: View) -> str:
    """The largest pairs."""
    body = ""
    for sender, receiver, amount in view.pairs["bytes"]:
        body += (f"<tr><td>{sender} → {receiver}</td><td>{text(_home(session, sender))} → {text(_home(session, receiver))}</td>"
                 f"<td>{units.count(amount.messages)}</td><td>{units.size(amount.bytes)}</td>"
                 f"<td>{units.percent(amount.bytes, view.total.bytes)}</td></tr>")
    return ('<table class="pairs"><thead><tr><th scope=col>sender → receiver</th><th scope=col>from node → to node</th>'
            f'<th scope=col>messages</th><th scope=col>bytes</th><th scope=col>share</th></tr></thead><tbody id="pairs">{body}</tbody></table>')


def _home(session: Session, rank: int) -> str:
    return session.nodes[session.ranks[rank].node].name


def sizes(view: View) -> str:
    """The histogram of message sizes."""
    bins = summary.bins(view.bins)
    most, total = max([value for _, value in bins], default=1), sum(value for _, value in bins)
    body = "".join(f'<tr><th scope=row>{label}</th><td class="bar">{_bar(value / most)}</td>'
                   f"<td>{units.count(value)}</td><td>{units.percent(value, total)}</td></tr>" for label, value in bins)
    return ("<table><thead><tr><th scope=col>size of a message</th><th></th><th scope=col>messages</th>"
            f'<th scope=col>share</th></tr></thead><tbody id="sizes">{body}</tbody></table>')


def reductions(found: sparse_sites.Found) -> str:
    """What the program's reductions are given: a section of its own, where this was looked at."""
    rows = [sparse_sites.cells(site) for site in found.sites]
    body = "".join(f"<tr><th scope=row>{text(first)}</th>" + "".join(f"<td>{text(cell)}</td>" for cell in rest) + "</tr>"
                   for first, *rest in rows)
    head = "".join(f"<th scope=col>{word}</th>" for word in sparse_sites.HEADS)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    notes = text(" ".join(sparse_sites.notes(found)))
    return f'<section><h2>What reductions are given</h2>{table}<p class="note">{notes}</p></section>\n'


def topology(session: Session) -> str:
    """Nodes, their packages, and the ranks on them."""
    out, into = [0] * len(session.nodes), [0] * len(session.nodes)
    home = [rank.node for rank in session.ranks]
    for (sender, receiver), amount in session.matrix().items():
        if home[sender] != home[receiver]:
            out[home[sender]] += amount.bytes
            into[home[receiver]] += amount.bytes
    cards = []
    for i, (node, ranks) in enumerate(zip(session.nodes, session.members())):
        flow = f"{units.size(out[i])} out, {units.size(into[i])} in" if len(session.nodes) > 1 else ""
        seats = _packages(session, ranks) if session.size <= _CHIPS else f"<p>ranks {units.ranges(ranks)}</p>"
        cards.append(f"<section class=node><h3>{text(node.name)}</h3><p>{_figures(node)}</p>{seats}<p class=flow>{flow}</p></section>")
    models = "".join(f"<li>{units.plural(n, 'node')}: {text(sort)}</li>" for sort, n in summary.node_models(session))
    return f'<ul class="plain">{models}</ul><div class="nodes">{"".join(cards)}</div>'


def _figures(node) -> str:
    parts = [units.plural(n, word) for n, word in ((node.packages, "package"), (node.numa, "NUMA domain"), (node.cores, "core"),
                                                   (node.pus, "hardware thread")) if n]
    return ", ".join(parts)


def _packages(session: Session, ranks: List[int]) -> str:
    groups: dict = {}
    for rank in ranks:
        groups.setdefault(session.ranks[rank].package, []).append(rank)
    html = ""
    for package in sorted(groups, key=lambda p: (p is None, p)):
        chips = "".join(f'<b title="{_seat(session, rank)}">{rank}</b>' for rank in groups[package])
        name = "ranks, bound to no one package" if package is None else f"package {package}"
        html += f"<div class=package><span>{name}</span><div>{chips}</div></div>"
    return html


def _seat(session: Session, number: int) -> str:
    rank = session.ranks[number]
    parts = [f"rank {number}"] + ([f"rank {rank.world} of MPI_COMM_WORLD"] if rank.world != number else [])
    parts += [f"{word} {value}" for word, value in (("NUMA domain", rank.numa), ("core", rank.core), ("CPUs", rank.cpus),
                                                    ("process", rank.pid)) if value is not None]
    return text(", ".join(parts))


def measured(session: Session) -> str:
    """How the figures came about, and what they leave out."""
    sees, misses = summary.sight(session)
    items = [("source", text(session.source["name"])), ("sees", text("; ".join(sees) or "nothing of its own")),
             ("does not see", text("; ".join(misses) or "nothing known to be missing")),
             ("MPI library", text(session.mpi["library"].strip())),
             ("MPI standard", text(session.mpi["standard"])), ("thread level", text(session.mpi["thread_level"]))]
    if any(kind == "get" for kind in session.by_kind()):
        items.append(("MPI_Get", "is booked at the rank that calls it; its data flow the other way"))
    return rows_of(items)


def run(session: Session, notes: Optional[dict]) -> str:
    """The run: command, times, environment."""
    notes = notes or {}
    items = [("command", f"<code>{text(shlex.join(session.command))}</code>"), ("recorded", text(session.created))]
    for key, label in (("started", "started"), ("seconds", "wall time, s"), ("exit_code", "exit code"), ("host", "started on"),
                       ("directory", "in"), ("launcher", "launcher")):
        if notes.get(key) is not None:
            items.append((label, text(notes[key])))
    items.append(("Lucid", text(session.lucid)))
    environment = notes.get("environment")
    if isinstance(environment, dict) and environment:
        lines = "\n".join(f"{text(k)}={text(v)}" for k, v in environment.items())
        items.append(("environment", f"<pre>{lines}</pre>"))
    return rows_of(items)
