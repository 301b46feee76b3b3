# SPDX-License-Identifier: BSD-3-Clause
"""From the CSVs of scale_reorder and scale_setup to tables: scale_report.py REORDER SETUP"""
import csv
import sys

WAYS = {"hier": "coll/hier, predicted", "discovery": "coll/hier, discovery by messages", "han": "coll/han, all six by doubling",
        "han_tuned": "coll/han, each as coll/tuned 4.1.4 chooses", "hier_further": "every further one, coll/hier",
        "han_further": "every further one, coll/han"}


def read(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def change(row, name, scale, digits):
    before, after = float(row[name + "_before"]) / scale, float(row[name + "_after"]) / scale
    return f"{before:,.{digits}f} -> {after:,.{digits}f}"


def reorder(rows, network, size):
    label = f"{int(size) >> 10} KiB" if int(size) >= 1024 else f"{size} bytes"
    print(f"\nReordering, {network}, messages of {label}:\n")
    print("| ranks | pattern | dealt | hop-bytes, MB | time, us | ratio | between switches, MB | mapper, s (by) |")
    print("|--:|---|---|--:|--:|--:|--:|---|")
    for row in rows:
        if (row["network"], row["bytes"]) != (network, size):
            continue
        ratio = float(row["us_before"]) / float(row["us_after"])
        print(f"| {int(row['ranks']):,} | {row['pattern']} | {row['dealt']} | {change(row, 'hop_bytes', 1e6, 1)} | "
              f"{change(row, 'us', 1, 1)} | **{ratio:.2f}** | {change(row, 'between', 1e6, 1)} | "
              f"{float(row['mapper_seconds']):.2f} ({row['algorithm']}) |")


def setup(rows, network):
    print(f"\nFirst allreduce of 8 bytes, {network}: messages / kilobytes / us:\n")
    chosen = [row for row in rows if row["network"] == network]
    sizes = list(dict.fromkeys((row["ranks"], row["per_node"]) for row in chosen))
    print("| | " + " | ".join(f"{int(p):,} ranks, {each} a node" for p, each in sizes) + " |")
    print("|---|" + "--:|" * len(sizes))
    for way, label in WAYS.items():
        cells = []
        for size in sizes:
            row = [row for row in chosen if row["way"] == way and (row["ranks"], row["per_node"]) == size][0]
            known = way != "han_tuned" or int(row["ranks"]) >= 256  # with fewer ranks it takes doubling
            cells.append(f"{int(row['messages']):,} / {float(row['bytes']) / 1e3:,.1f} / **{float(row['us']):,.1f}**" if known else "")
        print(f"| {label} | " + " | ".join(cells) + " |")


def main():
    rows, first = read(sys.argv[1]), read(sys.argv[2])
    networks = list(dict.fromkeys(row["network"] for row in rows))
    for size in dict.fromkeys(row["bytes"] for row in rows):
        for network in networks:
            reorder(rows, network, size)
    for network in networks:
        setup(first, network)


if __name__ == "__main__":
    main()
