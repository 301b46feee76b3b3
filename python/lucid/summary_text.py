# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a session in the terminal, and the paragraph with which `lucid run` ends."""

from __future__ import annotations

import shlex
import textwrap
from typing import List

from . import heat_text, summary, units
from .session import Session
from .terminal import Terminal

_BAR = 30
_TIED = "\0"  # stands for a space at which no line is broken
_EIGHTHS = "▏▎▍▌▋▊▉█"


def render(session: Session, terminal: Terminal, kinds=None, by: str = "bytes", top: int = 10, order: str = "node",
           what: str = "all traffic") -> List[str]:
    """Everything `lucid show` prints."""
    lines = _head(session, terminal, what)
    lines += ["", *_traffic(session, terminal, kinds)]
    lines += ["", *_distances(session, terminal, kinds)]
    for part in (_sizes(session, terminal, kinds), _pairs(session, terminal, kinds, by, top)):
        lines += ["", *part] if part else []
    heat = heat_text.render(session, session.matrix(kinds), by, terminal, order)
    return lines + ["", terminal.bold(heat[0]), *heat[1:]]


def _head(session: Session, terminal: Terminal, what: str) -> List[str]:
    command = units.plain(shlex.join(session.command)) or "(unknown command)"
    facts = [units.plural(session.size, "rank"), "on " + units.plural(len(session.nodes), "node"),
             units.seconds(session.seconds), summary.mpi_name(session), f"source {session.source['name']}",
             units.plain(session.created)]
    lines = [terminal.bold(f"{units.plain(session.name) or 'session'}: {_cut(command, terminal.width - 20)}"),
             facts[0] + " " + " · ".join(facts[1:])]
    lines += [f"{units.plural(n, 'node')}: {units.plain(sort)}" for sort, n in summary.node_models(session)]
    lines += [summary.in_mpi(session)] if session.in_mpi else []
    sees, misses = summary.sight(session)
    lines += _wrap("sees: " + "; ".join(sees), terminal) if sees else []
    lines += _wrap("does not see: " + units.plain("; ".join(misses)), terminal) if misses else []
    return lines + ([f"shown: {what}"] if what != "all traffic" else [])


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[:room - 1] + "…"


def _wrap(text: str, terminal: Terminal) -> List[str]:
    return textwrap.wrap(text, terminal.width, subsequent_indent="  ", break_on_hyphens=False)


def _traffic(session: Session, terminal: Terminal, kinds) -> List[str]:
    total = session.total(kinds)
    lines = [terminal.bold(f"{'traffic':<24}{'messages':>16}{'bytes':>11}{'mean size':>11}{'share':>9}")]
    for line in summary.table(session, kinds):
        label = units.plain("  " + line.label if line.kind else line.label)
        lines.append(_amount(label, line.traffic, total.bytes))
    lines.append(terminal.bold(_amount("total", total, total.bytes)))
    outside = session.outside_total(kinds)
    if outside.messages:
        lines.append(_amount("outside the world", outside, 0))
    return lines


def _amount(label: str, traffic, whole: int) -> str:
    mean = units.size(traffic.bytes / traffic.messages) if traffic.messages else ""
    share = units.percent(traffic.bytes, whole) if whole else ""
    return f"{label:<24}{units.count(traffic.messages):>16}{units.size(traffic.bytes):>11}{mean:>11}{share:>9}".rstrip()


def _distances(session: Session, terminal: Terminal, kinds) -> List[str]:
    total = session.total(kinds)
    lines = [terminal.bold(f"{'where it went':<24}{'messages':>16}{'bytes':>11}{'':>11}{'share':>9}")]
    for distance, traffic in session.by_distance(kinds).items():
        if traffic.messages:
            share = units.percent(traffic.bytes, total.bytes) if total.bytes else ""
            label = _distance_label(session, distance)
            lines.append(f"{label:<24}{units.count(traffic.messages):>16}{units.size(traffic.bytes):>11}"
                         f"{'':>11}{share:>9}".rstrip())
    return lines


def _distance_label(session: Session, distance: str) -> str:
    if distance == "node" and any(rank.package is not None for rank in session.ranks):
        return "elsewhere in its node"
    return dict(summary.DISTANCES)[distance]


def _sizes(session: Session, terminal: Terminal, kinds) -> List[str]:
    bins = summary.bins(session.histogram(kinds))
    if not bins:
        return []
    most, total = max(value for _, value in bins), sum(value for _, value in bins)
    lines = [terminal.bold(f"{'message size':<24}{'messages':>16}")]
    for label, value in bins:
        bar = _bar(value, most)
        share = units.percent(value, total)
        lines.append(f"{label:<24}{units.count(value):>16}  {bar:<{_BAR}} {share:>7}")
    return lines


def _bar(value: int, most: int) -> str:
    eighths = max(round(8 * _BAR * value / most), 1) if value else 0
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8 - 1] if eighths % 8 else "")


def _pairs(session: Session, terminal: Terminal, kinds, by: str, top: int) -> List[str]:
    pairs, total = session.top_pairs(max(top, 0), by, kinds), session.total(kinds)
    if not pairs:
        return []
    lines = [terminal.bold(f"{f'largest pairs, by {by}':<40}{'messages':>16}{'bytes':>11}{'share':>9}")]
    for sender, receiver, traffic in pairs:
        route = f"{_seat(session, sender)} → {_seat(session, receiver)}"
        share = units.percent(getattr(traffic, by), getattr(total, by))
        lines.append(f"{route:<40}{units.count(traffic.messages):>16}{units.size(traffic.bytes):>11}{share:>9}")
    return lines


def _seat(session: Session, rank: int) -> str:
    return f"{rank} ({units.plain(session.nodes[session.ranks[rank].node].name)})"


def paragraph(session: Session, shown: str, phases: int, width: int) -> str:
    """The few lines on standard error at the end of `lucid run`. shown: the report's directory as the user would type it."""
    total, far = session.total(), session.between_nodes()
    parts = [f"{units.plural(session.size, 'rank')} on {units.plural(len(session.nodes), 'node')} sent "
             f"{units.size(total.bytes)} in {units.messages(total.messages)}"]
    if len(session.nodes) > 1:
        share = units.percent(far.bytes, total.bytes)
        parts.append(f"; {share} of the bytes went between nodes" if total.bytes else "")
    top = [f"{s} → {r} {units.size(t.bytes)}".replace(" ", _TIED) for s, r, t in session.top_pairs(3)]
    parts.append(f". Top pairs: {', '.join(top)}." if top else ".")
    _, misses = summary.sight(session)
    if session.source["blind"] or session.lost:
        parts.append(f" Not seen: {units.plain('; '.join(misses))}.")
    extra = f" and {units.plural(phases, 'phase')}" if phases else ""
    lines = textwrap.wrap("lucid: " + "".join(parts), width, subsequent_indent="       ", break_on_hyphens=False,
                          break_long_words=False)
    lines = [line.replace(_TIED, " ") for line in lines]
    return "\n".join(lines + [f"       Report{extra}: {shown} (lucid show {shlex.quote(shown)})"]) + "\n"
