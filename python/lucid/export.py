# SPDX-License-Identifier: BSD-3-Clause
"""Matrices for other programs: Matrix Market and comma-separated values."""

from __future__ import annotations

import csv
import io

from .session import Session


def matrix_market(session: Session, kinds=None, by: str = "bytes") -> str:
    """Matrix Market coordinates, 1-based, row = sender."""
    entries = [(s, r, getattr(t, by)) for (s, r), t in sorted(session.matrix(kinds).items()) if getattr(t, by) > 0]
    lines = ["%%MatrixMarket matrix coordinate integer general",
             f"% {by} sent; row = sender, column = receiver, ranks of the session counted from 1",
             f"{session.size} {session.size} {len(entries)}"]
    lines += [f"{s + 1} {r + 1} {value}" for s, r, value in entries]
    return "\n".join(lines) + "\n"


def table(session: Session, kinds=None) -> str:
    """One line per sender, receiver and kind."""
    wanted = set(session.select(kinds))
    home = [session.nodes[rank.node].name for rank in session.ranks]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("sender", "receiver", "kind", "messages", "bytes", "sender_node", "receiver_node"))
    for cell in session.cells:
        if cell.kind in wanted:
            writer.writerow((cell.sender, cell.receiver, session.kinds[cell.kind], cell.messages, cell.bytes,
                             home[cell.sender], home[cell.receiver]))
    return out.getvalue()
