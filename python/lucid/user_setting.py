# SPDX-License-Identifier: BSD-3-Clause
"""A setting in ~/.openmpi/mca-params.conf that makes Open MPI look into the user's directory of components first.

By default it looks there after its own directory, and no further than a directory that does not exist; that is the case of an Open MPI
whose own components are inside its library, as 5.0's mostly are. USER_DEFAULT and SYS_DEFAULT are Open MPI's words for the two. The
name of the variable is the long one, with its project: the short one would be passed on to PMIx, which has one of that name.
"""

from __future__ import annotations

import os

_LINES = ("# from here: lucid install --user (lucid uninstall --user takes it out)\n"
          "opal_mca_base_component_path = USER_DEFAULT:SYS_DEFAULT\n"
          "# to here: lucid install --user\n")


def _file(folder: str) -> str:
    return os.path.join(os.path.dirname(folder), "mca-params.conf")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _write(path: str, text: str) -> None:
    part = path + ".new"
    with open(part, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    if os.path.exists(path):
        os.chmod(part, os.stat(path).st_mode & 0o7777)
    os.replace(part, os.path.realpath(path))


def add(folder: str) -> None:
    """Adds the lines behind what is there, once. folder: the directory of components."""
    text = _read(_file(folder))
    if _LINES not in text:
        _write(_file(folder), text + ("\n" if text and not text.endswith("\n") else "") + _LINES)


def remove(folder: str) -> None:
    """Takes the lines out; a file in which nothing else is goes, too."""
    path = _file(folder)
    text = _read(path)
    if _LINES not in text:
        return
    rest = text.replace(_LINES, "")
    if rest:
        _write(path, rest)
    else:
        os.unlink(path)
