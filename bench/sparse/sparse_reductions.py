# SPDX-License-Identifier: BSD-3-Clause
"""Reductions with coll/sparse against the library's own: runs sparse_mpi on one node and in the lab, writes CSV, tables, a figure.

sparse_reductions.py [--quick] [NAME...]   measure into $LUCID_RESULTS and write sparse.md there; NAME: only what goes to that file
sparse_reductions.py report DIR            the page again, from DIR's CSV files
"""
import csv
import os
import platform
import random
import statistics
import subprocess
import sys
from collections import defaultdict

import sparse_predicted
import sparse_record

CALLS = ("reduce", "allreduce", "reduce_scatter_block")
OTHERS = ("scan", "exscan", "ireduce", "iallreduce", "ireduce_scatter_block")
PERSISTENT = ("reduce_init", "allreduce_init", "reduce_scatter_block_init")
PATTERNS = (("random", 0.0001), ("random", 0.001), ("random", 0.01), ("random", 0.1), ("random", 0.5), ("same", 0.01), ("disjoint", 0), ("clustered", 0.01),
            ("power", 0.01), ("changing", 0.01), ("dense", 1))
DENSE = ("library", "rabenseifner", "han", "twin")
KIB, MIB = 1 << 10, 1 << 20
MACHINES = "sparse-machines.csv"
EXCHANGE = "sparse-exchange" # two ranks that exchange, in the lab
FAR = 80 # nanoseconds from one processor to the other: apart.h


def jobs(sizes, patterns=PATTERNS, kind="double", calls=CALLS):
    return [(call, kind, size, pattern, density) for size in sizes for pattern, density in patterns for call in calls]


def experiments(quick):
    """(name, ranks, nodes, rate of the lab's links or None, repetitions, jobs). turns.h: of 5 routines on one node, 10 repetitions are
    balanced, of 7 in the lab 14"""
    few = [("random", 0.01), ("disjoint", 0), ("dense", 1)]
    if quick:
        yield "one-node-4", 4, 1, None, 7, jobs([64 * KIB, MIB], few)
        yield "lab-4x4-1gbit", 16, 4, "1gbit", 5, jobs([MIB], few)
        return
    each = [("reduce_scatter_block", "int", 4 * 4, "dense", 1)] # an int for every rank: LAMMPS's plan of who sends to whom
    yield "one-node-4", 4, 1, None, 10, each + jobs([64 * KIB], few) + jobs([MIB, 16 * MIB]) + jobs([MIB, 16 * MIB], few, "int")
    yield "one-node-8", 8, 1, None, 10, jobs([64 * KIB, MIB], few) + [(call, "int", 64 * MIB, "random", 0.01) for call in CALLS]
    yield "one-node-16", 16, 1, None, 10, jobs([64 * KIB, MIB, 16 * MIB], few) + jobs([MIB], few, "int")
    yield "one-node-4-apart", 4, 1, None, 10, jobs([MIB, 16 * MIB], few)
    yield "one-node-8-apart", 8, 1, None, 10, jobs([MIB], few) + [(call, "int", 64 * MIB, "random", 0.01) for call in CALLS]
    yield "one-node-4-others", 4, 1, None, 8, jobs([8 * KIB, 64 * KIB, MIB, 16 * MIB], few, calls=OTHERS)
    yield "one-node-4-persistent", 4, 1, None, 8, jobs([64 * KIB, MIB], few, calls=PERSISTENT)
    yield "one-node-8-persistent", 8, 1, None, 8, jobs([64 * KIB, MIB], few, calls=PERSISTENT)
    yield "lab-4x1-1gbit-persistent", 4, 4, "1gbit", 10, jobs([64 * KIB, MIB], few, calls=PERSISTENT)
    yield "lab-4x1-1gbit-others", 4, 4, "1gbit", 10, jobs([64 * KIB, MIB], few, calls=OTHERS)
    yield "lab-4x1-1gbit", 4, 4, "1gbit", 7, jobs([64 * KIB, MIB, 8 * MIB], few)
    yield "lab-4x2-1gbit", 8, 4, "1gbit", 7, jobs([64 * KIB, MIB, 8 * MIB], few) + jobs([MIB], few, "int")
    yield "lab-4x4-1gbit", 16, 4, "1gbit", 7, jobs([64 * KIB], few) + jobs([MIB, 8 * MIB]) + jobs([MIB], few, "int")
    yield "lab-4x1-200mbit", 4, 4, "200mbit", 7, jobs([64 * KIB, MIB], few)
    yield "lab-4x2-200mbit", 8, 4, "200mbit", 7, jobs([64 * KIB, MIB], few)
    yield "lab-4x4-200mbit", 16, 4, "200mbit", 7, jobs([MIB, 8 * MIB], few)
    brief = jobs([4 * KIB, 8 * KIB, 32 * KIB], [("random", 0.001), *few])
    for ranks in (2, 4, 8, 16):
        yield f"one-node-{ranks}-short", ranks, 1, None, 10, brief
    for ranks in (4, 16):
        yield f"lab-4x{ranks // 4}-1gbit-short", ranks, 4, "1gbit", 7, brief


