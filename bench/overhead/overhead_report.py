# SPDX-License-Identifier: BSD-3-Clause
"""From the CSV files of an experiment to tables and figures: report.md, overhead-self.svg, overhead-reduce.svg."""
import csv
import os
from statistics import median

from overhead_launch import CASES
from overhead_self import HEAD, PEERS
from overhead_stats import Spread, Welch


def read(results, name):
    """Rows of a CSV file; none where it was not measured."""
    path = os.path.join(results, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


class Launches:
    """Medians of the blocks of every launch: one number per round, case and column."""

    def __init__(self, rows):
        blocks = {}
        for row in rows:
            for column in HEAD:
                blocks.setdefault((row["case"], column), {}).setdefault(int(row["round"]), []).append(float(row[column]))
            for clock in ("cpu", "wall"):
                difference = float(row["on_" + clock]) - float(row["off_" + clock])
                blocks.setdefault((row["case"], "added_" + clock), {}).setdefault(int(row["round"]), []).append(difference)
        self.medians = {key: {n: median(values) for n, values in rounds.items()} for key, rounds in blocks.items()}

    def has(self, case):
        return (case, "off_cpu") in self.medians

    def of(self, case, column):
        """Over the rounds."""
        return Spread(self.medians[case, column].values())

    def against(self, case, column, other, other_column):
        """Difference of two columns, round by round."""
        a, b = self.medians[case, column], self.medians[other, other_column]
        return Spread(a[n] - b[n] for n in sorted(a.keys() & b.keys()))


def self_rows(launches, clock):
    for case in CASES:
        if not launches.has(case.name):
            continue
        base = "plain-multiple" if case.thread == "multiple" else "plain"
        busy = launches.of(case.name, ("on_" if case.source else "off_") + clock)
        added = launches.of(case.name, "added_" + clock)
        present = launches.against(case.name, "off_" + clock, base, "off_" + clock) if case.name != base else "-"
        total = launches.against(case.name, ("on_" if case.source else "off_") + clock, base, "off_" + clock)
        yield [case.what, busy, "%s%s" % (added, "" if case.source else " (two like blocks)"), present,
               total if case.name != base else "-"]


def self_report(results):
    rows = read(results, "self.csv")
    if not rows:
        return ""
    launches = Launches(rows)
    head = ["ns per message", "while recording", "a session active - none", "no session - without Lucid", "recording - without Lucid"]
    return "".join("## Messages to oneself, %s\n\n%s\n" % (title, table(head, self_rows(launches, clock))) for clock, title in
                   (("cpu", "processor time"), ("wall", "wall clock")))


def switch_report(results):
    found = {}
    for row in read(results, "switch.csv"):
        found.setdefault(row["case"], []).append(float(row["us"]))
    rows = [[case.what, Spread(found[case.name])] for case in CASES if case.name in found]
    return "## Suspending and continuing once\n\n%s\n" % table(["", "µs"], rows) if rows else ""


def peers_rows(rows):
    for peers in PEERS:
        launches = Launches(row for row in rows if int(row["peers"]) == peers)
        for case in CASES:
            if launches.has(case.name):
                column = "on_cpu" if case.source else "off_cpu"
                total = launches.against(case.name, column, "plain", "off_cpu") if case.name != "plain" else "-"
                yield [peers, case.what, launches.of(case.name, column), launches.of(case.name, "added_cpu"), total]


def peers_report(results):
    rows = read(results, "peers.csv")
    head = ["peers in turn", "ns per message", "while recording", "a session active - none", "recording - without Lucid"]
    return "## To other processes\n\n%s\n" % table(head, peers_rows(rows)) if rows else ""


def cold_report(results):
    times = {(int(row["kB"]), row["session"]): [float(ns) for ns in row["ns"].split()] for row in read(results, "cold.csv")}
    rows = []
    for amount in sorted({amount for amount, _ in times}):
        without, with_ = times[amount, "without"], times[amount, "with"]
        rows.append([amount, Spread(without), Spread(b - a for a, b in zip(without, with_))])
    head = ["kB written in between", "ns per MPI_Isend without a session", "ns more with"]
    return "## With cold caches\n\n%s\n" % table(head, rows) if rows else ""


def booking_report(results):
    found = {}
    for row in read(results, "booking.csv"):
        found.setdefault(int(row["peers"]), []).append(float(row["cpu_ns"]))
    rows = [[peers, Spread(values)] for peers, values in sorted(found.items())]
    return "## The counters alone\n\n%s\n" % table(["peers in turn", "ns per booking"], rows) if rows else ""


def instructions_report(results):
    found = {(row["case"], row["sessions"]): float(row["per_message"]) for row in read(results, "instructions.csv")}
    rows = []
    for case in CASES:
        base = found.get(("plain-multiple" if case.thread == "multiple" else "plain", "off"))
        for only in ("off", "on"):
            if (case.name, only) in found:
                value = found[case.name, only]
                rows.append([case.what + (", suspended" if case.source and only == "off" else ""), "%.0f" % value,
                             "-" if base is None else "%+.0f" % (value - base)])
    return "## Instructions\n\n%s\n" % table(["", "per message", "against without Lucid"], rows) if rows else ""


def reduce_points(results):
    """{setup: {ints: (Welch, times without, times with)}}"""
    found = {}
    for row in read(results, "reduce.csv"):
        times = [float(value) for value in row["us"].split()]
        found.setdefault(row["setup"], {}).setdefault(int(row["ints"]), {})[row["session"]] = times
    return {setup: {ints: (Welch(both["without"], both["with"]), both["without"], both["with"]) for ints, both in sizes.items()}
            for setup, sizes in found.items()}


def reduce_row(setup, ints, point):
    welch, without, with_ = point
    return [setup, ints, "%.2f" % median(without), "%+.2f ± %.2f" % (welch.difference, welch.half),
            "yes" if welch.significant else "no", "%+.2f" % (median(with_) - median(without))]


def reduce_report(results):
    points = reduce_points(results)
    if not points:
        return ""
    rows = [reduce_row(setup, ints, sizes[ints]) for setup, sizes in points.items() for ints in sorted(sizes)]
    head = ["", "integers", "µs without, median", "µs more with, mean and 95 % interval", "significant", "µs more, medians"]
    return "## MPI_Reduce\n\n%s\n%s\n" % (table(head, rows), "".join(map(reduce_summary, points, points.values())))


def reduce_summary(setup, sizes):
    every = [point[0] for point in sizes.values()]
    up = sum(1 for w in every if w.significant and w.difference > 0)
    down = sum(1 for w in every if w.significant and w.difference < 0)
    return "- %s: %d points, significant: %d slower, %d faster with a session (by chance: %.1f)\n" % (
        setup, len(every), up, down, 0.05 * len(every))


def write_report(results):
    parts = [self_report(results), switch_report(results), peers_report(results), cold_report(results), booking_report(results), instructions_report(results),
             reduce_report(results)]
    text = "".join(parts)
    with open(os.path.join(results, "report.md"), "w", encoding="utf-8") as stream:
        stream.write(text)
    return text
