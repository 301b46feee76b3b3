# SPDX-License-Identifier: BSD-3-Clause
"""What the installed mpi.h (and mpi-ext.h, where there is one) declares."""
import re
import subprocess
from collections import namedtuple

# type and suffix frame the name: "const int", "[]"
Parameter = namedtuple("Parameter", "type name suffix")

INCLUDES = """#include <mpi.h>
#if defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif
"""

_DECLARATION = re.compile(r"\bint\s+(P?MPIX?_\w+)\s*\(([^;{}]*?)\)\s*[^;{}()]*;")
_PARAMETER = re.compile(r"^(?P<type>.*?)(?P<name>\b[A-Za-z_]\w*)\s*(?P<suffix>(\[[^\]]*\]\s*)*)$")
_TYPE_WORD = re.compile(r"^(void|int|char|const|MPIX?_\w+)$")


def preprocess(compiler, flags):
    """The text of the headers after the preprocessor."""
    command = [*compiler, "-E", "-P", *flags, "-x", "c", "-"]
    done = subprocess.run(command, input=INCLUDES, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"generate.py: cannot preprocess mpi.h with '{' '.join(command)}':\n{done.stderr}")
    return done.stdout


def declarations(text):
    """{function: [Parameter]} of everything that returns int and is declared both as MPI_ and as PMPI_."""
    found = {match[1]: _parameters(match[2]) for match in _DECLARATION.finditer(_without_attributes(text))}
    return {name: parameters for name, parameters in found.items() if not name.startswith("P") and "P" + name in found}


def _without_attributes(text):
    result, at = [], 0
    for match in re.finditer(r"__attribute__\s*\(", text):
        if match.start() < at:
            continue
        result.append(text[at:match.start()])
        at, depth = match.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
    return " ".join("".join([*result, text[at:]]).split())


def _parameters(text):
    if text.strip() in ("", "void"):
        return []
    return [_parameter(part.strip()) for part in text.split(",")]


def _parameter(text):
    match = _PARAMETER.match(text)
    if match is None or not match["type"].strip() or _TYPE_WORD.match(match["name"]):
        return Parameter(text, "", "") # unnamed, or "..."
    return Parameter(match["type"].strip(), match["name"], match["suffix"].replace(" ", ""))