def programs(quick):
    """(name, ranks, nodes, rate, repetitions, scale) of the programs whose reductions are sparse by nature"""
    yield "one-node-4", 4, 1, None, 3 if quick else 7, 18 if quick else 20
    yield "lab-4x4-1gbit", 16, 4, "1gbit", 3 if quick else 5, 18 if quick else 20


def plain():
    """Of MPI alone."""
    return dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_pml="^ucx,cm",
                OMPI_MCA_osc="^ucx")


def environment(build):
    path = subprocess.run(["ompi_info", "--path", "pkglibdir", "--parsable"], capture_output=True, text=True, check=True).stdout
    return dict(plain(), OMPI_MCA_coll_tuned_use_dynamic_rules="1", LUCID_SPARSE_PRIORITY="60",
                OMPI_MCA_mca_base_component_path=f"{path.strip().rpartition(':')[2]}:{build}/lib/lucid/openmpi",
                LUCID_LIBDIR=os.path.join(build, "lib", "lucid"))


def launch(results, build, where, words, **more):
    """Runs a program of the build on one node or in a lab, with more in its environment; says so and leaves it out where there is none.
    Whether it ran."""
    name, ranks, _, rate = where
    start = ["mpirun", "-n", str(ranks)]
    if rate:
        lab = sparse_predicted.in_lab(results, build, where)
        if lab is None:
            return False
        start = [*lab, sparse_predicted.LAB, *start]
    print(f"sparse: {words[0]}, {name}", file=sys.stderr, flush=True)
    env = dict(environment(build), **more)
    if words[0] == "sparse_mpi": # which says itself where coll/hier is to be left out
        env["LUCID_HIER_PRIORITY"] = "50"
    subprocess.run([*start, os.path.join(build, "bench", words[0]), *words[1:]], env=env, check=True)
    return True


def processors(name):
    """Where they are to be while a row is taken, unless that is set: not every machine has two places. Beside links of 200 Mbit/s it matters
    little, and rows take minutes."""
    if "SPARSE_MPI_APART" in os.environ:
        return os.environ["SPARSE_MPI_APART"]
    return "far" if name.endswith("-apart") else "any" if name.endswith("200mbit") else "near"


