# SPDX-License-Identifier: BSD-3-Clause
"""The logarithmic scale and the colours of the heat maps. Zero is never on the scale: it stays blank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Iterable, List, Tuple

from . import units

# Viridis (S. van der Walt and N. Smith, 2015, CC0), from dark to light: its lightness is monotonic, so it survives
# grey printing and colour-blind eyes.
_VIRIDIS = (0x440154, 0x482475, 0x414487, 0x355F8D, 0x2A788E, 0x21918C, 0x22A884, 0x44BF70, 0x7AD151, 0xBDDF26, 0xFDE725)
_LIGHTEST = 0.86  # the lightest colour used on white, so that the smallest value is told from nothing
_PALE = 0.3       # below this place on the scale colours are mixed with white: little traffic shall not be the loudest

Color = Tuple[int, int, int]


def viridis(t: float) -> Color:
    """The colour at t in 0 (dark) to 1 (light)."""
    at = min(max(t, 0.0), 1.0) * (len(_VIRIDIS) - 1)
    i = min(int(at), len(_VIRIDIS) - 2)
    low, high, part = _VIRIDIS[i], _VIRIDIS[i + 1], at - i
    return tuple(round((low >> s & 255) * (1 - part) + (high >> s & 255) * part) for s in (16, 8, 0))


def on_white(t: float) -> Color:
    """The colour of a value on white paper: t = 0 is the smallest (light), 1 the largest (dark)."""
    t = min(max(t, 0.0), 1.0)
    white = 0.5 * max(0.0, 1 - t / _PALE)
    return tuple(round(c + (255 - c) * white) for c in viridis((1 - t) * _LIGHTEST))


def hexadecimal(color: Color) -> str:
    """'#rrggbb'."""
    return "#%02x%02x%02x" % color


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale from the smallest to the largest value above zero; empty where there is none."""

    low: float
    high: float

    def __bool__(self) -> bool:
        return self.high > 0

    def place(self, value: float) -> float:
        """Where a value above zero lies, 0 to 1."""
        if self.high <= self.low:
            return 1.0
        return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))

    def value(self, t: float) -> float:
        """The value at place t."""
        return self.low * (self.high / self.low) ** t if self.high > self.low else self.high

    def level(self, value: float, levels: int) -> int:
        """Which of `levels` equal steps a value belongs to, from 0."""
        return min(int(self.place(value) * levels), levels - 1)

    def ticks(self, most: int = 7) -> List[float]:
        """Powers of ten on the scale, thinned to `most`; its two ends where it spans less than two decades."""
        if not self:
            return []
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if last - first < 1:
            return [self.low] if self.high <= self.low else [self.low, self.high]
        step = -(-(last - first + 1) // most)
        return [10.0 ** e for e in range(first, last + 1, step)]


def scale(values: Iterable[int]) -> Scale:
    """The scale of some values; zeros do not count."""
    above = [value for value in values if value > 0]
    return Scale(min(above), max(above)) if above else Scale(0, 0)


def tick_label(value: float, by: str) -> str:
    """A tick as text: '10 kB', or '10,000' for messages."""
    if by != "bytes":
        return f"{value:,.0f}" if value < 1e6 else units.size(value).replace("B", "").strip()
    text = units.size(value)
    number, unit = text.split(" ")
    return f"{float(number):g} {unit}"
