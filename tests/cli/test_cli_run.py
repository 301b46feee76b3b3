# SPDX-License-Identifier: BSD-3-Clause
"""lucid run around a stand-in for mpirun: directories, exit codes, input and output, and every error line."""
import json
import os
import shutil
import signal
import stat
import subprocess

import pytest

from conftest import DATA, built, command, environment

PARAGRAPH = ("lucid: 4 ranks on 2 nodes sent 304 MB in 9,696 messages; 88 % of the bytes went between nodes. Top\n"
             "       pairs: 0 → 2 68.7 MB, 1 → 3 68.7 MB, 2 → 0 65.5 MB.\n"
             "       Report: {0} (lucid show {0})\n")


def script(path, *lines):
    """An executable shell script."""
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    path.chmod(0o755)
    return path


def record(fake):
    with open(fake["FAKE_RECORD"]) as file:
        return json.load(file)


def test_paragraph_and_report(lucid, fake, tmp_path):
    script(tmp_path / "app", "echo out; echo err >&2")
    done = lucid("run", "--", "mpirun", "-n", "4", "./app", env=fake)
    assert (done.code, done.out) == (0, "out\n") and done.err == "err\n" + PARAGRAPH.format("lucid-report")
    assert sorted(os.listdir(str(tmp_path / "lucid-report"))) == ["lucid.json", "run.json"]
    notes = json.loads((tmp_path / "lucid-report" / "lucid.json").read_text())
    assert notes["command"] == ["mpirun", "-n", "4", "./app"] and notes["exit_code"] == 0 and notes["seconds"] > 0
    assert notes["launcher"] == "mpirun (Open MPI) 4.1.4" and notes["environment"]["LUCID_DIR"] == str(tmp_path / "lucid-report")


def test_what_the_launcher_is_told(lucid, fake, tmp_path):
    script(tmp_path / "app", "exit 0")
    lucid("run", "--phases", "--source", "pmpi", "-o", "r", "--", "mpirun", "-n", "4", "./app", "--phases",
          env=dict(fake, LUCID_LOG="warn"))
    seen = record(fake)
    assert seen["arguments"][0] == "-x" and seen["arguments"][1].startswith("LD_PRELOAD=/") and "liblucid" in seen["arguments"][1]
    assert {"LUCID_DIR", "LUCID_PHASES", "LUCID_SOURCE", "LUCID_LOG"} <= set(seen["arguments"])
    assert seen["arguments"][-4:] == ["-n", "4", "./app", "--phases"]
    assert seen["environment"]["LUCID_DIR"] == str(tmp_path / "r") and seen["environment"]["LUCID_PHASES"] == "1"
    assert seen["environment"]["LUCID_SOURCE"] == "pmpi" and "LD_PRELOAD" not in seen["environment"]


def test_other_launchers(lucid, fake, tmp_path):
    script(tmp_path / "app", "exit 0")
    lucid("run", "mpiexec.hydra", "-n", "4", built("cli_ring_c"), env=dict(fake, FAKE_VERSION="HYDRA build details:"))
    assert record(fake)["arguments"][:2] == ["-genv", "LD_PRELOAD"]
    lucid("run", "srun", "-n", "4", "./app", env=fake)
    assert record(fake)["arguments"][0].startswith("--export=ALL,LD_PRELOAD=/")


def test_the_launcher_of_another_mpi(lucid, fake, tmp_path):
    """A program that is linked with Lucid's MPI does what it does without Lucid; another one might be given the wrong MPI."""
    script(tmp_path / "app", "exit 0")
    env = dict(fake, FAKE_VERSION="HYDRA build details:")
    said = "lucid run: %s is MPICH's, but " % (tmp_path / "fake" / "mpirun")
    for words in (["--", "mpirun", "-n", "2", "./app"], ["-n", "2", "--mpiexec", "mpirun", "./app"], ["--", "mpirun", "sh", "app"]):
        done = lucid("run", *words, env=env)
        assert done.code == 125 and done.err.count("\n") == 1 and done.err.startswith(said + "this Lucid was built for Open MPI: ")
        assert not os.path.exists(fake["FAKE_RECORD"]) and not os.path.exists(str(tmp_path / "lucid-report"))
    done = lucid("run", "-q", "--", "mpirun", "-n", "2", built("cli_ring_c"), env=env)
    assert (done.code, done.out) == (0, "sum 0 of 1\n") and done.err.count("\n") == 1
    assert done.err.startswith(said + built("cli_ring_c") + " is linked with Open MPI: ")


