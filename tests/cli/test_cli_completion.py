# SPDX-License-Identifier: BSD-3-Clause
"""lucid completion: what bash and zsh make of it is what the command understands."""
import os
import shutil
import subprocess

import pytest

from conftest import environment
from lucid import completion
from lucid.cli import parser


@pytest.fixture
def complete(lucid, tmp_path):
    """What bash completes a line to: the last word is the one that is completed."""
    bash = shutil.which("bash")
    if not bash:
        pytest.skip("bash is not installed")
    done = lucid("completion", "bash")
    assert (done.code, done.err) == (0, "")
    (tmp_path / "lucid.bash").write_text(done.out)

    def run(*words, before=""):
        text = before + '\nsource ./lucid.bash\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\n_lucid\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
        ended = subprocess.run([bash, "--norc", "-c", text, "bash", "lucid", *words], cwd=str(tmp_path), env=environment(), timeout=60,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        assert (ended.returncode, ended.stderr) == (0, "")
        return [line for line in ended.stdout.splitlines() if line]
    return run


def commands():
    return next(action for action in parser()._actions if action.choices and "run" in action.choices).choices


def test_commands(complete):
    assert set(complete("")) == {*commands(), "-h", "--help", "--version"} and complete("co") == ["compare", "completion"]


def test_every_option_of_every_command(complete):
    for name, sub in commands().items():
        known = {option for action in sub._actions for option in action.option_strings}
        assert {word.rstrip("=") for word in complete(name, "-")} == known, name
        for action in sub._actions:
            for option in action.option_strings if action.choices and action.nargs != "?" else ():
                assert set(complete(name, option, "")) == set(action.choices), (name, option)


@pytest.mark.parametrize("words, found", [
    (("run", "--sp"), ["--sparse", "--sparse="]), (("run", "--startup", "=", ""), ["share", "delay", "alone", "compare"]),
    (("run", "--startup", "="), ["share", "delay", "alone", "compare"]), (("run", "--sparse", "=", "m"), ["measure"]),
    (("run", "--source", "=", "p"), ["pml", "pmpi"]), (("run", "--source", "p"), ["pml", "pmpi"]), (("run", "-n", ""), []),
    (("run", "-n", "4", "--pla"), ["--place"]), (("run", "--source=pml", "--pla"), ["--place"]),
    (("run", "--source", "=", "pml", "--pla"), ["--place"]), (("show", "--class", "c"), ["coll"]), (("help", "sh"), ["show"]),
    (("completion", ""), ["bash", "zsh"]), (("show", "none-of-these"), [])])
def test_words(complete, words, found):
    assert complete(*words) == found


def test_files_and_directories(complete, tmp_path):
    (tmp_path / "report-1").mkdir()
    (tmp_path / "report.json").write_text("")
    (tmp_path / "a report").mkdir()
    assert sorted(complete("show", "rep")) == ["report-1", "report.json"] == sorted(complete("show", "-o", "rep"))
    assert complete("run", "-o", "rep") == ["report-1"] and complete("compare", "report-1", "a") == ["a report"]


def test_the_programs_own_words_are_not_lucids(complete, tmp_path):
    (tmp_path / "--place-of-mine").write_text("")
    for words in (("run", "./app", "--pla"), ("run", "-n", "2", "./app", "--pla"), ("run", "--place", "--", "mpirun", "--pla")):
        assert complete(*words) == ["--place-of-mine"]
    said = complete("run", "--place", "--", "mpirun", "-n", before='_command_offset() { COMPREPLY=("from $1"); }')
    assert said == ["from 4"]  # bash-completion's own function completes what is behind, as if it stood there alone
    assert "mpirun_of_mine" in complete("run", "--place", "mpirun_of", before="mpirun_of_mine() { :; }")


def test_what_is_written_is_what_is_printed(lucid, tmp_path):
    for shell in ("bash", "zsh"):
        assert lucid("completion", shell, "-o", "x").code == 0
        assert (tmp_path / "x").read_text() == lucid("completion", shell).out == getattr(completion, shell)(parser())


def test_zsh_text_has_every_option(lucid):
    text = lucid("completion", "zsh").out
    assert text.startswith("#compdef lucid\n")
    for name, sub in commands().items():
        part = text.split(f"\n    {name})\n")[1].split(";;")[0]
        for action in sub._actions:
            assert all(option + "[" in part or option + "=-[" in part for option in action.option_strings), (name, action.option_strings)


def test_zsh_takes_it(lucid, tmp_path):
    zsh = os.environ.get("LUCID_ZSH") or shutil.which("zsh")
    if not zsh:
        pytest.skip("zsh is not installed")
    (tmp_path / "_lucid").write_text(lucid("completion", "zsh").out)
    # without an interactive zsh there is no _arguments: what it would get
    text = '_arguments() { print -rl -- "$@"; state=argument; }; words=(run); . ./_lucid'
    done = subprocess.run([zsh, "-f", "-c", text], cwd=str(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          universal_newlines=True)
    assert done.returncode == 0 and done.stderr == "" and "--place[" in done.stdout and "*::program: _normal" in done.stdout
