# SPDX-License-Identifier: BSD-3-Clause
"""The examinations of `lucid doctor`: what is here, what works when it is really tried, and what to do about the rest."""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import Dict, List, Optional

from . import doctor_systems, launchers, places, program, units
from .doctor_systems import System
from .errors import LucidError
from .session import load

SOURCES = ("pml", "mpit", "pmpi")
_TIMEOUT = 120
# What the library puts before the reason: "lucid: rank 1: error: source mpit does not work here: ".
_OWN_PREFIX = re.compile(r"^lucid:\s*(\[?rank \d+\]?:?\s*)?((error|warn\w*):\s*)?(source \w+ does not work here:\s*)?")


@dataclass
class Trial:
    """What a source did when it was tried."""

    source: str                # as asked for
    works: bool = False
    used: str = ""             # the source that was in use
    why: str = ""              # why it does not work
    checks: List[dict] = field(default_factory=list)
    blind: List[str] = field(default_factory=list)
    interposed: Optional[bool] = None


@dataclass
class Findings:
    """All that was found. A problem is (what, remedy)."""

    library: str = ""
    mpi: str = ""
    libmpi: str = ""
    mpiexec: str = ""
    launcher: str = ""
    module: str = ""
    probe: str = ""
    trials: List[Trial] = field(default_factory=list)
    chosen: str = ""
    systems: List[System] = field(default_factory=list)
    problems: List[tuple] = field(default_factory=list)
    notes: List[tuple] = field(default_factory=list)
    parameters: List[tuple] = field(default_factory=list)

    def working(self) -> List[str]:
        """The sources that work."""
        return [trial.source for trial in self.trials if trial.works]


def examine(mpiexec: Optional[str]) -> Findings:
    """Looks at everything."""
    found = Findings()
    _find_library(found)
    _find_launcher(found, mpiexec)
    if found.library and found.mpiexec:
        _try_sources(found)
    if found.library:
        _try_systems(found)
    _look_at_environment(found)
    if importlib.util.find_spec("matplotlib") is None:
        found.notes.append(("PNG figures need matplotlib, which is not installed; SVG and HTML do not",
                            "install python3-matplotlib"))
    return found


def _find_library(found: Findings) -> None:
    try:
        found.library = places.library()
    except LucidError as error:
        found.problems.append((str(error), "make build, or make install; LUCID_LIBRARY names a library elsewhere"))
        return
    found.parameters = places.describe_parameters(found.library)
    mpi = places.mpi_of(found.library)
    linked = program.linked_mpi(found.library)
    found.libmpi = linked.path if linked else ""
    if mpi is None:
        found.problems.append((f"{found.library} cannot be loaded, or its MPI library is not found",
                               f"run: ldd {found.library}; load the MPI module that Lucid was built with, or build it again"))
        return
    found.mpi = mpi.text.splitlines()[0].split(",")[0]
    built = ".".join((places.known("MPI_VERSION") or "").split(".")[:2])
    if built and mpi.name == places.known("MPI_NAME") and mpi.series != built:
        found.problems.append((f"liblucid was built for {mpi.name} {built}, but loads {mpi}",
                               "load the MPI module that Lucid was built with, or build it again with this one"))
    found.module = places.beside("lucid_pml.so") or ""
    found.probe = places.beside("lucid_doctor_probe") or ""


def _find_launcher(found: Findings, mpiexec: Optional[str]) -> None:
    try:
        found.mpiexec = places.mpiexec(mpiexec)
    except LucidError as error:
        found.problems.append((str(error), "install openmpi-bin, or load the MPI module"))
        return
    version = launchers.ask_version([found.mpiexec])
    found.launcher = version.strip().splitlines()[0] if version.strip() else ""
    if not found.launcher:
        found.problems.append((f"{found.mpiexec} --version says nothing", "is it an MPI launcher? name another with --mpiexec"))
    name = found.mpi.split(" v")[0]
    series = ".".join(found.mpi.split(" v")[-1].split(".")[:2])
    if name == "Open MPI" and _open_mpi(found.launcher) and f" {series}." not in found.launcher:
        found.problems.append((f"{found.mpiexec} is {found.launcher}, but liblucid uses {found.mpi}",
                               "use the mpirun of the MPI that Lucid was built for (--mpiexec), or build Lucid for this one"))


