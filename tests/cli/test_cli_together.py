# SPDX-License-Identifier: BSD-3-Clause
"""lucid run with several of its systems at once, and with --all: the same output, and every part leaves what it leaves alone."""
import argparse
import json
import os

import pytest

import lucid as package
from conftest import built
from lucid import components, launchers, together

MPIEXEC = os.environ.get("LUCID_MPIEXEC", "mpirun")
OPENMPI = "mpirun (Open MPI) 4.1.4"


def options(**values):
    return argparse.Namespace(**{"all": True, "place": False, "sparse": None, "startup": None, **values})


@pytest.fixture
def world(monkeypatch):
    """What is on the machine: a launcher, and whether coll/lazy can be found."""
    def make(version, lazy=True):
        name = "mpirun" if version else "./app"
        monkeypatch.setattr(launchers, "find", lambda command: launchers.Launcher(0, launchers.family(name, version), version)
                            if version else None)
        monkeypatch.setattr(components, "path_variable", lambda mpirun, env, name="sparse": {"X": "y"} if lazy else {})
    return make


@pytest.mark.parametrize("version, lazy, place, startup, left_out", [
    (OPENMPI, True, True, "share", []), (OPENMPI, False, True, None, ["--startup"]), ("", True, False, "share", ["--place"]),
    ("HYDRA build details", True, False, None, ["--place", "--startup"])])
def test_all_is_what_can_be_had(world, version, lazy, place, startup, left_out):
    world(version, lazy)
    wanted = options()
    said = together.settle(wanted, ["mpirun", "-n", "2", "./app"])
    assert (wanted.place, wanted.sparse, wanted.startup, wanted.all) == (place, "on", startup, False)
    assert [line.split()[0] for line in said] == left_out


def test_what_the_user_has_said_comes_first(world):
    world(OPENMPI)
    wanted = options(sparse="measure", startup="delay")
    assert together.settle(wanted, ["mpirun", "./app"]) == [] and (wanted.sparse, wanted.startup) == ("measure", "delay")


def test_all_is_said_where_a_part_is_left_out(lucid, fake):
    env = dict(fake, FAKE_VERSION="HYDRA build details:")
    done = lucid("run", "--all", "mpirun", "-n", "2", built("cli_ring_c"), env=env)
    assert done.code == 0 and done.err.count("--all goes without one part: ") == 2
    assert "lucid run: --all goes without one part: --place needs Open MPI's mpirun in the command" in done.err
    assert "--all" not in lucid("run", "--all", "-q", "mpirun", "-n", "2", built("cli_ring_c"), env=env).err
    assert json.loads(open(fake["FAKE_RECORD"]).read())["environment"]["LUCID_SPARSE"] == "on"


def parts_of(tmp_path, name):
    """The report directories of a run, one or two."""
    whole = tmp_path / name
    return [whole] if (whole / "run.json").exists() else [one for one in (whole / "before", whole / "after") if one.exists()]


@pytest.mark.parametrize("words", [["--trace"], ["--all"], ["--sparse", "--startup"], ["--sparse", "--startup=delay"],
                                   ["--sparse=measure", "--startup"], ["--place", "--sparse"], ["--place", "--startup"],
                                   ["--all", "--phases", "--reorder", "topology"], ["--all", "--source", "pmpi"]])
@pytest.mark.parametrize("name, output", [("cli_tally", "sum 2400 of 3\n"), ("cli_ring_c", "sum 3 of 3\n"), ("cli_dups", "")])
def test_the_same_output_whatever_is_on(lucid, tmp_path, words, name, output):
    done = lucid("run", *words, "-o", "report", "-n", "3", built(name), env={"LUCID_SPARSE_ALWAYS": "1"})
    if done.code == 125 and "--startup needs" in done.err:
        pytest.skip(done.err.strip())
    reports = parts_of(tmp_path, "report")
    assert done.code == 0 and reports and done.out == output * len(reports)
    own = [line for line in done.err.splitlines() if not line.startswith(("lucid: ", "       ", "lucid run: --all goes without"))]
    assert own == []
    for report in reports:
        assert package.load(report / "run.json").size == 3


def startup_of(report):
    return json.loads((report / "startup.json").read_text())["communicators"]


def test_sparse_and_startup_in_one_run(lucid, tmp_path):
    """Reductions move less, and communicators share their modules: coll/sparse in them would keep them from it."""
    for name, words in (("alone", ["--startup=alone"]), ("both", ["--sparse", "--startup"])):
        done = lucid("run", "-q", *words, "-o", name, "-n", "3", built("cli_tally"), env={"LUCID_SPARSE_ALWAYS": "1"})
        if done.code == 125:
            pytest.skip(done.err.strip())
        assert (done.code, done.out) == (0, "sum 2400 of 3\n")
    moved = [package.load(tmp_path / name / "run.json").total("coll").bytes for name in ("alone", "both")]
    assert moved[1] < 0.5 * moved[0]  # what is measured of the machine first is in it
    done = lucid("run", "-q", "--sparse", "--startup", "-o", "dups", "-n", "3", built("cli_dups"))
    assert done.code == 0
    found = {one["name"]: one for one in startup_of(tmp_path / "dups")}
    assert found["first"]["modules"] in ("own", "shared") # MPI_COMM_WORLD's, if that was used before
    assert (found["second"]["modules"], found["idle"]["modules"]) == ("shared", "waiting")


def test_place_again_needs_force_and_leaves_nothing_of_the_old(lucid, tmp_path):
    words = ["run", "--place", "-o", "report", "-n", "2", built("cli_ring_c")]
    assert lucid(*words).code == 0
    (tmp_path / "report" / "after").mkdir(exist_ok=True)
    (tmp_path / "report" / "after" / "run.json").write_bytes((tmp_path / "report" / "before" / "run.json").read_bytes())
    done = lucid(*words)
    assert done.code == 125 and done.err.count("\n") == 1 and "choose another directory, or --force" in done.err
    assert lucid("run", "--force", *words[1:]).code == 0
    assert not (tmp_path / "report" / "after" / "run.json").exists()  # two ranks on one node: there is no better order


def test_place_only_says_what_it_would_start(lucid, tmp_path):
    done = lucid("run", "--place", "--dry-run", "-n", "2", built("cli_ring_c"))
    assert done.code == 0 and done.out.startswith("env ") and "LUCID_DIR=" in done.out and os.listdir(str(tmp_path)) == []


def test_show_finds_the_last_run_of_place(lucid, tmp_path):
    assert lucid("run", "--place", "-n", "2", built("cli_ring_c")).code == 0
    done = lucid("show")
    assert done.code == 0 and "2 ranks on 1 node" in done.out
