# SPDX-License-Identifier: BSD-3-Clause
"""Tables and a figure from mapping.csv."""
import csv
import os
import statistics
import sys

NAMES = {"sts": "shuffled 3-D stencil", "st": "3-D stencil in natural order", "rgg": "shuffled geometric graph",
         "cg": "NAS CG pattern in natural order"}
# instance, size, J at most, seconds at most
TARGETS = (("sts", 8192, 0.346, 1.0), ("sts", 65536, 0.370, 8.0), ("rgg", 8192, 0.332, 1.0), ("cg", 1024, 1.0, None),
           ("cg", 8192, 1.0, None), ("cg", 16384, 1.0, None), ("cg", 65536, 1.0, 8.0), ("st", 8192, 0.470, 1.0))
COLOURS = {"auto": "tab:blue", "multilevel": "tab:cyan", "treematch": "tab:green", "scotch": "tab:orange",
           "sharedmap-fast": "tab:red", "sharedmap-eco": "tab:pink"}
PAPER = {8192: 2.6, 16384: 6.3, 32768: 20.9, 65536: 88.7}


class Row:
    """All repetitions of one mapper on one instance."""

    def __init__(self):
        self.seconds, self.cpu, self.ratios, self.others = [], [], [], []

    def add(self, line):
        self.seconds.append(float(line["seconds"]))
        self.cpu.append(float(line["cpu_seconds"]))
        self.ratios.append(float(line["ratio"]))
        self.others.append(float(line["others"]))


def read(path):
    """{(instance, size, mapper): Row} in the order of the file."""
    rows = {}
    with open(path, encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            rows.setdefault((line["instance"], int(line["size"]), line["mapper"]), Row()).add(line)
    return rows


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] +
                     ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]) + "\n"


def j(value):
    return "%.4f" % value


def targets(rows):
    """What the issue asks of auto, and what it got: the worst order of all seeds, the quickest run."""
    lines = []
    for instance, size, most, seconds in TARGETS:
        row = rows.get((instance, size, "auto"))
        if not row:
            continue
        worst, quickest = max(row.ratios), min(row.seconds)
        good = worst <= most and (seconds is None or quickest <= seconds)
        lines.append((NAMES[instance], "{:,}".format(size), "%.3f" % most, "%g" % seconds if seconds else "", j(worst),
                      j(min(row.ratios)), "%.2f" % quickest, "%.2f" % statistics.median(row.seconds), "yes" if good else "no"))
    return table(("instance", "processes", "J at most", "seconds at most", "J, worst seed", "J, best seed", "seconds, min",
                  "seconds, median", "reached"), lines)


def paper(rows):
    lines = []
    for size, theirs in PAPER.items():
        cells = ["{:,}".format(size), theirs]
        for mapper in ("treematch", "multilevel", "auto"):
            row = rows.get(("sts", size, mapper))
            cells += ["%.2f" % min(row.seconds), j(statistics.median(row.ratios))] if row else ["", ""]
        lines.append(cells)
    return table(("processes", "paper, seconds", "`treematch`, seconds", "J", "`multilevel`, seconds", "J", "`auto`, seconds", "J"),
                 lines)


def everything(rows):
    lines = []
    for (instance, size, mapper), row in rows.items():
        lines.append((NAMES[instance], "{:,}".format(size), mapper, j(statistics.median(row.ratios)),
                      "%.2f" % min(row.seconds), "%.2f" % statistics.median(row.seconds), "%.2f" % min(row.cpu), len(row.seconds),
                      "%.0f %%" % (100 * statistics.median(row.others))))
    return table(("instance", "processes", "mapper", "J, median", "seconds, min", "seconds, median", "CPU seconds, min", "runs",
                  "others on the machine"), lines)


def machine(threads):
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        models = sorted({line.split(":")[1].strip() for line in stream if line.startswith("model name")})
    return "%d CPUs (%s), %d threads per mapper" % (os.cpu_count(), ", ".join(models) or os.uname().machine, threads)


HEAD = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Mappers side by side

