# SPDX-License-Identifier: BSD-3-Clause
"""tools/demo, quickly: its table has every system, and nothing is left of it, however it ends. No times."""
import fcntl
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios

import pytest

from conftest import ROOT, eventually, sys_path

sys_path(os.path.join(ROOT, "tools"))
sys_path(os.path.join(ROOT, "python"))
import demo_table  # noqa: E402

BUILD = os.environ.get("LUCID_BUILD_DIR", "")


class Demo:
    """The demo in a directory of its own, where all that it and MPI write goes."""

    def __init__(self):
        if not os.path.exists(os.path.join(BUILD, "bin", "lucid")):
            pytest.skip("the command lucid is not built; run this test through ctest -L lab")
        for program in ("lmp", "mpicc"):
            if not shutil.which(program):
                pytest.skip("%s is not installed" % program)
        self.home = tempfile.mkdtemp(prefix="lucid-demo-", dir="/var/tmp")
        self.results = os.path.join(self.home, "demo")
        self.shared, self.scratch = os.path.join(self.home, "shm"), os.path.join(self.home, "tmp")
        for folder in (self.shared, self.scratch):
            os.mkdir(folder)

    def start(self, *words):
        env = {name: value for name, value in os.environ.items() if not name.startswith("LUCID_LAB")}
        env.update(LUCID_DEMO_RESULTS=self.results, XDG_RUNTIME_DIR=self.home, TMPDIR=self.scratch,
                   OMPI_MCA_btl_vader_backing_directory=self.shared, OMPI_MCA_btl_sm_backing_directory=self.shared)
        if "--local" not in words:  # the nodes have a /dev/shm of their own
            del env["OMPI_MCA_btl_vader_backing_directory"], env["OMPI_MCA_btl_sm_backing_directory"]
        self.terminal, keyboard = pty.openpty()
        process = subprocess.Popen([os.path.join(ROOT, "tools", "demo"), "--quick", "--built", BUILD, *words], env=env, cwd=self.home,
                                   stdin=keyboard, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                   start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(keyboard)
        return process

    def processes(self):
        """Command lines of living processes that have this demo's directory in their environment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as stream:
                    ours = self.home.encode() in stream.read()
                with open("/proc/%s/cmdline" % pid, "rb") as stream:
                    line = stream.read().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue
            if ours and line and int(pid) != os.getpid():
                found.append(line)
        return found

    def left(self):
        """All that is there besides the results."""
        files = [os.path.join(folder, name) for place in (self.shared, self.scratch) for folder, _, names in os.walk(place)
                 for name in names]
        return files + [name for name in os.listdir(self.home) if name not in ("demo", "shm", "tmp")] + self.processes()


@pytest.fixture
def demo():
    one = Demo()
    yield one
    os.close(one.terminal)
    shutil.rmtree(one.home)


def table(text):
    """The rows between the rule and the empty line, as cells."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if set(line) == {"-"})
    return [re.split(r"  +", line) for line in lines[first + 1:lines.index("", first)]]


@pytest.mark.parametrize("where", [["--local"], []])
def test_one_table_with_every_system(demo, where):
    process = demo.start(*where)
    out, err = process.communicate(timeout=280)
    assert process.returncode == 0, out + err
    steps = re.findall(r"^\[ *\d+ s\] step (\d) of 9: ", out, re.MULTILINE)
    assert steps == [str(n) for n in range(1, 10)]
    rows = table(out)
    named = {row[0].split(":")[0] for row in rows}
    lazy = os.path.exists(os.path.join(BUILD, "lib", "lucid", "openmpi", "mca_coll_lazy.so"))
    assert named == {"traffic", "sparse"} | ({"placement"} if not where else set()) | ({"start-up"} if lazy else set())
    by_name = {row[0]: row for row in rows}
    assert all(len(row) == 5 for row in rows)
    if not where:
        assert by_name["placement: LAMMPS from round-robin, bytes between nodes"][3].split()[0] > "1"
    for name in ("report.html", "matrix.png", "table.txt", "traffic/run.json", "sparse-with/run.json"):
        assert os.path.getsize(os.path.join(demo.results, name)) > 0
    with open(os.path.join(demo.results, "table.txt"), encoding="utf-8") as stream:
        assert stream.read().strip() in out
    eventually(lambda: demo.left() == [], found=demo.left)


@pytest.mark.parametrize("where", [["--local"], []])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_it_is_interrupted(demo, where, number):
    process = demo.start(*where)
    for line in process.stdout:
        if "under lucid run" in line and "step" not in line:
            break
    eventually(lambda: process.poll() is not None or any(line.startswith("lmp ") for line in demo.processes()))
    if number == signal.SIGINT:
        os.write(demo.terminal, b"\x03")  # which reaches all of its processes at once
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "lucid: demo: interrupted; nothing is left of it\n" in err, out + err
    eventually(lambda: demo.left() == [], found=demo.left)
    assert not os.path.exists(demo.results)


def test_the_results_of_somebody_else_are_not_touched(demo):
    os.mkdir(demo.results)
    with open(os.path.join(demo.results, "mine"), "w") as stream:
        stream.write("x")
    process = demo.start("--local")
    for line in process.stdout:
        if "step 4" in line:
            break
    eventually(lambda: os.path.exists(demo.results + "-2"))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    eventually(lambda: demo.processes() == [])  # a launcher that ends late makes its folders anew
    assert os.listdir(demo.results) == ["mine"] and not os.path.exists(demo.results + "-2")


@pytest.mark.parametrize("before, after, text", [([3, 9, 4], [2], "2.00 x"), ([1], [4], "0.25 x"), ([100], [4], "25.0 x"),
                                                 ([1000], [1], "1000 x"), ([5], [0], "all gone"), ([0], [0], "-")])
def test_ratios(before, after, text):
    assert demo_table.cells(demo_table.Row("x", before, after, "count", "-"))[3] == text


def test_the_first_signal_counts(tmp_path, monkeypatch):
    """After Ctrl-C tools/demo sends another; the launcher would take one for impatience, and leave its files."""
    sys_path(os.path.join(ROOT, "tools"))
    import demo_run
    handlers = {}

    def set_handler(number, handler):
        """Like signal.signal, which first handles what was sent meanwhile; here as soon as a handler sets one."""
        if len(handlers) < 3:
            handlers[number] = handler
        elif number == signal.SIGINT:
            handlers[signal.SIGTERM](signal.SIGTERM, None)

    monkeypatch.setattr(signal, "signal", set_handler)
    demo = demo_run.Demo(str(tmp_path / "log"), 0, 0, 1)
    with pytest.raises(demo_run.Stopped):
        handlers[signal.SIGINT](signal.SIGINT, None)
    handlers[signal.SIGTERM](signal.SIGTERM, None)
    assert demo.signal == signal.SIGINT


def test_a_program_that_computes_something_else_is_an_error():
    sys_path(os.path.join(ROOT, "tools"))
    import demo_measure
    import demo_run
    with pytest.raises(demo_run.Failed):
        demo_measure.the_same("it", ["1.0"], ["1.1"])
    with pytest.raises(demo_run.Failed):
        demo_measure.the_same("it", [], [])
    assert "lucid" in sys.modules
