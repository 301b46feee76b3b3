# SPDX-License-Identifier: BSD-3-Clause
"""Errors that end the command with one clear line."""

from __future__ import annotations


class LucidError(Exception):
    """One lower-case line (what, where, what to do) and the exit code of the command."""

    def __init__(self, message: str, code: int = 1):
        super().__init__(message)
        self.code = code


class SessionError(LucidError):
    """A session file that cannot be read: which file, what is wrong, where in it."""

    def __init__(self, path, what: str):
        super().__init__(f"{path}: {what}", code=2)
        self.path = str(path)
        self.what = what


def reason(error: OSError) -> str:
    """The system's reason alone, in lower case: 'no such file or directory'."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