def measure(results, build, quick, only):
    for *where, repeats, work in experiments(quick):
        name = f"sparse-{where[0]}"
        if only and name not in only:
            continue
        file = os.path.join(results, name + ".csv")
        wanted = {} if quick else {"SPARSE_MPI_APART": processors(name)}
        words = ["sparse_mpi", file, str(where[2]), str(repeats), *(str(word) for job in work for word in job)]
        if launch(results, build, where, words, **wanted):
            note_machine(results, name)
    for *where, repeats, scale in programs(quick):
        name = f"programs-{where[0]}"
        if not only or name in only:
            if launch(results, build, where, ["sparse_programs", os.path.join(results, name + ".csv"), str(repeats), str(scale)]):
                note_machine(results, name)
    if not only or EXCHANGE in only:
        words = ["sparse_exchange", os.path.join(results, EXCHANGE + ".csv"), str(6 if quick else 30)]
        if launch(results, build, (EXCHANGE, 4, 4, "1gbit"), words):
            note_machine(results, EXCHANGE)
    if not only or "sparse-predicted" in only:
        sparse_predicted.measure(results, build, quick, plain())
        note_machine(results, "sparse-predicted")


def read(results):
    """{experiment: {job: {routine: ([seconds], messages, sent, between, [nanoseconds from processor to processor])}}}"""
    found = {}
    for file in sorted(os.listdir(results)):
        if not file.startswith(("sparse-one-node", "sparse-lab")) or not file.endswith(".csv"):
            continue
        table = defaultdict(dict)
        with open(os.path.join(results, file), newline="", encoding="ascii") as stream:
            for row in csv.DictReader(stream):
                job = (row["call"], row["type"], int(row["bytes"]), row["pattern"], float(row["density"]))
                entry = table[job].setdefault(row["routine"], ([], int(row["messages"]), int(row["sent"]), int(row["between"]), []))
                entry[0].append(float(row["seconds"]))
                if "apart" in row:
                    entry[4].append(float(row["apart"]))
        found[file[len("sparse-"):-len(".csv")]] = dict(table)
    return found


class Outcome:
    """One job: the best dense routine against lucid."""

    def __init__(self, routines):
        medians = {name: statistics.median(entry[0]) for name, entry in routines.items()}
        self.best = min((name for name in DENSE if name in medians), key=medians.get)
        self.dense, self.lucid, self.library = medians[self.best], medians["lucid"], medians["library"]
        self.ratio, self.against_library = self.dense / self.lucid, self.library / self.lucid
        least = min(routines[name][2] for name in DENSE if name in routines)
        self.volume = f"{least / routines['lucid'][2]:.1f}" if routines["lucid"][2] > 0 else ""
        inter = [routines[name][3] for name in DENSE if name in routines]
        again = medians.get("again")
        self.again = self.dense / again if again else None
        both = medians.get("lucid+hier")
        self.with_hier = self.dense / both if both else None
        apart = [ns >= FAR for entry in routines.values() for ns in entry[4]]
        self.processors = "" if not apart else "far" if all(apart) else "both" if any(apart) else "near"
        self.floor = medians.get("floor")
        gather = medians.get("gather")
        self.by_hand = self.dense / gather if gather else None
        self.between = min(inter) / routines["lucid"][3] if routines["lucid"][3] else None


def program_rows(results):
    """The table of the programs: medians of whole runs and of their time in reductions."""
    yield "| program | where | elements | library, s | lucid, s | ratio | in reductions, library, s | lucid, s | ratio |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for file in sorted(name for name in os.listdir(results) if name.startswith("programs-") and name.endswith(".csv")):
        runs = defaultdict(lambda: ([], []))
        with open(os.path.join(results, file), newline="", encoding="ascii") as stream:
            for row in csv.DictReader(stream):
                for values, column in zip(runs[row["program"], row["elements"], row["routine"]], ("seconds", "reducing")):
                    values.append(float(row[column]))
        for program, elements in sorted({key[:2] for key in runs}):
            (a, b), (c, d) = ([statistics.median(v) for v in runs[program, elements, who]] for who in ("library", "lucid"))
            yield (f"| {program} | {file[len('programs-'):-len('.csv')]} | {elements} | {a:.3f} | {c:.3f} | {a / c:.2f} | {b:.3f} | "
                   f"{d:.3f} | {b / d:.2f} |")


