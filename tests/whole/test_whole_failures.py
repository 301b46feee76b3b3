# SPDX-License-Identifier: BSD-3-Clause
"""Programs and machines that fail, with everything on: the program ends as it does by itself, and nothing is left behind."""
import os
import re
import signal
import subprocess

import pytest

from conftest import EVERYTHING, MPIEXEC, both, built, eventually, lucid, processes_of, run


def left_in_shared_memory(before):
    """Files in shared memory that were not there before and that no process has mapped (other jobs may be running)."""
    new = set(os.listdir("/dev/shm")) - before
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/maps" % pid, encoding="utf-8", errors="replace") as maps:
                new -= set(re.findall(r"/dev/shm/(\S+)", maps.read()))
        except OSError:
            continue
    return new & set(os.listdir("/dev/shm"))


@pytest.fixture
def program(tmp_path):
    """The program that goes on for ever, under a name of this test's own."""
    path = tmp_path / ("forever-%d" % os.getpid())
    os.symlink(built("whole_forever"), str(path))
    yield [str(path), str(tmp_path / "alive")]
    eventually(lambda: not processes_of(str(path)))


def all_at_it(ranks, place):
    return lambda: all((place / ("alive.%d" % rank)).exists() for rank in range(ranks))


def forget(place):
    for path in place.glob("alive.*"):
        path.unlink()


@pytest.mark.parametrize("how", ["kill", "abort", "exit"])
def test_a_rank_that_ends_in_the_middle(tmp_path, program, how):
    alone, layered = both(tmp_path, [*program, "1", how], 3)
    assert alone.code != 0 and (layered.code, layered.out) == (alone.code, alone.out)
    assert layered.err.count("lucid run: no report") == 1 and "Traceback" not in layered.err
    assert not (tmp_path / "report" / "run.json").exists()


