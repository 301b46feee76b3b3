# SPDX-License-Identifier: BSD-3-Clause
"""Tables and a figure out of hier-*.csv: medians per call, and how often coll/hier is as fast as coll/han or faster."""
import collections
import csv
import glob
import os
import re
import statistics
import sys

SERVERS = ("hier", "han", "tuned")
TIE = 1.05  # medians of runs of one and the same program differ by that much


def read(path):
    """{(operation, bytes): {server: [microseconds]}} in the file's order."""
    found = collections.OrderedDict()
    with open(path) as stream:
        for row in csv.reader(stream):
            if len(row) != 5:
                continue
            point = found.setdefault((row[0], int(row[1])), {server: [] for server in SERVERS})
            point[row[2]].append(float(row[4]))
    return found


def medians(points):
    return {key: {server: statistics.median(times) for server, times in point.items() if times} for key, point in points.items()}


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return "%d %s" % (size // unit, name)
    return "%d B" % size


def spread(times):
    if len(times) < 4:
        return ""
    low, _, high = statistics.quantiles(times, n=4)
    return " (%s to %s)" % (number(low), number(high))


def number(value):
    return "%.0f" % value if value >= 100 else "%.1f" % value


def table(points):
    middle = medians(points)
    lines = ["| operation | bytes | hier (quartiles) | han | tuned | han / hier | tuned / hier |", "|---|--:|--:|--:|--:|--:|--:|"]
    for (operation, size), point in middle.items():
        han, tuned = (point[server] / point["hier"] for server in ("han", "tuned"))
        lines.append("| %s | %s | %s%s | %s | %s | %.2f%s | %.2f |" % (
            operation, size_text(size) if operation != "barrier" else "", number(point["hier"]),
            spread(points[(operation, size)]["hier"]), number(point["han"]), number(point["tuned"]), han,
            "" if han >= 1 else " (tie)" if han * TIE >= 1 else " **slower**", tuned))
    return lines


def verdict(points):
    middle = medians(points)
    ratios = {key: point["han"] / point["hier"] for key, point in middle.items()}
    slower = [key for key, ratio in ratios.items() if ratio * TIE < 1]
    faster = sum(1 for ratio in ratios.values() if ratio > TIE)
    text = "%d points: faster than han in %d, within %.0f %% in %d, slower in %d" % (
        len(ratios), faster, (TIE - 1) * 100, len(ratios) - faster - len(slower), len(slower))
    if slower:
        text += " (%s)" % ", ".join("%s %s" % (operation, size_text(size)) for operation, size in slower)
    return text + "; geometric mean of han / hier %.2f." % statistics.geometric_mean(ratios.values())


def figure(runs, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    operations = [name for name in ("bcast", "reduce", "allreduce", "allgather", "gather", "scatter")
                  if any(name == other for _, points in runs for other, _ in points)]
    matplotlib.rcParams["svg.hashsalt"] = "lucid"
    panels, axes = pyplot.subplots(len(runs), len(operations), figsize=(15, 2.6 * len(runs)), squeeze=False, sharey="row")
    for row, (name, points) in zip(axes, runs):
        middle = medians(points)
        for axis, operation in zip(row, operations):
            sizes = [size for other, size in middle if other == operation]
            for server, style in (("han", "o-"), ("tuned", "s--")):
                axis.plot(sizes, [middle[(operation, size)][server] / middle[(operation, size)]["hier"] for size in sizes], style,
                          markersize=3, label=server + " / hier")
            axis.axhline(1, color="black", linewidth=0.8)
            axis.set_xscale("log", base=2)
            axis.set_yscale("log", base=2)
            axis.set_title("%s, %s" % (operation, name), fontsize=8)
            axis.tick_params(labelsize=7)
        row[0].set_ylabel("times as long", fontsize=8)
    axes[0][0].legend(fontsize=7)
    panels.tight_layout()
    panels.savefig(path, metadata={"Date": None})


def main():
    home = sys.argv[1]
    runs = [(re.sub(r".*/hier-(.*)\.csv", r"\1", path).replace("-", ", "), read(path))
            for path in sorted(glob.glob(os.path.join(home, "hier-*.csv")))]
    runs = [(name, points) for name, points in runs if points]
    if not runs:
        sys.exit("hier: no data in %s" % home)
    lines = []
    for name, points in runs:
        blocks = max(len(point["hier"]) for point in points.values())
        lines += ["### Open MPI " + name, "", verdict(points), "Microseconds per call, medians of %d blocks." % blocks, ""]
        lines += table(points) + [""]
    with open(os.path.join(home, "hier-tables.md"), "w") as stream:
        stream.write("\n".join(lines))
    figure(runs, os.path.join(home, "hier.svg"))
    print("hier: " + os.path.join(home, "hier-tables.md"))


if __name__ == "__main__":
    main()
