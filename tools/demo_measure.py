# SPDX-License-Identifier: BSD-3-Clause
"""The measured part of the demo: a program for each of Lucid's systems and a real one, with and without, and one table.

tools/demo starts it, inside the lab where there is one. All figures are measured here and now; what is timed is repeated in turns.
"""
import argparse
import json
import os
import re
import shutil
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "python"))

import lucid                                              # noqa: E402
from demo_run import Demo, Failed, main                   # noqa: E402
from demo_table import Row, render                        # noqa: E402
from lucid import components                              # noqa: E402

REPORT_MARK = "demo.json"
STEPS = 9
HAN = {"OMPI_MCA_coll_han_priority": "40"}  # hierarchical collectives: Open MPI 5's default on several nodes, not 4.1's


class Setting:
    """What is run where, and what has been found."""

    def __init__(self, options):
        self.options = options
        self.several = options.nodes > 1
        self.command = os.path.join(options.build, "bin", "lucid")
        self.rows, self.notes = [], []

    def path(self, name):
        return os.path.join(self.options.results, name)

    def launch(self, *words, by_node=False):
        launcher = [os.path.join(ROOT, "lab", "lab"), "mpirun"] if self.several else ["mpirun"]
        return [*launcher, *(["--map-by", "node"] if by_node and self.several else []), "-n", self.options.ranks, *words]

    def lucid(self, report, *options):
        shutil.rmtree(self.path(report), ignore_errors=True)
        return [self.command, "run", "-q", "-o", self.path(report), *options, "--"]

    def lammps(self):
        side, steps = (10, 20) if self.options.quick else (24, 100)
        return ["lmp", "-in", os.path.join(ROOT, "examples", "in.lj"), "-log", "none", "-var", "side", side, "-var", "steps", steps]

    def session(self, report):
        return lucid.load(os.path.join(self.path(report), "run.json"))

    def row(self, what, before, after, unit, paper):
        self.rows.append(Row(what, before, after, unit, paper))


def physics(text):
    """What LAMMPS computes: the lines of its table."""
    return re.findall(r"^ +\d+(?: +-?[0-9.e+-]+){4} *$", text, re.MULTILINE)


def loop_time(text):
    return [float(value) for value in re.findall(r"Loop time of (\S+)", text)]


def the_same(what, one, other):
    if not one or one != other:
        raise Failed(f"{what} computed something else with Lucid than without:\n{one}\n{other}")


def traffic(demo, here):
    """LAMMPS without Lucid and under lucid run; who comes first takes turns, too."""
    plain, times, repeats = here.launch(*here.lammps()), ([], []), here.options.traffic_repeats
    for repeat in range(repeats):
        said = {}
        for side in (0, 1) if repeat % 2 == 0 else (1, 0):
            words = [*here.lucid("traffic"), *plain] if side else plain
            said[side] = demo.run(words, f"LAMMPS{' under lucid run' if side else ''} ({repeat + 1} of {repeats})")
            times[side].extend(loop_time(said[side]))
        the_same("LAMMPS", physics(said[0]), physics(said[1]))
    here.row("traffic: LAMMPS, loop time", *times, "s", "cost at most 5 us per MPI_Reduce")
    return physics(said[0])