def exchange_rows(results):
    """The table of two ranks that exchange: medians by order, and how long the link takes for one direction."""
    taken = defaultdict(lambda: defaultdict(list))
    with open(os.path.join(results, EXCHANGE + ".csv"), newline="", encoding="ascii") as stream:
        for row in csv.DictReader(stream):
            taken[int(row["bytes"])][row["order"]].append(float(row["seconds"]))
    orders = ("sendrecv", "receive first", "send first")
    yield f"| message | 1 Gbit/s, ms | {', ms | '.join(orders)}, ms |"
    yield "|---|---|" + "---|" * len(orders)
    for size, by in sorted(taken.items()):
        medians = " | ".join(milliseconds(statistics.median(by[order])) for order in orders)
        yield f"| {shown(size)} | {milliseconds(size / 125e6)} | {medians} |"


def interval(above, below):
    """The ratio of two routines' medians, between what 95 of 100 draws of as many repetitions, with replacement, come to (the bootstrap's
    percentiles; both routines' times of one repetition stay together, as what disturbs it disturbs both)."""
    draw, runs = random.Random(1), list(zip(above, below))
    ratios = sorted(statistics.median(a for a, _ in drawn) / statistics.median(b for _, b in drawn)
                    for drawn in (draw.choices(runs, k=len(runs)) for _ in range(1000)))
    return ratios[24], ratios[975]


def still(table):
    """The jobs of which nothing can be gained."""
    return {job: routines for job, routines in table.items() if job[3] == "dense" or job[2] < 64 * KIB}


def counts(intervals):
    """Of a table's cells: how many intervals lie below 0.98, how many above, how many have it inside"""
    below, above = sum(high < 0.98 for _, high in intervals), sum(low >= 0.98 for low, _ in intervals)
    return [str(below), str(above), str(len(intervals) - below - above)] if intervals else ["", "", ""]


