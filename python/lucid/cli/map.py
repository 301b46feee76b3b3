# SPDX-License-Identifier: BSD-3-Clause
"""lucid map: from a session and a machine to a rank order."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import List, Optional

from .. import __version__, mapping, reports, units
from ..errors import LucidError
from ..mapping_formats import FORMATS, inverse, parse_fixed, parse_permutation, prrte_reads, read_text
from ..mapping_library import ALGORITHMS
from ..mapping_machine import processes, read_hosts
from . import options

_DESCRIPTION = """\
Finds an order of the ranks in which those that talk much sit near each other, from what a program sent (REPORT: a report
directory, a session file, or a matrix in Matrix Market format), and writes it for the next run. Nothing that is worse than the
present order is ever written. Without REPORT the latest ./lucid-report is taken.
"""

_EPILOG = """\
topologies:
  session                    where the ranks of the session sat (the default for sessions)
  "node:64 numa:2 core:16"   so many of each in the one before, outermost first; a place per innermost one
  "node:4 core:16,16,8,8"    the numbers one by one; "node=100:4 core=1:16" with costs
  machine.xml, 64*machine.xml   one node, or so many, as hwloc's lstopo describes it

examples:
  lucid map lucid-report                                 the order as a permutation: line i is the rank of process i
  lucid map lucid-report --format rankfile -o ranks.txt  for mpirun -rf ranks.txt
  lucid map matrix.mtx --topology "node:64 core:32"      any matrix, any machine
  lucid map lucid-report --evaluate theirs.txt           what somebody else's order is worth
  lucid map lucid-report --fixed 0=0 --seconds 10        rank 0 stays; take ten seconds

formats: permutation; rankfile (Open MPI 4.1) and rankfile5 (5.0, PRRTE); mpich (MPICH_RANK_ORDER of HPE Cray MPI); slurm
(SLURM_HOSTFILE for srun -m arbitrary).
"""


def setup_parser(commands) -> None:
    """Adds the command's options."""
    parser = commands.add_parser("map", help="turn a session and a machine into a rank order", description=_DESCRIPTION,
                                 epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", nargs="?", metavar="REPORT", help="report directory, session file or .mtx matrix")
    parser.add_argument("--topology", metavar="T", help="the machine (see below)")
    parser.add_argument("--costs", metavar="C,C,...", help="cost of every level of the machine, outermost first")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the order to FILE (default: standard output)")
    parser.add_argument("--format", choices=FORMATS, help="how the order is written (default: permutation)")
    parser.add_argument("--hosts", metavar="H,H,...|FILE", help="names of the nodes, for rankfiles and hostfiles")
    parser.add_argument("--evaluate", metavar="FILE", help="do not search: say what the permutation in FILE costs")
    parser.add_argument("--inverse", action="store_true",
                        help="FILE gives the place of every rank (as Scotch, KaHIP and VieM do), not the rank of every process")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    _search_options(parser)
    options.traffic(parser, "weigh")


def _search_options(parser) -> None:
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="auto", help="default: auto, several of them")
    parser.add_argument("--seconds", type=_positive, default=0.0, metavar="S", help="search for S seconds (auto)")
    parser.add_argument("--starts", type=_whole, default=0, metavar="N",
                        help="attempts of auto, however long they take; starts per division of multilevel")
    parser.add_argument("--seed", type=_whole, default=0, metavar="N", help="same seed, same order (default 0)")
    parser.add_argument("--threads", type=_whole, default=0, metavar="N", help="threads (default: one per core)")
    parser.add_argument("--fixed", metavar="P=R,...|FILE", help="process P must have rank R")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def _whole(text: str) -> int:
    if not text.isdigit() or int(text) >= 2 ** 31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def main(arguments) -> int:
    """lucid map"""
    problem = _problem(arguments)
    machine = problem.machine
    if arguments.costs:
        problem.set_costs(_costs(arguments.costs))
    if arguments.hosts:
        machine.set_hosts(read_hosts(arguments.hosts))
    if arguments.inverse and not arguments.evaluate:
        raise LucidError("--inverse says what is in the file of --evaluate", code=2)
    found = _evaluate(problem, arguments) if arguments.evaluate else _solve(problem, arguments)
    _write(problem, found, arguments)
    return 0


