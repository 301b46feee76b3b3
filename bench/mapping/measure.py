# SPDX-License-Identifier: BSD-3-Clause
"""Runs every mapper on every instance, in turns, and writes mapping.csv, mapping.md and a figure into $LUCID_RESULTS."""
import argparse
import csv
import os
import shutil
import sys
import time

os.environ["LUCID_LIBRARY"] = os.path.join(os.environ["LUCID_BUILD_DIR"], "lib", "liblucid.so")

import instances  # noqa: E402
import mappers  # noqa: E402
import results as report  # noqa: E402

FIELDS = ("instance", "size", "mapper", "repetition", "seconds", "cpu_seconds", "others", "ratio")


def ticks():
    """What all processes of this machine have used of the CPUs, and what there was, in seconds."""
    with open("/proc/stat", encoding="ascii") as stream:
        values = [int(word) / os.sysconf("SC_CLK_TCK") for word in stream.readline().split()[1:9]]
    return sum(values) - values[3] - values[4], sum(values)


def wait_for_quiet(seconds):
    """Waits until others leave at least nine tenths of the machine alone, `seconds` at most."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        used, all_ = ticks()
        time.sleep(0.5)
        now, whole = ticks()
        if now - used < 0.1 * (whole - all_):
            return


class Priority:
    """Priority over other programs while something is measured, and a pause for them afterwards, as long, 5 seconds at most.
    Linux deals CPUs out to sessions first (autogroup), so this process has to have one of its own."""

    def __init__(self, wanted):
        self.wanted, self.begin = wanted, 0.0

    def __enter__(self):
        self.begin = time.monotonic()
        self._set(-20)

    def __exit__(self, *_):
        self._set(0)
        if self.wanted:
            time.sleep(min(5.0, time.monotonic() - self.begin))

    def _set(self, nice):
        if not self.wanted:
            return
        os.setpriority(os.PRIO_PROCESS, 0, nice)
        if os.path.exists("/proc/self/autogroup"):
            with open("/proc/self/autogroup", "w", encoding="ascii") as stream:
                stream.write(str(nice))


def measure(instance, mapper, repetition, before, priority):
    """One row of the table."""
    with priority:
        used, all_ = ticks()
        k, seconds, cpu = mapper.map(instance, repetition)
        now, whole = ticks()
    if sorted(k) != list(range(instance.size)):
        raise SystemExit("mapping: the answer of %s on %s is not a permutation" % (mapper.name, instance.name))
    others = max(0.0, now - used - cpu) / max(whole - all_, 0.01)
    return dict(zip(FIELDS, (instance.name.split("_")[0], instance.size, mapper.name, repetition, round(seconds, 4), round(cpu, 4),
                             round(others, 2), round(mappers.cost(instance, k) / before, 5))))


def in_turns(instance, chosen, options, write):
    """Every mapper once, then every mapper again: what disturbs the machine for a while disturbs all of them."""
    before, left = mappers.cost(instance, range(instance.size)), [m for m in chosen if instance.size <= m.largest]
    for repetition in range(options.repetitions):
        for mapper in list(left):
            wait_for_quiet(options.wait)
            try:
                row = measure(instance, mapper, repetition, before, Priority(options.priority))
            except mappers.Unavailable as error:
                print("mapping: %s is left out of %s: %s" % (mapper.name, instance.name, error), file=sys.stderr)
                left.remove(mapper)
                continue
            write(row)
            if row["seconds"] > options.patience and repetition > 0:
                left.remove(mapper)  # twice is enough of what takes so long


def plan(options):
    """The instances to measure."""
    for size in options.sizes:
        for name in options.instances:
            if size != 32768 or name == "sts":  # the paper has this size, the other tables do not
                yield instances.make(name, size)


def run(options, path):
    threads = options.threads
    chosen = [m for m in mappers.all_of(threads, options.results) if not options.mappers or m.name in options.mappers]
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()

        def write(row):
            writer.writerow(row)
            stream.flush()
            print("%(instance)s %(size)d %(mapper)s: %(ratio).4f in %(seconds).2f s (others: %(others).0f %%)" %
                  dict(row, others=100 * row["others"]), flush=True)
        for instance in plan(options):
            in_turns(instance, chosen, options, write)


SIZES = [1024, 8192, 16384, 32768, 65536]


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,024 processes, twice: whether it works, not how well")
    parser.add_argument("--sizes", type=numbers, help="numbers of processes (default %s)" % ",".join(map(str, SIZES)))
    parser.add_argument("--instances", type=lambda text: text.split(","), default=list(instances.NAMES))
    parser.add_argument("--mappers", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--repetitions", type=int, help="default 5")
    parser.add_argument("--patience", type=float, default=10, help="what takes longer runs twice only (seconds, default 10)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--wait", type=float, default=0, help="wait so long for a quiet moment before every run (seconds)")
    parser.add_argument("--priority", action="store_true", help="take priority over other programs while measuring (root)")
    parser.add_argument("--report-only", action="store_true", help="write the report from the CSV that is there")
    parser.add_argument("--publish", action="store_true", help="copy the report to docs/results")
    options = parser.parse_args()
    options.sizes = options.sizes or ([1024] if options.quick else SIZES)
    options.repetitions = options.repetitions or (2 if options.quick else 5)
    options.results = os.path.abspath(os.environ["LUCID_RESULTS"])
    path = os.path.join(options.results, "mapping.csv")
    if options.priority and os.fork() != 0:
        sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
    if options.priority:
        os.setsid()
    if not options.report_only:
        run(options, path)
    written = report.write(path, options.results, options.threads)
    if options.publish:
        target = os.path.join(mappers.ROOT, "docs", "results")
        os.makedirs(target, exist_ok=True)
        for name in written:
            shutil.copy(name, target)


if __name__ == "__main__":
    main()
