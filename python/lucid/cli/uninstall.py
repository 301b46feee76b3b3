# SPDX-License-Identifier: BSD-3-Clause
"""lucid uninstall: takes the components out of a user's directory again."""

from __future__ import annotations

import sys

from .. import user_components
from ..errors import LucidError


def setup_parser(commands) -> None:
    """Adds the command's options."""
    parser = commands.add_parser("uninstall", help="take the components out again", description="Removes from "
                                 "~/.openmpi/components what lucid install --user has put there, and nothing else. A file that was "
                                 "changed since is left and named (exit code 1).")
    parser.add_argument("--user", action="store_true", help="from ~/.openmpi/components (must be given)")


def main(arguments) -> int:
    """lucid uninstall"""
    if not arguments.user:
        raise LucidError("from where? lucid uninstall --user undoes lucid install --user; make uninstall PREFIX=DIR removes all of "
                         "Lucid", code=2)
    taken = user_components.take_out()
    if taken.names:
        print(f"removed {', '.join(taken.names)} from {taken.folder}")
    for path in taken.changed:
        print(f"lucid uninstall: {path} was changed since it was put there: left as it is", file=sys.stderr)
    return 1 if taken.changed else 0
