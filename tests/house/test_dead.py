# SPDX-License-Identifier: BSD-3-Clause
"""Nothing in src/ is there for nobody: every function that others could call is called, by its name, somewhere."""
import collections
import re

from house import code_of, sources

DEFINED = re.compile(r"^(?!static\b|extern\b|typedef\b)[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)
DECLARED = re.compile(r"^(?!static\b|typedef\b|[ \t])[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)(?:\s*__attribute__\(.*?\))?;",
                      re.MULTILINE)
# Called by those who link Lucid, by Open MPI, or from a function that the build generates.
BY_OTHERS = re.compile(r"^(?:main|mca_\w+|lucid_f_\w+|lucid_mpi_m_\w+|lucid_(?:fortran_)?starts_\w+|P?MPI_\w+|mpi_\w+)$")


def unused(files):
    """{function: file} of what src/ defines for others and nobody names but where it is defined and declared."""
    words, defined = collections.Counter(), {}
    for path, text in files.items():
        if not path.endswith((".c", ".h", ".py", ".F90", ".def", ".in")):
            continue
        bare = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL) if path.endswith((".c", ".h")) else text
        words.update(re.findall(r"\w+", bare))
        if path.startswith("src/") and path.endswith(".c"):
            defined.update({match.group(1): path for match in DEFINED.finditer(code_of(text))})
        if path.endswith(".h"):
            words.subtract(match.group(1) for match in DECLARED.finditer(code_of(text)))
    public = set(re.findall(r"\w+", "".join(text for path, text in files.items() if path.startswith("include/"))))
    return {name: path for name, path in defined.items() if words[name] < 2 and name not in public and not BY_OTHERS.match(name)}


def test_the_tree():
    files = sources()
    assert sum(path.startswith("src/") for path in files) > 100
    assert unused(files) == {}


def test_an_unused_function_is_seen():
    header = "/* lucid_lost() */\nint lucid_lost(int a);\nint lucid_used(int a);\n"
    code = "int lucid_lost(int a)\n{\n    return a;\n}\n\nint lucid_used(int a)\n{\n    return a;\n}\n"
    other = "static int f(void)\n{\n    return lucid_used(1);\n}\n"
    assert unused({"src/core/a.h": header, "src/core/a.c": code, "src/core/b.c": other}) == {"lucid_lost": "src/core/a.c"}
