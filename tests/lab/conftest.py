# SPDX-License-Identifier: BSD-3-Clause
"""What the tests in the lab share. Where no lab can be made, they are all skipped: exit code 77 and the reason."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.path.join(ROOT, "lab", "lab")


def sys_path(folder):
    """Makes the modules of a folder importable."""
    if folder not in sys.path:
        sys.path.insert(0, folder)


def pytest_sessionstart(session):
    done = subprocess.run([LAB, "check"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, universal_newlines=True)
    if done.returncode == 77:
        pytest.exit("SKIP: " + done.stdout.strip(), returncode=77)

# PRRTE 3.0.8 now and then waits forever for a program without MPI that ends before the last of its processes has been started
# (5 of 25 jobs of 16 processes; none of 25 when they live on for half a second).
LINGER = "; rc=$?; sleep 0.5; exit $rc"


class Lab:
    """The command lab/lab with a state directory of its own, below one that is removed after the test."""

    def __init__(self, home):
        self.state = os.path.join(home, "lab")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("LUCID_LAB")}
        self.env.update(LUCID_LAB=self.state, XDG_RUNTIME_DIR=home)

    def popen(self, *args, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        env = dict(self.env, **options.pop("env", {}))
        return subprocess.Popen([LAB] + [str(a) for a in args], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                universal_newlines=True, **options)

    def run(self, *args, input=None, timeout=100, **options):
        """The finished process, whatever its exit code."""
        if input is not None:
            options["stdin"] = subprocess.PIPE
        process = self.popen(*args, **options)
        try:
            out, err = process.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def ok(self, *args, **options):
        """The standard output of a call that must succeed."""
        done = self.run(*args, **options)
        assert done.returncode == 0, "lab %s: exit code %d\n%s%s" % (args, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def hub(self):
        with open(os.path.join(self.state, "hub")) as stream:
            return int(stream.read().split()[0])

    def counter(self, node, name):
        return int(self.ok("exec", node, "cat", "/sys/class/net/eth0/statistics/" + name))

    def processes(self, word=None):
        """Living processes of labs below this home, as {pid: command line}; with `word` in the command line."""
        mark = b"LUCID_LAB=" + os.path.dirname(self.state).encode()
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as stream:
                    ours = any(entry.startswith(mark) for entry in stream.read().split(b"\0"))
                with open("/proc/%s/cmdline" % pid, "rb") as stream:
                    line = stream.read().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue
            if ours and line and (word is None or word in line.split()):
                found[int(pid)] = line
        return found


def eventually(condition, seconds=60, found=lambda: ""):
    """Waits until the condition holds. The deadline is for broken programs only; what was found instead is told."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited %d s in vain; %s" % (seconds, found())
        time.sleep(0.05)


def new_lab():
    home = tempfile.mkdtemp(prefix="lucid-test-", dir="/var/tmp")
    return Lab(home)


def end_lab(lab):
    left = lab.run("down")
    shutil.rmtree(os.path.dirname(lab.state))
    assert left.returncode == 0, left.stderr


@pytest.fixture
def lab():
    """A lab that is not up."""
    one = new_lab()
    yield one
    end_lab(one)


@pytest.fixture(scope="module")
def cluster():
    """A lab of 4 nodes with 4 slots each, up; it ends with this process, whatever ends that."""
    one = new_lab()
    holder = one.popen("with", "--nodes", "4", "--slots", "4", "--rate", "1gbit", "--", "sh", "-c",
                       'echo "$LUCID_LAB"; exec cat', stdin=subprocess.PIPE)
    one.state = one.env["LUCID_LAB"] = holder.stdout.readline().strip()
    assert one.state, holder.communicate()[1]
    yield one
    holder.communicate()
    assert holder.returncode == 0 and not os.path.exists(one.state)
    shutil.rmtree(os.path.dirname(one.state))


@pytest.fixture(scope="session")
def program():
    """The path of a test program that the build made."""
    def path(name):
        folder = os.environ.get("LUCID_LAB_PROGRAMS")
        if not folder or not os.path.exists(os.path.join(folder, name)):
            pytest.skip("%s is not built; run this test through ctest -L lab" % name)
        return os.path.join(folder, name)
    return path
