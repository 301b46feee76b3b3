# SPDX-License-Identifier: BSD-3-Clause
"""Communicators with coll/lazy and without: writes comms.csv, messages.csv and startup.md into $LUCID_RESULTS.

    run [--quick]      measure; --quick: hardly any repetitions
    run report         make startup.md from the CSV files again
"""
import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAB = os.path.join(ROOT, "lab", "lab")
WAYS = ("dup", "split", "chain", "group", "idup")
USES = ("none", "barrier", "allreduce")
LAYERS = {"alone": "off", "delay": "delay", "share": "share"}
FIELDS = ("place", "layer", "way", "use", "ranks", "count", "unused", "unused_pss", "used", "left", "create_us", "first_us")
MESSAGES = ("place", "layer", "ranks", "what", "messages", "ids")
QUIET = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
         "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
         "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_pml": "^ucx,cm",
         "OMPI_MCA_coll_han_priority": "40"}  # han: Open MPI 5's default on more than one node


class Setting:
    """Where programs are started: this machine, or a lab that is up."""

    def __init__(self, build, nodes=1, slots=1, state=None):
        self.build, self.nodes, self.slots, self.state = build, nodes, slots, state
        self.name = "%d x %d" % (nodes, slots) if state else "1 node"

    def words(self, ranks):
        return [LAB, "mpirun", "-n", str(ranks)] if self.state else ["mpirun", "--map-by", ":OVERSUBSCRIBE", "-n", str(ranks)]

    def environment(self, layer):
        sys.path.insert(0, os.path.join(ROOT, "python"))
        from lucid import components
        os.environ.setdefault("LUCID_LIBDIR", os.path.join(self.build, "lib", "lucid"))
        env = dict(os.environ, **QUIET)
        if self.state:
            env["LUCID_LAB"] = self.state
        if layer != "alone":
            path = components.path_variable("mpirun", env, "lazy")[components.VARIABLE]
            env.update(OMPI_MCA_mca_base_component_path=path, LUCID_LAZY=LAYERS[layer])
        return env

    def run(self, words, layer, ranks):
        extra = ["-x", "LUCID_LAZY"] if layer != "alone" else []
        done = subprocess.run(self.words(ranks) + extra + words, env=self.environment(layer), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit("startup: %s failed:\n%s%s" % (words, done.stdout, done.stderr))
        return done.stdout

    def comms(self, program, layer, ranks, way, use, count):
        figures = self.run([program, way, use, str(count)], layer, ranks).strip().splitlines()[-1].split(",")
        return dict(zip(FIELDS, [self.name, layer, *figures]))

    def messages(self, program, layer, ranks):
        """What the books say of three dups that make an allreduce each: creation, first use of the first and of the last."""
        with tempfile.TemporaryDirectory(dir=self.build) as home:
            report = os.path.join(home, "report")
            command = [os.path.join(self.build, "bin", "lucid"), "run", "--startup=" + layer, "-q", "-o", report, "--",
                       *self.words(ranks), program, "dup", "allreduce", "3"]
            done = subprocess.run(command, env=self.environment("alone"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, universal_newlines=True, timeout=300)
            if done.returncode != 0:
                raise SystemExit("startup: %s failed:\n%s" % (command, done.stderr))
            with open(os.path.join(report, "startup.json")) as stream:
                found = json.load(stream)["communicators"]
        made = [one for one in found if one["created_by"] == "MPI_Comm_dup" and one["used_by"] in ("allreduce", "barrier")]
        for what, one, part in (("a dup", made[-1], "creation"), ("first operation on the first", made[0], "first_use"),
                                ("first allreduce on the last", made[-1], "first_use")):
            yield dict(zip(MESSAGES, [self.name, layer, ranks, what, one[part]["messages"], one[part]["ids"]]))


def on_one_node(setting, program, quick):
    rows = []
    for ranks in ((2,) if quick else (2, 4, 8)):
        for way in WAYS if ranks == 2 else ("dup",):
            for use in USES:
                for layer in LAYERS:
                    rows.append(setting.comms(program, layer, ranks, way, use, 50 if quick else 2000 if ranks == 2 else 500))
    return rows


def in_lab(setting, program, quick):
    ranks, rows = setting.nodes * setting.slots, []
    for use in USES:
        for layer in LAYERS:
            rows.append(setting.comms(program, layer, ranks, "dup", use, 5 if quick else 200 if ranks <= 4 else 40))
    return rows, [row for layer in LAYERS for row in setting.messages(program, layer, ranks)]


def write(path, fields, rows):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fields)
        writer.writeheader()
        writer.writerows(rows)


def read(path):
    with open(path, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def less(with_it, without):
    return "%+.0f %%" % (100 * (float(with_it) / float(without) - 1)) if float(without) else ""


def side_by_side(rows, field, unit):
    """A line per (place, ranks, way, use): Open MPI alone, delay, share, and what share saves."""
    keys = sorted({(row["place"], int(row["ranks"]), row["way"], USES.index(row["use"])) for row in rows})
    lines = []
    for place, ranks, way, use in keys:
        found = {row["layer"]: row[field] for row in rows
                 if (row["place"], int(row["ranks"]), row["way"], row["use"]) == (place, ranks, way, USES[use])}
        lines.append([place, ranks, way, USES[use], *(found[layer] for layer in LAYERS), less(found["share"], found["alone"])])
    return table(["place", "ranks", "made by", "used by", *(f"{layer}, {unit}" for layer in LAYERS), "share"], lines)


def report(results):
    comms, messages = read(os.path.join(results, "comms.csv")), read(os.path.join(results, "messages.csv"))
    with open(os.path.join(results, "machine.json")) as stream:
        machine = json.load(stream)
    used = [row for row in comms if row["use"] != "none"]
    unused = [row for row in comms if row["use"] == "none"]
    lines = [[row["place"], row["ranks"], row["what"], row["layer"], row["messages"], row["ids"]] for row in messages]
    text = ("Measured with %(mpi)s on %(processors)s processors. Bytes and messages are exact; microseconds on a machine with more "
            "processes than processors tell little.\n\n" % machine +
            "## Bytes of heap per communicator, unused\n\n" + side_by_side(unused, "unused", "B") +
            "\n## Bytes of heap per communicator, after one operation\n\n" + side_by_side(used, "used", "B") +
            "\n## Bytes left when it has been used and freed\n\n" + side_by_side(used, "left", "B") +
            "\n## Microseconds per creation, median\n\n" + side_by_side(unused, "create_us", "us") +
            "\n## Microseconds per first operation, mean\n\n" + side_by_side(used, "first_us", "us") +
            "\n## Messages and context ids\n\n" + table(["place", "ranks", "of", "layer", "messages", "ids"], lines))
    with open(os.path.join(results, "startup.md"), "w", encoding="utf-8") as stream:
        stream.write(text)


def labs(build, program, quick):
    """Both tables for every lab that can be made here."""
    rows, messages = [], []
    for nodes, slots in ((2, 2),) if quick else ((2, 2), (4, 4)):
        command = [LAB, "with", "--nodes", str(nodes), "--slots", str(slots), "--rate", "1gbit", "--", "sh", "-c",
                   'echo "$LUCID_LAB"; exec cat']
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True) as holder:
            state = holder.stdout.readline().strip()
            if not state:
                raise SystemExit("startup: the lab could not be made")
            found = in_lab(Setting(build, nodes, slots, state), program, quick)
            holder.stdin.close()
        rows += found[0]
        messages += found[1]
    return rows, messages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["report"])
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    build, results = os.environ["LUCID_BUILD_DIR"], os.environ["LUCID_RESULTS"]
    if arguments.what != "report":
        program = os.path.join(results, "startup_comms")
        version = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()[0]
        with open(os.path.join(results, "machine.json"), "w") as stream:
            json.dump({"mpi": version, "processors": os.cpu_count(), "system": platform.platform()}, stream)
        rows, messages = on_one_node(Setting(build), program, arguments.quick), []
        if subprocess.run([LAB, "check"], stdout=subprocess.DEVNULL).returncode == 0:
            more = labs(build, program, arguments.quick)
            rows, messages = rows + more[0], more[1]
        write(os.path.join(results, "comms.csv"), FIELDS, rows)
        write(os.path.join(results, "messages.csv"), MESSAGES, messages)
    report(results)


if __name__ == "__main__":
    main()
