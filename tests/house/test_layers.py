# SPDX-License-Identifier: BSD-3-Clause
"""Who may know whom: the rules of the layers, read off the includes and calls of every C file."""
import os
import posixpath
import re

import pytest

from house import code_of, line_of, sources

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
C_FILE = (".c", ".h", ".def", ".inc")
NO_MPI = ("core", "map", "sparse")
# The layers whose headers a layer may include, besides its own and the public ones.
MAY_KNOW = {
    "core": (),
    "map": ("core",),
    "sparse": ("core",),
    "monitor": ("core",),
    "place": ("core", "monitor"),
    "reduce": ("core", "sparse"),
    "pmpi": ("core", "monitor", "place", "reduce"),
    "mca": ("core", "monitor", "sparse"),
    "fortran": (),
    "doctor": (),
}
MPI_HEADERS = ("mpi.h", "mpi-ext.h", "lucid.h", "MPI_Monitoring.h")
INSIDE_OPEN_MPI = re.compile(r"^(ompi|opal|orte|oshmem|prte|openmpi|mpi/f77)/|^(ompi_config|opal_config|pmix)\.h$")
MPI_CALL = re.compile(r"\bP?MPI_(?:[A-Z][a-z]|T_[a-z])\w*[ \t\n]*\(")
VERSION_IF = re.compile(
    r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b.*\b(?:(?:OMPI|OPAL|OPEN_?MPI|PRTE|ORTE|PMIX|MPICH|MVAPICH2?|I_MPI|IMPI|MPI)"
    r"_?(?:MAJOR|MINOR|RELEASE|SUB|NUM|API)?_?VERSION\w*|MPICH_NUMVERSION|MPI_SUBVERSION|MVAPICH2?|MPICH|I_MPI_\w+)\b",
    re.MULTILINE)


def layer_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "src" else None


def target_layer(path, kind, name, files):
    """The layer that an include of another layer's header leads to, or None."""
    if kind == '"':
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if beside in files:
            return layer_of(beside)
    found = [f for f in files if layer_of(f) and posixpath.basename(f) == posixpath.basename(name)]
    return layer_of(found[0]) if len(found) == 1 and layer_of(found[0]) else None


def violations(files):
    """Every breach of the rules in {path: text}, as 'path:line: what'."""
    wrong = []
    for path, text in sorted(files.items()):
        if not path.endswith(C_FILE):
            continue
        layer = layer_of(path)
        # Include names are literals, so they are read from the text without its comments only.
        bare = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.DOTALL)

        def add(offset, what):
            wrong.append("%s:%d: %s" % (path, line_of(text, offset), what))

        for match in INCLUDE.finditer(bare):
            kind, name = match.groups()
            if layer in NO_MPI and posixpath.basename(name) in MPI_HEADERS:
                add(match.start(), "src/%s knows no MPI, but includes %s" % (layer, name))
            if layer and layer != "mca" and INSIDE_OPEN_MPI.search(name):
                add(match.start(), "only src/mca may include Open MPI's internal header %s" % name)
            other = target_layer(path, kind, name, files) if layer else None
            if other and other != layer and other not in MAY_KNOW.get(layer, ()):
                add(match.start(), "src/%s may not know src/%s (%s)" % (layer, other, name))
        code = code_of(text)
        if layer == "mca":
            for match in MPI_CALL.finditer(code):
                add(match.start(), "src/mca calls %s" % match.group().rstrip("( \t\n"))
        if not path.startswith("src/mca/compat/"):
            for match in VERSION_IF.finditer(code):
                add(match.start(), "a version #if outside src/mca/compat")
    return wrong


def test_the_tree_keeps_the_rules():
    files = sources()
    assert any(layer_of(path) == "core" for path in files), "no source of src/core was found"
    assert violations(files) == []


@pytest.mark.parametrize("path, text", [
    ("src/core/a.c", "#include <mpi.h>\n"),
    ("src/map/a.c", '#  include "mpi.h"\n'),
    ("src/sparse/a.h", "#include <lucid.h>\n"),
    ("src/core/a.c", '#include "../monitor/b.h"\n'),
    ("src/map/a.c", '#include "b.h"\n'),
    ("src/monitor/a.c", '#include "ompi/mca/pml/pml.h"\n'),
    ("src/pmpi/a.c", "#include <opal/util/output.h>\n"),
    ("src/core/a.c", "#include <pmix.h>\n"),
    ("src/mca/pml/a.c", "int f(void) { return MPI_Barrier(c); }\n"),
    ("src/mca/pml/a.c", "int f(void) { return PMPI_Comm_rank (c, &r); }\n"),
    ("src/mca/pml/a.c", "int f(void) { return MPI_T_init_thread(0, &r); }\n"),
    ("src/mca/pml/a.c", "#if OMPI_MAJOR_VERSION >= 5\n#endif\n"),
    ("src/monitor/a.c", "#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION == 4\n#endif\n"),
    ("src/monitor/a.c", "#ifdef MPICH_NUMVERSION\n#endif\n"),
    ("tests/mpi/a.c", "#if MPI_VERSION < 4\n#endif\n"),
])
def test_a_breach_is_seen(path, text):
    files = {"src/monitor/b.h": "", path: text}
    found = violations(files)
    assert len(found) == 1 and found[0].startswith(path + ":1: ")


@pytest.mark.parametrize("path, text", [
    ("src/monitor/a.c", "#include <mpi.h>\n"),
    ("src/monitor/a.c", '#include "../core/b.h"\n'),
    ("src/mca/pml/a.c", '#include "ompi/mca/pml/pml.h"\n'),
    ("src/mca/pml/a.c", "/* MPI_Barrier() is wrapped */ int x = MPI_SUCCESS; /* MPI_Send(x) */\n"),
    ("src/mca/pml/a.c", 'const char *s = "MPI_Barrier(";\n'),
    ("src/mca/compat/v5.h", "#if OMPI_MAJOR_VERSION >= 5\n#endif\n"),
    ("src/core/a.c", "/*\n#include <mpi.h>\n*/\n"),
])
def test_what_is_allowed_is_let_through(path, text):
    assert violations({"src/core/b.h": "", path: text}) == []


def test_every_layer_is_known_to_this_test():
    layers = {layer_of(path) for path in sources() if layer_of(path)}
    assert layers <= set(MAY_KNOW), "give the new layer its place in MAY_KNOW of %s" % os.path.basename(__file__)
