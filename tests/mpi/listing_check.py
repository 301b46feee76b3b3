#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a listing of the paper in an empty directory and checks the files that it leaves.

listing_check.py --np N --expect WHAT [--only-open-mpi] -- COMMAND...

WHAT is how the matrices are derived, never taken from a run:
  ring                 every process sends 1000 bytes to the next (Listing 1)
  barrier              some barrier: no bytes, every process is heard of and hears of others (Listing 2)
  recursive-doubling   MPI_Barrier by recursive doubling
  bruck                MPI_Barrier by Bruck's algorithm
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile


def recursive_doubling(n):
    """Rank r and r xor 2^k exchange; the ranks beyond a power of two report to one below it and are told at the end."""
    matrix = [[0] * n for _ in range(n)]
    power = 1
    while power * 2 <= n:
        power *= 2
    for extra in range(power, n):
        matrix[extra][extra - power] += 1
        matrix[extra - power][extra] += 1
    distance = 1
    while distance < power:
        for rank in range(power):
            matrix[rank][rank ^ distance] += 1
        distance *= 2
    return matrix


def bruck(n):
    """In step k, rank r sends to r + 2^k."""
    matrix = [[0] * n for _ in range(n)]
    distance = 1
    while distance < n:
        for rank in range(n):
            matrix[rank][(rank + distance) % n] += 1
        distance *= 2
    return matrix


def ring(n):
    """Rank r sends one message to r + 1."""
    matrix = [[0] * n for _ in range(n)]
    for rank in range(n):
        matrix[rank][(rank + 1) % n] += 1
    return matrix


def read_matrix(path, n):
    """The square matrix in a file: a row of numbers per sender."""
    with open(path, encoding="ascii") as file:
        rows = [[int(word) for word in line.split()] for line in file if line.strip() and not line.startswith("#")]
    if len(rows) != n or any(len(row) != n for row in rows):
        sys.exit(f"{path}: not a {n} x {n} matrix: {rows}")
    return rows


def check_any_barrier(counts, n):
    """No process can leave a barrier before it has heard of all others, so each hears and is heard."""
    for rank in range(n if n > 1 else 0):
        if sum(counts[rank]) == 0 or sum(row[rank] for row in counts) == 0:
            sys.exit(f"rank {rank} takes no part in the barrier: {counts}")
    if n == 1 and counts != [[0]]:
        sys.exit(f"a barrier of one process sends messages: {counts}")


def check(expect, counts, sizes, n):
    """Ends the program with a message if the matrices are not as derived."""
    wanted_counts = {"ring": ring, "bruck": bruck, "recursive-doubling": recursive_doubling}
    bytes_each = 1000 if expect == "ring" else 0
    if expect == "barrier":
        check_any_barrier(counts, n)
    elif counts != wanted_counts[expect](n):
        sys.exit(f"counts are {counts}, should be {wanted_counts[expect](n)}")
    if sizes != [[bytes_each * count for count in row] for row in counts]:
        sys.exit(f"sizes are {sizes} for counts {counts}")


def is_open_mpi(launcher):
    """Whether the launcher is Open MPI's."""
    text = subprocess.run([launcher, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout
    return b"Open MPI" in text or b"OpenRTE" in text or b"PRTE" in text or b"prte" in text


def main():
    """Runs the command and checks what it has written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--np", type=int, required=True)
    parser.add_argument("--expect", choices=["ring", "barrier", "recursive-doubling", "bruck"], required=True)
    parser.add_argument("--only-open-mpi", action="store_true", help="skip where another library would choose")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    if args.only_open_mpi and not is_open_mpi(args.command[0]):
        print("SKIP: the algorithm is chosen by a parameter of Open MPI")
        return 77
    directory = tempfile.mkdtemp(prefix="lucid-listing-")
    try:
        run = subprocess.run(args.command, cwd=directory, stdout=subprocess.PIPE, check=False)
        if run.returncode != 0 or run.stdout:
            sys.exit(f"exit code {run.returncode}, standard output {run.stdout!r}")
        base = "ring" if args.expect == "ring" else "barrier"
        files = sorted(os.listdir(directory))
        if files != [f"{base}_counts.0.prof", f"{base}_sizes.0.prof"]:
            sys.exit(f"files left: {files}")
        counts, sizes = (read_matrix(os.path.join(directory, name), args.np) for name in files)
        check(args.expect, counts, sizes, args.np)
    finally:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