def test_a_rank_that_is_killed_from_outside(tmp_path, program):
    def strike(process):
        eventually(all_at_it(3, tmp_path))
        os.kill(int((tmp_path / "alive.2").read_text()), signal.SIGKILL)
    alone = run([MPIEXEC, "-n", 3, *program], tmp_path, strike=strike)
    forget(tmp_path)
    layered = run(lucid("run", *EVERYTHING, "-n", 3, *program), tmp_path, strike=strike)
    assert alone.code != 0 and (layered.code, layered.out) == (alone.code, alone.out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_terminal_ends_the_program(tmp_path, program, number):
    def strike(process):
        eventually(all_at_it(2, tmp_path))
        os.killpg(process.pid, number)
    before = set(os.listdir("/dev/shm"))
    alone = run([MPIEXEC, "-n", 2, *program], tmp_path, strike=strike)
    forget(tmp_path)
    layered = run(lucid("run", *EVERYTHING, "-n", 2, *program), tmp_path, strike=strike)
    assert alone.code != 0 and (layered.code, layered.out) == (alone.code, alone.out)
    assert "Traceback" not in layered.err
    eventually(lambda: not left_in_shared_memory(before))


def test_a_report_folder_that_cannot_be_written(tmp_path, program):
    """Known before the program starts: it is not started, and one line says why."""
    (tmp_path / "file").write_text("in the way")
    done = run(lucid("run", *EVERYTHING, "-o", tmp_path / "file" / "report", "-n", 2, *program, "done"), tmp_path)
    assert done.code == 125 and len(done.err.splitlines()) == 1 and str(tmp_path / "file") in done.err


def as_nobody(words):
    """The words that run a command as a user without rights, where root runs the tests."""
    return (["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"] if os.getuid() == 0 else []) + words


@pytest.fixture
def nobodys(tmp_path_factory):
    """A directory of a user without rights, below ones that it can enter."""
    place = tmp_path_factory.mktemp("nobody")
    for folder in [place, *place.parents][:3]:
        if os.stat(str(folder)).st_uid == os.getuid():
            os.chmod(str(folder), os.stat(str(folder)).st_mode | 0o055)
    os.chmod(str(place), 0o777)
    reachable = subprocess.run(as_nobody(["test", "-w", str(place), "-a", "-x", built("whole_forever")])).returncode == 0
    if not reachable:
        pytest.skip("the build lies where another user cannot reach it")
    return place


NOBODY = {"HOME": "/nonexistent", "XDG_RUNTIME_DIR": None, "TMPDIR": "/tmp", "OMPI_ALLOW_RUN_AS_ROOT": None}


def test_a_user_without_rights(nobodys):
    words = lucid("run", *EVERYTHING, "-n", 2, built("whole_forever"), "alive", "done")
    done = run(as_nobody(words), nobodys, NOBODY)
    assert (done.code, done.out) == (0, "sum 15\n"), done.err
    assert (nobodys / "lucid-report" / "run.json").exists() and len(done.lines_of_lucid()) == 1, done.err


def test_a_report_folder_that_is_made_read_only_meanwhile(nobodys):
    """The program does what it does, and lucid says that there is no report."""
    report = nobodys / "report"
    script = 'chmod 555 "$1"; exec "$2" -n 2 "$3" alive done'
    words = lucid("run", *EVERYTHING, "-o", report, "--", "sh", "-c", script, "sh", report, MPIEXEC, built("whole_forever"))
    done = run(as_nobody(words), nobodys, NOBODY)
    assert done.out == "sum 15\n" and done.code == 3, done.err
    assert "Traceback" not in done.err and str(report) in done.err


@pytest.fixture
def other_mpi(tmp_path):
    """A directory with the launcher of another MPI library, which says what MPICH's says and starts nothing."""
    place = tmp_path / "other"
    place.mkdir()
    for name in ("mpirun", "mpiexec", "mpiexec.hydra"):
        path = place / name
        path.write_text('#!/bin/sh\ncase "$*" in *version*) echo "HYDRA build details:"; echo "    Version: 4.2.1";; '
                        '*) echo "the other mpirun" >&2; exit 99;; esac\n')
        path.chmod(0o755)
    return str(place)


def test_two_mpis_on_path(tmp_path, other_mpi, program):
    """-n takes the mpirun that Lucid was built with; the user's own command line is what it says."""
    path = "%s:%s" % (other_mpi, os.environ["PATH"])
    done = run(lucid("run", *EVERYTHING, "-n", 2, *program, "done"), tmp_path, {"PATH": path})
    assert (done.code, done.out) == (0, "sum 15\n"), done.err
    named = run(lucid("run", *EVERYTHING, "--", MPIEXEC, "-n", 2, *program, "done"), tmp_path, {"PATH": path})
    assert (named.code, named.out) == (0, "sum 15\n"), named.err
    other = run(lucid("run", "--", "mpirun", "-n", 2, *program, "done"), tmp_path, {"PATH": path})
    assert other.code == 99 and other.err.count("lucid run: %s/mpirun is MPICH's, but " % other_mpi) == 1, other.err


def without_mpi(place):
    """A directory with all programs of the system but those of MPI libraries."""
    for folder in ("/usr/bin", "/bin"):
        for name in os.listdir(folder):
            if not re.match(r"mpi|ompi|orte|oshrun|prte|prun|prterun|hydra|shmem", name) and not (place / name).is_symlink():
                (place / name).symlink_to(os.path.join(folder, name))
    return str(place)


def test_path_without_an_mpi(tmp_path, program):
    (tmp_path / "bin").mkdir()
    path = {"PATH": without_mpi(tmp_path / "bin")}
    done = run(lucid("run", *EVERYTHING, "-n", 2, *program, "done"), tmp_path, path)
    assert (done.code, done.out) == (0, "sum 15\n"), done.err
    done = run(lucid("run", *EVERYTHING, "--", "mpirun", "-n", 2, *program, "done"), tmp_path, path)
    assert done.code == 127 and len(done.err.splitlines()) == 1 and "mpirun" in done.err
    nothing = run(lucid("run", *EVERYTHING, "-n", 2, *program, "done"), tmp_path, {"PATH": "/nonexistent"})
    assert "not linked" not in nothing.err and "Traceback" not in nothing.err  # Open MPI itself may want ssh there
    done = run(lucid("doctor"), tmp_path, path)
    assert done.code in (0, 1) and "Traceback" not in done.err + done.out
