# SPDX-License-Identifier: BSD-3-Clause
"""The text around the tables of bench/place."""
import statistics

import place_results as results

HEAD = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
# What reordering brings

Measured on %(date)s with `tools/bench place` (figures are of the CSV files beside this page): %(cpus)s CPUs (%(model)s),
Linux %(linux)s, %(mpi)s. Load averages at the start of the parts: %(load)s. 16 ranks on 4 nodes and 32 on 8 of the
[lab](../../lab/README.md), links of 1 Gbit/s and 200 Mbit/s. `bench/place/run --quick` is a few minutes of it,
`bench/place/run --help` has parts.

**Read with care.** All nodes share two CPUs: ranks take turns computing, so a rank's time in MPI calls contains other ranks'
arithmetic, and small messages cost what waking up a process costs. At 200 Mbit/s the links are the limit for large messages; at
1 Gbit/s and 8 nodes the CPUs are nearly as narrow. Bytes between nodes are counted, not timed: they are exact, and the same on any
machine. All comparisons are within one job, in turns; medians, the inner half in brackets.
"""

PAPER_HEAD = """\
## Beside the paper

Inria RR 9292: 24 cores per node, OmniPath at 100 Gbit/s, TreeMatch. Ours: see above.
"""

FIVE = """\
## Collectives (figure 5)

One call is recorded, `lucid_comm_reorder()` makes a communicator of it, calls on both take turns. Open MPI's trees are forced by
`coll_tuned_use_dynamic_rules=1` with `coll_tuned_reduce_algorithm=4` (binary) or `5` (binomial),
`coll_tuned_bcast_algorithm=5` or `6`. Beside it, on the order before: `MPI_Dist_graph_create` with the same matrix and
`reorder = 1`, coll/han (`coll_han_priority=100`), and what Open MPI chooses by itself. The largest size of each lab; other sizes
are in [the data](place-collectives.csv) and the figure.

"Round-robin" in the paper is two things: by node here, and "rank i on the i-th leftmost core" (its section 6.5) by slot.
Open MPI's binary tree has its children at distances of powers of two: on 4 or 8 nodes round-robin by node happens to suit it, and
by slot suits the binomial reduction. There is little or nothing to gain in these lines, and nothing is lost.
"""

GRAPH = """\
**`MPI_Dist_graph_create`.** Open MPI's topo/treematch leaves the order as it is here (same bytes): it needs to know every
peer's node and says `Unable to extract peer [...] nodeid from the modex` for every pair of nodes. The program goes on.

**coll/han** goes by nodes itself and needs no reordering; it serves this call. Reordering serves every message of the program.
"""

SIX = """\
## Groups (figure 6)

Groups of four consecutive ranks, spread over four nodes by round-robin, call MPI_Allgather. t1: n iterations; t2: gathering,
deciding, mapping, the new communicator and its groups; t3: n iterations after. Gain: 100 (t1 - t2 - t3) / t1. Before t1 is
repeated on the new order, Lucid has decided from **one** recorded iteration and n whether it would pay; where it said no,
the reordering was forced (`always`) to know. Cells of more than %(limit)s s are left out: t2 is a few hundredths there. A cell is
within the noise if the inner half of its %(repetitions)s repetitions reaches to both sides of zero. What Lucid measures once
per job, at the first question, is not in t2; it is in the totals of figure 7.
"""

SEVEN = """\
## Conjugate gradients (figure 7)

Own program with the messages, matrix and random numbers of NAS CG, from the published specification; zeta is the published
value (below). The first iteration is recorded, Lucid decides for the class's number of iterations and the bytes of the
matrix; the matrix is moved with `lucid_redistribute`. **Total** has all of that in it, spread over the class's iterations
(15; class B: 75), of which %(counts)s were timed on either side, in turns. Where nothing was reordered, "after" is the same
communicator: what differs from 1 there is noise, and what asking cost. MPI calls of rank 0 are the paper's measure of
communication; messages alone are the same exchanges without arithmetic, which two CPUs for all ranks do not blur.
"""

VERDICT = """\
**Below 1 by more than the noise:** %s; the least total is %.2f. The noise of a class on 4 or 8 nodes is how far from 1 the inner half of
the iterations' ratios reaches between two like sides, where nothing was reordered: %s. Of the whole program asking
took at most, there: %s.
"""

LAMMPS = """\
## LAMMPS

