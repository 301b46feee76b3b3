# SPDX-License-Identifier: BSD-3-Clause
"""Tables from the CSV files of bench/place, and the page that holds them."""
import csv
import datetime
import json
import os
import shutil
import statistics
import subprocess

import place_page as page

HERE = os.path.dirname(os.path.abspath(__file__))
NITER = {"S": 15, "W": 15, "A": 15, "B": 75}
PLACEMENTS = {("slot", "random"): "random", ("node", "given"): "round-robin", ("slot", "given"): "default"}


def note_machine(folder, parts, load, failures, note):
    """Writes machine.json; parts that were not run keep what is said of them there."""
    path = os.path.join(folder, "machine.json")
    old = {"parts": {}}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            old = json.load(stream)
    about = machine()
    about["parts"] = dict(old["parts"])
    for name in parts:
        about["parts"][name] = {"load": round(load[0], 1), "note": note,
                                 "failures": [text for part, text in failures if part == name]}
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(about, stream, indent=1)


def machine():
    """What a run is to be judged by."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        models = sorted({line.split(":")[1].strip() for line in stream if line.startswith("model name")})
    version = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, universal_newlines=True, check=False).stdout
    return {"cpus": os.cpu_count(), "model": ", ".join(models) or os.uname().machine, "linux": os.uname().release,
            "mpi": version.splitlines()[0] if version else "?", "date": datetime.date.today().isoformat()}


def read(folder, name):
    path = os.path.join(folder, name + ".csv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def lab_name(row):
    return "%s x 4, %s" % (row["nodes"], row["rate"].replace("gbit", " Gbit/s").replace("mbit", " Mbit/s"))


def group_by(rows, *keys):
    """{values of the keys: [row]}, in the order of the file."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def median(rows, key):
    return statistics.median(float(row[key]) for row in rows)


def quartiles(values):
    """The inner half of the values; all of them where they are fewer than four."""
    values = sorted(values)
    cut = len(values) // 4
    return values[cut], values[len(values) - 1 - cut]


def milliseconds(seconds):
    return "{:,.0f}".format(1e3 * seconds) if seconds >= 0.1 else "%.3g" % (1e3 * seconds)


def count(number):
    return "{:,}".format(int(number))


# Figure 5

def largest(rows):
    """Rows of each lab's largest size."""
    found = []
    for group in group_by(rows, "nodes", "rate").values():
        most = max(int(row["bytes"]) for row in group)
        found += [row for row in group if int(row["bytes"]) == most]
    return found


def figure5(rows):
    """A line per lab, layout, operation and algorithm, at its largest size."""
    lines = []
    chosen = largest(rows)
    others = [row for row in chosen if row["algorithm"] not in ("binary", "binomial")]
    others = group_by(others, "nodes", "rate", "layout", "op", "algorithm")
    for (nodes, rate, layout, op, algorithm), group in group_by(chosen, "nodes", "rate", "layout", "op", "algorithm").items():
        by = {name[0]: part for name, part in group_by(group, "variant").items()}
        if "lucid" not in by:
            continue
        before, after = median(by["before"], "seconds"), median(by["lucid"], "seconds")
        graph = [(median(by[name], "seconds"), by[name][0]["between"]) for name in ("distgraph",) if name in by]
        peers = [others.get((nodes, rate, layout, op, peer)) for peer in ("han", "library's choice")]
        lines.append([lab_name(group[0]), count(group[0]["bytes"]), "by node" if layout == "node" else "by slot", op, algorithm,
                      milliseconds(before),
                      milliseconds(after), "%.2f" % (before / after), count(by["before"][0]["between"]),
                      count(by["lucid"][0]["between"]),
                      "%s (%s B)" % (milliseconds(graph[0][0]), count(graph[0][1])) if graph else "failed"] +
                     [milliseconds(median(peer, "seconds")) if peer else "failed" for peer in peers])
    return table(("lab", "bytes per rank", "ranks laid out", "call", "tree", "before, ms", "after, ms", "before / after",
                  "bytes between nodes, before", "after", "MPI_Dist_graph_create, ms", "coll/han, ms", "library's choice, ms"),
                 lines)