def test_own_mpirun(lucid, fake, tmp_path):
    script(tmp_path / "app", "exit 0")
    for words in (("-n", "3"), ("-n3",), ("-np", "3")):
        done = lucid("run", *words, "--mpiexec", str(tmp_path / "fake" / "mpirun"), "./app", "-n", "9", env=fake)
        assert done.code == 0 and record(fake)["arguments"][-5:] == ["-n", "3", "./app", "-n", "9"]


def test_dry_run_starts_nothing(lucid, fake, tmp_path):
    script(tmp_path / "app", "touch started")
    done = lucid("run", "--dry-run", "--phases", "--", "mpirun", "-n", "4", "./app", "a b", env=fake)
    words = done.out.split()
    assert done.code == 0 and done.err == "" and words[0] == "env" and done.out.endswith(" -n 4 ./app 'a b'\n")
    assert f"LUCID_DIR={tmp_path}/lucid-report" in words and "LUCID_PHASES=1" in words
    assert not os.path.exists(str(tmp_path / "started")) and not os.path.exists(str(tmp_path / "lucid-report"))


def test_reports_are_numbered_and_never_overwritten(lucid, fake, tmp_path):
    script(tmp_path / "app", "exit 0")
    for name in ("lucid-report", "lucid-report-2", "lucid-report-3"):
        done = lucid("run", "--", "mpirun", "./app", env=fake)
        assert done.err.endswith(f"Report: {name} (lucid show {name})\n")
    done = lucid("run", "-o", "lucid-report", "--", "mpirun", "./app", env=fake)
    assert done.code == 125 and done.err == ("lucid run: lucid-report holds the report of another run: choose another "
                                             "directory, or --force to replace it\n")


def test_force_leaves_nothing_of_the_old_report(lucid, fake, tmp_path):
    script(tmp_path / "app", "exit 0")
    shutil.copytree(os.path.join(DATA, "report16"), str(tmp_path / "r"))
    (tmp_path / "r" / "phase-3.json").write_text("old")
    (tmp_path / "r" / "mine.txt").write_text("kept")
    assert lucid("run", "--force", "-o", "r", "--", "mpirun", "./app", env=fake).code == 0
    assert sorted(os.listdir(str(tmp_path / "r"))) == ["lucid.json", "mine.txt", "run.json"]


def test_quiet(lucid, fake, tmp_path):
    script(tmp_path / "app", "exit 0")
    assert lucid("run", "-q", "--", "mpirun", "./app", env=fake).err == ""


@pytest.mark.parametrize("code", [0, 1, 42, 127, 255])
def test_exit_code(lucid, fake, tmp_path, code):
    script(tmp_path / "app", f"exit {code}")
    assert lucid("run", "--", "mpirun", "./app", env=fake).code == code


def test_output_byte_for_byte(lucid, fake, tmp_path):
    blob = bytes(range(256)) * 1000
    script(tmp_path / "app", "cat")
    done = lucid("run", "--", "mpirun", "./app", env=fake, input=blob)
    assert done.raw == blob and done.code == 0


def test_killed_program_ends_lucid_by_the_same_signal(lucid, fake, tmp_path):
    script(tmp_path / "app", "kill -9 $$")
    done = lucid("run", "./app", env=fake)
    assert done.code == -signal.SIGKILL
    assert done.err == "lucid run: no report: the program was killed by signal 9 (SIGKILL) before MPI_Finalize\n"
    assert not os.path.exists(str(tmp_path / "lucid-report"))


def test_report_that_cannot_be_read(lucid, fake, tmp_path):
    script(tmp_path / "app", "exit 0")
    (tmp_path / "half.json").write_text('{"format": "lucid-session",')
    done = lucid("run", "--", "mpirun", "./app", env=dict(fake, FAKE_REPORT=str(tmp_path / "half.json")))
    assert done.code == 3 and done.err == f"lucid run: {tmp_path}/lucid-report/run.json: the file is cut short (line 1)\n"


