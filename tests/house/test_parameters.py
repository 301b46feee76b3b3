# SPDX-License-Identifier: BSD-3-Clause
"""The documentation of the parameters says what the table says."""
import re

from house import read

ENTRY = re.compile(r'^LUCID_PARAM\((\w+), \w+, (\w+), "([^"]*)", "([^"]*)", (\d), "((?:[^"\\]|\\.)*)"\)$', re.M)


def rows():
    """One line of Markdown for each parameter of the table."""
    for name, kind, default, values, level, text in ENTRY.findall(read("src/core/params.def")):
        values = values.replace("|", r"\|")
        yield f"| `LUCID_{name}` | {kind} | {f'`{default}`' if default else ''} | {values} | {level} | {text} |"


def test_table_is_read():
    declared = read("src/core/params.def").count("\nLUCID_PARAM(")
    assert len(list(rows())) == declared > 0


def test_page_has_every_row_and_no_other():
    page = [line for line in read("docs/parameters.md").splitlines() if line.startswith("| `LUCID_")]
    assert page == list(rows())
