# SPDX-License-Identifier: BSD-3-Clause
"""From the CSV of sparse_scale to tables: sparse_scale_report.py FILE [SIMGRID], with that of sparse_simgrid beside it"""
import csv
import sys


def label(row):
    return "disjoint, 1/P" if row["pattern"] == "disjoint" else f"{row['pattern']}, {100 * float(row['density']):g} %"


def best(rows):
    """Of the algorithms of a call the one with the least time."""
    return min(rows, key=lambda row: float(row["seconds"]))


def cell(rows, call, size, name, dense):
    ours = [row for row in rows if (row["call"], row["ranks"], row["bytes"], label(row)) == (call, *size, name) and row["form"] == "sparse"]
    if not ours:
        return ""
    chosen = best(ours)
    gain = float(dense["busiest"]) / max(1, float(chosen["busiest"]))
    between = float(dense["between"]) / float(chosen["between"]) if float(chosen["between"]) else 0
    there = f" / {between:.1f}" if between else " / -"
    return f"**{float(dense['seconds']) / float(chosen['seconds']):.2f}** ({gain:.1f}{there}) {chosen['algorithm'].split('_')[-1]}"


def table(rows, network, call):
    chosen = [row for row in rows if row["network"] == network and row["call"] == call]
    sizes = list(dict.fromkeys((row["ranks"], row["bytes"]) for row in chosen))
    dense = {size: best([row for row in chosen if (row["ranks"], row["bytes"]) == size and row["form"] == "dense"]) for size in sizes}
    print(f"\n{call}, {network}:\n")
    print("| | " + " | ".join(f"P = {int(p):,}, {int(b) >> 10} KiB" for p, b in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    print("| dense, ms | " + " | ".join(f"{1000 * float(dense[size]['seconds']):.3f}" for size in sizes) + " |")
    for name in dict.fromkeys(label(row) for row in chosen if row["form"] == "sparse"):
        print(f"| {name} | " + " | ".join(cell(chosen, call, size, name, dense[size]) for size in sizes) + " |")


def gain(rows, name):
    """How many times faster the best sparse form of an input is than the dense one."""
    ours = [row for row in rows if row["form"] == "sparse" and label(row) == name]
    return min(float(row["seconds"]) for row in rows if row["form"] == "dense") / min(float(row["seconds"]) for row in ours)


def against(rows, others):
    """The times of the same cases by SimGrid."""
    columns = ("network", "ranks", "bytes", "call", "algorithm", "form", "pattern", "density")
    theirs = {tuple(row[c] for c in columns): row for row in others}
    both = [row for row in rows if tuple(row[c] for c in columns) in theirs]
    print("\n| | dense, time over SimGrid's | sparse | gain at random, 0.1 %; SimGrid | at random, 1 %; SimGrid |\n|---|---|---|---|---|")
    for kind in dict.fromkeys((row["network"], row["ranks"], row["call"]) for row in both):
        mine = [row for row in both if (row["network"], row["ranks"], row["call"]) == kind]
        other = [theirs[tuple(row[c] for c in columns)] for row in mine]
        ratio = [(row["form"], float(row["seconds"]) / float(o["seconds"])) for row, o in zip(mine, other)]
        sparse = [value for form, value in ratio if form == "sparse"]
        print(f"| {kind[0]}, P = {kind[1]}, {kind[2]} | {max(value for form, value in ratio if form == 'dense'):.2f} | "
              f"{min(sparse):.2f} to {max(sparse):.2f} | "
              + " | ".join(f"{gain(mine, name):.2f}; {gain(other, name):.2f}" for name in ("random, 0.1 %", "random, 1 %")) + " |")


def read(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def main():
    rows = read(sys.argv[1])
    for network in dict.fromkeys(row["network"] for row in rows):
        for call in dict.fromkeys(row["call"] for row in rows):
            table(rows, network, call)
    if len(sys.argv) > 2:
        against(rows, read(sys.argv[2]))


if __name__ == "__main__":
    main()
