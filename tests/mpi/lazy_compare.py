# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI with coll/lazy beside Open MPI alone.

lazy_compare.py leak -- MPIRUN ... PROGRAM        bytes left by used and freed communicators: no more than without it
lazy_compare.py refused LIBRARY -- MPIRUN ...     with LIBRARY preloaded: the program runs, and one line says why without it
"""
import os
import re
import subprocess
import sys

PATH = "OMPI_MCA_mca_base_component_path"
# what a fixed number of larger buffers and the allocator's bins come to, per communicator of the test
SLACK = 64


def run(command, **changes):
    environment = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=110)


def left(command, **changes):
    done = run(command, **changes)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return [float(value) for value in re.findall(r"^left \d ([-\d.]+)$", done.stdout, re.M)]


def leak(command):
    alone = left(command, **{PATH: None, "LUCID_TEST_LAZY": "none"})
    lazy = left(command)
    if len(alone) != 6 or len(lazy) != 6:
        sys.exit("six figures were expected: %s, %s" % (alone, lazy))
    print("alone %s\nlazy  %s" % (alone, lazy))
    return 1 if any(a + SLACK < b for a, b in zip(alone, lazy)) else 0


def refused(library, command):
    done = run(command[:-1] + ["env", "LD_PRELOAD=" + library] + command[-1:], LUCID_TEST_LAZY="refused")
    lines = [line for line in done.stderr.splitlines() if line.startswith("lucid: ")] # PMIx names the directory, too
    print(done.stdout + done.stderr)
    good = done.returncode == 0 and len(lines) == 1 and "4.1.99" in lines[0] and "build Lucid with this one" in lines[0]
    return 0 if good else 1


def main():
    split = sys.argv.index("--")
    arguments, command = sys.argv[1:split], sys.argv[split + 1:]
    return leak(command) if arguments[0] == "leak" else refused(arguments[1], command)


if __name__ == "__main__":
    sys.exit(main())
