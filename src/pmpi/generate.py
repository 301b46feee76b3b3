#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the wrappers from functions.py and the installed mpi.h: MPI_X calls PMPI_X, and the Fortran names call the next
definition of the same name. One C and one Fortran file for each group of the table.

usage: generate.py --output DIR --compiler CC [FLAG ...]
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True
import emit_c  # noqa: E402
import emit_fortran  # noqa: E402
import functions  # noqa: E402
import mpi_header  # noqa: E402


def declared(function, header):
    """The function's names that the header declares, each with its parameters: MPI_X, MPI_X_c, MPIX_X."""
    for prefix, suffix in (("MPI_", ""), ("MPI_", "_c"), ("MPIX_", "")):
        name = prefix + function.name + suffix
        if name not in header:
            continue
        parameters = header[name]
        named = [p for p in parameters if p.type != "..."]
        if len(named) != len(function.arguments):
            raise SystemExit(f"generate.py: mpi.h declares {name} with {len(named)} arguments, functions.py knows "
                             f"{len(function.arguments)}: correct the table")
        yield name, parameters


def write(path, text):
    """Replaces the file only if its text has changed, so that nothing is compiled again for nothing."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except OSError:
        pass
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--output", required=True, help="directory of the emitted files")
    parser.add_argument("--compiler", required=True, nargs=argparse.REMAINDER, help="C compiler and flags for mpi.h")
    options = parser.parse_args()
    header = mpi_header.declarations(mpi_header.preprocess(options.compiler[:1], options.compiler[1:]))
    if "MPI_Send" not in header:
        raise SystemExit("generate.py: no declaration of MPI_Send and PMPI_Send found in mpi.h")
    for group, table in functions.GROUPS.items():
        rows = [(function, name, parameters) for function in table() for name, parameters in declared(function, header)]
        write(os.path.join(options.output, f"wrap_{group}.c"), emit_c.file(rows))
        write(os.path.join(options.output, f"wrap_{group}_fortran.c"), emit_fortran.file(rows))


if __name__ == "__main__":
    main()