def _open_mpi(launcher: str) -> bool:
    return "(Open MPI)" in launcher or "(OpenRTE)" in launcher


def _try_sources(found: Findings) -> None:
    if not found.probe:
        found.problems.append(("the probe lucid_doctor_probe is not beside liblucid", "build again, or set LUCID_LIBDIR"))
        return
    for source in SOURCES:
        found.trials.append(try_source(found, source))
    working = [trial for trial in found.trials if trial.works]
    chosen = try_source(found, "auto") if working else Trial("auto")
    found.chosen = chosen.used
    if not working and len({trial.why for trial in found.trials}) == 1:
        found.problems.append((f"two processes cannot be started: {found.trials[0].why}",
                               _remedy(found.trials[0]) if "root" in found.trials[0].why else
                               f"first make this work: {found.mpiexec} -n 2 hostname"))
    else:
        for trial in found.trials:
            if not trial.works:
                _explain(found, trial)
    for trial in found.trials:
        if trial.source == found.chosen:
            found.notes += [(line, _cure(line)) for line in trial.blind]
            _check_counts(found, trial)
            if trial.interposed is False:
                found.notes.append(("the program's MPI calls do not pass through Lucid: one-sided and persistent messages are missed",
                                    "load liblucid before the MPI library (lucid run does)"))


def _try_systems(found: Findings) -> None:
    """The four systems, and what works of each."""
    found.systems.append(System("traffic", bool(found.chosen), f"source {found.chosen}" if found.chosen else "no source works"))
    found.systems += doctor_systems.safely(lambda: [doctor_systems.placement()])
    if found.chosen:
        found.systems += doctor_systems.safely(lambda: doctor_systems.components_of(
            found.mpiexec, found.probe, _environment(), found.mpi.startswith("Open MPI")))
    for system in found.systems[1:]:
        if system.remedy:
            found.notes.append((system.how if system.works else f"{system.name} does not work: {system.how}", system.remedy))


def _explain(found: Findings, trial: Trial) -> None:
    where = found.notes if any(other.works for other in found.trials) else found.problems
    if trial.source == "pml" and not found.module and "Open MPI" in found.mpi:
        where.append(("the pml source was not built",
                      "install Open MPI's internal headers (Debian: libopenmpi-dev) and build again with -DLUCID_PML=ON"))
    else:
        where.append((f"{trial.source} does not work: {trial.why}", _remedy(trial)))


def _remedy(trial: Trial) -> str:
    if "--allow-run-as-root" in trial.why or "root" in trial.why:
        return "run as a user, or in a container set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    if "built for" in trial.why:
        return "build Lucid again with this MPI library"
    if trial.source == "mpit":
        return "nothing to do: the other sources need none of it"
    return "LUCID_LOG=debug with the same source says more"


def _cure(line: str) -> str:
    """What to do about a component that the messages bypass: 'coll/sm serves ...'."""
    name = line.split()[0].split("/")[-1] if "/" in line.split(" ")[0] else ""
    return f"to see them, leave it out: OMPI_MCA_coll=^{name}" if name else ""


def _check_counts(found: Findings, trial: Trial) -> None:
    for check in trial.checks:
        bypassed = check["name"] == "collectives" and trial.blind
        if check["ran"] and check["counted"] != check["sent"] and not bypassed:
            found.problems.append((f"{trial.source} counted {_amount(check['counted'])} of {check['name']} traffic, "
                                   f"{_amount(check['sent'])} were sent", "please report this, with the output of lucid doctor --json"))


