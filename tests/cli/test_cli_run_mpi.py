# SPDX-License-Identifier: BSD-3-Clause
"""lucid run with the real library and the real mpirun: programs of every language, phases, failures, what stays untouched."""
import json
import os
import subprocess
import sys

import pytest

import lucid as package
from conftest import HERE, built, environment

MPIEXEC = os.environ.get("LUCID_MPIEXEC", "mpirun")


def ring_program(language):
    """The ring of a language as words of a command."""
    if language == "mpi4py":
        asked = subprocess.run([sys.executable, "-c", "import mpi4py.MPI"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        if asked.returncode != 0:
            pytest.skip("mpi4py is not installed for %s" % sys.executable)
        return [sys.executable, os.path.join(HERE, "programs", "ring.py")]
    return [built("cli_ring_" + language)]


def alone(words, **options):
    """The program without Lucid."""
    return subprocess.run([MPIEXEC, "-n", "2", *words], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, **options)


@pytest.mark.parametrize("language", ["c", "cxx", "mpifh", "mpi", "f08", "mpi4py"])
def test_every_language(lucid, tmp_path, language):
    words = ring_program(language)
    done = lucid("run", "-n", "2", *words)
    assert (done.code, done.raw) == (0, alone(words).stdout) and done.out == "sum 1 of 2\n"
    session = package.load(tmp_path / "lucid-report" / "run.json")
    assert session.size == 2 and session.total("user") == (20, 20000) and session.total("kind:allreduce") == (2, 16)
    assert session.matrix("user") == {(0, 1): (10, 10000), (1, 0): (10, 10000)}
    assert "lucid: 2 ranks on 1 node sent" in done.err and session.command[0].endswith(os.path.basename(words[0]))


@pytest.mark.parametrize("source", ["pml", "mpit", "pmpi"])
def test_every_source(lucid, tmp_path, source):
    done = lucid("run", "--source", source, "-n", "2", built("cli_ring_c"))
    if done.code != 0 and source in done.err:
        pytest.skip("%s does not work here: %s" % (source, done.err.splitlines()[0]))
    session = package.load(tmp_path / "lucid-report" / "run.json")
    assert session.source["name"] == source and session.total("user") == (20, 20000)
    assert session.total("coll").bytes >= 16 and json.loads((tmp_path / "lucid-report" / "lucid.json").read_text())["environment"]["LUCID_SOURCE"] == source


@pytest.mark.parametrize("how, waited", [([], 0.04), (["receive"], 0.04), (["wait"], 0.04)])
def test_time_in_mpi(lucid, tmp_path, how, waited):
    # a question's answer comes 40 ms later: of ten at least one is waited for, and Sendrecv is in MPI from before the question
    done = lucid("run", "--time", "-n", "2", built("cli_waits"), *how)
    assert done.code == 0, done.err
    session = package.load(tmp_path / "lucid-report" / "run.json")
    assert waited <= session.in_mpi["most"] <= session.seconds and session.in_mpi["mean"] <= session.in_mpi["most"]
    assert "time in MPI: " in lucid("show", tmp_path / "lucid-report").out


def test_time_only_on_request(lucid, tmp_path):
    assert lucid("run", "-n", "2", built("cli_waits")).code == 0
    assert package.load(tmp_path / "lucid-report" / "run.json").in_mpi is None


def test_own_command_line(lucid, tmp_path):
    done = lucid("run", "--", MPIEXEC, "-n", "3", built("cli_ring_c"))
    assert (done.code, done.out) == (0, "sum 3 of 3\n")
    assert package.load(tmp_path / "lucid-report" / "run.json").total("user") == (30, 30000)


def test_several_programs_in_one_world(lucid, tmp_path):
    words = [MPIEXEC, "-n", "1", built("cli_ring_c"), ":", "-n", "2", built("cli_ring_c")]
    if subprocess.run(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120).returncode != 0:
        pytest.skip("this mpirun does not start several programs, without Lucid either (seen: PRRTE 3.0.8 crashes)")
    done = lucid("run", "--", *words)
    assert (done.code, done.out) == (0, "sum 3 of 3\n")
    assert package.load(tmp_path / "lucid-report" / "run.json").total("user") == (30, 30000)


def test_without_a_launcher(lucid, tmp_path):
    done = lucid("run", built("cli_ring_c"))
    assert (done.code, done.out) == (0, "sum 0 of 1\n")
    assert package.load(tmp_path / "lucid-report" / "run.json").matrix("user") == {(0, 0): (10, 10000)}


def test_a_script_that_starts_two_jobs_leaves_both_reports(lucid, tmp_path):
    script = '"$0" -n 2 "$1" && "$0" -n 3 "$1"'
    done = lucid("run", "--", "sh", "-c", script, MPIEXEC, built("cli_ring_c"))
    assert (done.code, done.out) == (0, "sum 1 of 2\nsum 3 of 3\n")
    assert [package.load(tmp_path / "lucid-report" / name).size for name in ("run.json", "run-2.json")] == [2, 3]


def test_phases(lucid, tmp_path):
    assert lucid("run", "--phases", "-n", "2", built("cli_ring_c")).code == 0
    report = tmp_path / "lucid-report"
    assert sorted(os.listdir(str(report))) == ["lucid.json", "phase-1.json", "phase-2.json", "run.json"]
    first, second, whole = (package.load(report / name) for name in ("phase-1.json", "phase-2.json", "run.json"))
    assert first.total() == (20, 20000) and second.total() == (2, 16) and whole.total() == (22, 20016)
    assert lucid("show", "lucid-report", "--phase", "2", "-o", "x.html").code == 0
    assert "phases: 1, 2 (--phase LEVEL shows one)" in lucid("show").out


def test_output_and_input_stay_untouched(lucid):
    blob = bytes(range(256)) * 64
    words = [built("cli_ring_c"), "cat"]
    done = lucid("run", "-n", "2", *words, input=blob)
    assert done.raw == alone(words, input=blob).stdout and sorted(done.raw) == sorted(b"sum 1 of 2\n" + blob)


def test_exit_code_of_a_finished_program(lucid):
    """Whatever mpirun makes of a rank's exit code 5, lucid run ends with it."""
    words = [built("cli_ring_c"), "exit", "5"]
    done = lucid("run", "-n", "2", *words)
    assert done.code == alone(words).returncode != 0


def test_killed_rank(lucid, tmp_path):
    words = [built("cli_ring_c"), "kill"]
    done = lucid("run", "--", MPIEXEC, "-n", "2", *words)
    assert done.code == alone(words).returncode != 0
    name = os.path.basename(MPIEXEC)
    assert done.err.splitlines()[-1] == f"lucid run: no report: {name} ended with exit code {done.code} before MPI_Finalize"
    assert not os.path.exists(str(tmp_path / "lucid-report"))


def test_program_that_leaves_without_finalize(lucid):
    done = lucid("run", built("cli_ring_c"), "abandon")
    assert done.code == 3
    assert done.err.splitlines()[-1] == ("lucid run: no report: the program ended without MPI_Finalize, or rank 0 could not write to "
                                         "lucid-report")


def test_another_mpi(lucid, tmp_path):
    """A program that is linked with a library of another MPI's name; nothing of it is run."""
    (tmp_path / "mpi.c").write_text("int MPI_Init(int *a, char ***b) { return 0; }\n")
    (tmp_path / "app.c").write_text("int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }\n")
    for line in ("cc -shared -fPIC -Wl,-soname,libmpich.so.12 -o libmpich.so.12 mpi.c",
                 "cc -o app app.c ./libmpich.so.12 -Wl,-rpath,$PWD"):
        made = subprocess.run(line, shell=True, cwd=str(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if made.returncode != 0:
            pytest.skip("needs a C compiler: " + made.stderr.decode()[:200])
    done = lucid("run", "./app")
    assert done.code == 125 and done.err.count("\n") == 1
    assert done.err.startswith(f"lucid run: ./app is linked with {tmp_path}/libmpich.so.12, but this Lucid was built for ")
    done = lucid("run", "--", MPIEXEC, "-n", "2", "./app")
    assert done.code == 125 and "libmpich.so.12" in done.err
