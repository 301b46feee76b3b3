# SPDX-License-Identifier: BSD-3-Clause
"""lucid run --place: what the second run is started with."""
import argparse

import pytest

from lucid import launchers, placed
from lucid.errors import LucidError


@pytest.mark.parametrize("words, kept", [
    (["--map-by", "node", "-n", "4", "./app"], ["-n", "4", "./app"]),
    (["-map-by", "ppr:2:node", "--rank-by", "slot", "./app", "-x"], ["./app", "-x"]),
    (["--map-by=node", "--bind-to", "core", "./app"], ["--bind-to", "core", "./app"]),
    (["-bynode", "-rf", "old", "-n", "2", "./app"], ["-n", "2", "./app"]),
    (["-n", "4", "./app"], ["-n", "4", "./app"]),
])
def test_what_was_said_of_placement_makes_way(words, kept):
    assert placed.without_placement(words) == kept


def fake(monkeypatch, version):
    monkeypatch.setattr(launchers, "find", lambda command: launchers.Launcher(0, launchers.family("mpirun", version), version))


@pytest.mark.parametrize("version, options", [
    ("mpirun (Open MPI) 4.1.4", ["-rf", "ranks"]),
    ("mpirun (Open MPI) 5.0.7", ["--map-by", "rankfile:file=ranks", "--bind-to", "none"]),
    ("prterun (PRRTE) 3.0", ["--map-by", "rankfile:file=ranks", "--bind-to", "none"]),
])
def test_rankfile_in_the_launchers_own_words(monkeypatch, version, options):
    fake(monkeypatch, version)
    assert placed.placed_command(["mpirun", "--map-by", "node", "-n", "4", "app"], "ranks") == ["mpirun", *options, "-n", "4", "app"]


@pytest.mark.parametrize("command", [["./app"], ["mpirun", "-n", "1", "a", ":", "-n", "1", "b"]])
def test_commands_that_cannot_be_placed(monkeypatch, command):
    if command[0] == "mpirun":
        fake(monkeypatch, "mpirun (Open MPI) 4.1.4")
    with pytest.raises(LucidError) as error:
        placed.check(command)
    assert "--place" in str(error.value) and "\n" not in str(error.value)


def test_a_failing_first_run_is_the_last(monkeypatch, tmp_path):
    fake(monkeypatch, "mpirun (Open MPI) 4.1.4")
    runs = []
    arguments = argparse.Namespace(program=["mpirun", "app"], output=str(tmp_path / "report"), force=False, place=True, dry_run=False)
    assert placed.run(arguments, lambda part: runs.append(part.output) or 7) == 7
    assert runs == [str(tmp_path / "report" / "before")] and not (tmp_path / "report").exists()  # nothing was left in it
