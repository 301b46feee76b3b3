# SPDX-License-Identifier: BSD-3-Clause
"""Reordering in the lab: the experiments of figures 5, 6 and 7 of Inria RR 9292, and LAMMPS under `lucid run --place`.

Every part writes a CSV file into $LUCID_RESULTS; the report is made from these files alone.
"""
import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "wire"))

import wire  # noqa: E402  (the lab as an object)

import place_results as report  # noqa: E402

LABS = ((4, "1gbit"), (4, "200mbit"), (8, "1gbit"), (8, "200mbit"))
SLOTS = 4
TUNED = {"binary": (4, 5), "binomial": (5, 6)}  # coll_tuned_reduce_algorithm, coll_tuned_bcast_algorithm
LAUNCH_TIMEOUT = 240

FIELDS = {
    "collectives": ("nodes", "rate", "layout", "algorithm", "op", "bytes", "variant", "repetition", "seconds", "between",
                    "making", "busy"),
    "groups": ("nodes", "rate", "ints", "iterations", "repetition", "t1", "t2", "t3", "reordered", "before", "after", "spent",
               "creating", "measuring", "between_before", "between_after", "busy"),
    "cg": ("nodes", "rate", "layout", "class", "placement", "seed", "side", "iteration", "seconds", "mpi_seconds",
           "messages_seconds", "busy"),
    "decisions": ("nodes", "rate", "layout", "class", "placement", "seed", "reordered", "seconds", "measuring", "before", "after",
                  "between_before", "between_after"),
    "verify": ("class", "iterations", "zeta_before", "zeta_after"),
    "lammps": ("nodes", "rate", "repetition", "loop_before", "loop_after", "between_before", "between_after", "busy"),
}


class Sheet:
    """A CSV file that is written as results come in."""

    def __init__(self, folder, name):
        self.stream = open(os.path.join(folder, name + ".csv"), "w", newline="", encoding="utf-8")
        self.writer = csv.writer(self.stream, lineterminator="\n")
        self.writer.writerow(FIELDS[name])
        self.columns = len(FIELDS[name])

    def write(self, *row):
        if len(row) != self.columns:
            raise SystemExit("place: a row of another length: %r" % (row,))
        self.writer.writerow(row)
        self.stream.flush()


def ticks():
    """What has been used of the CPUs, and what there was."""
    with open("/proc/stat", encoding="ascii") as stream:
        values = [int(word) for word in stream.readline().split()[1:9]]
    return sum(values) - values[3] - values[4], sum(values)


class Lab:
    """A lab that is up, and a job's rows from it."""

    def __init__(self, options, cluster, nodes, rate):
        self.options, self.cluster, self.nodes, self.rate = options, cluster, nodes, rate
        self.ranks, self.part, self.failures = nodes * SLOTS, "", []

    def launch(self, layout, program, *arguments, variables=None, ranks=None):
        """Rows that a program printed, and how busy the CPUs were; no rows where it failed."""
        env = {"OMPI_MCA_" + name: str(value) for name, value in (variables or {}).items()}
        command = ["mpirun", "--map-by", layout, "-n", ranks or self.ranks, os.path.join(self.options.results, program), *arguments]
        used, all_ = ticks()
        try:
            out = self.cluster.lab(*command, env=env, timeout=LAUNCH_TIMEOUT)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            text = "%s x 4, %s: %s: %s" % (self.nodes, self.rate, " ".join(map(str, command[1:])), str(error)[-600:])
            self.failures.append((self.part, text))
            print("place: failed: " + text, file=sys.stderr)
            return [], 0.0
        now, whole = ticks()
        return [line.split(",") for line in out.splitlines() if "," in line], round((now - used) / max(whole - all_, 1), 2)


def measure_collectives(lab, sheet):
    """Figure 5."""
    options = lab.options
    sizes = [size for size in options.collective_sizes if lab.nodes == 4 or int(size) < 2 ** 22]  # more takes minutes
    jobs = []
    for layout in ("node", "slot"):
        for algorithm, (reduce, bcast) in TUNED.items():
            forced = {"coll_tuned_use_dynamic_rules": 1, "coll_tuned_reduce_algorithm": reduce, "coll_tuned_bcast_algorithm": bcast}
            jobs += [(layout, algorithm, how, forced) for how in ("lucid", "distgraph")]
        jobs.append((layout, "han", "plain", {"coll_han_priority": 100}))
        jobs.append((layout, "library's choice", "plain", {}))
    for layout, algorithm, how, variables in jobs:
        rows, busy = lab.launch(layout, "place_collectives", how, options.repetitions, *sizes, variables=variables)
        for op, size, variant, repetition, seconds, between, making in rows:
            name = "before with " + how if variant == "before" and how == "distgraph" else variant
            sheet.write(lab.nodes, lab.rate, layout, algorithm, op, size, name, repetition, seconds, between, making, busy)


def measure_groups(lab, sheet):
    """Figure 6."""
    options = lab.options
    rows, busy = lab.launch("node", "place_groups", options.repetitions, SLOTS, options.limit, ",".join(options.group_sizes),
                            ",".join(options.group_iterations))
    for row in rows:
        sheet.write(lab.nodes, lab.rate, *row, busy)


