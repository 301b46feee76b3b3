# SPDX-License-Identifier: BSD-3-Clause
"""Lucid's components of Open MPI in a user's own directory, ~/.openmpi/components, where every Open MPI looks by itself.

They are copied, not linked: at a link whose target is gone Open MPI stops reading the directory, and the user's other components
would be gone, too. What was put there is in a list beside the directory (~/.openmpi/lucid.json), with the digest of every file; only
what is in it is ever replaced or removed. The list is written before the files: what an interrupt leaves is in the list or not there.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
from typing import Dict, List, NamedTuple, Optional

from . import __version__, components, launchers, places, user_setting
from .errors import LucidError, reason

# What every component can say about its release (src/mca/mca_release.c).
_RELEASE = re.compile(rb"it was built for Open MPI (\d+\.\d+\.\d+)[^\0]*build Lucid with this one")
_MPIRUN = re.compile(r"\(Open MPI\) (\d+\.\d+\.\d+)")
_CODE = 125


class Put(NamedTuple):
    """What was put where: names of components, and the release of Open MPI that they are for."""

    names: List[str]
    folder: str
    release: str


class Taken(NamedTuple):
    """What was removed, and what was left because it is not as it was put there."""

    names: List[str]
    changed: List[str]
    folder: str


def put(mpiexec: Optional[str] = None) -> Put:
    """Copies the components; LucidError, and nothing is changed, where they do not fit or something of others is in their place."""
    folder = _folder()
    mpirun = _mpirun(mpiexec)
    files = _own_files()
    release = _same_release(files, mpirun)
    _check_open_mpi(mpirun, folder)
    before = _read_list(folder)
    new = {os.path.basename(path): path for path in files}
    _check_free(folder, new, before)
    try:
        made = _make(folder, before)
        for name in _unchanged(folder, before):
            os.unlink(os.path.join(folder, name))
        digests = {name: _digest(path) for name, path in new.items()}
        _write_list(folder, {"lucid": __version__, "open_mpi": release, "made": made, "files": digests})
        for name, path in new.items():
            _copy(path, os.path.join(folder, name))
        _see_to_it(mpirun, release, folder, [components.name_of(name) for name in new])
    except OSError as error:
        raise LucidError(f"cannot write to {error.filename or folder}: {reason(error)}", code=_CODE) from None
    return Put([components.name_of(name) for name in sorted(new)], folder, release)


def take_out() -> Taken:
    """Removes what put() has put there, and the directories that it made if nothing else is in them."""
    folder = _folder()
    before = _read_list(folder)
    if not before:
        raise LucidError(f"nothing of Lucid's is in {folder}: no list {_list_of(folder)}", code=1)
    present = [name for name in before["files"] if os.path.lexists(os.path.join(folder, name))]
    own = _unchanged(folder, before)
    changed = sorted(set(present) - set(own))
    try:
        for name in own:
            os.unlink(os.path.join(folder, name))
        if changed:
            _write_list(folder, {**before, "files": {name: before["files"][name] for name in changed}})
        else:
            user_setting.remove(folder)
            os.unlink(_list_of(folder))
            _drop(before["made"])
    except OSError as error:
        raise LucidError(f"cannot remove {error.filename or folder}: {reason(error)}", code=_CODE) from None
    return Taken([components.name_of(name) for name in sorted(own)], [os.path.join(folder, name) for name in changed], folder)


def _folder() -> str:
    home = os.environ.get("HOME")
    if not home or not os.path.isdir(home):
        raise LucidError(f"HOME={home or ''} is no directory: Open MPI looks for a user's components below it", code=_CODE)
    return os.path.join(os.path.abspath(home), ".openmpi", "components")


def _mpirun(named: Optional[str]) -> str:
    if named:
        return places.mpiexec(named)
    found = shutil.which("mpirun")
    if not found:
        raise LucidError("no mpirun in the search path: which Open MPI shall use the components? load its module, or name it with "
                         "--mpiexec", code=_CODE)
    return found


def _own_files() -> List[str]:
    beside = components.folder()
    found = sorted(glob.glob(os.path.join(beside, "mca_coll_*.so"))) if beside else []
    if not found:
        raise LucidError("this Lucid has no components: it was built for an MPI other than Open MPI, or without Open MPI's internal "
                         "headers; lucid run works without them", code=_CODE)
    return found


def _release_of(path: str) -> str:
    with open(path, "rb") as file:
        found = _RELEASE.search(file.read())
    return found.group(1).decode() if found else "unknown"


def _same_release(files: List[str], mpirun: str) -> str:
    """The release that all components are for and mpirun is of."""
    said = launchers.ask_version([mpirun])
    found = _MPIRUN.search(said)
    if not found:
        what = said.splitlines()[0].strip() if said.strip() else "it does not answer --version"
        raise LucidError(f"{mpirun} is not Open MPI's ({what}): components are for Open MPI only", code=_CODE)
    for path in files:
        if _release_of(path) != found.group(1):
            raise LucidError(f"{mpirun} is Open MPI {found.group(1)}, but {os.path.basename(path)} was built for {_release_of(path)}: "
                             "build Lucid with that Open MPI, or put the other one first on PATH", code=_CODE)
    return found.group(1)


def _check_open_mpi(mpirun: str, folder: str) -> None:
    """Whether this Open MPI loads components at all, and looks for them in the user's directory; as far as it can be asked."""
    if components.loads(mpirun) is False:
        raise LucidError(f"the Open MPI of {mpirun} was built without loading of components (--disable-dlopen); lucid run works "
                         "without them", code=_CODE)
    looked = components.searched(mpirun)
    if looked and not {"USER_DEFAULT", "USR_DEFAULT", folder} & set(looked.split(":")):
        raise LucidError(f"Open MPI is set to look for components in {looked} only (mca_base_component_path), not in {folder}",
                         code=_CODE)


