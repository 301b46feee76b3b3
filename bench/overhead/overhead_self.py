# SPDX-License-Identifier: BSD-3-Clause
"""Nanoseconds and instructions per message. Writes self.csv, switch.csv, peers.csv, cold.csv, booking.csv, instructions.csv."""
import csv
import functools
import glob
import os
import re
import tempfile

from overhead_launch import CASES, OMPI, PLAIN, PML, Failed, expect, have, last_processor, mpirun, pairs, call

WARM = 200  # messages before each block of overhead_self
PEERS = (1, 16)


class Table:
    """A CSV file, written row by row."""

    def __init__(self, path, head):
        self.stream = open(path, "w", encoding="utf-8", newline="")  # pylint: disable=consider-using-with
        self.writer = csv.writer(self.stream, lineterminator="\n")
        self.writer.writerow(head)

    def rows(self, rows):
        self.writer.writerows(rows)
        self.stream.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()


def turned(cases, by):
    """The cases in another order in every round, so that none always follows the same one."""
    by %= len(cases)
    return cases[by:] + cases[:by]


HEAD = ["off_cpu", "on_cpu", "off_wall", "on_wall"]


def shortened(blocks):
    return [["%.1f" % value for value in block] for block in blocks]


def run_self(build, results, case, blocks, messages):
    text = mpirun(1, case, build, os.path.join(results, "overhead_self"), "--cpu", last_processor(), "--messages", messages,
                  "--pairs", blocks, *case.arguments())
    expect(case, text, blocks * (messages + min(WARM, messages)))
    return text


@functools.lru_cache(maxsize=None)
def usable(build, results):
    """The cases that this MPI library and this Lucid offer; the two that the target names have to be among them."""
    found = []
    for case in CASES:
        try:
            run_self(build, results, case, 1, 1)
            found.append(case)
        except Failed as failure:
            if case in (PLAIN, PML):
                raise
            print("%s: left out: it does not work here (%s)" % (case.name, str(failure).splitlines()[0]))
    return found


def measure_self(build, results, rounds=20, blocks=12, messages=5000):
    cases = usable(build, results)
    with Table(os.path.join(results, "self.csv"), ["round", "case", *HEAD]) as table, \
            Table(os.path.join(results, "switch.csv"), ["round", "case", "us"]) as switches:
        for number in range(rounds):
            for case in turned(cases, number):
                text = run_self(build, results, case, blocks, messages)
                table.rows([number, case.name, *row] for row in shortened(pairs(text)))
                switches.rows([number, case.name, us] for us in re.findall(r"^switch (\S+)$", text, re.MULTILINE))


def measure_peers(build, results, rounds=10, blocks=6, windows=200, window=64):
    cases = [case for case in usable(build, results) if case in (PLAIN, PML, OMPI)]
    with Table(os.path.join(results, "peers.csv"), ["round", "case", "peers", *HEAD]) as table:
        for number in range(rounds):
            for case in turned(cases, number):
                for peers in PEERS:
                    text = mpirun(max(PEERS) + 1, case, build, os.path.join(results, "overhead_peers"), "--cpu", last_processor(),
                                  "--peers", peers, "--windows", windows, "--window", window, "--pairs", blocks,
                                  *case.arguments())
                    expect(case, text, blocks * windows * window)
                    table.rows([number, case.name, peers, *row] for row in shortened(pairs(text)))


def measure_cold(build, results, repetitions=300):
    """One row per amount of memory: the times of all repetitions, without a session and with."""
    text = mpirun(1, PML, build, os.path.join(results, "overhead_cold"), "--repetitions", repetitions, "--cpu", last_processor())
    rows = [line.split()[1:] for line in text.splitlines() if line.startswith("cold ")]
    amounts = list(dict.fromkeys(row[0] for row in rows))
    expect(PML, text, 3 * repetitions * len(amounts))
    with Table(os.path.join(results, "cold.csv"), ["kB", "session", "ns"]) as table:
        for amount in amounts:
            for column, session in ((1, "without"), (2, "with")):
                table.rows([[amount, session, " ".join(row[column] for row in rows if row[0] == amount)]])


def measure_booking(results, repeat=20, bookings=1000000):
    text = call([os.path.join(results, "overhead_booking"), "--bookings", bookings, "--repeat", repeat, "--cpu", last_processor()])
    rows = [line.split()[1:] for line in text.splitlines() if line.startswith("peers ")]
    if int(text.split("counted ")[1]) != len(rows) * bookings:
        raise Failed("overhead_booking: " + text.splitlines()[-1])
    with Table(os.path.join(results, "booking.csv"), ["peers", "cpu_ns"]) as table:
        table.rows(rows)


def instructions(build, results, case, only, messages):
    """Instructions that overhead_block() and all it calls execute in a run, by callgrind."""
    with tempfile.TemporaryDirectory(dir=results) as place:
        wrapper = ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=%s/out.%%p" % place,
                   "--toggle-collect=overhead_block"]
        mpirun(1, case, build, os.path.join(results, "overhead_self"), "--pairs", 1, "--messages", messages, "--only", only,
               *case.arguments(), wrapper=wrapper)
        for path in glob.glob(place + "/out.*"):
            with open(path, encoding="utf-8") as stream:
                return int(re.search(r"^(?:summary|totals): (\d+)", stream.read(), re.MULTILINE).group(1))
    raise Failed("callgrind has written nothing")


def measure_instructions(build, results, cases=None, first=1000, more=2000):
    """Exact, whatever else the machine does: the difference of a long block and a short one leaves out what is done once."""
    if not have("valgrind"):
        print("instructions: skipped: valgrind is not installed")
        return
    with Table(os.path.join(results, "instructions.csv"), ["case", "sessions", "per_message"]) as table:
        for case in cases or usable(build, results):
            for only in ("off", "on") if case.source else ("off",):
                runs = [instructions(build, results, case, only, n) for n in (first, first + more)]
                table.rows([[case.name, only, "%.2f" % ((runs[1] - runs[0]) / more)]])
