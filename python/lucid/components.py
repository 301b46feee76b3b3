# SPDX-License-Identifier: BSD-3-Clause
"""Lucid's components of Open MPI: where they are, and how Open MPI is told of them.

Open MPI looks for components in the directories of mca_base_component_path. A value of one's own replaces the default, so it must
name Open MPI's own directory and the user's as well. liblucid sets it in the ranks (src/pmpi/component_path.c): the launcher of Open
MPI 5 would hand it to PMIx, which complains of what it finds there.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from typing import Dict, List, Optional, Tuple

from . import places

VARIABLE = "LUCID_COMPONENT_PATH"
_OPEN_MPIS = "OMPI_MCA_mca_base_component_path"


def find(name: str) -> Optional[str]:
    """The file of component coll/<name>, or None where this installation has none (another MPI, no internal headers)."""
    return places.beside(os.path.join("openmpi", f"mca_coll_{name}.so"))


def folder() -> Optional[str]:
    """The directory of this installation's components, or None where it has none."""
    found = [path for path in map(find, ("sparse", "lazy", "hier")) if path]
    return os.path.dirname(found[0]) if found else None


def name_of(path: str) -> str:
    """What Open MPI calls the component in a file: coll/sparse."""
    return "coll/" + os.path.basename(path)[len("mca_coll_"):-len(".so")]


def _ompi_info(mpirun: Optional[str]) -> Optional[str]:
    """The ompi_info that belongs to an mpirun, or the first of the search path."""
    path = shutil.which(mpirun) if mpirun else None
    if path:
        beside = os.path.join(os.path.dirname(path), "ompi_info")
        if os.access(beside, os.X_OK):
            return beside
    return shutil.which("ompi_info")


def _said(program: Optional[str], *words: str) -> str:
    """What ompi_info prints; '' if it cannot be asked."""
    if program is None:
        return ""
    try:
        return subprocess.run([program, *words, "--parsable"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              check=False, text=True).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


@functools.lru_cache(maxsize=None)
def _asked(program: Optional[str], words: Tuple[str, ...], key: str) -> Optional[str]:
    """What ompi_info says behind `key`, or None."""
    for line in _said(program, *words).splitlines():
        _, found, value = line.partition(key)
        if found:
            return value.strip('"')
    return None


def searched(mpirun: Optional[str]) -> Optional[str]:
    """Where Open MPI looks for components: the value of mca_base_component_path; None if it cannot be asked."""
    return _asked(_ompi_info(mpirun), ("--param", "mca", "base", "--level", "9"), ":param:mca_base_component_path:value:")


def loads(mpirun: Optional[str]) -> Optional[bool]:
    """Whether Open MPI was built to load components at run time; None if it cannot be asked."""
    said = _asked(_ompi_info(mpirun), ("--config",), "option:dlopen:")
    return None if said is None else said == "yes"


def found_all(mpirun: Optional[str], names: List[str]) -> Optional[bool]:
    """Whether Open MPI, asked now, finds all of these components ("coll/sparse"); None if it cannot be asked."""
    said = _said(_ompi_info(mpirun))
    return all(f"mca:{name.replace('/', ':')}:version:" in said for name in names) if said else None


def path_variable(mpirun: Optional[str], environment: Dict[str, str], name: str = "sparse") -> Dict[str, str]:
    """The variable that makes Open MPI look, under liblucid, where Lucid's components are, besides where it looks anyway; {} if
    coll/<name> is not there, or where it looks cannot be told."""
    present = environment.get(_OPEN_MPIS) or searched(mpirun)
    found = find(name)
    if found is None or not present:
        return {}
    own = os.path.dirname(found)
    # in front: Open MPI 4.1 looks no further than a directory that does not exist, as the user's own mostly does not
    return {VARIABLE: present if own in present.split(":") else f"{own}:{present}"}
