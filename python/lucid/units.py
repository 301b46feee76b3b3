# SPDX-License-Identifier: BSD-3-Clause
"""Figures as a reader wants them: three digits and a decimal unit, thousands apart, honest percentages."""

from __future__ import annotations

import re

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def size(value: float) -> str:
    """Bytes in decimal units: '0 B', '999 B', '1.00 kB', '12.3 MB'."""
    if value < 1000:
        return f"{value:.0f} B" if value == int(value) else f"{_three(value)} B"
    scaled = float(value)
    for unit in _UNITS:
        if scaled < 999.5 or unit == _UNITS[-1]:
            return f"{_three(scaled)} {unit}"
        scaled /= 1000
    raise AssertionError("unreachable")


def _three(value: float) -> str:
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def power(value: int) -> str:
    """A power of two as histograms write it: '512', '64 Ki', '2 Mi'."""
    for unit in ("", " Ki", " Mi", " Gi", " Ti", " Pi", " Ei"):
        if value < 1024 or unit == " Ei":
            return f"{value}{unit}"
        value //= 1024
    raise AssertionError("unreachable")


def count(value: int) -> str:
    """A whole number with its thousands apart."""
    return f"{value:,}"


def messages(value: int) -> str:
    """'1 message', '12,345 messages'."""
    return f"{value:,} message{'' if value == 1 else 's'}"


def plural(value: int, word: str) -> str:
    """'1 node', '4 nodes'."""
    return f"{value:,} {word}{'' if value == 1 else 's'}"


def percent(part: float, whole: float) -> str:
    """A share that is 0 % or 100 % only when it really is."""
    if whole <= 0 or part <= 0:
        return "0 %"
    share = 100 * part / whole
    if part >= whole:
        return "100 %"
    if share < 0.1:
        return "< 0.1 %"
    if share > 99.9:
        return "> 99.9 %"
    return f"{share:.1f} %" if share < 1 or share > 99 else f"{int(share + 0.5)} %"


def seconds(value: float) -> str:
    """A duration: '4.1 ms', '0.52 s', '12.5 s', '3 min 20 s', '2 h 5 min'."""
    if value < 0.0995:
        return f"{1000 * value:.1f} ms"
    if value < 99.95:
        return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"
    whole = int(value + 0.5)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def ranges(numbers) -> str:
    """Sorted numbers as ranges: '0-3,8'."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def plain(text: str) -> str:
    """Text of a file made fit for a terminal: no control characters, no lone surrogates."""
    return _CONTROL.sub("?", text)