def _problem(arguments) -> mapping.Problem:
    """What the command line asks to be mapped."""
    report = arguments.report or reports.newest()
    if os.path.splitext(report)[1].lower() != ".mtx":
        session = reports.open_session(report, arguments.phase)
        kinds = [f"kind:{name}" for name in arguments.kind.split(",")] if arguments.kind else arguments.class_
        topology = "session" if arguments.topology is None else arguments.topology
        return mapping.of_session(session, topology, kinds, arguments.by)
    if arguments.phase is not None or arguments.kind or arguments.class_ or arguments.by == "messages":
        raise LucidError(f"{report}: a matrix has no phases, classes or kinds, and one figure per pair: --phase, --class, --kind "
                         "and --messages need a session", code=2)
    if arguments.topology in (None, "session"):
        raise LucidError(f"{report}: a matrix does not say where its ranks sat: describe the machine with --topology", code=2)
    return mapping.of_matrix_market(report, arguments.topology)


def _costs(text: str) -> List[float]:
    try:
        costs = [float(word) for word in text.split(",")]
    except ValueError:
        costs = [-1.0]
    if not all(0 <= cost < 1e12 for cost in costs):
        raise LucidError(f"--costs: '{units.plain(text)[:40]}' is not a list of costs like 100,10,1", code=2)
    return costs


def _solve(problem: mapping.Problem, arguments) -> mapping.Mapping:
    fixed: Optional[List[int]] = parse_fixed(arguments.fixed, problem.machine.size) if arguments.fixed else None
    return problem.solve(fixed, algorithm=arguments.algorithm, seconds=arguments.seconds, threads=arguments.threads,
                         seed=arguments.seed, starts=arguments.starts)


def _evaluate(problem: mapping.Problem, arguments) -> mapping.Mapping:
    if arguments.fixed:
        raise LucidError("--fixed is for the search, and --evaluate does not search", code=2)
    k = parse_permutation(read_text(arguments.evaluate), problem.machine.size, arguments.evaluate)
    return problem.score(inverse(k) if arguments.inverse else k)


def _write(problem: mapping.Problem, found: mapping.Mapping, arguments) -> None:
    """The order to the file or standard output, the summary beside it."""
    text = problem.text(found, arguments.format or "permutation")
    wanted = bool(arguments.output or arguments.format or not arguments.evaluate)
    if arguments.output:
        reports.write_whole(arguments.output, text.encode())
    if arguments.json:
        json.dump(_as_json(problem, found, arguments), sys.stdout, indent=1)
        print()
        return
    to_stdout = wanted and not arguments.output
    if to_stdout:
        sys.stdout.write(text)
    print("\n".join(_summary(problem, found, arguments)), file=sys.stderr if to_stdout or not arguments.evaluate else sys.stdout)


def _summary(problem: mapping.Problem, found: mapping.Mapping, arguments) -> List[str]:
    """The outcome for people."""
    machine, before, after = problem.machine, found.before, found.after
    level = machine.node_level()
    word = "node" if level is None else machine.levels[level].name
    lines = [f"lucid: {processes(machine.size)} on {units.plural(machine.nodes(), word)}" +
             (f"; {machine.note}" if machine.note else "")]
    rows = [(f"cost (by {problem.by})", f"{before.cost:.4g}", f"{after.cost:.4g}", f"{found.ratio:.4f} of what it was"),
            (f"between {word}s", units.size(before.between), units.size(after.between), ""),
            (f"busiest {word}'s link", units.size(before.link), units.size(after.link), "")]
    width = max(len(row[1]) for row in rows)
    for name, old, new, more in rows:
        lines.append(f"       {name:<20} {old:>{width}} -> {new}" + (f"   ({more})" if more else ""))
    if not arguments.evaluate:
        what = "no better order than the present one was found" if found.algorithm == "identity" else f"found by {found.algorithm}"
        lines.append(f"       {what}, in {units.seconds(found.seconds)}")
    if arguments.output:
        lines.append(f"       {arguments.format or 'permutation'} in {arguments.output}")
        if arguments.format == "rankfile5" and not prrte_reads(arguments.output):
            lines.append("       PRRTE 3.0 may not read it by this name (letters, digits, _ . / only, no \"pe\"): give mpirun another")
    return lines


def _as_json(problem: mapping.Problem, found: mapping.Mapping, arguments) -> dict:
    """The outcome for programs."""
    def figures(values: mapping.Figures) -> dict:
        return {"cost": values.cost, "between_nodes_bytes": values.between, "busiest_link_bytes": values.link}

    machine = problem.machine
    return {
        "format": "lucid-map", "version": 1, "lucid": __version__, "by": problem.by, "topology": machine.text,
        "note": machine.note or None, "levels": [{"name": level.name, "cost": level.cost} for level in machine.levels],
        "processes": machine.size, "nodes": machine.nodes(), "hosts": machine.hosts or None,
        "algorithm": found.algorithm or None, "seconds": found.seconds if found.algorithm else None, "ratio": found.ratio,
        "before": figures(found.before), "after": figures(found.after), "k": found.k,
    }
