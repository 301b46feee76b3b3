# SPDX-License-Identifier: BSD-3-Clause
"""Help, version, wrong command lines; and that the words of the documentation are those of the command."""
import os
import re

import pytest

import lucid as package
from conftest import ROOT
from lucid import units
from lucid.cli import parser


def test_version(lucid):
    done = lucid("--version")
    assert (done.code, done.out) == (0, f"lucid {package.__version__}\n")


def test_version_is_that_of_the_build():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        assert f"project(Lucid VERSION {package.__version__} " in file.read()


def test_help(lucid):
    whole = lucid("help")
    assert whole.code == 0 and whole.out == lucid("--help").out and "first steps:" in whole.out
    for name in ("run", "show", "doctor"):
        assert lucid("help", name).out == lucid(name, "--help").out != ""


def test_no_command(lucid):
    done = lucid()
    assert done.code == 2 and done.out == "" and "first steps:" in done.err


@pytest.mark.parametrize("words", [["gossip"], ["show", "--bytes", "--messages"], ["show", "--top", "x"], ["doctor", "x"], ["run", "--gossip", "x"]])
def test_wrong_command_lines(lucid, words):
    done = lucid(*words)
    assert done.code == 2 and done.out == "" and "error: " in done.err


def documented(text):
    return set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+|-[a-z]\b)", text))


def test_every_option_is_documented():
    with open(os.path.join(ROOT, "docs", "command.md"), encoding="utf-8") as file:
        words = documented(file.read())
    commands = next(a for a in parser()._actions if hasattr(a, "choices") and a.choices and "run" in a.choices)
    for name, sub in commands.choices.items():
        for action in sub._actions:
            if action.option_strings and "--help" not in action.option_strings:
                assert words & set(action.option_strings), f"docs/command.md does not say {action.option_strings} of lucid {name}"


@pytest.mark.parametrize("value, text", [(0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.00 kB"), (9995, "10.0 kB"), (12345, "12.3 kB"),
                                         (999499, "999 kB"), (999500, "1.00 MB"), (2**64, "18.4 EB"), (4.5, "4.50 B")])
def test_sizes(value, text):
    assert units.size(value) == text


@pytest.mark.parametrize("part, whole, text", [(0, 5, "0 %"), (5, 5, "100 %"), (1, 10**6, "< 0.1 %"), (999999, 10**6, "> 99.9 %"),
                                               (1, 200, "0.5 %"), (1, 3, "33 %"), (1, 0, "0 %"), (997, 1000, "99.7 %")])
def test_percentages(part, whole, text):
    assert units.percent(part, whole) == text


@pytest.mark.parametrize("value, text", [(0.0004, "0.4 ms"), (0.52, "0.52 s"), (12.5, "12.5 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_durations(value, text):
    assert units.seconds(value) == text


def test_ranges():
    assert units.ranges([0, 1, 2, 3, 8]) == "0-3,8" and units.ranges([]) == ""