def controls(results):
    """Where nothing can be gained: how often lucid is behind the best, and a second communicator with the library's default behind the first"""
    yield ("| where | rows | lucid: middle, least | interval below 0.98 | above | around | with coll/hier below | above | around | "
           "library again: middle, least | below | above | around |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for name, table in read(results).items():
        jobs_there = still(table)
        if not jobs_there:
            continue
        cells = [name, str(len(jobs_there))]
        for who in ("lucid", "lucid+hier", "again"):
            pairs = [(routines["library"] if who == "again" else routines[Outcome(routines).best], routines[who])
                     for routines in jobs_there.values() if who in routines]
            ratios = [statistics.median(a[0]) / statistics.median(b[0]) for a, b in pairs]
            if who != "lucid+hier":
                cells.append(f"{statistics.median(ratios):.2f}, {min(ratios):.2f}" if ratios else "")
            cells += counts([interval(a[0], b[0]) for a, b in pairs])
        yield f"| {' | '.join(cells)} |"


def behind(results):
    """The rows of which lucid is behind the best beyond what chance explains."""
    yield "| where | call | vector | pattern | best dense | ms | lucid, ms | ratio | interval | library / lucid | with coll/hier, ratio | interval |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for name, table in read(results).items():
        for (call, kind, size, pattern, _), routines in still(table).items():
            o = Outcome(routines)
            best = routines[o.best][0]
            low, high = interval(best, routines["lucid"][0])
            if high >= 0.98:
                continue
            with_hier = ["", ""]
            if o.with_hier:
                a, b = interval(best, routines["lucid+hier"][0])
                with_hier = [f"{o.with_hier:.2f}", f"{a:.2f} to {b:.2f}"]
            yield (f"| {name} | {call} | {shown(size)} {kind} | {pattern} | {o.best} | {milliseconds(o.dense)} | {milliseconds(o.lucid)} | {o.ratio:.2f} | "
                   f"{low:.2f} to {high:.2f} | {o.against_library:.2f} | {' | '.join(with_hier)} |")


def shown(size):
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB" if size >= KIB else f"{size} B"


def milliseconds(seconds):
    return f"{1e3 * seconds:.2f}" if seconds >= 1e-4 else f"{1e3 * seconds:.4f}"


def rows(table):
    yield "| call | vector | pattern | best dense | ms | lucid, ms | ratio | library again | library / lucid | bytes sent, ratio | between nodes | with coll/hier, ratio | processors | floor, ms | by hand, ratio |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for (call, kind, size, pattern, density), routines in table.items():
        o = Outcome(routines)
        what = pattern if pattern in ("dense", "disjoint") else f"{pattern}, {100 * density:g} %"
        between = "" if o.between is None else f"{o.between:.1f}"
        with_hier = "" if o.with_hier is None else f"{o.with_hier:.2f}"
        floor = "" if o.floor is None else f"{1e3 * o.floor:.2f}"
        again = "" if o.again is None else f"{o.again:.2f}"
        by_hand = "" if o.by_hand is None else f"{o.by_hand:.2f}"
        yield (f"| {call} | {shown(size)} {kind} | {what} | {o.best} | {milliseconds(o.dense)} | {milliseconds(o.lucid)} | {o.ratio:.2f} | "
               f"{again} | {o.against_library:.2f} | {o.volume} | {between} | {with_hier} | {o.processors} | {floor} | {by_hand} |")


HEAD = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Sparse reductions against dense ones

Written by `tools/bench sparse` (bench/sparse/sparse_reductions.py) from the CSV files beside it. One job runs all routines in turns on communicators
that differ in nothing else, each behind each of the others equally often (Williams' balanced design, bench/sparse/turns.h: what runs before leaves its
marks in the caches); the time of a repetition is the slowest rank's, the figure is the median. Ratio is the
best dense routine of the same job over lucid's: the library's default, coll/tuned's Rabenseifner (reduce-scatter by halving for
Reduce_scatter_block) forced, coll/han where there are several nodes (both not of scans and nonblocking calls, which these do not have), and Lucid's own algorithm in dense form (twin). The best of three or four medians is a
little less than the median of any of them, also where they are the same routine: "library again" is that ratio for a second communicator with the library's
default, and so what a layer that costs nothing would have in a row where nothing can be gained. Bytes are counted by a session and
do not depend on the machine. All results were compared with the library's. Before what is timed, Lucid's routine has run 41 times (201 of vectors of up to 64 KiB), in which it
tries who comes into question, and the others twice; up to 1 MiB on one node, all of them 81 times, in such turns. Every row has communicators of its own. Dense and short vectors have three
times as many repetitions, on one node seven times: what makes no difference needs more of them to show it. Last column, where there are several nodes: best dense
over coll/sparse above coll/hier, as `lucid run --all` has it: what is too short or too dense goes to coll/hier there. Processors: a hypervisor may put two
near each other (on the AMD machine a cache line goes from one to the other in 25 to 50 ns) or far apart (150 to 180), for seconds to minutes each, and all that goes through
memory takes another time then (bench/sparse/apart.h); a row is taken, if need be again, while they stay where they are. They were waited for until they were near, and
in the tables "apart" until they were far; beside links of 200 Mbit/s, and where a record's notes say so, rows are taken wherever they are. Floor: all ranks read their vectors in a plain loop, and write as much as there is of a result, between two barriers, after
the routines: what none of them can do without, whatever it does else. By hand: best dense over what a program takes that knows whose part of disjoint inputs is whose, looks whether there
are zeros elsewhere, and calls MPI_Allgather or MPI_Iallgather instead, in the same turns (records from before it have none).

