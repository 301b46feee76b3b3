# SPDX-License-Identifier: BSD-3-Clause
"""The heat map as PNG, drawn by matplotlib; the same figure as svg.py makes."""

from __future__ import annotations

import io
from typing import Dict

from .errors import LucidError
from .geometry import FAINT, INK, PLOT, TITLE, Geometry, cut, measure
from .grid import Grid
from .scale import Scale, hexadecimal, on_white, scale, tick_label

_DPI = 200
_POINT = 0.72  # points to a pixel of the geometry, of which 100 are an inch


def figure(grid: Grid, folded: Dict, by: str, title: str, subtitle: str) -> bytes:
    """The figure as the bytes of a PNG file."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        import numpy
    except ImportError as error:
        raise LucidError(f"PNG needs {error.name}: install python3-matplotlib (or pip install matplotlib), or write .svg or .html, "
                         "which need nothing") from None
    dense = numpy.zeros((grid.size, grid.size))
    for (i, j), traffic in folded.items():
        dense[i, j] = getattr(traffic, by)
    at = measure(grid)
    with plt.rc_context({"font.family": "sans-serif", "text.color": INK, "axes.labelcolor": INK, "xtick.color": FAINT,
                         "ytick.color": FAINT, "text.parse_math": False}):
        fig = plt.figure(figsize=(at.width / 100, at.height / 100), dpi=_DPI)
        steps = scale(int(value) for value in dense[dense > 0])
        image = _matrix(fig, at, grid, dense, steps)
        _bar(fig, at, image, steps, by)
        _text(fig, at, at.left, 22, cut(title, 72), size=16, weight="bold")
        _text(fig, at, at.left, 43, cut(subtitle, 104), color=FAINT)
        out = io.BytesIO()
        fig.savefig(out, format="png", metadata={"Software": "Lucid"})
        plt.close(fig)
    return out.getvalue()


def _text(fig, at: Geometry, x: float, y: float, text: str, size: float = 12, **options) -> None:
    fig.text(x / at.width, 1 - y / at.height, text, fontsize=size * _POINT, **options)


def _place(fig, at: Geometry, x: float, y: float, width: float, height: float):
    return fig.add_axes((x / at.width, 1 - (y + height) / at.height, width / at.width, height / at.height))


def _matrix(fig, at: Geometry, grid: Grid, dense, steps: Scale):
    import numpy
    from matplotlib.colors import ListedColormap, LogNorm

    axes = _place(fig, at, at.left, at.top, PLOT, PLOT)
    colors = ListedColormap([hexadecimal(on_white(k / 255)) for k in range(256)])
    colors.set_bad("white")
    low, high = (steps.low, max(steps.high, steps.low * 1.0001)) if steps else (1, 10)
    image = axes.imshow(numpy.ma.masked_equal(dense, 0), cmap=colors, norm=LogNorm(low, high), interpolation="nearest",
                        origin="upper", aspect="auto")
    _ticks(axes, at)
    axis = grid.axis()
    _text(fig, at, at.left + PLOT / 2, TITLE, f"receiver = column ({axis})", ha="center")
    _text(fig, at, 26, at.top + PLOT / 2, f"sender = row ({axis})", ha="center", va="center", rotation=90)
    for edge in grid.boundaries():
        for line in (axes.axhline, axes.axvline):
            line(edge - .5, color=INK, alpha=.55, linewidth=.7 if len(grid.spans) < 32 else .35)
    _names(fig, at, grid)
    return image


def _ticks(axes, at: Geometry) -> None:
    axes.xaxis.tick_top()
    axes.set_xticks(at.columns(), [at.labels[i] for i in at.columns()], rotation=90 if at.upright else 0)
    axes.set_yticks(at.rows(), [at.labels[i] for i in at.rows()])
    axes.tick_params(length=0, labelsize=11 * _POINT, pad=4)
    for side in axes.spines.values():
        side.set_color(INK)
        side.set_linewidth(.7)


def _names(fig, at: Geometry, grid: Grid) -> None:
    side, last = PLOT / grid.size, -1e9
    for span in grid.spans:
        middle = (span.start + span.end) / 2 * side
        if middle - last < 13:
            continue
        last, name = middle, cut(span.label, 16)
        _text(fig, at, at.left + PLOT + 8, at.top + middle, name, size=11, weight="bold", va="center")
        if (span.end - span.start) * side >= 7 * len(name):
            _text(fig, at, at.left + middle, at.top + PLOT + 18, name, size=11, weight="bold", ha="center")


def _bar(fig, at: Geometry, image, steps: Scale, by: str) -> None:
    from matplotlib.ticker import NullLocator

    if not steps:
        _text(fig, at, at.left + PLOT / 2, at.top + PLOT / 2, f"no {by}", color=FAINT, ha="center")
        return
    length = .62 * PLOT
    bar = fig.colorbar(image, cax=_place(fig, at, at.bar, at.top, 14, length))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.set_ticks(steps.ticks(), labels=[tick_label(tick, by) for tick in steps.ticks()])
    bar.ax.tick_params(labelsize=11 * _POINT, colors=INK, width=.6, length=3)
    bar.outline.set_linewidth(.6)
    _text(fig, at, at.bar, at.top - 12, by, size=11, weight="bold")
    _text(fig, at, at.bar, at.top + length + 24, "log scale", size=11, color=FAINT)
    _text(fig, at, at.bar, at.top + length + 40, "white: nothing", size=11, color=FAINT)
