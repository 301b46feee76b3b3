# SPDX-License-Identifier: BSD-3-Clause
"""Sessions made up for the tests: a periodic 2-D stencil with collectives and some one-sided traffic.

    python3 sample.py RANKS NODES > FILE     writes one
"""

import json
import math
import sys

KINDS = ("p2p barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw reduce allreduce "
         "reduce_scatter reduce_scatter_block scan exscan neighbor comm window file other library undivided "
         "put get accumulate fetch_and_op compare_and_swap").split()
P2P, BARRIER, BCAST, ALLREDUCE, PUT = (KINDS.index(k) for k in ("p2p", "barrier", "bcast", "allreduce", "put"))


def grid_shape(ranks):
    rows = int(math.sqrt(ranks))
    while ranks % rows:
        rows -= 1
    return rows, ranks // rows


def traffic(ranks):
    """{(sender, receiver, kind): [messages, bytes]} and {kind: bins}."""
    cells, bins = {}, {}

    def send(sender, receiver, kind, messages, each):
        if sender == receiver:
            return
        cell = cells.setdefault((sender, receiver, kind), [0, 0])
        cell[0] += messages
        cell[1] += messages * each
        bins.setdefault(KINDS[kind], [0] * 65)[each.bit_length()] += messages

    rows, columns = grid_shape(ranks)
    for rank in range(ranks):
        y, x = divmod(rank, columns)
        for neighbor in {y * columns + (x + 1) % columns, y * columns + (x - 1) % columns}:
            send(rank, neighbor, P2P, 1000, 8192)
        for neighbor in {(y + 1) % rows * columns + x, (y - 1) % rows * columns + x}:
            send(rank, neighbor, P2P, 1000, 65536)
        distance = 1
        while distance < ranks:
            send(rank, (rank + distance) % ranks, BARRIER, 10, 0)
            if rank ^ distance < ranks:
                send(rank, rank ^ distance, ALLREDUCE, 200, 8)
            if rank < distance and rank + distance < ranks:
                send(rank, rank + distance, BCAST, 3, 1048576)
            distance *= 2
    send(0, ranks - 1, PUT, 7, 300)
    return cells, bins


def session(ranks, nodes, name="run"):
    """The values of a session file."""
    per_node = -(-ranks // nodes)
    cells, bins = traffic(ranks)
    listed = [[s, r, k, m, b] for (s, r, k), (m, b) in sorted(cells.items())]
    return {
        "format": "lucid-session", "version": 1, "lucid": "0.1.0", "name": name, "created": "2026-11-21T04:00:00Z",
        "seconds": 12.5, "command": ["./stencil", "-n", "1000"],
        "mpi": {"library": "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
                "standard": "3.1", "thread_level": "single"},
        "source": {"name": "pml", "decomposed": True, "one_sided": True, "kinds": True, "persistent": True, "user": True,
                   "interposed": True, "blind": []},
        "size": ranks,
        "nodes": [{"name": f"node{i:02d}", "model": "AMD EPYC 7763 64-Core Processor", "packages": 2, "numa": 2,
                   "cores": per_node, "pus": per_node} for i in range(nodes)],
        "ranks": [{"rank": r, "world": r, "node": r // per_node, "pid": 4000 + r, "cpus": str(r % per_node),
                   "package": 2 * (r % per_node) // per_node, "numa": 2 * (r % per_node) // per_node, "core": r % per_node}
                  for r in range(ranks)],
        "kinds": list(KINDS),
        "classes": {"p2p": KINDS[:KINDS.index("put")], "coll": KINDS[1:KINDS.index("library")],
                    "osc": KINDS[KINDS.index("put"):]},
        "lost": 0, "cells": listed, "outside": [], "histograms": bins,
        "totals": {"messages": sum(c[3] for c in listed), "bytes": sum(c[4] for c in listed)},
    }


def text(data):
    """A session as the library writes it: one cell per line."""
    lines = []
    for key, value in data.items():
        if key in ("cells", "nodes", "ranks") and value:
            rows = ",\n".join("  " + json.dumps(row) for row in value)
            lines.append(f' {json.dumps(key)}: [\n{rows}\n ]')
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(text(session(int(sys.argv[1]), int(sys.argv[2]))))