Debian's `lmp` with `examples/in.lj` (`side 24`), started round-robin: `lucid run --place -- lab/lab mpirun --map-by node -n
16 lmp ...` runs it, finds a rank order, runs it again in that order. Nothing of LAMMPS was changed. Its own loop time:
"""

CARRIES = """\
## What carries over, and what does not

- Bytes between nodes carry over exactly: they depend on the pattern, the placement and the order, on no clock.
- Ratios carry over where the link is the limit, as here: a reordered program gains what its links no longer carry. With links of
  100 Gbit/s that are not full, latency between nodes is what remains to be gained, and it is less.
- The decision carries over in kind: it weighs what was measured on the job it runs in. What asking takes is the lab's, where a
  collective of 16 processes on two CPUs takes half a millisecond%(asking)s.
- Core binding, caches and NUMA levels do not: they cannot be emulated here, so all gain is between nodes.
"""


def paper_table(data):
    lines = []
    if data["collectives"]:
        for op, theirs in (("reduce", "15.16 -> 7.57 s on 4 nodes, 11.92 -> 5.01 s on 8 (2e8 ints)"),
                           ("bcast", "16.34 -> 10.24 s on 4 nodes, 15.11 -> 4.46 s on 8 (2e8 ints)")):
            ours = []
            for group in results.group_by(data["collectives"], "nodes").values():
                gain, before, after, (nodes, rate, layout, tree) = results.best(group, op)
                ours.append("%s -> %s ms on %s, %s, ranks by %s: %.1f times" % (
                    results.milliseconds(before), results.milliseconds(after), results.lab_name({"nodes": nodes, "rate": rate}),
                    tree, layout, gain))
            lines.append(("5, %s" % op, theirs + ": 1.6 to 3.4 times", "; ".join(ours)))
    if data["groups"]:
        right, sure, near_right, near, _, _ = results.accuracy(data["groups"])
        top = max(c.percent for found in results.cells(data["groups"]).values() for c in found.values())
        lines.append(("6", "gains up to 95 %, losses where iterations are few or buffers small; no decision",
                      "gains up to %.1f %%, the same losses; the decision has the sign in %s of the cells outside the noise, "
                      "and in %s of those within" % (top, results.share(right, sure), results.share(near_right, near))))
    if data["cg"]:
        total, mpi, alone = (results.extremes(data["cg"], data["decisions"], what) for what in ("total", "mpi", "messages"))
        lines.append(("7a, total", "all above 1, up to 1.1 (axis of the figure)", "%.2f to %.2f where reordered" % total))
        lines.append(("7b, communication", "up to 1.9",
                      "%.2f to %.2f in MPI calls, %.2f to %.2f for the messages alone" % (mpi + alone)))
    return results.table(("figure", "paper", "here"), lines)


def busy(rows):
    values = [float(row["busy"]) for row in rows]
    return "The two CPUs were busy for %.0f %% of the time in the median (%.0f to %.0f %%).\n" % (
        100 * statistics.median(values), 100 * min(values), 100 * max(values)) if values else ""


def picture(figures, name, text):
    return ["![%s](place-%s.svg)\n" % (text, name)] if "place-%s.svg" % name in figures else []


def percents(shares):
    return ", ".join("%s %.1f %%" % (kind, 100 * value) for kind, value in shares.items())


def seven(data):
    low, least, runs, around = results.below_one(data["cg"], data["decisions"])
    counts = {kind[0]: len({row["iteration"] for row in group}) for kind, group in results.group_by(data["cg"], "class").items()}
    named = ", ".join("%s %s, %s" % (one.kind, results.PLACEMENTS[one.decision["layout"], one.decision["placement"]],
                                     results.lab_name(one.decision)) for one in low)
    verdict = VERDICT % ("%d of %d runs (%s)" % (len(low), runs, named) if low else "none of %d runs" % runs, least,
                         percents({"%s on %s" % key: value for key, value in around.items()}), percents(results.asked(data["cg"], data["decisions"])))
    parts = [SEVEN % {"counts": ", ".join("%d of %s" % (n, kind) for kind, n in counts.items())}, busy(data["cg"]), verdict]
    parts.append(results.figure7(data["cg"], data["decisions"]))
    if data["verify"]:
        parts.append("Whole runs (two ranks; the program fails if zeta is off by 1e-10, before or after):\n\n" + results.table(
            ("class", "iterations", "zeta"), [(row["class"], row["iterations"], row["zeta_before"]) for row in data["verify"]]))
    return parts


def asking(decisions):
    """What the questions of CG took, by answer: the measurement is in the first one of a job."""
    answers = [[1e3 * float(row["seconds"]) for row in decisions if row["reordered"] == answer] for answer in "01"]
    if not all(answers):
        return ""
    return (": %.0f ms in the median where no order was better, %.0f ms where one was, with measuring, the new communicator and "
            "the data" % tuple(statistics.median(values) for values in answers))


def text(data, about, figures):
    parts = [HEAD % about] + ["**%s**\n" % note for note in about["notes"]] + [PAPER_HEAD, paper_table(data)]
    if data["collectives"]:
        parts += [FIVE, busy(data["collectives"]),
                  results.figure5(data["collectives"]), GRAPH]
        parts += picture(figures, "collectives", "time by size, before and after")
    if data["groups"]:
        repetitions = 1 + max(int(row["repetition"]) for row in data["groups"])
        parts += [SIX % {"limit": "1", "repetitions": repetitions}, busy(data["groups"]),
                  results.figure6(data["groups"])]
        parts += picture(figures, "groups", "gain by size and iterations; x: the decision was wrong; dot: within the noise")
    if data["cg"]:
        parts += seven(data) + picture(figures, "cg", "ratios by class and placement")
    if data["lammps"]:
        parts += [LAMMPS, results.lammps(data["lammps"])]
    if about["failures"]:
        parts += ["## Runs that failed\n"] + ["- `%s`\n" % line.replace("\n", " ")[:300] for line in about["failures"]]
    return "\n".join(parts + [CARRIES % {"asking": asking(data["decisions"])}])
