# SPDX-License-Identifier: BSD-3-Clause
"""lucid install: puts the components where a user's own Open MPI finds them without a path."""

from __future__ import annotations

import argparse

from .. import user_components
from ..errors import LucidError

_DESCRIPTION = """\
Copies Lucid's components into ~/.openmpi/components, where Open MPI looks for a user's own. No root is needed, and no path
variable afterwards. The components do nothing until they are asked to. Lucid itself is installed with make install.
"""

_EPILOG = """\
examples:
  lucid install --user
  mpirun --mca coll_sparse_priority 60 -n 16 ./app     sparse reductions, without lucid run
  mpirun -x LUCID_LAZY=share -n 16 ./app               communicators that select their modules late
  lucid uninstall --user                               take them out again

The components fit one release of Open MPI, that of the mpirun in the search path; with several of them,
install those of the one you use. Files that are not Lucid's are never touched.
"""


def setup_parser(commands) -> None:
    """Adds the command's options."""
    parser = commands.add_parser("install", help="put the components where your Open MPI finds them", description=_DESCRIPTION,
                                 epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--user", action="store_true", help="into ~/.openmpi/components (must be given)")
    parser.add_argument("--mpiexec", metavar="PATH", help="the mpirun whose Open MPI shall use them (default: the first of PATH)")


def main(arguments) -> int:
    """lucid install"""
    if not arguments.user:
        raise LucidError("where to? lucid install --user puts the components into ~/.openmpi/components; make install PREFIX=DIR "
                         "installs all of Lucid", code=2)
    put = user_components.put(arguments.mpiexec)
    print(f"{', '.join(put.names)} for Open MPI {put.release} in {put.folder}")
    print("use: mpirun --mca coll_sparse_priority 60 ...     take out: lucid uninstall --user")
    return 0
