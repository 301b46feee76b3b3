# SPDX-License-Identifier: BSD-3-Clause
"""Signals to lucid run: each reaches the program once, whoever it was sent to; mpirun gives up at the second one."""
import fcntl
import os
import pty
import signal
import subprocess
import termios
import time

import pytest

from conftest import command, environment


@pytest.fixture
def start(fake, tmp_path):
    """Starts lucid run with a program that is these lines of shell, in a process group of its own, when it says "ready"."""
    def run(*lines, changes=None, **how):
        path = tmp_path / "app"
        path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
        path.chmod(0o755)
        how = {"stdout": subprocess.PIPE, "start_new_session": True, **how}
        env = environment(**{**fake, **(changes or {})})
        started = subprocess.Popen(command() + ["run", "./app"], cwd=str(tmp_path), env=env, stderr=subprocess.PIPE, **how)
        if started.stdout is not None:
            assert started.stdout.readline() == b"ready\n"
        return started
    return run


def counting(number, enough=100, rounds=20):
    """A program that says how often it got the signal: in `rounds` times 50 ms, or until it has got `enough`."""
    return [f"n=0; trap 'n=$((n+1))' {int(number)}", "echo ready",
            f"i=0; while [ $i -lt {rounds} ] && [ $n -lt {enough} ]; do sleep 0.05; i=$((i+1)); done", "echo times $n"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_passed_on(start, number):
    started = start(f"trap 'echo caught; exit 7' {int(number)}", "echo ready", "while :; do sleep 0.05; done")
    started.send_signal(number)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (7, b"caught\n")
    assert err == b"lucid run: no report: the program ended with exit code 7 before MPI_Finalize\n"


def to_the_group(process, number):
    os.killpg(process.pid, number)


def to_both(process, number):
    """As `timeout` does it."""
    process.send_signal(number)
    os.killpg(process.pid, number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
@pytest.mark.parametrize("send", [to_the_group, to_both])
def test_one_for_all_is_one(start, send, number):
    started = start(*counting(number))
    send(started, number)
    assert started.communicate(timeout=60)[0] == b"times 1\n"


SLOW = """\
import os
import time

fork = os.fork


def slow():
    pid = fork()
    if pid == 0:
        time.sleep(1)
    return pid


os.fork = slow
"""


def test_one_for_all_is_one_from_the_start(start, tmp_path):
    """Also where the process that tells it from one for lucid alone is slow to start: the program starts behind it."""
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW)
    path = os.pathsep.join([str(tmp_path / "slow"), environment()["PYTHONPATH"]])
    started = start(*counting(signal.SIGUSR1), changes={"PYTHONPATH": path})
    os.killpg(started.pid, signal.SIGUSR1)
    assert started.communicate(timeout=60)[0] == b"times 1\n"


def witness_of(lucid):
    """The process that tells what is sent to all: the one that runs what lucid itself runs."""
    inside = os.readlink(f"/proc/{lucid.pid}/exe")
    witness, = [pid for pid, name in children(lucid.pid).items() if name == inside]
    return witness


def test_one_for_all_is_one_however_late_that_is_told(start):
    started = start(*counting(signal.SIGUSR1))
    witness = witness_of(started)
    os.kill(witness, signal.SIGSTOP)
    os.killpg(started.pid, signal.SIGUSR1)
    time.sleep(0.5)  # longer than what is sent to all comes to all of them by itself
    os.kill(witness, signal.SIGCONT)
    assert started.communicate(timeout=60)[0] == b"times 1\n"


def test_passed_on_where_nobody_tells(start):
    started = start("trap 'echo caught; exit 7' TERM", "echo ready", "while :; do sleep 0.05; done")
    os.kill(witness_of(started), signal.SIGKILL)
    started.send_signal(signal.SIGTERM)
    assert started.communicate(timeout=60)[0] == b"caught\n"


def test_two_at_a_time_are_one_each(start):
    numbers = int(signal.SIGINT), int(signal.SIGTERM)
    started = start("i=0; t=0; trap 'i=$((i+1))' %d; trap 't=$((t+1))' %d; echo ready" % numbers,
                    "n=0; while [ $n -lt 20 ]; do sleep 0.05; n=$((n+1)); done; echo $i $t")
    for number in numbers:
        os.killpg(started.pid, number)
    assert started.communicate(timeout=60)[0] == b"1 1\n"


def test_one_for_all_and_later_one_for_lucid_are_two(start):
    started = start(*counting(signal.SIGUSR1, enough=2, rounds=600))
    os.killpg(started.pid, signal.SIGUSR1)
    time.sleep(1.5)  # behind what counts as the same
    started.send_signal(signal.SIGUSR1)
    assert started.communicate(timeout=60)[0] == b"times 2\n"


def test_stopped_and_continued(start):
    """As by Ctrl-Z and fg; longer than any single wait of it lasts."""
    started = start("trap 'echo continued; exit 0' CONT", "echo ready", "while :; do sleep 0.05; done")
    started.send_signal(signal.SIGSTOP)
    time.sleep(1.3)
    started.send_signal(signal.SIGCONT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (3, b"continued\n"), err


def test_from_the_terminal(start):
    """What a terminal sends reaches the whole process group."""
    mine, theirs = pty.openpty()
    started = start(*counting(signal.SIGINT), stdin=theirs, stdout=theirs, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(theirs)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(mine, 1000)
    os.write(mine, b"\x03")
    seen += rest(mine)
    started.communicate(timeout=60)
    os.close(mine)
    assert seen.rstrip().endswith(b"times 1")


def rest(terminal):
    """What is still printed on a terminal, until nobody has it open."""
    text = b""
    while True:
        try:
            text += os.read(terminal, 1000)
        except OSError:
            return text


def children(pid):
    """The process ids of a process's children, and the names by which they run."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        pids = [int(word) for word in file.read().split()]
    return {pid: os.readlink(f"/proc/{pid}/exe") for pid in pids}


def test_the_witness_holds_no_file_and_ends_with_lucid(start):
    """Who waits for the end of the output of a lucid that was killed waits for the program alone."""
    started = start("echo ready", "exec sleep 600")
    witness = witness_of(started)
    program, = set(children(started.pid)) - {witness}
    files = {os.readlink(f"/proc/{witness}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{witness}/fd")}
    assert files == {"pipe"} and len(os.listdir(f"/proc/{witness}/fd")) == 2
    started.kill()
    started.wait(timeout=60)
    os.kill(program, signal.SIGKILL)
    assert started.stdout.read() == b""
    until = time.monotonic() + 60
    while os.path.exists(f"/proc/{witness}/fd") and zombie(witness) is False and time.monotonic() < until:
        time.sleep(0.02)
    assert zombie(witness) is not False


def zombie(pid):
    """Has the process ended, but for being waited for? None if there is none."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return None
