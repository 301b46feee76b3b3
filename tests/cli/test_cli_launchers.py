# SPDX-License-Identifier: BSD-3-Clause
"""How each launcher is told: what is inserted where, and that what the user had set is kept."""
import pytest

from lucid import launchers
from lucid.launchers import Launcher

LIB = "/opt/lucid/liblucid.so.0"
VARIABLES = {"LUCID_DIR": "/r", "LUCID_PHASES": "1"}
OPEN_MPI = ["-x", "LD_PRELOAD=" + LIB, "-x", "LUCID_DIR", "-x", "LUCID_PHASES"]


def told(command, launcher, environment=None, preload=LIB):
    return launchers.with_variables(command.split(), launcher, VARIABLES, preload, dict(environment or {"A": "b"}))


def test_open_mpi():
    command, environment = told("mpirun -n 4 ./app -x", Launcher(0, "openmpi", ""))
    assert command == ["mpirun", *OPEN_MPI, "-n", "4", "./app", "-x"]
    assert environment == {"A": "b", **VARIABLES}  # the launcher itself is not preloaded


def test_open_mpi_keeps_what_is_preloaded():
    command, environment = told("mpirun ./app", Launcher(0, "openmpi", ""), {"LD_PRELOAD": "libtool.so"})
    assert command[:3] == ["mpirun", "-x", "LD_PRELOAD=libtool.so:" + LIB] and environment["LD_PRELOAD"] == "libtool.so"
    command, _ = told("mpirun -x LD_PRELOAD=libother.so ./app", Launcher(0, "openmpi", ""), {"LD_PRELOAD": "libtool.so"})
    assert command == ["mpirun", "-x", "LUCID_DIR", "-x", "LUCID_PHASES", "-x", "LD_PRELOAD=libother.so:" + LIB, "./app"]
    command, _ = told("mpirun -x LD_PRELOAD ./app", Launcher(0, "openmpi", ""), {"LD_PRELOAD": "libtool.so"})
    assert command[-2] == "LD_PRELOAD=libtool.so:" + LIB


def test_open_mpi_tells_every_application_context():
    command, _ = told("mpirun -n 1 ./a : -n 2 ./b", Launcher(0, "openmpi", ""))
    assert command == ["mpirun", *OPEN_MPI, "-n", "1", "./a", ":", *OPEN_MPI, "-n", "2", "./b"]


def test_hydra():
    command, _ = told("mpiexec -n 4 ./app", Launcher(0, "hydra", ""), {"LD_PRELOAD": "libtool.so"})
    assert command == ["mpiexec", "-genv", "LD_PRELOAD", "libtool.so:" + LIB, "-genv", "LUCID_DIR", "/r", "-genv", "LUCID_PHASES", "1",
                       "-n", "4", "./app"]


@pytest.mark.parametrize("words, environment, export", [
    ("", {}, "ALL,"), ("--export=NONE ", {}, ""), ("--export=PATH,HOME ", {}, "PATH,HOME,"), ("--export NIL ", {}, ""),
    ("", {"SLURM_EXPORT_ENV": "PATH"}, "PATH,"), ("--export=ALL,X=1 ", {"SLURM_EXPORT_ENV": "PATH"}, "ALL,X=1,"),
])
def test_slurm(words, environment, export):
    command, _ = told(f"srun {words}-n 4 ./app", Launcher(0, "slurm", ""), environment)
    assert command == ["srun", f"--export={export}LD_PRELOAD={LIB},LUCID_DIR,LUCID_PHASES", "-n", "4", "./app"]


def test_no_launcher():
    command, environment = told("./app a", None)
    assert command == ["./app", "a"] and environment == {"A": "b", "LD_PRELOAD": LIB, **VARIABLES}
    assert told("./app", None, {"LD_PRELOAD": "libtool.so"})[1]["LD_PRELOAD"] == "libtool.so:" + LIB


def test_variables_without_a_library():
    for launcher in (None, Launcher(0, "openmpi", ""), Launcher(0, "hydra", ""), Launcher(0, "slurm", "")):
        command, environment = told("x ./app", launcher, {}, preload="")
        assert "LD_PRELOAD" not in " ".join(command) and "LD_PRELOAD" not in environment


@pytest.mark.parametrize("command, index", [
    ("mpirun ./a", 0), ("/usr/bin/orterun ./a", 0), ("prterun ./a", 0), ("mpiexec.hydra ./a", 0), ("mpirun.openmpi ./a", 0),
    ("mpirun5 ./a", 0), ("srun ./a", 0), ("env A=b -u C mpirun ./a", 4), ("time mpirun ./a", 1), ("timeout -k 5 60 mpirun ./a", 4),
    ("nice -n 5 time -p mpirun ./a", 5), ("lab/lab mpirun ./a", 1), ("./lab mpiexec ./a", 1),
    ("./app mpirun", None), ("./mpirunner x", None), ("lab up", None), ("env A=b ./app", None), ("time", None),
])
def test_launchers_are_found(monkeypatch, command, index):
    monkeypatch.setattr(launchers, "ask_version", lambda words: "")
    found = launchers.find(command.split())
    assert (found and found.index) == index


@pytest.mark.parametrize("name, version, family", [
    ("mpirun", "mpirun (Open MPI) 4.1.4", "openmpi"), ("mpiexec", "mpiexec (OpenRTE) 4.1.4", "openmpi"),
    ("prterun", "prterun (PRRTE) 3.0.8", "openmpi"), ("mpiexec", "HYDRA build details:\n  Version: 5.0.2", "hydra"),
    ("mpirun", "Intel(R) MPI Library for Linux* OS, Version 2021.9", "hydra"), ("mpiexec.hydra", "", "hydra"),
    ("mpirun.mpich", "", "hydra"), ("mpirun", "", "openmpi"),
])
def test_families(name, version, family):
    assert launchers.family(name, version) == family


@pytest.mark.parametrize("command, index, program", [
    ("mpirun ./a b", 0, "./a"), ("mpirun -n 4 --mca btl tcp,self --bind-to core -x A=b ./a -n 3", 0, "./a"),
    ("mpirun --oversubscribe --host=a,b -np 2 ./a", 0, "./a"), ("mpiexec -genv A b -genvall -ppn 2 ./a", 0, "./a"),
    ("env A=b mpirun -n 2 ./a", 2, "./a"), ("mpirun -n 2", 0, None),
])
def test_programs_are_found_behind_options(command, index, program):
    assert launchers.program_word(command.split(), Launcher(index, "openmpi", "")) == program


def test_program_without_a_launcher():
    assert launchers.program_word("env A=b ./a".split(), None) == "./a"
    assert launchers.program_word("srun -n 4 ./a".split(), Launcher(0, "slurm", "")) is None