def placement(demo, here):
    """LAMMPS started round-robin, run again in a better order; and a solver that reorders itself once."""
    if not here.several:
        here.notes.append("Placement: left out, there is one node only.")
        return
    words, times, far = here.launch(*here.lammps(), by_node=True), ([], []), ([], [])
    for repeat in range(here.options.repeats):
        out = demo.run([*here.lucid("place", "--place"), *words],
                       f"LAMMPS, ranks dealt out round-robin, under lucid run --place ({repeat + 1} of {here.options.repeats})")
        loops = loop_time(out)
        if len(loops) != 2:
            raise Failed(f"lucid run --place: {len(loops)} runs instead of two; see {demo.log}")
        lines = physics(out)
        the_same("LAMMPS", lines[:len(lines) // 2], lines[len(lines) // 2:])
        for side in (0, 1):
            times[side].append(loops[side])
            far[side].append(here.session(os.path.join("place", ("before", "after")[side])).between_nodes().bytes)
    here.row("placement: LAMMPS from round-robin, bytes between nodes", *far, "bytes", "-")
    here.row("placement: LAMMPS from round-robin, loop time", *times, "s", "-")
    conjugate_gradients(demo, here)


def conjugate_gradients(demo, here):
    program = here.path("place_cg")
    source = os.path.join(ROOT, "bench", "place")
    library = os.path.join(here.options.build, "lib")
    demo.run(["mpicc", "-std=gnu17", "-O3", "-I" + os.path.join(ROOT, "include"), "-o", program,
              *(os.path.join(source, name + ".c") for name in ("place_cg", "place_cg_matrix", "place_cg_solver")),
              "-L" + library, "-llucid", "-Wl,-rpath," + library, "-lm"], "building NAS CG's messages (bench/place)")
    kind, iterations = ("S", 3) if here.options.quick else ("W", 9)
    out = demo.run(here.launch(program, kind, "given", 1, iterations, by_node=True),
                   f"CG class {kind}, round-robin, reorders itself while it runs (iterations in turns)")
    rows = [line.split(",") for line in out.splitlines() if "," in line]
    decision = next(row for row in rows if row[0] == "decision")
    here.row(f"placement: CG {kind} from round-robin, bytes between nodes", [int(decision[9])], [int(decision[10])], "bytes", "-")
    for what, column, paper in (("iteration", 5, "up to 1.1 x (fig. 7a)"), ("time in MPI calls", 6, "up to 1.9 x (fig. 7b)")):
        sides = [[float(row[column]) for row in rows if row[3] == side] for side in ("before", "after")]
        here.row(f"placement: CG {kind} from round-robin, {what}", *sides, "s", paper)


def sparse(demo, here):
    """A tally of which one bin in a hundred is hit, without and with sparse reductions."""
    program = here.path("demo_tally")
    demo.run(["mpicc", "-O2", "-o", program, os.path.join(ROOT, "tools", "demo_tally.c")], "building a tally (tools/demo_tally.c)")
    words = here.launch(program, 1 << 17 if here.options.quick else 1 << 20, 3 if here.options.quick else 9)
    times, sent, checks = ([], []), ([], []), set()
    for repeat in range(here.options.repeats):
        for side, options in enumerate(((), ("--sparse",))):
            name = ("sparse-without", "sparse-with")[side]
            out = demo.run([*here.lucid(name, *options), *words],
                           f"tally{' with --sparse' if side else ''} ({repeat + 1} of {here.options.repeats})")
            checks.add(re.search(r"checksum (\S+)", out).group(1))
            times[side].append(float(re.search(r"seconds per reduction (\S+)", out).group(1)))
            sent[side].append(here.session(name).total("kind:reduce").bytes)
    if len(checks) != 1:
        raise Failed(f"the tally computed something else with Lucid than without: {checks}")
    here.row("sparse: tally with 1 % of the bins hit, bytes sent", *sent, "bytes", "-")
    here.row("sparse: tally with 1 % of the bins hit, per MPI_Reduce", *times, "s", "about 3 x with 1 % non-zero")


def made(here, report):
    """The program's communicators in a report of what they cost."""
    with open(os.path.join(here.path(report), "startup.json"), encoding="utf-8") as stream:
        found = json.load(stream)["communicators"]
    return [one for one in found if one["created_by"] == "MPI_Comm_dup" and one["size"] == here.options.ranks]


def startup(demo, here):
    """What a communicator costs: unused, and after its first operation."""
    if not components.find("lazy"):
        here.notes.append("Start-up: left out, coll/lazy was not built (it needs Open MPI 4.1 or 5.0 with its internal headers).")
        return
    program, count = here.path("startup_comms"), 5 if here.options.quick else 40
    demo.run(["mpicc", "-O2", "-o", program, os.path.join(ROOT, "bench", "startup", "startup_comms.c")],
             "building a program that makes communicators (bench/startup)")
    found, printed = {}, {}
    for use in ("barrier", "allreduce"):
        for layer in ("alone", "share"):
            name = f"startup-{use}-{layer}"
            out = demo.run([*here.lucid(name, "--startup=" + layer), *here.launch(program, "dup", use, count)],
                           f"{count} dups, {'a barrier' if use == 'barrier' else 'an allreduce'} on each, --startup={layer}", HAN)
            printed[use, layer] = [float(value) for value in out.strip().splitlines()[-1].split(",")[4:]]
            found[use, layer] = made(here, name)
    sides = ("alone", "share")
    here.row("start-up: bytes of a process per unused dup", *([printed["barrier", s][0]] for s in sides), "bytes", "-")
    here.row("start-up: the same after a barrier", *([printed["barrier", s][2]] for s in sides), "bytes",
             "-24.1 % = 1.32 x (tuned)")
    here.row("start-up: the same after an allreduce", *([printed["allreduce", s][2]] for s in sides), "bytes",
             "-83.5 % = 6.06 x (Cheetah)")
    here.row("start-up: messages of a dup's first allreduce",
             *([max(found["allreduce", s], key=lambda one: one["number"])["first_use"]["messages"]] for s in sides), "count", "-")


def everything(demo, here, expected):
    """LAMMPS with all of it on computes what it computed before."""
    words = [*here.lucid("all", "--all"), *here.launch(*here.lammps(), by_node=True)]
    out = physics(demo.run(words, "LAMMPS under lucid run --all"))
    for run in range(len(out) // len(expected)):
        the_same("LAMMPS", expected, out[run * len(expected):(run + 1) * len(expected)])
    if len(out) % len(expected):
        raise Failed("LAMMPS printed another number of lines with Lucid than without")
    here.notes.append("All programs computed the same with Lucid and without; LAMMPS under lucid run --all, too, digit by digit.")


def work(here):
    """The steps, with their progress."""
    def steps(demo):
        demo.begin("traffic: LAMMPS, without and with lucid run")
        expected = traffic(demo, here)
        demo.begin("placement: ranks where their messages are")
        placement(demo, here)
        demo.begin("sparse reductions: only what stands out is moved and added")
        sparse(demo, here)
        demo.begin("start-up: communicators that cost nothing until they are used")
        startup(demo, here)
        demo.begin("all of it together: lucid run --all")
        everything(demo, here, expected)
        demo.begin("the report")
        page, figure = here.path("report.html"), here.path("matrix.png")
        demo.run([here.command, "show", here.path("traffic"), "-o", page], "the page of the LAMMPS run")
        demo.run([here.command, "show", here.path("traffic"), "-o", figure], "its matrix as a figure")
        table = render(here.rows, notes(here))
        with open(here.path("table.txt"), "w", encoding="utf-8") as stream:
            stream.write(table)
        for program in ("place_cg", "demo_tally", "startup_comms"):
            if os.path.exists(here.path(program)):
                os.unlink(here.path(program))
        print("\n" + table)
        demo.say(f"done. The table again: {here.path('table.txt')}\n        The report:      {page}")
    return steps


def notes(here):
    """What one should know of the figures."""
    options = here.options
    place = f"{options.ranks} ranks on {options.nodes} virtual nodes" if here.several else f"{options.ranks} ranks on this machine"
    runs = "of one run, and say little"
    if options.repeats > 1:
        runs = f"medians of {options.repeats} to {options.traffic_repeats} runs in turns (CG: of its iterations)"
    return [f"{place}, {len(os.sched_getaffinity(0))} CPUs for all of them. Bytes and messages are counted.",
            f"Times are {runs}; with more ranks than CPUs they scatter by several percent.",
            "Ratio: without / with Lucid. What was measured with more care is in docs/results.", *here.notes]


def arguments():
    """The command line that tools/demo makes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--results", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--began", type=float, required=True)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    options.repeats, options.traffic_repeats = (1, 1) if options.quick else (3, 5)
    return options


if __name__ == "__main__":
    OPTIONS = arguments()
    os.environ.setdefault("LUCID_LIBDIR", os.path.join(OPTIONS.build, "lib", "lucid"))
    os.makedirs(OPTIONS.results, exist_ok=True)
    with open(os.path.join(OPTIONS.results, REPORT_MARK), "w", encoding="utf-8") as mark:
        json.dump({"format": "lucid-demo", "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(OPTIONS.began))}, mark)
    sys.exit(main(work(Setting(OPTIONS)), Demo(OPTIONS.log, OPTIONS.began, OPTIONS.step, STEPS)))
