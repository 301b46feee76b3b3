# SPDX-License-Identifier: BSD-3-Clause
"""Lucid: see where the messages of an MPI program go.

The package behind the `lucid` command, and a library to read its session files: lucid.load(path) -> lucid.Session.
"""

from .errors import LucidError, SessionError
from .session import Cell, Node, Rank, Session, Traffic, load

__version__ = "0.1.0"
__all__ = ["Cell", "LucidError", "Node", "Rank", "Session", "SessionError", "Traffic", "load", "__version__"]
