# SPDX-License-Identifier: BSD-3-Clause
"""How the overhead programs are started: the cases that are compared, the environment of MPI, the lab."""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAB = os.path.join(ROOT, "lab", "lab")

# More ranks than processors are allowed; ob1 is the PML that Open MPI's own monitoring and Lucid sit on.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "^ucx,cm", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_btl": "^openib,ofi",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe",
}

MONITORING = {"OMPI_MCA_pml_monitoring_enable": "1", "OMPI_MCA_osc": "^monitoring,ucx"}


class Case:
    """A way to run a program: with Lucid or without, by which source, with how many sessions."""

    def __init__(self, name, what, source=None, sessions=0, thread="single", extra=None):
        self.name, self.what, self.source, self.sessions, self.thread = name, what, source, sessions, thread
        self.extra = extra or {}

    def environment(self, build):
        env = dict(self.extra)
        if self.source:
            env.update(LD_PRELOAD=os.path.join(build, "lib", "liblucid.so"), LUCID_SOURCE=self.source)
        return env

    def arguments(self):
        return ["--sessions", self.sessions] + (["--thread", self.thread] if self.thread != "single" else [])


PLAIN = Case("plain", "without Lucid")
PML = Case("pml", "Lucid, one session", "pml", 1)
OMPI = Case("ompi", "Open MPI's own monitoring", extra=MONITORING)
CASES = [
    PLAIN,
    PML,
    Case("pml-8", "Lucid, 8 sessions", "pml", 8),
    Case("pmpi", "Lucid, one session, source pmpi", "pmpi", 1),
    Case("mpit", "Lucid, one session, source mpit", "mpit", 1),
    OMPI,
    Case("plain-multiple", "without Lucid, MPI_THREAD_MULTIPLE", thread="multiple"),
    Case("pml-multiple", "Lucid, one session, MPI_THREAD_MULTIPLE", "pml", 1, thread="multiple"),
]


class Failed(Exception):
    """A program did not do what it should."""


def call(command, env=None, timeout=600):
    """Standard output of a command that has to succeed."""
    try:
        done = subprocess.run([str(word) for word in command], env=dict(os.environ, **ENVIRONMENT, **(env or {})),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired as late:
        raise Failed("%s: not done after %d seconds" % (" ".join(map(str, command)), timeout)) from late
    if done.returncode != 0:
        raise Failed("%s: exit code %d\n%s" % (" ".join(map(str, command)), done.returncode, (done.stdout + done.stderr)[-2000:]))
    return done.stdout


def assignments(env):
    return ["env", *("%s=%s" % pair for pair in sorted(env.items()))] if env else []


def mpirun(ranks, case, build, program, *arguments, wrapper=(), launcher=("mpirun",), timeout=600):
    """What rank 0 prints. The case's environment is set for the ranks alone, not for the launcher."""
    crowded = {"OMPI_MCA_mpi_yield_when_idle": "1"} if ranks > len(os.sched_getaffinity(0)) else {}
    return call([*launcher, "-n", ranks, *assignments(case.environment(build)), *wrapper, program, *arguments], crowded, timeout)


class Lab:
    """Some virtual nodes, up while the `with` block runs."""

    def __init__(self, nodes, slots, home, build):
        self.options = ["--nodes", nodes, "--slots", slots, "--keep", home, "--keep", build]
        os.environ["LUCID_LAB"] = os.path.join(home, "lab")

    def __enter__(self):
        call([LAB, "up", *self.options])
        return self

    def __exit__(self, *_):
        call([LAB, "down"])
        del os.environ["LUCID_LAB"]


def lab_is_possible():
    return subprocess.run([LAB, "check"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def pairs(text):
    """The lines "pair ..." as (off cpu, on cpu, off wall, on wall)."""
    return [tuple(float(word) for word in line.split()[1:]) for line in text.splitlines() if line.startswith("pair ")]


def counted(text):
    """The messages that the sessions counted, and the source: (n, name)."""
    match = re.search(r"^counted (\d+) source (\w+)$", text, re.MULTILINE)
    if not match:
        raise Failed("no line \"counted\" in: " + text[-500:])
    return int(match.group(1)), match.group(2)


def expect(case, text, messages):
    """Stops where the sessions have not counted every message, or another source was at work."""
    wanted = (messages, case.source) if case.source else (0, "none")
    if counted(text) != wanted:
        raise Failed("%s: counted %r, should be %r" % (case.name, counted(text), wanted))


def machine():
    """{what: value} of where the figures were measured."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        model = re.search(r"model name\s*: (.*)", stream.read())
    version = call(["ompi_info", "--version"]).splitlines()[0] if have("ompi_info") else call(["mpirun", "--version"]).splitlines()[0]
    return {"processor": model.group(1).strip() if model else "unknown", "processors": len(os.sched_getaffinity(0)),
            "kernel": os.uname().release, "MPI": version, "load": "%.1f" % os.getloadavg()[0]}


def have(program):
    return any(os.access(os.path.join(place, program), os.X_OK) for place in os.environ.get("PATH", "").split(os.pathsep))


def last_processor():
    return max(os.sched_getaffinity(0))
