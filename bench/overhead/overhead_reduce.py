# SPDX-License-Identifier: BSD-3-Clause
"""Figure 4 of the paper: what a session adds to MPI_Reduce. Writes reduce.csv."""
import os
import re

from overhead_launch import LAB, PML, Failed, Lab, lab_is_possible, mpirun
from overhead_self import Table

ROW = 100  # reductions in a row, for what a session adds when nothing is waited for
SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)


def check(text, ranks, repetitions, batch, sizes):
    """Every rank but the root sends at least one message per reduction, and of one integer exactly one."""
    found = {int(size): (int(made), int(n)) for size, made, n in re.findall(r"^counted (\d+) (\d+) (\d+)$", text, re.MULTILINE)}
    for size in sizes:
        made, counted = found.get(size, (0, 0))
        if made < repetitions * (batch + 1) or counted < (ranks - 1) * made or (size == 1 and counted != (ranks - 1) * made):
            raise Failed("%d integers: %d messages were counted of %d reductions" % (size, counted, made))


def one(table, name, ranks, build, results, repetitions, sizes, batch=1, launcher=("mpirun",)):
    text = mpirun(ranks, PML, build, os.path.join(results, "overhead_reduce"), "--repetitions", repetitions,
                  "--ints", ",".join(map(str, sizes)), "--batch", batch, launcher=launcher, timeout=1800)
    check(text, ranks, repetitions, batch, sizes)
    found = {}
    for size, _, off, on in re.findall(r"^time (\d+) (\d+) ([\d.]+) ([\d.]+)$", text, re.MULTILINE):
        for mode, value in (("without", off), ("with", on)):
            found.setdefault((int(size), mode), []).append("%.2f" % float(value))
    if {key: len(values) for key, values in found.items()} != {(n, m): repetitions for n in sizes for m in ("without", "with")}:
        raise Failed("measurements are missing in: " + text[-500:])
    table.rows([name, size, mode, " ".join(values)] for (size, mode), values in found.items())


def measure_reduce(build, results, repetitions=180, ranks=(2, 4, 8), sizes=SIZES, lab=True):
    with Table(os.path.join(results, "reduce.csv"), ["setup", "ints", "session", "us"]) as table:
        for n in ranks:
            one(table, "np %d" % n, n, build, results, repetitions, sizes)
            one(table, "np %d, in a row" % n, n, build, results, repetitions // 3 + 1, [k for k in sizes if k <= 1000], batch=ROW)
        if lab and lab_is_possible():
            with Lab(2, 4, results, build):
                one(table, "2 x 4", 8, build, results, repetitions, sizes, launcher=(LAB, "mpirun"))
        elif lab:
            print("reduce: no lab can be made here: the run on two nodes is left out")