def _see_to_it(mpirun: str, release: str, folder: str, names: List[str]) -> None:
    """Asks Open MPI whether it finds them; where it does not, a setting of the user's makes it look there first. From 5.0 on that is
    made in any case: the ranks may look elsewhere for Open MPI's own than ompi_info does."""
    if release.startswith("4.") and components.found_all(mpirun, names) is not False:
        return
    user_setting.add(folder)
    if components.found_all(mpirun, names) is False:
        take_out()
        raise LucidError(f"the Open MPI of {mpirun} does not find the components in {folder}, for whatever reason (ompi_info --mca "
                         "mca_base_component_show_load_errors 1): they were taken out again", code=_CODE)


def _list_of(folder: str) -> str:
    return os.path.join(os.path.dirname(folder), "lucid.json")


def _read_list(folder: str) -> Dict:
    """The list of what was put there; {} if there is none."""
    path = _list_of(folder)
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        files, made = known["files"], known["made"]
        if all(re.fullmatch(r"mca_coll_\w+\.so", name) for name in files) and isinstance(made, list):
            return {**known, "files": dict(files)}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise LucidError(f"cannot read {path}: {reason(error)}", code=_CODE) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise LucidError(f"{path} is not a list of lucid install --user: remove it, and Lucid's files in {folder}", code=_CODE)


def _write_list(folder: str, known: Dict) -> None:
    path = _list_of(folder)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(known, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _unchanged(folder: str, known: Dict) -> List[str]:
    """Those files of a list that are still what was put there."""
    return [name for name, digest in known.get("files", {}).items()
            if os.path.isfile(os.path.join(folder, name)) and _digest(os.path.join(folder, name)) == digest]


def _check_free(folder: str, new: Dict[str, str], known: Dict) -> None:
    own = set(_unchanged(folder, known))
    for name in new:
        path = os.path.join(folder, name)
        if os.path.lexists(path) and name not in own:
            raise LucidError(f"{path} was not put there by lucid install --user, or was changed since: move it away first", code=_CODE)


def _make(folder: str, known: Dict) -> List[str]:
    """Makes the directory; returns those that did not exist, innermost first."""
    made, path = [], folder
    while not os.path.isdir(path):
        made.append(path)
        path = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    return made + [path for path in known.get("made", []) if path not in made]


def _drop(made: List[str]) -> None:
    for path in made:
        try:
            os.rmdir(path)
        except OSError:
            return  # something else is in it by now


def _copy(source: str, target: str) -> None:
    """A copy that is whole when it has its name; under the other one, Open MPI does not take it for a component."""
    part = os.path.join(os.path.dirname(target), f".new-{os.path.basename(target)}")
    try:
        shutil.copyfile(source, part)
        os.chmod(part, 0o755)
        os.replace(part, target)
    except OSError:
        if os.path.exists(part):
            os.unlink(part)
        raise