@pytest.mark.parametrize("body, code, line", [
    ("exit 0", 3, "no report: no MPI_Init and MPI_Finalize were seen (not an MPI program, or another MPI than Lucid's; or rank 0 does "
                  "not share lucid-report)"),
    ("exit 9", 9, "no report: mpirun ended with exit code 9 before MPI_Finalize"),
])
def test_no_report(lucid, fake, tmp_path, body, code, line):
    script(tmp_path / "app", body)
    done = lucid("run", "--", "mpirun", "./app", env=dict(fake, FAKE_REPORT=None))
    assert (done.code, done.err) == (code, f"lucid run: {line}\n")
    assert not os.path.exists(str(tmp_path / "lucid-report"))


def test_program_without_mpi(lucid, fake):
    true = shutil.which("true")
    for words in (["true"], ["--", "mpirun", "-n", "2", "true"]):
        done = lucid("run", *words, env=dict(fake, FAKE_REPORT=None))
        assert (done.code, done.err) == (3, f"lucid run: no report: {true} is not linked with an MPI library\n")
    done = lucid("run", "false", env=fake)
    assert done.code == 1 and done.err.endswith("ended with exit code 1 before MPI_Finalize (%s is not linked with an MPI library)\n"
                                                % shutil.which("false"))


@pytest.mark.parametrize("words", [["./app"], ["sh", "app"], ["sh", "-c", "mpirun ./app"]])
def test_script_in_which_nothing_is_seen(lucid, fake, tmp_path, words):
    script(tmp_path / "app", "mpirun true" if words == ["./app"] else "exit 0")
    done = lucid("run", "--", *words, env=dict(fake, FAKE_REPORT=None))
    assert done.code == 3 and "not linked" not in done.err
    assert done.err.startswith(f"lucid run: no report: nothing that {shutil.which(words[0]) or words[0]} ran called MPI_Init ")
    done = lucid("run", "--", "sh", "-c", "exit 5", env=fake)
    assert (done.code, done.err) == (5, "lucid run: no report: the program ended with exit code 5 before MPI_Finalize\n")


def test_things_that_are_not_programs(lucid, fake, tmp_path):
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "local").write_text("#!/bin/sh\n")
    (tmp_path / "nonsense").write_bytes(b"\x7fnonsense")
    (tmp_path / "nonsense").chmod(0o755)
    for words, code, line in (
            (["./none"], 127, "./none: no such program"),
            (["none-such"], 127, "none-such: no such program in the search path"),
            (["local"], 127, "local: no such program in the search path (in this directory it is ./local)"),
            (["./text"], 126, "./text: not executable (chmod +x?)"),
            (["./folder"], 126, "./folder: is a directory, not a program"),
            (["./nonsense"], 126, "./nonsense: cannot be started: exec format error"),
            (["-n", "2", "./none"], 127, "./none: no such program"),
            (["none-such/mpirun", "./x"], 127, "none-such/mpirun: no such program")):
        done = lucid("run", *words, env=fake)
        assert (done.code, done.err) == (code, f"lucid run: {line}\n")
        assert not os.path.exists(str(tmp_path / "lucid-report"))


def test_wrong_uses(lucid, fake):
    for words, code, line in (
            ([], 2, "which program? lucid run [-n N] [options] [--] PROGRAM [ARGUMENTS]"),
            (["-n", "2", "mpirun", "true"], 2, "-n starts mpirun by itself: leave out -n 2, or the mpirun"),
            (["-n", "2", "--mpiexec", "/none/mpirun", "true"], 125, "/none/mpirun: no such program (--mpiexec)")):
        done = lucid("run", *words, env=fake)
        assert (done.code, done.err) == (code, f"lucid run: {line}\n")
    done = lucid("run", "-n", "0", "true", env=fake)
    assert done.code == 2 and done.err.endswith("expected a number of ranks, found '0'\n")


def test_no_library(lucid, fake):
    done = lucid("run", "true", env=dict(fake, LUCID_LIBRARY="/none/liblucid.so"))
    assert (done.code, done.err) == (125, "lucid run: LUCID_LIBRARY=/none/liblucid.so: no such file\n")