Written by `make bench` (bench/mapping). J is the cost of the order relative to the initial one: traffic times distance, with 1
within a NUMA part, 10 within a node, 100 between nodes; nodes of 2 x 16 places, a process on each. All times are of the mapping
alone, in seconds, from the matrix in memory to the order. Mappers ran in turns; every repetition has another seed.

Machine: %s. Other programs used %.0f %% of it in the median of all runs (from %.0f to %.0f %%): times are upper bounds.

## Targets

`auto`, as `lucid map` calls it by default.
"""

PAPER_HEAD = """\
## The paper's Table 1

Time of TreeMatch in Inria RR 9292 on their machine, and ours for the shuffled stencil of the same order. Theirs takes a dense
matrix (65,536: 34 GB), ours a sparse one.
"""

ALL_HEAD = """\
## All runs

`auto`, `multilevel` and `treematch` are Lucid's own, `treematch` from the published algorithm; `scotch` is libscotch through
Lucid's plug-in. All of them fall back to the initial order where they would be worse: without, Scotch makes the CG pattern 1.3
to 2.4 times worse. `sharedmap` is Decomposition.process_map of PyPI's chszlablib without imbalance, in its modes fast and eco; it
has no such guard. What took longer than a few seconds ran twice only.
"""


def text(rows, threads, figure):
    others = [100 * value for row in rows.values() for value in row.others]
    head = HEAD % (machine(threads), statistics.median(others), min(others), max(others))
    picture = ["![J and time by mapper](mapping.svg)\n"] if figure else []
    return "\n".join([head, targets(rows), PAPER_HEAD, paper(rows), *picture, ALL_HEAD, everything(rows)])


def draw(rows, path):
    """Left: J by instance at two sizes; right: time by size. False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        print("mapping: no figure: matplotlib is not installed", file=sys.stderr)
        return False
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "lucid"
    from matplotlib import pyplot
    shown = [mapper for mapper in COLOURS if any(key[2] == mapper for key in rows)]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.5), gridspec_kw={"width_ratios": (3, 2)})
    draw_costs(left, rows, shown)
    draw_times(right, rows, shown)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    return True


def draw_costs(axis, rows, shown):
    measured = {key[:2] for key in rows}
    groups = [(name, size) for size in (8192, 65536) for name in NAMES if (name, size) in measured]
    width = 0.8 / max(len(shown), 1)
    for i, mapper in enumerate(shown):
        values = [(x, rows[name, size, mapper]) for x, (name, size) in enumerate(groups) if (name, size, mapper) in rows]
        places = [x + (i - len(shown) / 2 + 0.5) * width for x, _ in values]
        axis.bar(places, [statistics.median(row.ratios) for _, row in values], width, color=COLOURS[mapper], label=mapper)
    axis.axhline(1, color="black", linewidth=0.6)
    axis.set_xticks(range(len(groups)))
    axis.set_xticklabels(["%s\n%d" % group for group in groups])
    axis.set_ylabel("J relative to the initial order")
    axis.legend(fontsize=8)


def draw_times(axis, rows, shown):
    for mapper in shown:
        points = sorted((size, min(row.seconds)) for (name, size, m), row in rows.items() if name == "sts" and m == mapper)
        axis.plot(*zip(*points), marker="o", color=COLOURS[mapper], label=mapper)
    axis.plot(list(PAPER), list(PAPER.values()), marker="s", linestyle="--", color="black", label="TreeMatch, paper's Table 1")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("processes (shuffled stencil)")
    axis.set_ylabel("seconds, quickest run")
    axis.legend(fontsize=8)


def write(path, folder, threads):
    """Writes the report; returns the files to publish."""
    rows = read(path)
    figure = os.path.join(folder, "mapping.svg")
    drawn = draw(rows, figure)
    page = os.path.join(folder, "mapping.md")
    with open(page, "w", encoding="utf-8") as stream:
        stream.write(text(rows, threads, drawn))
    print(targets(rows))
    return [page] + ([figure] if drawn else [])
