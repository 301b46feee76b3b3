# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the whole share: the command with everything on, and the same program without it."""
import os
import signal
import subprocess
import sys
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MPIEXEC = os.environ.get("LUCID_MPIEXEC", "mpirun")
EVERYTHING = ["--sparse", "--reorder", "topology", "--phases"]
if os.path.exists(os.path.join(os.environ.get("LUCID_LIBDIR", ""), "openmpi", "mca_coll_lazy.so")):  # not for Open MPI 6.0
    EVERYTHING.append("--startup")


def setting(name):
    """What CTest passes on; the test is skipped where it was started by hand without it."""
    if not os.environ.get(name):
        pytest.skip("%s is not set: run this test through ctest -L whole" % name)
    return os.environ[name]


def lucid(*words):
    """The words that start the command of the build."""
    return [sys.executable, setting("LUCID_COMMAND"), *map(str, words)]


def built(name, where="LUCID_WHOLE_PROGRAMS"):
    path = os.path.join(setting(where), name)
    if not os.path.exists(path):
        pytest.skip("%s was not built" % name)
    return path


def environment(**changes):
    """The caller's without what would change the outcome; None removes a variable."""
    left_out = ("LD_PRELOAD", "LUCID_LIBRARY", "LUCID_SOURCE", "LUCID_LOG", "LUCID_DIR")
    env = {k: v for k, v in os.environ.items() if k not in left_out}
    for name, value in changes.items():
        env.pop(name, None) if value is None else env.update({name: str(value)})
    return env


class Done:
    """How a command ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def lines_of_lucid(self):
        return [line for line in self.err.splitlines() if line.startswith("lucid")]


def run(words, cwd, env=None, timeout=120, strike=None):
    """Runs a command in a process group of its own. strike(process): what is done to it while it runs."""
    process = subprocess.Popen([str(word) for word in words], cwd=str(cwd), env=environment(**(env or {})),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               universal_newlines=True, start_new_session=True)
    try:
        if strike is not None:
            strike(process)
        out, err = process.communicate(timeout=timeout)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return Done(process.returncode, out, err)


def both(cwd, program, ranks, env=None, options=EVERYTHING, afterwards=lambda done: None, **how):
    """(without Lucid, with it); afterwards(done) is called after each."""
    report = os.path.join(str(cwd), "report")
    ends = []
    for words in ([MPIEXEC], lucid("run", *options, "-o", report)):
        ends.append(run([*words, "-n", ranks, *program], cwd, env, **how))
        afterwards(ends[-1])
    return ends


def eventually(condition, seconds=60):
    """Waits until the condition holds. The deadline is for broken programs only."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited %d s in vain" % seconds
        time.sleep(0.05)


def processes_of(word):
    """Living processes with `word` among the words of their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as stream:
                words = stream.read().decode(errors="replace").split("\0")
            with open("/proc/%s/stat" % pid, encoding="ascii", errors="replace") as stream:
                zombie = stream.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if word in words and not zombie:
            found.append(int(pid))
    return found


def pytest_sessionfinish(session, exitstatus):
    """A file in which nothing could run is a skipped test to CTest."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = 77