Machine: %s. Ranks share its processors, so that times within a node are times of two processors, not of a node.
"""


STILL = """\
Dense vectors, and all below 64 KiB. Interval: where the ratio of the medians lies in 95 of 100 draws of as many of the
row's repetitions, with replacement. A row is behind the best when its interval lies below 0.98, and not when it lies above; where 0.98 is inside, these
repetitions cannot tell. Library again: a second communicator with the library's default against the first, the same routine in the same turns,
which shows how often the test calls nothing something.
"""


def this_machine():
    return f"{os.cpu_count()} CPUs ({sparse_record.processor()}), Linux {platform.release().partition('-')[0]}"


def machines(results):
    """{what was measured: on which machine}: a page may be written on another one, and from files of several."""
    try:
        with open(os.path.join(results, MACHINES), newline="", encoding="utf-8") as stream:
            return {row["measured"]: row["machine"] for row in csv.DictReader(stream)}
    except FileNotFoundError:
        return {}


def note_machine(results, name):
    known = dict(machines(results), **{name: this_machine()})
    with open(os.path.join(results, MACHINES), "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["measured", "machine"])
        writer.writerows(sorted(known.items()))


def page(results):
    known = sorted(set(machines(results).values()))
    parts = [HEAD % "; ".join(known or ["unknown"])]
    note = sparse_record.note(os.path.join(results, "sparse-note.txt"))
    if note:
        parts.append("\n## Of this record\n\n" + note)
    parts += ["\n## Where nothing can be gained\n", STILL, *controls(results)]
    parts += ["\nThe rows below:\n", *behind(results)]
    for name, table in read(results).items():
        parts += [f"\n## {name}\n", *rows(table)]
    if os.path.exists(os.path.join(results, EXCHANGE + ".csv")):
        parts += ["\n## Two ranks that exchange\n", "Two pairs of ranks on four nodes (bench/sparse/sparse_exchange.c), public MPI alone; why: "
                  "docs/dev/sparse-algorithms.md, \"Sent before the receive\".\n", *exchange_rows(results)]
    parts += ["\n## Programs\n", "A breadth-first search, a zero-padded vector, a tally in batches (bench/sparse/sparse_programs.c); the same "
              "results with both.\n", *program_rows(results)]
    parts += ["\n## Predictions\n", "What `lucid run --sparse=measure` says of a program (bench/sparse/sparse_repeated.c) against what `lucid run --sparse` gains it; "
              "medians of runs in turns.\n", *sparse_predicted.rows(results)]
    if draw(results):
        parts.append("\n![speed-up by density and call](sparse.svg)")
    with open(os.path.join(results, "sparse.md"), "w", encoding="utf-8") as stream:
        stream.write("\n".join(parts) + "\n")


def draw(results):
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "lucid"
    from matplotlib import pyplot
    tables = {name: table for name, table in read(results).items() if any(job[2] >= MIB and job[0] in CALLS for job in table)}
    if not tables:
        return False
    figure, axes = pyplot.subplots(len(tables), 1, figsize=(9, 2.6 * len(tables)), squeeze=False)
    for axis, (name, table) in zip(axes[:, 0], tables.items()):
        large = {job: Outcome(routines) for job, routines in table.items() if job[2] >= MIB}
        labels = sorted({job[1:] for job in large})
        for k, call in enumerate(CALLS):
            at = [i + 0.27 * (k - 1) for i, label in enumerate(labels) if any(j == (call, *label) for j in large)]
            values = [o.ratio for label in labels for j, o in large.items() if j == (call, *label)]
            axis.bar(at, values, 0.27, label=call)
        axis.axhline(1, color="black", linewidth=0.6)
        axis.set_yscale("log")
        axis.set_title(name, loc="left", fontsize=9)
        axis.set_xticks(range(len(labels)))
        axis.set_xticklabels([f"{p}\n{100 * d:g} %\n{shown(s)}" + ("\nint" if kind == "int" else "") for kind, s, p, d in labels], fontsize=6)
        axis.set_ylabel("times faster")
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(os.path.join(results, "sparse.svg"), metadata={"Date": None})
    return True


def main(words):
    if words[:1] == ["report"]:
        page(words[1])
        return
    results, build = os.environ["LUCID_RESULTS"], os.environ["LUCID_BUILD_DIR"]
    measure(results, build, "--quick" in words, [word for word in words if not word.startswith("--")])
    page(results)


if __name__ == "__main__":
    main(sys.argv[1:])