def _amount(pair) -> str:
    return f"{pair[0]} messages ({pair[1]} B)"


def try_source(found: Findings, source: str) -> Trial:
    """Runs the probe with a source: two processes that send a known number of messages."""
    trial = Trial(source)
    with tempfile.TemporaryDirectory(prefix="lucid-doctor-") as folder:
        written = os.path.join(folder, "probe.json")
        command = [found.mpiexec, "-n", "2", found.probe, written]
        variables = {"LUCID_SOURCE": source, "LUCID_LOG": "error", "LUCID_DIR": ""}
        full, environment = launchers.with_variables(command, launchers.find(command), variables, "", _environment())
        try:
            ran = subprocess.run(full, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            trial.why = f"the probe did not end within {_TIMEOUT} s"
            return trial
        except OSError as error:
            trial.why = f"{found.mpiexec} cannot be started: {error.strerror}"
            return trial
        _judge(trial, ran.returncode, ran.stdout.decode("utf-8", "replace"), ran.stderr.decode("utf-8", "replace"))
        if trial.works and os.path.exists(written):
            session = load(written)
            trial.blind = list(session.source["blind"])
            trial.interposed = bool(session.source["interposed"])
    return trial


def _environment() -> Dict[str, str]:
    """The user's own, and what lets two processes start on any machine: the probe is harmless and small."""
    environment = dict(os.environ)
    for name, value in (("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_mpi_yield_when_idle", "1"),
                        ("PRTE_MCA_rmaps_default_mapping_policy", "slot:oversubscribe")):
        environment.setdefault(name, value)
    if os.geteuid() == 0:
        for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PRTE_ALLOW_RUN_AS_ROOT",
                     "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"):
            environment.setdefault(name, "1")
    return environment


def _judge(trial: Trial, code: int, out: str, err: str) -> None:
    lines = [line for line in out.splitlines() if line.startswith("{")]
    try:
        said = json.loads(lines[-1]) if code == 0 and lines else None
    except ValueError:
        said = None
    if said is None:
        own = [line.strip() for line in err.splitlines() if line.startswith("lucid:")]
        trial.why = _OWN_PREFIX.sub("", own[0]) if own else _first_sentence(err) or f"the probe ended with exit code {code}"
        return
    trial.used, trial.checks = said["source"], said["checks"]
    trial.works = any(check["ran"] and check["counted"] == check["sent"] for check in trial.checks)
    if not trial.works:
        trial.why = "it counted none of the messages that were sent"


def _first_sentence(text: str) -> str:
    """The first sentence of a launcher's complaint, whose lines are framed by dashes."""
    words = " ".join(line.strip() for line in text.splitlines() if not set(line.strip()) <= {"-"})
    return units.plain(re.split(r"(?<=[a-z])[.:]\s", words, maxsplit=1)[0].strip()[:200])


def _look_at_environment(found: Findings) -> None:
    known = {row[0] for row in found.parameters} | {"LUCID_LIBRARY"}
    for name in sorted(os.environ):
        if name.startswith("LUCID_") and found.parameters and name not in known:
            near = difflib.get_close_matches(name, sorted(known), 1)
            found.notes.append((f"{name} is set, but is no parameter of Lucid" + (f"; meant {near[0]}?" if near else ""),
                                f"unset {name}"))
    wanted = os.environ.get("LUCID_SOURCE", "auto")
    if wanted in SOURCES and found.trials and wanted not in found.working():
        found.problems.append((f"LUCID_SOURCE={wanted} is set, and does not work here", "unset LUCID_SOURCE"))
    if os.geteuid() == 0 and _open_mpi(found.launcher) and "OMPI_ALLOW_RUN_AS_ROOT" not in os.environ:
        found.notes.append(("mpirun refuses to run as root (the probe was allowed to)",
                            "run as a user; in a container set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"))
    if not shutil.which("ldd"):
        found.notes.append(("ldd is not here: lucid run cannot see which MPI a program is linked with", "install libc-bin"))
