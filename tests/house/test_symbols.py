# SPDX-License-Identifier: BSD-3-Clause
"""What a program that links or preloads liblucid may see of it: nothing without one of our prefixes."""
import os
import re
import subprocess

import pytest

from house import ROOT, read, setting

ALLOWED = re.compile(r"""^(?:
    lucid_\w+               # lucid.h, and what the library shares with its own modules
  | MPIX?_[A-Z]\w+          # wrappers of the MPI library's functions; MPI_M_ of MPI_Monitoring.h
  | mpix?_\w+_{1,2}         # their Fortran entry points
  | mpix?_\w+_f08(?:ts)?    # without an underscore, as some compilers have it
  | __(?:mpi_monitoring|lucid|lucid_\w+?)_MOD_\w+   # the Fortran modules
)$""", re.VERBOSE)


OF_MODULES = {"lucid_pml": {"lucid_source_pml"}, "lucid_scotch": {"lucid_map_scotch"}, "lucid_components": set()}


def exported(library):
    """Names that a shared library defines for others."""
    out = subprocess.run([setting("LUCID_NM"), "-D", "--defined-only", library], check=True, universal_newlines=True,
                         stdout=subprocess.PIPE).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if line.strip()}


def libraries():
    folder = os.path.dirname(setting("LUCID_BUILT_LIBRARY"))
    return sorted({os.path.realpath(os.path.join(folder, name)) for name in os.listdir(folder) if ".so" in name})


def modules():
    """What liblucid and Open MPI load at run time."""
    folder = os.path.join(os.path.dirname(setting("LUCID_BUILT_LIBRARY")), "lucid")
    return sorted(os.path.join(top, name) for top, _, names in os.walk(folder) for name in names if name.endswith(".so"))


def test_only_our_prefixes():
    assert libraries()
    for library in libraries():
        assert {name for name in exported(library) if not ALLOWED.match(name)} == set(), library


def test_modules_export_what_is_looked_for_and_nothing_else():
    """Another name could be taken for liblucid's of the same name, or liblucid's for it."""
    for module in modules():
        name = os.path.basename(module)[:-len(".so")]
        assert exported(module) == ({name + "_component"} if name.startswith("mca_") else OF_MODULES[name]), module


@pytest.mark.parametrize("name", ["json_write", "cells_grow", "MPI_", "main", "environ", "PMPI_Send", "lucid", "opal_init"])
def test_a_foreign_name_would_be_seen(name):
    assert not ALLOWED.match(name)


@pytest.mark.parametrize("name", ["lucid_init", "MPI_M_start", "MPI_Send", "mpi_send_", "mpi_send_f08_", "__lucid_MOD_x"])
def test_our_names_are_let_through(name):
    assert ALLOWED.match(name)


def declared(header):
    """Functions that a public header declares."""
    text = re.sub(r"/\*.*?\*/|^#[^\n]*", "", read("include/" + header), flags=re.DOTALL | re.MULTILINE)
    return set(re.findall(r"LUCID_PUBLIC[^;(]*?\b(\w+)\s*\(", text))


@pytest.mark.parametrize("header", sorted(name for name in os.listdir(os.path.join(ROOT, "include")) if name.endswith(".h")))
def test_what_the_headers_promise_is_there(header):
    promised = declared(header)
    names = exported(setting("LUCID_BUILT_LIBRARY"))
    if header == "MPI_Monitoring.h" and "MPI_M_init" not in names:
        pytest.skip("built with -DLUCID_MPI_M=OFF")
    assert promised - names == set()
    assert promised or header == "lucid_types.h"