def best(rows, op):
    """The largest gain of an operation: (gain, before, after, its line's data)."""
    found = []
    for key, group in group_by([row for row in largest(rows) if row["op"] == op], "nodes", "rate", "layout", "algorithm").items():
        by = {name[0]: part for name, part in group_by(group, "variant").items()}
        if "lucid" in by:
            before, after = median(by["before"], "seconds"), median(by["lucid"], "seconds")
            found.append((before / after, before, after, key))
    return max(found) if found else None


# Figure 6

class Cell:
    """All repetitions of one number of iterations of one size in one lab."""

    def __init__(self, rows):
        self.rows = rows
        gains = [self.gain(row) for row in rows]
        self.percent = statistics.median(gains)
        low, high = quartiles(gains)
        self.sure = low > 0 or high < 0
        yes = [row["reordered"] == "1" for row in rows]
        self.predicted = 2 * sum(yes) > len(yes)
        self.right = self.predicted == (self.percent > 0)
        self.each = sum((gain > 0) == answer for gain, answer in zip(gains, yes))

    @staticmethod
    def gain(row):
        t1, t2, t3 = (float(row[key]) for key in ("t1", "t2", "t3"))
        return 100 * (t1 - t2 - t3) / t1


def cells(rows):
    """{(nodes, rate): {(ints, iterations): Cell}}"""
    labs = {}
    for (nodes, rate, ints, iterations), group in group_by(rows, "nodes", "rate", "ints", "iterations").items():
        labs.setdefault((nodes, rate), {})[int(ints), int(iterations)] = Cell(group)
    return labs


def share(part, whole):
    return "%d of %d (%.1f %%)" % (part, whole, 100 * part / whole) if whole else "-"


def counted(found):
    """(right among the sure, sure, right among those within the noise, these, single decisions right, all of them)"""
    sure, near = [c for c in found if c.sure], [c for c in found if not c.sure]
    return (sum(c.right for c in sure), len(sure), sum(c.right for c in near), len(near), sum(c.each for c in found),
            sum(len(c.rows) for c in found))


def figure6(rows):
    lines, all_cells = [], []
    for (nodes, rate), found in cells(rows).items():
        all_cells += found.values()
        numbers = counted(found.values())
        top = max(found.values(), key=lambda c: c.percent)
        lines.append((lab_name({"nodes": nodes, "rate": rate}), share(*numbers[:2]), share(*numbers[2:4]), share(*numbers[4:]),
                      "%.1f %%" % top.percent, "%.0f to %.0f ms" % (1e3 * min(median(c.rows, "t2") for c in found.values()),
                                                                  1e3 * max(median(c.rows, "t2") for c in found.values()))))
    numbers = counted(all_cells)
    lines.append(("all", share(*numbers[:2]), share(*numbers[2:4]), share(*numbers[4:]), "", ""))
    return table(("lab", "sign predicted", "the same within the noise", "single decisions", "largest gain", "reordering (t2)"),
                 lines)


def accuracy(rows):
    numbers = counted([cell for found in cells(rows).values() for cell in found.values()])
    return numbers


# Figure 7

class Solved:
    """One class in one placement: what an iteration takes on either side."""

    def __init__(self, rows, decision):
        self.rows, self.decision = rows, decision
        sides = {name[0]: sorted(part, key=lambda r: int(r["iteration"])) for name, part in group_by(rows, "side").items()}
        self.kind = rows[0]["class"]
        self.cost, self.niter = float(decision["seconds"]), NITER[self.kind]
        self.total = self.ratios(sides, "seconds", self.cost)
        self.mpi = self.ratios(sides, "mpi_seconds", 0)
        self.messages = self.ratios(sides, "messages_seconds", 0)
        self.before = median(sides["before"], "seconds")
        self.after = median(sides["after"], "seconds")

    def ratios(self, sides, key, cost):
        """(of the medians, lower and upper quartile of the pairs); the cost is spread over all of the class's iterations."""
        before, after = (median(sides[name], key) for name in ("before", "after"))
        pairs = [float(b[key]) / (float(a[key]) + cost / self.niter) for b, a in zip(sides["before"], sides["after"])]
        return (before / (after + cost / self.niter), *quartiles(pairs))


