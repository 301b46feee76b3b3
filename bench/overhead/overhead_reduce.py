# SPDX-License-Identifier: BSD-3-Clause
"""Figure 4 of the paper: what a session adds to MPI_Reduce. Writes reduce.csv."""
import os
import re

from overhead_launch import LAB, PML, Failed, Lab, lab_is_possible, mpirun
from overhead_self import Table

SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)
WARM = 2  # repetitions that are not written down


def check(text, ranks, repetitions, batch, sizes):
    """Every rank but the root sends at least one message per reduction, and of one integer exactly one."""
    found = {int(size): int(n) for size, n in re.findall(r"^counted (\d+) (\d+)$", text, re.MULTILINE)}
    least = (ranks - 1) * (repetitions + WARM) * batch
    for size in sizes:
        if found.get(size, 0) < least or (size == 1 and found[size] != least):
            raise Failed("%d integers: %d messages were counted, %d sent" % (size, found.get(size, 0), least))


def one(table, name, ranks, build, results, repetitions, sizes, batch=1, launcher=("mpirun",)):
    text = mpirun(ranks, PML, build, os.path.join(results, "overhead_reduce"), "--repetitions", repetitions,
                  "--ints", ",".join(map(str, sizes)), "--batch", batch, launcher=launcher, timeout=1800)
    check(text, ranks, repetitions, batch, sizes)
    times = re.findall(r"^time (\d+) (\d+) ([\d.]+) ([\d.]+)$", text, re.MULTILINE)
    if len(times) != repetitions * len(sizes):
        raise Failed("%d measurements, not %d" % (len(times), repetitions * len(sizes)))
    table.rows([name, size, "%.1f" % float(off), "%.1f" % float(on)] for size, _, off, on in times)


def measure_reduce(build, results, repetitions=180, ranks=(2, 4, 8), sizes=SIZES, lab=True):
    with Table(os.path.join(results, "reduce.csv"), ["setup", "ints", "us_without", "us_with"]) as table:
        for n in ranks:
            one(table, "np %d" % n, n, build, results, repetitions, sizes)
        if lab and lab_is_possible():
            with Lab(2, 4, results):
                one(table, "2 x 4", 8, build, results, repetitions, sizes, launcher=(LAB, "mpirun"))
        elif lab:
            print("reduce: no lab can be made here: the run on two nodes is left out")
