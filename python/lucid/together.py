# SPDX-License-Identifier: BSD-3-Clause
"""lucid run --all: what of placement, sparse reductions and start-up can be had for a command, switched on."""

from __future__ import annotations

import os
from typing import List

from . import components, launchers, placed
from .errors import LucidError


def settle(arguments, command: List[str]) -> List[str]:
    """Sets the options that --all stands for where they are not set; returns a line for each that cannot be had here."""
    left_out: List[str] = []
    if not arguments.place:
        try:
            placed.check(command)
            arguments.place = True
        except LucidError as error:
            left_out.append(str(error))
    if arguments.sparse is None:
        arguments.sparse = "on"
    if arguments.startup is None:
        launcher = launchers.find(command)
        mpirun = command[launcher.index] if launcher else None
        if (launcher is None or launcher.family != "hydra") and components.path_variable(mpirun, dict(os.environ), "lazy"):
            arguments.startup = "share"
        else:
            left_out.append("--startup needs Open MPI 4.1 or 5.0, and Lucid built for it with its internal headers")
    arguments.all = False
    return left_out
