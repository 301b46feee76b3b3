# SPDX-License-Identifier: BSD-3-Clause
"""Every installed header compiles by itself, in C and C++, without a warning."""
import os
import re
import subprocess

import pytest

from house import ROOT, read, setting

HEADERS = sorted(name for name in os.listdir(os.path.join(ROOT, "include")) if name.endswith(".h"))
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"]


def compile_alone(language, standard, header, text=None):
    """Compiles a file that includes the header twice and nothing else; returns what the compiler says."""
    compiler = setting("LUCID_CC" if language == "c" else "LUCID_CXX")
    includes = ["-I" + os.path.join(ROOT, "include")]
    for folder in setting("LUCID_MPI_INCLUDES").split(":"):
        includes += ["-isystem", folder]  # what the MPI library's header says is not ours
    source = text if text is not None else "#include <%s>\n#include <%s>\nint lucid_house;\n" % (header, header)
    done = subprocess.run([compiler, "-x", language, "-std=" + standard, "-c", "-o", os.devnull, *WARNINGS, *includes, "-"],
                          input=source, universal_newlines=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("language, standard", [("c", "c99"), ("c", "c11"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++17")])
def test_alone(language, standard, header):
    assert compile_alone(language, standard, header) == (0, "")


@pytest.mark.parametrize("language, standard", [("c", "c11"), ("c++", "c++11")])
def test_a_warning_would_be_seen(language, standard):
    code, said = compile_alone(language, standard, None, "#include <lucid.h>\nstatic int unused;\n")
    assert code != 0 and "unused" in said


def test_every_public_function_has_c_linkage():
    for name in HEADERS:
        text = read("include/" + name)
        if "LUCID_PUBLIC" in re.sub(r"(?m)^\s*#.*$", "", text):
            assert 'extern "C" {' in text, name