def solved(rows, decisions):
    keys = ("nodes", "rate", "layout", "placement", "class")
    made = {tuple(row[key] for key in keys): row for row in decisions}
    return {key: Solved(group, made[key]) for key, group in group_by(rows, *keys).items()}


def ratio(found):
    return "%.2f (%.2f to %.2f)" % found


def figure7(rows, decisions):
    lines = []
    for (nodes, rate, layout, placement, kind), one in solved(rows, decisions).items():
        d = one.decision
        lines.append((lab_name({"nodes": nodes, "rate": rate}), kind, PLACEMENTS[layout, placement],
                      "yes" if d["reordered"] == "1" else "no", milliseconds(one.before), milliseconds(one.after),
                      milliseconds(one.cost), ratio(one.total), ratio(one.mpi), ratio(one.messages), count(d["between_before"]),
                      count(d["between_after"])))
    return table(("lab", "class", "placement", "reordered", "iteration before, ms", "after, ms", "asking, reordering, moving: ms",
                  "total, before / after", "MPI calls of rank 0", "messages alone", "bytes between nodes, before", "after"), lines)


def noise(found):
    """{(class, nodes): how far from 1 the inner half of the iterations' ratios reaches where both sides are the same
    communicator}"""
    pairs = {}
    for one in found:
        if one.decision["reordered"] == "0":
            sides = {name[0]: part for name, part in group_by(one.rows, "side").items()}
            pairs.setdefault((one.kind, one.decision["nodes"]), []).extend(float(b["seconds"]) / float(a["seconds"])
                                                                           for b, a in zip(sides["before"], sides["after"]))
    return {kind: max(abs(value - 1) for value in quartiles(values)) for kind, values in pairs.items()}


def below_one(rows, decisions):
    """(runs whose total is below 1 by more than the noise, the least total, how many runs, the noise)"""
    all_ = solved(rows, decisions).values()
    around = noise(all_)
    low = [one for one in all_ if 1 - one.total[0] > around.get((one.kind, one.decision["nodes"]), 0)]
    return low, min(one.total[0] for one in all_), len(all_), around


def asked(rows, decisions):
    """What asking cost, as a share of the whole, where nothing was reordered: {class: the largest}"""
    most = {}
    for one in solved(rows, decisions).values():
        if one.decision["reordered"] == "0":
            most[one.kind] = max(most.get(one.kind, 0), one.cost / (one.cost + one.niter * one.before))
    return most


def extremes(rows, decisions, what):
    values = [getattr(one, what)[0] for one in solved(rows, decisions).values() if one.decision["reordered"] == "1"]
    return (min(values), max(values)) if values else (1, 1)


# LAMMPS

def lammps(rows):
    lines = []
    for (nodes, rate), group in group_by(rows, "nodes", "rate").items():
        before, after = median(group, "loop_before"), median(group, "loop_after")
        far = median(group, "between_before"), median(group, "between_after")
        lines.append((lab_name({"nodes": nodes, "rate": rate}), len(group), "%.2f" % before, "%.2f" % after,
                      "%.2f" % (before / after), count(far[0]), count(far[1]), "%.0f %%" % (100 * far[1] / far[0])))
    return table(("lab", "runs of both", "loop before, s", "after, s", "before / after", "bytes between nodes, before", "after",
                  ""), lines)


def write(folder, publish):
    import place_plots
    data = {name: read(folder, name) for name in ("collectives", "groups", "cg", "decisions", "verify", "lammps")}
    figures = place_plots.draw(folder, data)
    with open(os.path.join(folder, "machine.json"), encoding="utf-8") as stream:
        about = json.load(stream)
    about["load"] = ", ".join("%s %.1f" % (name, part["load"]) for name, part in about["parts"].items())
    about["notes"] = ["%s: %s" % (name, part["note"]) for name, part in about["parts"].items() if part.get("note")]
    about["failures"] = [text for part in about["parts"].values() for text in part["failures"]]
    path = os.path.join(folder, "place.md")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(page.text(data, about, figures))
    print("place: report in " + path)
    if not publish:
        return
    target = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "results")
    shutil.copy(path, target)
    for name in figures:
        shutil.copy(os.path.join(folder, name), target)
    for name, rows in data.items():
        if rows:
            shutil.copy(os.path.join(folder, name + ".csv"), os.path.join(target, "place-%s.csv" % name))