def test_no_mpirun(tmp_path):
    """The package without a build's word on where mpirun is, and with an empty search path."""
    program = ("import os, sys; sys.path.insert(0, sys.argv[1]); sys.modules['lucid._paths'] = None; import lucid.places as p; "
               "os.environ['PATH'] = '/none'\n"
               "try: p.mpiexec()\nexcept p.LucidError as error: print(error.code, error)")
    import sys
    root = environment()["PYTHONPATH"]
    out = subprocess.run([sys.executable, "-c", program, root], stdout=subprocess.PIPE).stdout.decode()
    assert out == ("125 no mpirun in the search path: install an MPI library or load its module, or name it with --mpiexec\n")


def test_directories_that_cannot_be_written(lucid, fake, tmp_path):
    (tmp_path / "file").write_text("")
    done = lucid("run", "-o", "file/r", "true", env=fake)
    assert (done.code, done.err) == (125, "lucid run: cannot make the report directory file/r: not a directory\n")
    done = lucid("run", "-o", "file", "true", env=fake)
    assert (done.code, done.err) == (125, "lucid run: cannot make the report directory file: file exists\n")
    done = lucid("run", "-o", "/proc/r", "true", env=fake)
    assert done.code == 125 and done.err.startswith("lucid run: cannot make the report directory /proc/r: ")


def test_directory_without_permission(lucid, fake, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (tmp_path / "r").mkdir()
    (tmp_path / "r").chmod(stat.S_IRUSR | stat.S_IXUSR)
    done = lucid("run", "-o", "r", "true", env=fake)
    assert (done.code, done.err) == (125, "lucid run: cannot write to the report directory r: permission denied\n")


@pytest.fixture
def mount(tmp_path):
    """Mounts a small file system with some options, and takes it away again."""
    place = tmp_path / "disk"

    def make(options):
        place.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        if mounted.returncode != 0:
            pytest.skip("a file system of our own needs root: " + mounted.stderr.decode().strip())
        return place

    yield make
    if os.path.ismount(str(place)):
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def small_disk(mount):
    """A file system of 256 KiB."""
    return mount("size=256k")


def test_directory_on_a_read_only_file_system(lucid, fake, mount):
    place = mount("ro")
    for where, what in ((place / "r", "make"), (place, "write to")):
        done = lucid("run", "-o", where, "true", env=fake)
        assert (done.code, done.err) == (125, f"lucid run: cannot {what} the report directory {where}: read-only file system\n")


def test_disk_that_is_full_before_the_run(lucid, fake, small_disk):
    (small_disk / "fill").write_bytes(b"x" * 240 * 1024)
    done = lucid("run", "-o", small_disk / "r", "true", env=fake)
    assert (done.code, done.err) == (125, f"lucid run: cannot write to the report directory {small_disk}/r: no space left on the device\n")
    assert os.listdir(str(small_disk)) == ["fill"]


def test_disk_that_fills_up_during_the_run(lucid, small_disk, tmp_path):
    """The library cannot write run.json any more: its line, ours, exit code 3, and nothing half-written."""
    from conftest import built
    ring = built("cli_ring_c")
    done = lucid("run", "-n", "2", "-o", small_disk / "r", ring, "fill", small_disk / "fill")
    assert done.code == 3 and done.out == "sum 1 of 2\n"
    assert len([line for line in done.err.splitlines() if line.startswith("lucid: ") and "run.json" in line]) == 1
    assert done.err.splitlines()[-1].startswith("lucid run: no report: ")
    assert os.listdir(str(small_disk)) == ["fill"]


def test_two_runs_at_once_do_not_share_a_directory(fake, tmp_path):
    script(tmp_path / "app", "sleep 0.3")
    runs = [subprocess.Popen(command() + ["run", "-q", "--", "mpirun", "./app"], cwd=str(tmp_path), env=environment(**fake)) for _ in range(4)]
    assert [run.wait(timeout=60) for run in runs] == [0] * 4
    reports = sorted(name for name in os.listdir(str(tmp_path)) if name.startswith("lucid-report"))
    assert len(reports) == 4 and all(len(os.listdir(str(tmp_path / name))) == 2 for name in reports)
