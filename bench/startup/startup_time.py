# SPDX-License-Identifier: BSD-3-Clause
"""How long an MPI_Comm_dup takes, and the selection of modules in it, with coll/lazy and without, in turns on one node: writes
times.csv into $LUCID_RESULTS and prints medians.

    startup_time.py [--rounds 11] [--ranks 2,4,8] [--count 2000]
"""
import argparse
import csv
import os
import statistics
import subprocess

from startup_measure import Setting

HERE = os.path.dirname(os.path.abspath(__file__))
FIELDS = ("ranks", "what", "layer", "round", "us")
SHOWN = ("alone", "delay", "share")


def preloaded(results):
    library = os.path.join(results, "startup_select.so")
    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", os.path.join(HERE, "startup_select.c"), "-o", library, "-ldl"], check=True)
    return library


def measure(setting, program, library, ranks, count, layer):
    """Microseconds of a dup (median), of a first barrier on it (mean), and of the selection within a dup (median)."""
    made = float(setting.comms(program, layer, ranks, "dup", "none", count)["create_us"])
    used = float(setting.comms(program, layer, ranks, "dup", "allreduce", count)["first_us"])
    said = setting.run(["env", "LD_PRELOAD=" + library, program, "dup", "none", str(count)], layer, ranks)
    select = next(float(line.split(",")[2]) for line in said.splitlines() if line.startswith("select,")) / 1000
    return {"dup": made, "first allreduce": used, "selection": select}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--count", type=int, default=2000)
    arguments = parser.parse_args()
    build, results = os.environ["LUCID_BUILD_DIR"], os.environ["LUCID_RESULTS"]
    setting, rows = Setting(build), []
    program, library = os.path.join(results, "startup_comms"), preloaded(results)
    subprocess.run(["mpicc", "-O2", os.path.join(HERE, "startup_comms.c"), "-o", program], check=True)
    for ranks in map(int, arguments.ranks.split(",")):
        for number in range(arguments.rounds):
            for layer in SHOWN[number % 3:] + SHOWN[:number % 3]:
                found = measure(setting, program, library, ranks, arguments.count, layer)
                rows += [dict(zip(FIELDS, (ranks, what, layer, number, us))) for what, us in found.items()]
    with open(os.path.join(results, "times.csv"), "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    for ranks, what in sorted({(row["ranks"], row["what"]) for row in rows}):
        median = {layer: statistics.median(row["us"] for row in rows if (row["ranks"], row["what"], row["layer"]) ==
                                           (ranks, what, layer)) for layer in SHOWN}
        print(f"np {ranks:2} {what:16}" + "".join(f"  {layer} {median[layer]:9.2f} us" for layer in SHOWN) +
              f"  share {100 * (median['share'] / median['alone'] - 1):+.0f} %")


if __name__ == "__main__":
    main()
