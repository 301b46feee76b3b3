# SPDX-License-Identifier: BSD-3-Clause
"""What the terminal can show: its width, and whether it wants colour."""

from __future__ import annotations

import os
import shutil
import sys

from .scale import Color


class Terminal:
    """Styles for one output stream; every style is the identity where escapes are not wanted."""

    def __init__(self, stream=None, width: int = 0):
        stream = sys.stdout if stream is None else stream
        tty = hasattr(stream, "isatty") and stream.isatty()
        self.color = tty and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
        self.true_color = self.color and os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
        self.width = width or _width(tty)

    def bold(self, text: str) -> str:
        """Headings."""
        return f"\033[1m{text}\033[0m" if self.color else text

    def dim(self, text: str) -> str:
        """What matters less."""
        return f"\033[2m{text}\033[0m" if self.color else text

    def paint(self, text: str, color: Color) -> str:
        """Text in a colour, as near as the terminal can."""
        if not self.color:
            return text
        if self.true_color:
            return "\033[38;2;%d;%d;%dm%s\033[0m" % (*color, text)
        cube = [0 if c < 48 else 1 if c < 115 else (c - 35) // 40 for c in color]
        return f"\033[38;5;{16 + 36 * cube[0] + 6 * cube[1] + cube[2]}m{text}\033[0m"


def _width(tty: bool) -> int:
    if tty or os.environ.get("COLUMNS", "").isdigit():
        return max(shutil.get_terminal_size((80, 24)).columns, 40)
    return 80
