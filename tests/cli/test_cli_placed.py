# SPDX-License-Identifier: BSD-3-Clause
"""lucid run --place: what the second run is started with."""
import argparse

import pytest

from lucid import launchers, mapping_formats, placed
from lucid.errors import LucidError


@pytest.mark.parametrize("words, kept", [
    (["--map-by", "node", "-n", "4", "./app"], ["-n", "4", "./app"]),
    (["-map-by", "ppr:2:node", "--rank-by", "slot", "-x", "A"], ["-x", "A"]),
    (["--map-by=node", "--bind-to", "core"], ["--bind-to", "core"]),
    (["-bynode", "-rf", "old", "-n", "2"], ["-n", "2"]),
    (["-n", "4"], ["-n", "4"]),
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


PLACED = ["mpirun", "--map-by", "rankfile:file=ranks"]


@pytest.mark.parametrize("options, shared, expected", [
    ([], False, ["--bind-to", "none"]), ([], True, ["--bind-to", "none"]),
    (["--bind-to", "core"], False, ["--bind-to", "core"]), (["--bind-to", "core"], True, ["--bind-to", "none"]),
    (["--bind-to=none"], False, ["--bind-to=none"]), (["--bind-to=socket", "-q"], True, ["--bind-to", "none", "-q"]),
])
def test_prrte_is_told_of_binding_once(monkeypatch, options, shared, expected):
    fake(monkeypatch, "mpirun (Open MPI) 5.0.7")
    assert placed.placed_command(["mpirun", *options, "app"], "ranks", shared) == [*PLACED, *expected, "app"]


def test_the_programs_own_words_stay(monkeypatch):
    fake(monkeypatch, "mpirun (Open MPI) 5.0.7")
    own = ["app", "-rf", "file", "--map-by=me", "-nolocal", "--bind-to", "core"]
    assert placed.placed_command(["mpirun", "-n", "2", *own], "ranks") == [*PLACED, "--bind-to", "none", "-n", "2", *own]


@pytest.mark.parametrize("path, taken", [
    ("ranks", True), ("/scratch/ada/run_1.d/rankfile", True), ("lucid-report/rankfile", False), ("/scratch/peter/rankfile", False),
    ("OPEN/rankfile", False), ("a:b", False), ("a,b", False), ("a b", False),
])
def test_paths_that_prrte_reads(path, taken):
    assert mapping_formats.prrte_reads(path) == taken


@pytest.mark.parametrize("path", ["speed/rankfile", "lucid-report/rankfile", "report/rankfile"])
@pytest.mark.parametrize("version", ["mpirun (Open MPI) 4.1.4", "mpirun (Open MPI) 5.0.7"])
def test_a_rankfile_that_prrte_would_not_read_is_copied(monkeypatch, tmp_path, path, version):
    fake(monkeypatch, version)
    monkeypatch.chdir(tmp_path)
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text("rank 0=a slot=0\n")
    given = []

    def once(part):
        name = [word for word in part.program if "rankfile" in word][0].replace("rankfile:file=", "")
        given.append((name, (tmp_path / name).read_text()))
        return 3

    arguments = argparse.Namespace(program=["mpirun", "app"], place=True, output=None)
    assert placed._run_placed(arguments, "out", path, True, once) == 3
    (name, text), = given
    assert text == "rank 0=a slot=0\n" and (name == path) == ("4.1" in version or path.startswith("report"))
    assert [entry.name for entry in tmp_path.iterdir()] == [path.split("/")[0]]


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
