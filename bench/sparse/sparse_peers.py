# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own reductions and its forced algorithms against the preloaded liblucid: MPICH from PyPI, sparse_peers.c, CSV, a page.

sparse_peers.py [--quick]          prepare, measure all into $LUCID_RESULTS, write sparse-peers.md there
sparse_peers.py list               the names of what is measured
sparse_peers.py measure [NAME...]  some of it (prepares what is not there yet)
sparse_peers.py collect            one CSV file of what has been measured, and the page
sparse_peers.py report DIR         the page again, from DIR's CSV files
"""
import csv
import os
import platform
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict

import sparse_record

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAB = os.path.join(ROOT, "lab", "lab")
WHEEL = "mpich==5.*"
CALLS = ("reduce", "allreduce", "reduce_scatter_block")
PATTERNS = (("random", 0.001), ("random", 0.01), ("disjoint", 0), ("dense", 1))
KIB, MIB = 1 << 10, 1 << 20
# Ranks that share processors must not wait in loops, which MPICH does unless told so (as lab/lab tells it).
YIELD = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "20"}
# MPICH's shared-memory reductions wait in loops all the same, for every 32 KiB of the vector.
NO_LOOPS = {"MPIR_CVAR_REDUCE_POSIX_INTRA_ALGORITHM": "mpir", "MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM": "mpir"}


def experiments(quick):
    """(name, ranks, nodes, rate of the lab's links or None, repetitions, seconds for a routine, bytes, environment)"""
    if quick:
        yield "one-node-2", 2, 1, None, 5, 0.2, 64 * KIB, {}
        yield "one-node-4", 4, 1, None, 5, 0.2, 64 * KIB, {}
        return
    for ranks in (2, 4, 8, 16):
        for size in (64 * KIB, MIB, 16 * MIB):
            loops = ranks <= os.cpu_count() or size < 16 * MIB
            repeats = 60 if size < MIB else 15
            yield f"one-node-{ranks}-{shown(size).replace(' ', '')}", ranks, 1, None, repeats, 0.3, size, {} if loops else NO_LOOPS
    for size in (64 * KIB, MIB, 16 * MIB):
        yield f"lab-4x4-{shown(size).replace(' ', '')}", 16, 4, "1gbit", 9, 0.5, size, {}


def shown(size):
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


class Peers:
    """The library from PyPI, Lucid built for it, and the program."""

    def __init__(self):
        self.build, self.results = os.environ["LUCID_BUILD_DIR"], os.environ["LUCID_RESULTS"]
        self.place = os.path.join(self.build, "wheel", "mpich") # the tests' (house.wheel)
        self.program, self.twin = os.path.join(self.results, "sparse_peers"), os.path.join(self.results, "liblucid_twin.so")
        self.library = os.path.join(self.place, "build", "lib", "liblucid.so")
        self.environment = dict(os.environ, PATH=os.path.join(self.place, "venv", "bin") + os.pathsep + os.environ["PATH"])

    def prepare(self):
        """None, or why it cannot be had here. Ends where Lucid cannot be built for it."""
        if os.path.isdir("/.host"):
            return f"{WHEEL} is left to the system that the chroot is on"
        made = os.path.exists(self.library)
        words = (["cmake", "--build", os.path.join(self.place, "build"), "--target", "lucid"] if made else
                 [os.path.join(ROOT, "tools", "wheel"), os.path.dirname(self.place)])
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=dict(self.environment, LUCID_WHEEL_MPI=WHEEL), check=False)
        said = (done.stdout.strip().splitlines() or [""])[-1]
        if done.returncode == 77:
            return said.removeprefix("== skipped: ")
        if done.returncode:
            sys.exit(f"sparse: Lucid cannot be built for {WHEEL}: {said}")
        sources = [os.path.join(HERE, name) for name in ("sparse_peers.c", "sparse_peers_routines.c", "sparse_peers_circulant.c")]
        subprocess.run(["mpicc", "-std=c17", "-O2", "-I" + os.path.join(ROOT, "include"), *sources, "-o", self.program, "-ldl"],
                       env=self.environment, check=True)
        shutil.copyfile(self.library, self.twin) # another file is another library to the loader
        return None

    def run(self, name, ranks, nodes, rate, repeats, seconds, size, environment):
        pieces = os.path.join(self.results, "pieces")
        os.makedirs(pieces, exist_ok=True)
        start = ["mpiexec"]
        if rate:
            lab = subprocess.run([LAB, "check"], capture_output=True, text=True, check=False)
            if lab.returncode:
                print(f"sparse: {name} is left out: {lab.stdout.strip()}", file=sys.stderr)
                return
            start = [LAB, "with", "--nodes", str(nodes), "--slots", str(ranks // nodes), "--rate", rate, "--keep", self.results,
                     "--keep", self.build, "--", LAB, "mpiexec"]
        print(f"sparse: MPICH's algorithms, {name}", file=sys.stderr, flush=True)
        out = os.path.join(pieces, name)
        jobs = [str(word) for call in CALLS for pattern, density in PATTERNS for word in (call, size, pattern, density)]
        program = [self.program, out + ".csv", out + ".check", self.twin, str(nodes), str(repeats), str(seconds)]
        subprocess.run([*start, "-n", str(ranks), "env", "LD_PRELOAD=" + self.library, "LUCID_SPARSE=on", *program, *jobs],
                       env={**self.environment, **(YIELD if ranks > os.cpu_count() else {}), **environment}, check=True)


def merged(folder, ending):
    """One table of all pieces."""
    rows = []
    for file in sorted(os.listdir(folder)):
        if file.endswith(ending):
            with open(os.path.join(folder, file), newline="", encoding="ascii") as stream:
                rows += csv.DictReader(stream)
    return sorted(rows, key=lambda row: (int(row["nodes"]), int(row["ranks"])))


def collect(results):
    for ending, name in ((".csv", "sparse-peers.csv"), (".check", "sparse-peers-check.csv")):
        rows = merged(os.path.join(results, "pieces"), ending)
        unique = list({tuple(row.items()): row for row in rows}.values())
        with open(os.path.join(results, name), "w", newline="", encoding="ascii") as stream:
            writer = csv.DictWriter(stream, unique[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(unique)
    page(results)


class Cell:
    """One reduction by all routines."""

    def __init__(self):
        self.median, self.repeats, self.between, self.taken = {}, {}, {}, 0

    def add(self, row):
        times = [float(t) for t in row["microseconds"].split()]
        self.median[row["routine"]], self.repeats[row["routine"]] = statistics.median(times), len(times)
        self.between[row["routine"]] = int(row["between"])
        if row["routine"] == "lucid":
            self.taken = int(row["taken"]) / len(times)

    def best(self):
        return min((name for name in self.median if name != "lucid"), key=self.median.get)

    def ratio(self):
        return self.median[self.best()] / self.median["lucid"]


def read(results):
    """{nodes: {call: {(ranks, bytes, pattern): Cell}}}"""
    found = defaultdict(lambda: {call: defaultdict(Cell) for call in CALLS})
    with open(os.path.join(results, "sparse-peers.csv"), newline="", encoding="ascii") as stream:
        for row in csv.DictReader(stream):
            density = f", {100 * float(row['density']):g} %" if row["pattern"] == "random" else ""
            found[int(row["nodes"])][row["call"]][int(row["ranks"]), int(row["bytes"]), row["pattern"] + density].add(row)
    return found


def in_ms(microseconds):
    return "" if microseconds is None else f"{microseconds / 1e3:.3g}" if microseconds < 1e5 else f"{microseconds / 1e3:.0f}"


def table(cells, nodes):
    names = [name for cell in cells.values() for name in cell.median]
    names = [name for name in dict.fromkeys(names) if name not in ("lucid", "twin")] + ["twin", "lucid"]
    tail = " | bytes between nodes, ratio" if nodes > 1 else ""
    yield f"| P | vector | pattern | {' | '.join(names)} | lucid ran it | best dense | ratio{tail} |"
    yield "|---" * (len(names) + 6 + (nodes > 1)) + "|"
    for (ranks, size, pattern), cell in sorted(cells.items(), key=lambda item: item[0][:2]):
        best = cell.best()
        tail = f" | {cell.between[best] / max(cell.between['lucid'], 1):.1f}" if nodes > 1 else ""
        yield (f"| {ranks} | {shown(size)} | {pattern} | {' | '.join(in_ms(cell.median.get(name)) for name in names)} | "
               f"{100 * cell.taken:.0f} % | {best} | {cell.ratio():.2f}{tail} |")


def summary(found):
    yield "| where | vector | pattern | least | middle | greatest | cases |"
    yield "|---|---|---|---|---|---|---|"
    ratios = defaultdict(list)
    for nodes, by_call in sorted(found.items()):
        for cells in by_call.values():
            for (ranks, size, pattern), cell in cells.items():
                ratios["one node" if nodes == 1 else f"{nodes} nodes of {ranks // nodes}", size, pattern].append(cell.ratio())
    for (where, size, pattern), values in sorted(ratios.items(), key=lambda item: (item[0][0] != "one node", item[0][1])):
        yield (f"| {where} | {shown(size)} | {pattern} | {min(values):.2f} | {statistics.median(values):.2f} | {max(values):.2f} | "
               f"{len(values)} |")


def checks(results):
    """What showed that a forced algorithm runs; where it does not, it was not measured."""
    yield "| call | algorithm | control variable | seen by |"
    yield "|---|---|---|---|"
    seen = {}
    with open(os.path.join(results, "sparse-peers-check.csv"), newline="", encoding="ascii") as stream:
        for row in csv.DictReader(stream):
            if row["variable"]:
                seen.setdefault((row["call"], row["routine"], row["variable"]), []).append(row)
    for (call, routine, variable), rows in seen.items():
        if routine != "binomial":
            missed = [f"P = {row['ranks']} on {row['nodes']}" for row in rows if row["refuses"] != "1"]
            how = "refuses what the default takes: one element, an operator that does not commute"
            how += f" (not reached with {', '.join(missed)} nodes, and not measured there)" if missed else ""
        else:
            counts = [f"{int(row['combined_by_root']) / int(row['elements']):g} (P = {row['ranks']})" for row in rows]
            how = "elements combined by the root over those of the vector: " + ", ".join(counts)
        yield f"| {call} | {routine} | {variable} | {how} |"


def left_nodes(found):
    """Counted at the network interfaces: another proof of who is who."""
    for nodes, by_call in sorted(found.items()):
        for call, cells in by_call.items():
            for (ranks, size, pattern), cell in cells.items():
                if nodes > 1 and pattern == "dense" and size == MIB:
                    said = ", ".join(f"{name} {bytes_ / size:.2f}" for name, bytes_ in cell.between.items())
                    yield f"- {call}, {ranks} ranks on {nodes} nodes, dense, {shown(size)}; times the vector: {said}"


HEAD = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Sparse reductions against MPICH's algorithms

Written by `tools/bench sparse` (bench/sparse/sparse_peers.py) from the CSV files beside it: [sparse-peers.csv](sparse-peers.csv),
[sparse-peers-check.csv](sparse-peers-check.csv). MPICH %(version)s is PyPI's wheel, Lucid comes by LD_PRELOAD. One job runs all
routines in turns, in one process, on duplicates of one communicator, in another order every time; the time of a repetition is the
slowest rank's, figures are medians, in milliseconds. `library` is MPICH's default; the next ones are its algorithms, forced by
`MPI_T_cvar_write` before each call, with `MPIR_CVAR_DEVICE_COLLECTIVES=none` (not for release_gather, which is the device's) and
`MPIR_CVAR_COLLECTIVE_FALLBACK=error`; `twin` is Lucid's own algorithm in dense form (a second copy of liblucid with
`LUCID_SPARSE_DENSE=1`). Doubles, MPI_SUM. All results were compared with the library's. Ratio is the quickest of all these over
lucid's; `lucid ran it` is the share of calls that Lucid did not leave to the library. Lucid had run 12 times before (80 with
dense and disjoint vectors), in which it tries who comes into question; the others twice. A routine that takes long has fewer repetitions.

**circ_graph** is not in MPICH %(version)s, nor in any release on PyPI: it is in the tree of 5.1, which has no wheel. `circulant` is
that algorithm (Träff's circulant graphs) written again for this comparison over MPI_Isend and MPI_Irecv, with MPICH's default
sizes: blocks of 128 KiB, eight messages in flight. It is not MPICH's code. A wheel that has circ_graph is measured with it.

**What carries over.** Ranks share %(processors)s processors. MPICH's default within a node is release_gather: all ranks wait for
each other in a loop, for every 32 KiB of the vector. With more ranks than processors each of these waits lasts until the scheduler
comes by: such times say nothing about a node with a processor for every rank. Look at P = 2 for these, and at the forced algorithms
for the rest. For 16 MiB with more ranks than processors on one node it was switched off for the whole job
(`MPIR_CVAR_REDUCE_POSIX_INTRA_ALGORITHM=mpir`, `MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=mpir`), and `library` is what MPICH takes
then. Jobs with more ranks than processors ran with `MPIR_CVAR_CH4_PROGRESS_THROTTLE=1` (and `..._NO_PROGRESS_COUNT=20`), which
lets ranks that wait for messages give way. The bytes between nodes do not depend on the machine.

Machine: %(processors)s CPUs (%(cpu)s), Linux %(kernel)s, one run. Commands: `tools/bench sparse`, or piece by piece
`sparse_peers.py measure NAME`, `sparse_peers.py collect`.
"""


def machine(results):
    """What is known here and now; kept beside the data, so that a report elsewhere says where it was measured."""
    file = os.path.join(results, "sparse-peers-machine.csv")
    if not os.path.exists(file):
        program = os.path.join(Peers().place, "venv", "bin", "mpichversion")
        version = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()[0].split()[-1]
        row = {"version": version, "processors": os.cpu_count(), "cpu": sparse_record.processor(), "kernel": platform.release()}
        with open(file, "w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, row.keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerow(row)
    with open(file, newline="", encoding="utf-8") as stream:
        return next(csv.DictReader(stream))


def page(results):
    found = read(results)
    parts = [HEAD % machine(results)]
    note = sparse_record.note(os.path.join(results, "sparse-peers-note.txt"))
    if note:
        parts.append(f"## This record\n\n{note}\n")
    parts += ["## Ratios in short\n", "Best dense routine over lucid, over all calls and P.\n", *summary(found)]
    for nodes, by_call in sorted(found.items()):
        for call, cells in by_call.items():
            if cells:
                parts += [f"\n## {call}, {'one node' if nodes == 1 else f'lab, {nodes} nodes, 1 Gbit/s'}\n", *table(cells, nodes)]
    parts += ["\n## That they run\n", *checks(results), "\nWhat left the nodes in one call, counted at their network interfaces:\n",
              *left_nodes(found)]
    with open(os.path.join(results, "sparse-peers.md"), "w", encoding="utf-8") as stream:
        stream.write("\n".join(parts).rstrip() + "\n")


def main(words):
    quick = "--quick" in words
    if words[:1] == ["report"]:
        page(words[1])
    elif words[:1] == ["list"]:
        print("\n".join(name for name, *_ in experiments(quick)))
    elif words[:1] == ["collect"]:
        collect(os.environ["LUCID_RESULTS"])
    else:
        peers = Peers()
        reason = peers.prepare() if words[:1] != ["measure"] or not os.path.exists(peers.twin) else None
        if reason:
            print(f"sparse: MPICH's algorithms are left out: {reason}", file=sys.stderr)
            return
        for experiment in experiments(quick):
            if words[:1] != ["measure"] or experiment[0] in words:
                peers.run(*experiment)
        if words[:1] != ["measure"]:
            collect(peers.results)


if __name__ == "__main__":
    main(sys.argv[1:])
