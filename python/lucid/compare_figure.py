# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as bars: two for each figure, on a scale of its own, and B over A beside them. SVG by hand, PNG by matplotlib."""

from __future__ import annotations

import io
from html import escape
from typing import List, NamedTuple, Tuple

from . import svg
from .compare import Comparison, ratio, shown
from .errors import LucidError
from .geometry import FAINT, INK, cut
from .units import plain

COLORS = ("#9aa4ae", "#355f8d")
_LEFT, _BAR, _VALUE, _RATIO = 190, 380, 90, 80  # labels, bars, values, ratios
_ROW, _THICK, _TOP, _FOOT = 38, 13, 84, 22
WIDTH = _LEFT + _BAR + _VALUE + _RATIO + 24
_DPI = 200
_POINT = 0.72  # points to a pixel of the geometry, of which 100 are an inch
_FONT = "font-family=\"'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif\""


class Bar(NamedTuple):
    """A bar in pixels: left and top edge, length, and what stands behind it."""

    y: float
    length: float
    text: str
    color: str


def height(found: Comparison) -> float:
    """The figure's height in pixels."""
    return _TOP + _ROW * len(found.rows) + _FOOT


def bars(found: Comparison) -> List[Tuple[float, str, str, List[Bar]]]:
    """A row of the figure: (middle, label, ratio, its two bars). Where a report has no figure there is no bar."""
    rows = []
    for i, row in enumerate(found.rows):
        top, most = _TOP + i * _ROW, max(row.a or 0, row.b or 0)
        pair = [Bar(top + 4 + k * (_THICK + 2), _BAR * (value or 0) / most, shown(value, row.unit), COLORS[k])
                for k, value in enumerate((row.a, row.b))]
        rows.append((top + _ROW / 2 - 1, row.label, ratio(row), pair))
    return rows


def titles(found: Comparison) -> Tuple[str, str]:
    """What the two colours stand for."""
    return cut(f"A: {found.a.name}", 56), cut(f"B: {found.b.name}", 56)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    return escape(plain(text), quote=True)


def figure(found: Comparison) -> str:
    """The figure as an <svg> element."""
    tall, (a, b) = _n(height(found)), titles(found)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" height="{tall}" role="img" '
             f'aria-label="{_text(a + " and " + b)}" {_FONT} font-size="12" fill="{INK}">',
             f'<rect width="{WIDTH}" height="{tall}" fill="#fff"/>']
    for k, name in enumerate((a, b)):
        parts.append(f'<rect x="16" y="{16 + 22 * k}" width="14" height="14" fill="{COLORS[k]}"/>'
                     f'<text x="38" y="{28 + 22 * k}" font-size="13" font-weight="600">{_text(name)}</text>')
    parts.append(f'<text x="{WIDTH - 16}" y="{_TOP - 8}" text-anchor="end" font-weight="600">B / A</text>')
    for middle, label, ratio_, pair in bars(found):
        parts.append(f'<text x="{_LEFT - 12}" y="{_n(middle + 4)}" text-anchor="end">{_text(label)}</text>'
                     f'<text x="{WIDTH - 16}" y="{_n(middle + 4)}" text-anchor="end" font-weight="600">{_text(ratio_)}</text>')
        for bar in pair:
            parts.append(f'<rect class="bar" x="{_LEFT}" y="{_n(bar.y)}" width="{_n(bar.length)}" height="{_THICK}" '
                         f'fill="{bar.color}"/>'
                         f'<text x="{_n(_LEFT + bar.length + 6)}" y="{_n(bar.y + 10.5)}" font-size="11" fill="{FAINT}">'
                         f'{_text(bar.text)}</text>')
    parts.append(f'<path d="M{_LEFT} {_TOP - 2}V{_n(height(found) - _FOOT)}" stroke="{INK}" stroke-width=".75"/></svg>')
    return "\n".join(parts) + "\n"


def svg_file(found: Comparison) -> str:
    """The figure as a file."""
    return svg.document(figure(found))


def png(found: Comparison) -> bytes:
    """The figure as the bytes of a PNG file."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise LucidError(f"PNG needs {error.name}: install python3-matplotlib (or pip install matplotlib), or write .svg or .html, "
                         "which need nothing") from None
    with plt.rc_context({"font.family": "sans-serif", "text.color": INK, "text.parse_math": False}):
        fig = plt.figure(figsize=(WIDTH / 100, height(found) / 100), dpi=_DPI)
        axes = fig.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(height(found), 0)
        _draw(axes, found)
        out = io.BytesIO()
        fig.savefig(out, format="png", metadata={"Software": "Lucid"})
        plt.close(fig)
    return out.getvalue()


def _draw(axes, found: Comparison) -> None:
    def say(x: float, y: float, text: str, size: float = 12, **options) -> None:
        axes.text(x, y, plain(text), fontsize=size * _POINT, va="center", **options)

    for k, name in enumerate(titles(found)):
        axes.barh(23 + 22 * k, 14, 14, 16, color=COLORS[k])
        say(38, 23 + 22 * k, name, 13, weight="bold")
    say(WIDTH - 16, _TOP - 12, "B / A", ha="right", weight="bold")
    for middle, label, ratio_, pair in bars(found):
        say(_LEFT - 12, middle, label, ha="right")
        say(WIDTH - 16, middle, ratio_, ha="right", weight="bold")
        for bar in pair:
            axes.barh(bar.y + _THICK / 2, bar.length, _THICK, _LEFT, color=bar.color)
            say(_LEFT + bar.length + 6, bar.y + _THICK / 2, bar.text, 11, color=FAINT)
    axes.vlines(_LEFT, _TOP - 2, height(found) - _FOOT, color=INK, linewidth=.6)
