# SPDX-License-Identifier: BSD-3-Clause
"""How files look: licence line, length, and what must never be committed."""
import os
import re

import pytest

from house import ROOT, code_of, sources

MAX_LINES = 500
MAX_FUNCTION = 50
# Files whose format has no comments, or whose text is not ours: the licence itself, and the tests' data.
NO_LICENCE_LINE = re.compile(r"^LICENSE$|^tests/data/|^tests/fuzz/corpus/|\.(json|mtx|prof|xml|csv|txt|golden|expected|svg)$")
CODE = (".c", ".h", ".py", ".f90", ".F90", ".sh", ".cmake", ".def", ".in")
LEFT_OPEN = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE = re.compile(r"(?:^|[\s\"'=:(])/(?:work|farm|root|home)/[A-Za-z0-9_.-]+|/tmp/(?:research|explore|bash_jobs)|/var/tmp/[a-z-]*(?:setup|build-)")
FUNCTION = re.compile(r"^(?!(?:struct|union|enum|typedef)\b)[A-Za-z_][^;{}#=]*\)\s*\n?\{$(.*?)^\}", re.MULTILINE | re.DOTALL)


def flaws(path, text):
    wrong = []
    lines = text.count("\n")
    if "SPDX-License-Identifier: BSD-3-Clause" not in text[:600] and text.strip() and not NO_LICENCE_LINE.search(path):
        wrong.append("%s: no SPDX line at the top" % path)
    if (path.endswith(CODE) or not os.path.splitext(path)[1]) and lines > MAX_LINES:
        wrong.append("%s: %d lines, %d are allowed" % (path, lines, MAX_LINES))
    if path.endswith(CODE) and LEFT_OPEN.search(text):
        wrong.append("%s: %s left in the code" % (path, LEFT_OPEN.search(text).group()))
    if MACHINE.search(text):
        wrong.append("%s: names a place of one machine, %s" % (path, MACHINE.search(text).group().strip()))
    if path.endswith(".c"):
        for match in FUNCTION.finditer(code_of(text)):
            length = match.group().rstrip().count("\n") + 1
            if length > MAX_FUNCTION:
                head = match.group().split("(")[0].split()[-1]
                wrong.append("%s: function %s has %d lines, %d are allowed" % (path, head, length, MAX_FUNCTION))
    return wrong


def test_the_tree():
    files = sources()
    assert len(files) > 20
    assert [flaw for path, text in sorted(files.items()) for flaw in flaws(path, text)] == []


GOOD = "/* SPDX-License-Identifier: BSD-3-Clause */\n"


@pytest.mark.parametrize("path, text, word", [
    ("src/a.c", "int x;\n", "SPDX"),
    ("tools/a", "#!/bin/sh\n", "SPDX"),
    ("src/a.c", GOOD + "int x;\n" * MAX_LINES, "lines"),
    ("src/a.c", GOOD + "/* TO" "DO: later */\n", "left in the code"),
    ("docs/a.md", GOOD + "see /ro" "ot/notes\n", "machine"),
    ("src/a.c", GOOD + "static int f(int a)\n{\n" + "    a++;\n" * MAX_FUNCTION + "}\n", "function f has"),
    ("src/a.c", GOOD + "static int f(int a) {\n" + "    a++;\n" * MAX_FUNCTION + "}\n", "function f has"),
])
def test_a_flaw_is_seen(path, text, word):
    found = flaws(path, text)
    assert len(found) == 1 and word in found[0]


def test_a_good_file_passes():
    assert flaws("src/a.c", GOOD + "int f(void)\n{\n" + "    g();\n" * (MAX_FUNCTION - 3) + "}\n") == []


def test_no_generated_file_is_in_the_tree():
    ends = (".o", ".so", ".a", ".mod", ".pyc", ".gch", "/_paths.py", "/CMakeCache.txt")
    assert [path for path in sources() if ("/" + path).endswith(ends)] == []


def test_names_of_sources_are_unique():
    seen = {}
    for path in sources():
        if path.startswith("src/") and path.endswith((".c", ".h")):
            seen.setdefault(os.path.basename(path), []).append(path)
    assert {name: paths for name, paths in seen.items() if len(paths) > 1} == {}


def test_scripts_can_be_run():
    wrong = [path for path, text in sources().items()
             if text.startswith("#!") and not path.endswith(".in") and not os.access(os.path.join(ROOT, path), os.X_OK)]
    assert wrong == []
