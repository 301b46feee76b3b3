# SPDX-License-Identifier: BSD-3-Clause
"""From the CSV of sparse_scale to tables: sparse_scale_report.py FILE"""
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


def main():
    with open(sys.argv[1], newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    for network in dict.fromkeys(row["network"] for row in rows):
        for call in dict.fromkeys(row["call"] for row in rows):
            table(rows, network, call)


if __name__ == "__main__":
    main()
