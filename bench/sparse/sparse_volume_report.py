# SPDX-License-Identifier: BSD-3-Clause
"""From the CSV of sparse_volume to tables and a figure: sparse_volume_report.py FILE [FIGURE.svg]"""
import csv
import sys

HALVING = {"reduce_halving": "Reduce", "scatter_halving": "Reduce_scatter_block", "allreduce_halving": "Allreduce"}
DISJOINT = ("allreduce_halving", "allreduce_doubling", "allreduce_ring", "reduce_halving", "reduce_direct", "scatter_halving",
            "scatter_pairwise")


def read(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def gain(row):
    return float(row["dense"]) / float(row["received"])


def of_bound(row):
    return float(row["bound"]) / float(row["received"]) if row["bound"] else None


def faster(row):
    return float(row["dense_seconds"]) / float(row["seconds"])


def cell(row):
    part = of_bound(row)
    return f"{gain(row):.2f}" + (f" ({100 * part:.0f} %)" if part else "")


def find(rows, **wanted):
    return [row for row in rows if all(row[key] == str(value) for key, value in wanted.items())]


def table(rows, algorithm, size, count):
    """Gain by pattern and density, one column per number of ranks."""
    chosen = find(rows, algorithm=algorithm, size=size, bytes=count)
    ranks = sorted({int(row["ranks"]) for row in chosen})
    print(f"\n{HALVING[algorithm]}, {size}-byte elements, {count >> 20} MiB:\n")
    print("| pattern | density | " + " | ".join(f"P = {p}" for p in ranks) + " |")
    print("|---|---|" + "---|" * len(ranks))
    for pattern, density in dict.fromkeys((row["pattern"], row["density"] if row["pattern"] != "disjoint" else "1/P") for row in chosen):
        cells = []
        for p in ranks:
            found = [row for row in find(chosen, ranks=p, pattern=pattern) if density in ("1/P", row["density"])]
            cells.append(cell(found[0]) if found else "")
        label = density if density == "1/P" else f"{100 * float(density):g} %"
        print(f"| {pattern} | {label} | " + " | ".join(cells) + " |")


def disjoint_table(rows):
    print("\nDisjoint inputs (everyone fills its part), 8-byte elements, 1 MiB; gain in volume / in modelled time:\n")
    ranks = (16, 64)
    print("| algorithm | " + " | ".join(f"P = {p}" for p in ranks) + " |")
    print("|---|" + "---|" * len(ranks))
    for algorithm in DISJOINT:
        cells = []
        for p in ranks:
            found = find(rows, algorithm=algorithm, size=8, bytes=1 << 20, ranks=p, pattern="disjoint")
            cells.append(f"{gain(found[0]):.2f} / {faster(found[0]):.2f}" if found else "")
        print(f"| {algorithm} | " + " | ".join(cells) + " |")


def targets(rows):
    print("\nTargets (P = 16, 8-byte elements, share of the bound):\n")
    print("| | 1 MiB | 8 MiB |")
    print("|---|---|---|")
    for algorithm in ("reduce_halving", "scatter_halving"):
        for pattern, density in (("random", 0.001), ("random", 0.01), ("same", 0.01)):
            found = [find(rows, algorithm=algorithm, size=8, ranks=16, pattern=pattern, density=density, bytes=b << 20)[0] for b in (1, 8)]
            print(f"| {HALVING[algorithm]}, {pattern}, {100 * density:g} % | " + " | ".join(f"{100 * of_bound(r):.0f} %" for r in found) + " |")


def figure(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "lucid"
    from matplotlib import pyplot
    drawing, axes = pyplot.subplots(1, 3, figsize=(11, 3.8), sharey=True)
    for axis, (algorithm, name) in zip(axes, HALVING.items()):
        for pattern, color in (("random", "C0"), ("same", "C1"), ("clustered", "C2"), ("power law", "C3")):
            chosen = find(rows, algorithm=algorithm, size=8, bytes=1 << 20, ranks=16, pattern=pattern)
            density = [100 * float(row["density"]) for row in chosen]
            axis.plot(density, [gain(row) for row in chosen], "o-", color=color, label=pattern, markersize=4)
            if all(row["bound"] for row in chosen):
                axis.plot(density, [float(row["dense"]) / float(row["bound"]) for row in chosen], "--", color=color, label=pattern + ", bound")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(name, fontsize=10)
        axis.set_xlabel("elements that differ, % per rank")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("dense bytes / sparse bytes")
    axes[0].legend(fontsize=7)
    drawing.suptitle("Bytes that the busiest rank receives: 16 ranks, 1 MiB of doubles", fontsize=11)
    drawing.tight_layout()
    drawing.savefig(path, metadata={"Date": None})


def main():
    rows = read(sys.argv[1])
    targets(rows)
    for algorithm in HALVING:
        table(rows, algorithm, 8, 1 << 20)
    disjoint_table(rows)
    if len(sys.argv) > 2:
        figure(rows, sys.argv[2])


if __name__ == "__main__":
    main()
