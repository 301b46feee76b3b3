# SPDX-License-Identifier: BSD-3-Clause
"""Measures what Lucid costs. Writes CSV files, report.md and figures into $LUCID_RESULTS."""
import argparse
import json
import os
import sys

import overhead_launch
import overhead_reduce
import overhead_report
import overhead_self

PARTS = ("instructions", "booking", "self", "peers", "cold", "reduce")


def measure(part, build, results, few):
    """few: a look at all of it in a minute or two, not for the record."""
    if part == "instructions":
        overhead_self.measure_instructions(build, results)
    elif part == "booking":
        overhead_self.measure_booking(results, **({"repeat": 3} if few else {}))
    elif part == "cold":
        overhead_self.measure_cold(build, results, **({"repetitions": 30} if few else {}))
    elif part == "self":
        overhead_self.measure_self(build, results, **({"rounds": 3} if few else {}))
    elif part == "peers":
        overhead_self.measure_peers(build, results, **({"rounds": 2, "windows": 50} if few else {}))
    else:
        overhead_reduce.measure_reduce(build, results, **({"repetitions": 20} if few else {}))


def note(results, part, when):
    """The machine and its load, before and after each part, kept beside the figures."""
    path = os.path.join(results, "machine.json")
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            known = json.load(stream)
    known.setdefault(part, {})[when] = overhead_launch.machine()
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(known, stream, indent=1)
    print("%s: %s: load %s" % (part, when, known[part][when]["load"]), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="bench/overhead/run", description=__doc__)
    parser.add_argument("part", nargs="*", help="%s (default: all); report: only read the CSV files again" % ", ".join(PARTS))
    parser.add_argument("--quick", "--few", dest="few", action="store_true", help="few repetitions: a look, not for the record")
    args = parser.parse_args()
    build, results = os.path.abspath(os.environ["LUCID_BUILD_DIR"]), os.path.abspath(os.environ["LUCID_RESULTS"])
    for part in args.part or PARTS:
        if part not in (*PARTS, "report"):
            parser.error("unknown part: %s" % part)
    try:
        for part in [part for part in args.part or PARTS if part != "report"]:
            note(results, part, "before")
            measure(part, build, results, args.few)
            note(results, part, "after")
    except overhead_launch.Failed as failure:
        sys.exit("overhead: %s" % failure)
    print(overhead_report.write_report(results), end="")
    import overhead_figures  # pylint: disable=import-outside-toplevel
    overhead_figures.draw(results)


if __name__ == "__main__":
    main()
