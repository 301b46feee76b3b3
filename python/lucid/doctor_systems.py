# SPDX-License-Identifier: BSD-3-Clause
"""The examinations of `lucid doctor` beyond traffic: placement, sparse reductions, start-up and coll/hier."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Tuple

from . import components, launchers, mapping_library as mapper
from .errors import LucidError

_TIMEOUT = 120
_HEADERS = "build Lucid again where Open MPI's internal headers are (Debian: libopenmpi-dev)"
#: coll/hier does nothing on one node, nor with one process per node: two of the probe's processes are taken for a node each way.
_PROCESSES = {"hier": 4}
_HIER = {"OMPI_MCA_coll_hier_priority": "80", "OMPI_MCA_coll_hier_test_nodes": "0,0,1,1"}


@dataclass
class System:
    """What was found of one of Lucid's systems."""

    name: str
    works: bool
    how: str          # by what it works, or why it does not
    remedy: str = ""


def placement() -> System:
    """The mappers, each tried on four ranks that sit in the wrong order."""
    worked, missing = [], ""
    for name in ("treematch", "multilevel", "scotch"):
        try:
            if _mapped(name):
                worked.append(name)
        except LucidError as error:
            missing = missing or str(error)
    name = "placement"
    if "multilevel" not in worked:
        return System(name, False, missing or "the mappers found no better order for a ring in the wrong order",
                      "make build, or make install; LUCID_LIBRARY names a library elsewhere")
    remedy = "" if "scotch" in worked else "for Scotch, too: install libscotch-dev and build again"
    return System(name, True, "mappers " + ", ".join(worked), remedy)


def _mapped(algorithm: str) -> bool:
    """Whether it puts 0 and 2, 1 and 3 together, which talk to each other."""
    matrix = mapper.Matrix.from_cells(4, [(a, b, 1, 1000) for a, b in ((0, 2), (2, 0), (1, 3), (3, 1))])
    found = mapper.find(matrix, mapper.Tree.read("node:2 core:2"), algorithm)
    return found.before.between > 0 == found.after.between


def components_of(mpiexec: str, probe: str, environment: Dict[str, str], open_mpi: bool) -> List[System]:
    """The systems that are components of Open MPI, or have another way."""
    ask = _Asker(mpiexec, probe, environment)
    found = [_sparse(ask, open_mpi)]
    found.append(_component(ask, open_mpi, "start-up", "lazy", {"LUCID_LAZY": "share"}, "coll_lazy_created"))
    found.append(_component(ask, open_mpi, "coll/hier", "hier", _HIER, "coll_hier_calls"))
    return found


class _Asker:
    """Runs the probe and keeps what it said."""

    def __init__(self, mpiexec: str, probe: str, environment: Dict[str, str]):
        self.mpiexec, self.probe, self.environment = mpiexec, probe, environment

    def path(self, component: str) -> Dict[str, str]:
        return components.path_variable(self.mpiexec, self.environment, component)

    def run(self, variables: Dict[str, str], processes: int = 2) -> Tuple[Optional[dict], str]:
        """The probe's figures, or None; and why."""
        command = [self.mpiexec, "-n", str(processes), self.probe, "--systems"]
        variables = {"LUCID_LOG": "error", "LUCID_DIR": "", "LUCID_SPARSE_ALWAYS": "1", **variables}
        full, environment = launchers.with_variables(command, launchers.find(command), variables, "", self.environment)
        try:
            ran = subprocess.run(full, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT,
                                 check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, f"{processes} processes could not be started: {error}"
        out, err = ran.stdout.decode("utf-8", "replace"), ran.stderr.decode("utf-8", "replace")
        ended = f"the probe ended with exit code {ran.returncode}" if ran.returncode else ""
        return judge(ran.returncode, out), _reason(err) or ended


def judge(code: int, out: str) -> Optional[dict]:
    """What the probe said on its line of JSON."""
    lines = [line for line in out.splitlines() if line.startswith("{")]
    try:
        said = json.loads(lines[-1]) if code == 0 and lines else None
    except ValueError:
        said = None
    return said if isinstance(said, dict) else None


def _reason(err: str) -> str:
    """Lucid's own line among what was said: 'coll/sparse ...: it was built for Open MPI 4.1.4, and this is 4.1.5'."""
    own = [line.strip() for line in err.splitlines() if line.startswith("lucid:")]
    return re.sub(r"^lucid:\s*(\[?rank \d+\]?:?\s*)?((error|warn\w*):\s*)?", "", own[0]) if own else ""


def _sparse(ask: _Asker, open_mpi: bool) -> System:
    found = _component(ask, open_mpi, "sparse", "sparse", {"LUCID_SPARSE_PRIORITY": "60"}, "coll_sparse_calls_taken")
    if found.works:
        return found
    said, why = ask.run({"LUCID_SPARSE": "on"})
    if said and said.get("preloaded"):
        return System("sparse", True, "preloaded library; " + found.how, found.remedy if open_mpi else "")
    return System("sparse", False, found.how if open_mpi else why, found.remedy)


def _component(ask: _Asker, open_mpi: bool, name: str, component: str, variables: Dict[str, str], figure: str) -> System:
    """A component that has counted something has been accepted."""
    if not open_mpi:
        return System(name, False, f"coll/{component} is a component of Open MPI, and this is another MPI")
    path = ask.path(component)
    if not path:
        there = components.find(component)
        why = f"coll/{component} was not built" if there is None else "ompi_info does not say where Open MPI looks"
        return System(name, False, why, _HEADERS if there is None else "put this Open MPI's ompi_info beside its mpirun, or on PATH")
    said, why = ask.run({**path, **variables}, _PROCESSES.get(component, 2))
    if said and said.get(figure):
        return System(name, True, f"coll/{component}")
    return System(name, False, why or f"coll/{component} is there, and Open MPI did not use it",
                  "build Lucid again with this Open MPI" if "built for" in why else "LUCID_LOG=debug says more")


def safely(examine: Callable[[], List[System]]) -> List[System]:
    """What an examination finds; one that breaks is no reason to say nothing of the others."""
    try:
        return examine()
    except (LucidError, OSError) as error:
        return [System("systems", False, str(error))]
