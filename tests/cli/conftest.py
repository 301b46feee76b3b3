# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command share: the command itself, sample reports, golden output, and a stand-in for mpirun."""
import os
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, HERE)

# Nothing of the caller's may change what is printed.
QUIET = ("COLUMNS", "NO_COLOR", "COLORTERM", "LUCID_LIBRARY", "LUCID_SOURCE", "LUCID_LOG", "LUCID_DIR", "LUCID_PHASES",
         "LD_PRELOAD", "SLURM_EXPORT_ENV")


def command():
    """The words that start lucid: the build's command, or the package as it lies in the tree."""
    built = os.environ.get("LUCID_COMMAND")
    return [sys.executable, built] if built else [sys.executable, "-m", "lucid"]


def environment(**changes):
    """The caller's environment without what would change the output, in UTF-8; None removes a variable."""
    env = {k: v for k, v in os.environ.items() if k not in QUIET}
    env.update(PYTHONPATH=os.path.join(ROOT, "python"), PYTHONIOENCODING="utf-8", TERM="xterm-256color")
    for name, value in changes.items():
        env.pop(name, None) if value is None else env.update({name: str(value)})
    return env


class Done:
    """How a command ended, with its output as text."""

    def __init__(self, ended):
        self.code, self.raw = ended.returncode, ended.stdout
        self.out, self.err = (text.decode("utf-8", "replace") for text in (ended.stdout, ended.stderr))


@pytest.fixture
def lucid(tmp_path):
    """Runs the command in a directory of its own: lucid("show", path, cwd=..., env={...}, input=b"...")."""
    def run(*words, cwd=tmp_path, env=None, input=b"", timeout=120):
        ended = subprocess.run(command() + [str(word) for word in words], cwd=str(cwd), env=environment(**(env or {})),
                               input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
        return Done(ended)
    return run


@pytest.fixture
def golden():
    """Compares text with golden/<name>.txt; LUCID_UPDATE_GOLDEN=1 writes the file anew."""
    def compare(name, text):
        path = os.path.join(HERE, "golden", name + ".txt")
        if os.environ.get("LUCID_UPDATE_GOLDEN"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            assert text == file.read(), "differs from %s (LUCID_UPDATE_GOLDEN=1 writes it anew)" % path
    return compare


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """The path of a session of 1024 ranks on 32 nodes."""
    import sample
    path = tmp_path_factory.mktemp("large") / "run.json"
    path.write_text(sample.text(sample.session(1024, 32)))
    return path


@pytest.fixture
def fake(tmp_path):
    """A directory with a fake mpirun, and the environment that uses it; skipped without a liblucid for Open MPI."""
    if not os.environ.get("LUCID_COMMAND"):
        pytest.skip("needs a built liblucid: run this test through ctest -L cli")
    from lucid import launchers
    if launchers.family_said(launchers.ask_version([os.environ["LUCID_MPIEXEC"]])) != "openmpi":
        pytest.skip("the fake mpirun is Open MPI's, and this Lucid is for another MPI")
    place = tmp_path / "fake"
    place.mkdir()
    for name in ("mpirun", "mpiexec.hydra", "srun"):
        shutil.copy(os.path.join(HERE, "programs", "fake_mpirun"), str(place / name))
    return {"PATH": "%s:%s" % (place, os.environ["PATH"]), "FAKE_REPORT": os.path.join(DATA, "report4", "run.json"),
            "FAKE_RECORD": str(tmp_path / "record.json")}


def built(name):
    """A test program that CMake has built; skipped where it could not be."""
    path = os.path.join(os.environ.get("LUCID_CLI_PROGRAMS", ""), name)
    if not os.environ.get("LUCID_CLI_PROGRAMS"):
        pytest.skip("needs the built test programs: run this test through ctest -L cli")
    if not os.path.exists(path):
        pytest.skip("%s was not built: no compiler for its language here" % name)
    return path


def pytest_sessionfinish(session, exitstatus):
    """A file in which nothing could run is a skipped test to CTest."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = 77
