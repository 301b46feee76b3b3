# SPDX-License-Identifier: BSD-3-Clause
"""Two MPI libraries on PATH, this build's Open MPI and pip's MPICH, in both orders, a program and a Lucid for each: lucid run
starts what fits, or says in one line what does not; the program does what it does without Lucid."""
import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from conftest import EVERYTHING, MPIEXEC, ROOT, built, run, setting

RING = os.path.join(ROOT, "tests", "cli", "programs", "ring.c")


class Side(NamedTuple):
    """One MPI library: the directory of its programs, a program that is linked with it, and the command of the Lucid for it."""

    name: str
    bin: str
    program: str
    lucid: str

    @property
    def mpiexec(self):
        return os.path.join(self.bin, "mpiexec")


@pytest.fixture(scope="module")
def openmpi():
    said = subprocess.run([MPIEXEC, "--version"], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    if "Open MPI" not in said and "OpenRTE" not in said:
        pytest.skip("this build is not for Open MPI: %s" % said.splitlines()[0])
    place = os.path.dirname(MPIEXEC)
    if not os.path.exists(os.path.join(place, "mpiexec")):
        pytest.skip("%s has no mpiexec" % place)
    return Side("Open MPI", place, built("cli_ring_c", "LUCID_CLI_PROGRAMS"), setting("LUCID_COMMAND"))


@pytest.fixture(scope="module")
def mpich(tmp_path_factory):
    """As mpi.wheel_mpich_prepare has made it."""
    place = setting("LUCID_MPICH")
    if not os.path.exists(os.path.join(place, "build", "lib", "liblucid.so")):
        pytest.skip("MPICH from PyPI and Lucid for it are not there (see the test mpi.wheel_mpich_prepare)")
    programs, program = os.path.join(place, "venv", "bin"), tmp_path_factory.mktemp("mpich") / "ring"
    made = subprocess.run([os.path.join(programs, "mpicc"), "-o", program, RING], stderr=subprocess.PIPE, check=False)
    assert made.returncode == 0, made.stderr
    return Side("MPICH", programs, str(program), os.path.join(place, "build", "bin", "lucid"))


@pytest.fixture(params=["Open MPI first", "MPICH first"])
def path(request, openmpi, mpich):
    """What a shell has set: both on PATH, and nothing that names the libraries of the build."""
    order = [openmpi.bin, mpich.bin] if request.param == "Open MPI first" else [mpich.bin, openmpi.bin]
    return {"PATH": ":".join([*order, os.environ["PATH"]]), "LUCID_LIBDIR": None}


@pytest.fixture(params=["openmpi", "mpich"])
def sides(request, openmpi, mpich):
    """(the one that is used, the other)"""
    return (openmpi, mpich) if request.param == "openmpi" else (mpich, openmpi)


def lucid(side, *words):
    return [sys.executable, side.lucid, "run", "-o", "report", "--force", *map(str, words)]


def ranks(place):
    with open(str(place / "report" / "run.json"), encoding="utf-8") as file:
        return json.load(file)["size"]


def test_the_mpi_that_lucid_was_built_with_or_that_is_named(path, sides, tmp_path):
    used, _ = sides
    alone = run([used.mpiexec, "-n", 2, used.program], tmp_path, path)
    assert (alone.code, alone.out) == (0, "sum 1 of 2\n"), alone.err
    everything = [word for word in EVERYTHING if word != "--startup" or used.name == "Open MPI"]
    for words in (["-n", 2], ["-n", 2, "--mpiexec", used.mpiexec], ["--", used.mpiexec, "-n", 2], [*everything, "-n", 2]):
        done = run(lucid(used, *words, used.program), tmp_path, path)
        assert (done.code, done.out) == (alone.code, alone.out), done.err
        assert ranks(tmp_path) == 2 and " fits" not in done.err


def test_a_program_of_the_other(path, sides, tmp_path):
    used, other = sides
    for words in (["-n", 2], ["-n", 2, "--mpiexec", other.mpiexec], ["--", "mpiexec", "-n", 2], ["--all", "-n", 2]):
        done = run(lucid(used, *words, other.program), tmp_path, path)
        line = done.err.splitlines()[-1]
        assert (done.code, done.out) == (125, "") and line.startswith("lucid run: %s is linked with " % other.program), done.err
        assert all("--all goes without" in said for said in done.err.splitlines()[:-1])
        assert not (tmp_path / "report").exists()


def test_the_first_mpiexec_of_path(path, sides, tmp_path):
    """It is the user's word, whether it fits or not; where it does not, one line says so."""
    used, other = sides
    fits = path["PATH"].startswith(used.bin)
    alone = run(["mpiexec", "-n", 2, used.program], tmp_path, path)
    done = run(lucid(used, "-q", "--", "mpiexec", "-n", 2, used.program), tmp_path, path)
    assert (done.code, done.out) == (alone.code, alone.out), done.err
    said = "lucid run: %s is %s's, but %s is linked with %s: " % (other.mpiexec, other.name, used.program, used.name)
    assert done.err.count(said) == (0 if fits else 1) and (not fits or alone.out == "sum 1 of 2\n")
    assert fits or "(%s fits)" % used.mpiexec in done.err


def test_what_may_load_the_other_mpi_by_itself(path, sides, tmp_path):
    """As mpi4py's wheel does, which takes the MPI that it finds loaded."""
    used, other = sides
    done = run(lucid(used, "-n", 2, "--mpiexec", other.mpiexec, sys.executable, "-c", "print(1)"), tmp_path, path)
    assert (done.code, done.out) == (125, "") and done.err.count("\n") == 1
    assert done.err.startswith("lucid run: %s is %s's, but this Lucid was built for %s: " % (other.mpiexec, other.name, used.name))