def measure_cg(lab, sheet, decisions):
    """Figure 7."""
    for kind, iterations in lab.options.classes:
        for layout, placement in (("slot", "random"), ("node", "given"), ("slot", "given")):
            rows, busy = lab.launch(layout, "place_cg", kind, placement, 1, iterations)
            for row in rows:
                if row[0] == "decision":
                    decisions.write(lab.nodes, lab.rate, layout, *row[1:])
                elif row[0] != "zeta":
                    sheet.write(lab.nodes, lab.rate, layout, *row, busy)


def verify_cg(lab, sheet):
    """All iterations of every class: the program itself ends the job if zeta is not the published one. On one node."""
    for kind in lab.options.verified:
        rows, _ = lab.launch("slot", "place_cg", kind, "given", 1, 0, ranks=2)
        for row in rows:
            if row[0] == "zeta":
                sheet.write(kind, row[4], row[5], row[6])


def measure_lammps(lab, sheet):
    """LAMMPS, started round-robin, under `lucid run --place`."""
    if not shutil.which("lmp"):
        print("place: lmp is not installed: LAMMPS is left out", file=sys.stderr)
        return
    command = os.path.join(os.environ["LUCID_BUILD_DIR"], "bin", "lucid")
    where = os.path.join(lab.options.results, "lammps")
    for repetition in range(lab.options.lammps_runs):
        shutil.rmtree(where, ignore_errors=True)
        used, all_ = ticks()
        launch = [wire.LAB, "mpirun", "--map-by", "node", "-n", lab.ranks, "lmp", "-in",
                  os.path.join(wire.ROOT, "examples", "in.lj"), "-var", "side", 24, "-var", "steps", lab.options.lammps_steps,
                  "-log", "none"]
        out = lab.cluster.run([command, "run", "--force", "--place", "-q", "-o", where, "--", *launch], timeout=LAUNCH_TIMEOUT)
        now, whole = ticks()
        loops = re.findall(r"Loop time of (\S+)", out)
        between = []
        for name in ("before", "after"):
            with open(os.path.join(where, name, "run.json"), encoding="utf-8") as stream:
                between.append(wire.between_nodes(json.load(stream))[1])
        sheet.write(lab.nodes, lab.rate, repetition, *loops, *between, round((now - used) / max(whole - all_, 1), 2))


def run_in(lab, sheets):
    parts = {"collectives": lambda: measure_collectives(lab, sheets["collectives"]),
             "groups": lambda: measure_groups(lab, sheets["groups"]),
             "cg": lambda: measure_cg(lab, sheets["cg"], sheets["decisions"])}
    if lab.nodes == 4:
        parts["lammps"] = lambda: measure_lammps(lab, sheets["lammps"])
    if (lab.nodes, lab.rate) == lab.options.labs[0]:
        parts["verify"] = lambda: verify_cg(lab, sheets["verify"])
    for name, part in parts.items():
        if name in lab.options.parts:
            begin = time.monotonic()
            lab.part = name
            part()
            print("place: %s on %d nodes at %s: %.0f s" % (name, lab.nodes, lab.rate, time.monotonic() - begin), flush=True)


def run(options):
    wanted = [name for name in FIELDS if name in options.parts or (name == "decisions" and "cg" in options.parts)]
    sheets, failures, load = {name: Sheet(options.results, name) for name in wanted}, [], os.getloadavg()
    for nodes, rate in options.labs:
        with wire.Cluster(nodes, SLOTS, rate, home=options.results) as cluster:
            lab = Lab(options, cluster, nodes, rate)
            run_in(lab, sheets)
            failures += lab.failures
    report.note_machine(options.results, options.parts, load, failures, options.note)


def lab_name(text):
    nodes, rate = text.split("x")
    return int(nodes), rate


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("collectives", "groups", "cg", "lammps", "verify")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts) + " (default: all)")
    parser.add_argument("--quick", action="store_true", help="one lab, small sizes: a few minutes")
    parser.add_argument("--labs", nargs="+", type=lab_name, metavar="NODESxRATE", help="labs, as 4x1gbit (default: all four)")
    parser.add_argument("--repetitions", type=int, help="calls and cells (default 5, quick 3)")
    parser.add_argument("--note", default="", help="one line about the machine, for the report: whether it was shared, say")
    parser.add_argument("--report", action="store_true", help="write the report from the CSV files that are there")
    parser.add_argument("--publish", action="store_true", help="copy report, figures and CSV files to docs/results")
    options = parser.parse_args()
    quick = options.quick
    if set(options.parts) - set(parts):
        parser.error("parts are " + ", ".join(parts))
    options.parts = options.parts or [part for part in parts if not (quick and part == "verify")]
    options.labs = tuple(options.labs or (LABS[1:2] if quick else LABS))
    options.repetitions = options.repetitions or (3 if quick else 5)
    options.collective_sizes = ("16384", "1048576") if quick else ("16384", "131072", "1048576", "4194304")
    options.group_sizes = ("1", "1000", "100000") if quick else ("1", "10", "100", "1000", "10000", "100000")
    options.group_iterations = ("1", "10", "100") if quick else ("1", "3", "10", "30", "100", "300", "1000")
    options.limit = 0.5 if quick else 1.0
    options.classes = (("S", 5), ("A", 2)) if quick else (("S", 15), ("W", 15), ("A", 7), ("B", 3))
    options.verified = ("S", "W") if quick else ("S", "W", "A", "B")
    options.lammps_runs, options.lammps_steps = (1, 10) if quick else (3, 20)
    options.results = os.path.abspath(os.environ["LUCID_RESULTS"])
    if not options.report:
        run(options)
    report.write(options.results, options.publish)


if __name__ == "__main__":
    main()
