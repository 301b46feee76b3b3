# SPDX-License-Identifier: BSD-3-Clause
"""Tables of GB/s (medians) from the CSV files of sparse_kernels: sparse_kernels_report.py FILE..."""
import csv
import statistics
import sys
from collections import defaultdict


def medians(paths):
    """{(simd, type, bytes): {kernel: {density: GB/s}}}"""
    seconds = defaultdict(list)
    for path in paths:
        with open(path, newline="", encoding="ascii") as file:
            for row in csv.DictReader(file):
                key = (row["simd"], row["type"], int(row["bytes"]), row["kernel"], float(row["density"]))
                seconds[key].append(float(row["seconds"]))
    tables = defaultdict(lambda: defaultdict(dict))
    for (simd, kind, size, kernel, density), times in seconds.items():
        tables[simd, kind, size][kernel][density] = size / statistics.median(times) / 1e9
    return tables


def write(tables, out):
    for (simd, kind, size), kernels in tables.items():
        densities = sorted({d for row in kernels.values() for d in row})
        out.write(f"\n{simd}, {kind}, {size / 2**20:g} MiB, GB/s of the vector:\n\n")
        out.write("| | " + " | ".join(f"{d:g} %" for d in densities) + " |\n")
        out.write("|---|" + "---|" * len(densities) + "\n")
        for kernel, row in kernels.items():
            if kernel != "sample":
                out.write(f"| {kernel} | " + " | ".join(f"{row[d]:.1f}" for d in densities) + " |\n")


if __name__ == "__main__":
    write(medians(sys.argv[1:]), sys.stdout)
