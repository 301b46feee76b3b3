# SPDX-License-Identifier: BSD-3-Clause
"""Random programs with everything on and without Lucid: the same checksums, and memory that stays flat.

soak.py MINUTES      rounds of every variant in turn, for about so long; LUCID_SOAK_SEED: where to begin
"""
import os
import re
import sys
import tempfile
import time

from conftest import EVERYTHING, MPIEXEC, built, lucid, run

# Open MPI 4.1.4 by itself dies in some one-sided calls when btl/vader copies between processes in one step. What sparse reductions
# keep for the next one comes at some time after the first: it would look like growth (the variant "always" has it from the start).
ALL = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "LUCID_SPARSE_KEEP": "0"}
# {name: (ranks, environment)}
VARIANTS = {
    "everything": (3, {}),
    "always": (3, {"LUCID_SPARSE_ALWAYS": "1", "LUCID_SPARSE_KEEP": "32M"}),
    "calls": (2, {"LUCID_SOURCE": "pmpi"}),
    "nodes": (4, {"OMPI_MCA_coll_hier_priority": "95", "OMPI_MCA_coll_hier_test_nodes": "0,0,1"}),
}
# What a process may grow by beyond what it does by itself, whatever the number of programs: lists that double, the allocator's
# bins; a program that leaves something behind exceeds it in a round of some hundreds.
HEAP, KILOBYTES = 128 * 1024, 16 * 1024


class Failed(Exception):
    """One line that says what went wrong, and how to see it again."""


def outcome(done):
    """(checksum, bytes of heap, kB of memory) of a run that ended well."""
    grown = re.search(r"soak: grown by (-?\d+) bytes of heap, (-?\d+) kB of memory", done.err)
    if done.code != 0 or not grown:
        raise Failed("exit code %d\n%s%s" % (done.code, done.out, done.err[-4000:]))
    return done.out, int(grown.group(1)), int(grown.group(2))


def once(name, seed, programs, place, timeout, again=True):
    """One round of a variant: ((bytes of heap, kB) without, with). One that has grown has another chance, with twice as many
    programs: what is kept for the next time comes once, what is left behind goes on."""
    ranks, env = VARIANTS[name]
    env = dict(ALL, **env)
    program = ["-n", ranks, built("whole_soak"), seed, programs]
    alone = outcome(run([MPIEXEC, *program], place, env, timeout=timeout))
    layered = outcome(run(lucid("run", "-q", "--force", "-o", "report", *EVERYTHING, *program), place, env, timeout=timeout))
    if layered[0] != alone[0]:
        raise Failed("%sby itself, but\n%swith Lucid" % (alone[0], layered[0]))
    if layered[1] > max(alone[1], 0) + HEAP or layered[2] > max(alone[2], 0) + KILOBYTES:
        if again:
            return once(name, seed, 2 * programs, place, timeout, again=False)
        raise Failed("memory grew by %d bytes of heap and %d kB; by %d bytes and %d kB without Lucid" % (*layered[1:], *alone[1:]))
    return alone[1:], layered[1:]


def soak(minutes, programs=1000):
    end, seed = time.monotonic() + 60 * minutes, int(os.environ.get("LUCID_SOAK_SEED", "1"))
    count = failures = 0
    with tempfile.TemporaryDirectory(prefix="lucid-soak-") as place:
        while count == 0 or time.monotonic() < end:
            name = list(VARIANTS)[count % len(VARIANTS)]
            count += 1
            try:
                alone, layered = once(name, seed, programs, place, 3600)
                print("%s, seed %d: the same; grown by %d bytes of heap, %d kB (%d, %d without)"
                      % (name, seed, *layered, *alone), flush=True)
            except Failed as failed:
                failures += 1
                print("%s, seed %d, %d programs: %s" % (name, seed, programs, failed), flush=True)
            seed += programs
    print("soak: %d rounds of %d programs, %d failed" % (count, programs, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(soak(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000))
