#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program once with each of two traffic sources; the files that it writes must be the same, byte for byte.

exact_compare.py --sources A B -- COMMAND...      the command is run in an empty directory
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def run(command, source):
    """What the command leaves in an empty directory: {name: content}; None if it says that it cannot run."""
    directory = tempfile.mkdtemp(prefix="lucid-compare-")
    try:
        done = subprocess.run(command, cwd=directory, env=dict(os.environ, LUCID_SOURCE=source),
                              stdout=subprocess.PIPE, check=False)
        if b"SKIP:" in done.stdout:
            print(done.stdout.decode(errors="replace"))
            return None
        if done.returncode != 0:
            sys.exit(f"source {source}: exit code {done.returncode}")
        files = {}
        for name in sorted(os.listdir(directory)):
            with open(os.path.join(directory, name), "rb") as file:
                files[name] = file.read()
        return files
    finally:
        shutil.rmtree(directory)


def main():
    """Runs and compares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sources", nargs=2, required=True)
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    first, second = (run(args.command, source) for source in args.sources)
    if first is None or second is None:
        return SKIPPED
    if not first or sorted(first) != sorted(second):
        sys.exit(f"files: {sorted(first)} and {sorted(second)}")
    different = [name for name in first if first[name] != second[name]]
    for name in different:
        print(f"{name}: {args.sources[0]} has\n{first[name].decode()}\n{args.sources[1]} has\n{second[name].decode()}")
    total = sum(int(word) for row in first["mix.p2p_counts.0.prof"].split(b"\n") for word in row.split())
    if total == 0:
        sys.exit("no message was recorded at all")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
