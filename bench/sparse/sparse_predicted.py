# SPDX-License-Identifier: BSD-3-Clause
"""What `lucid run --sparse=measure` predicts, against what `lucid run --sparse` then gains: sparse_repeated without Lucid, with it, and
measured, in turns.

measure(results, build, quick, env) writes sparse-predicted.csv; rows(results) is its table for the page.
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

FILE = "sparse-predicted.csv"
CALLS = ("reduce", "allreduce", "reduce_scatter_block")
DENSITIES = ("0.001", "0.1", "part")
FIELDS = ("where", "call", "bytes", "density", "turn", "library", "lucid", "predicted", "bound")
HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(os.path.dirname(os.path.dirname(HERE)), "lab", "lab")


def places(quick):
    """(where, ranks, nodes, rate of the lab's links or None, sizes, turns, ranks of a communicator, all of which reduce at once; 0: of MPI_COMM_WORLD)"""
    if quick:
        yield "one-node-4", 4, 1, None, (1 << 20,), 1, 0
        return
    for ranks in (2, 4, 8):
        yield f"one-node-{ranks}", ranks, 1, None, (1 << 20, 16 << 20), 3, 0
    yield "one-node-2x4", 8, 1, None, (1 << 20, 16 << 20), 3, 4
    yield "lab-4x1-1gbit", 4, 4, "1gbit", (1 << 20,), 2, 0
    yield "lab-4x2-1gbit", 8, 4, "1gbit", (1 << 20,), 2, 0


def in_lab(results, build, where):
    """The words behind which a command runs inside of a lab of its own; None, and says so, where none can be made."""
    name, ranks, nodes, rate = where
    lab = subprocess.run([LAB, "check"], capture_output=True, text=True, check=False)
    if lab.returncode:
        print(f"sparse: {name} is left out: {lab.stdout.strip()}", file=sys.stderr)
        return None
    return [LAB, "with", "--nodes", str(nodes), "--slots", str(ranks // nodes), "--rate", rate, "--keep", results, "--keep", build, "--"]


def _once(env, build, launcher, words, row):
    """Milliseconds without Lucid and with it, and what was predicted: gain, bound."""
    program = [*launcher, os.path.join(build, "bench", "sparse_repeated"), *words]
    row = [str(row)] if row else []
    lucid = [sys.executable, os.path.join(build, "bin", "lucid"), "run", "-q"]

    def output(command):
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout

    with tempfile.TemporaryDirectory(dir=os.environ["LUCID_RESULTS"]) as where:
        library = float(output([*program, "60", *row]))
        sparse = float(output([*lucid, "--sparse", "-o", os.path.join(where, "with"), "--", *program, "60", *row]).split()[0])
        report = os.path.join(where, "measured")
        output([*lucid, "--sparse=measure", "-o", report, "--", *program, "20", *row])
        with open(os.path.join(report, "sparse.json"), encoding="utf-8") as stream:
            site = max(json.load(stream)["sites"], key=lambda one: one["elements"])
    return library, sparse, site["predicted_ratio"], site["bound_ratio"]


def one_place(build, name, launcher, sizes, turns, row, env):
    """All cases of a place, turn by turn."""
    found = []
    for turn in range(turns):
        for call in CALLS:
            for size in sizes:
                for density in DENSITIES:
                    values = _once(env, build, launcher, [call, str(size), density], row)
                    found.append((name, call, size, density, turn, *("%.6f" % value for value in values)))
    return found


def measure(results, build, quick, env):
    """In the lab this file runs itself (main), inside of a cluster of its own."""
    with open(os.path.join(results, FILE), "w", newline="", encoding="ascii") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(FIELDS)
        for name, ranks, nodes, rate, sizes, turns, row in places(quick):
            lab = in_lab(results, build, (name, ranks, nodes, rate)) if rate else []
            if lab is None:
                continue
            print(f"sparse: predictions, {name}", file=sys.stderr, flush=True)
            if not rate:
                out.writerows(one_place(build, name, ["mpirun", "-n", str(ranks)], sizes, turns, row, env))
                continue
            command = [sys.executable, "-B", os.path.abspath(__file__), build, name]
            done = subprocess.run([*lab, *command], env=env, check=True, stdout=subprocess.PIPE, text=True)
            stream.write(done.stdout)


def rows(results):
    """Medians of the turns: what was gained, and what was predicted over that; then how these are spread."""
    path = os.path.join(results, FILE)
    if not os.path.exists(path):
        return
    cases = {}
    with open(path, newline="", encoding="ascii") as stream:
        for row in csv.DictReader(stream):
            values = [float(row[field]) for field in FIELDS[5:]]
            cases.setdefault((row["where"], row["call"], int(row["bytes"]), row["density"]), []).append(values)
    yield "| where | call | vector | density | library, ms | lucid, ms | gain | predicted | at most |"
    yield "|---|---|---|---|---|---|---|---|---|"
    shares, above = {}, {}
    for (where, call, size, density), turns in cases.items():
        library, lucid, predicted, bound = (statistics.median(column) for column in zip(*turns))
        place = "lab" if where.startswith("lab") else "one node, rows of some ranks" if "x" in where else "one node"
        shares.setdefault(place, []).append(predicted * lucid / library)
        above[place] = above.get(place, 0) + (library / lucid > bound)
        yield (f"| {where} | {call} | {size >> 20} MiB | {density} | {library:.2f} | {lucid:.2f} | {library / lucid:.2f} | {predicted:.2f} | "
               f"{bound:.2f} |")
    yield ""
    for where, values in shares.items():
        low, middle, high = statistics.quantiles(values, n=4)
        yield (f"Predicted over gained, {where}, {len(values)} cases: a quarter below {low:.2f}, half below {middle:.2f}, three quarters below "
               f"{high:.2f}; from {min(values):.2f} to {max(values):.2f}. Gained more than that at most: {above[where]}.")


def main(build, name):
    """Inside the lab: the rows of a place, on standard output."""
    for where, ranks, _, rate, sizes, turns, row in places(False):
        if where == name and rate:
            found = one_place(build, name, [LAB, "mpirun", "-n", str(ranks)], sizes, turns, row, dict(os.environ))
            csv.writer(sys.stdout, lineterminator="\n").writerows(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
