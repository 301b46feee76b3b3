# SPDX-License-Identifier: BSD-3-Clause
"""The heat map as SVG, written by hand: it needs no library and stays sharp in print.

Row = sender, column = receiver, logarithmic colours, zero white, node boundaries drawn. Few cells are rectangles with a
tooltip each; many are drawn as runs along the rows, one path per colour.
"""

from __future__ import annotations

from html import escape
from typing import Dict, List, Optional, Tuple

from .geometry import FAINT, INK, PLOT, TITLE, Geometry, cut, measure
from .grid import Grid
from .scale import Scale, hexadecimal, on_white, scale, tick_label
from .units import count, plain, size

_COLORS = 48
_TOOLTIPS = 64  # rows up to which every cell says what it is
_FONT = "font-family=\"'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif\""


def figure(grid: Grid, folded: Dict, by: str, title: str, subtitle: str, steps: Optional[Scale] = None) -> str:
    """The whole figure as an <svg> element; steps: the scale of its colours, where it shall not be its own."""
    values = {key: getattr(traffic, by) for key, traffic in folded.items() if getattr(traffic, by) > 0}
    steps = scale(values.values()) if steps is None else steps
    at = measure(grid)
    head = 0 if title else TITLE - 28  # a page has its own title above the figure
    label = ": ".join(part for part in (title, subtitle) if part) or f"{by} from each sender (row) to each receiver (column)"
    width, height = _n(at.width), _n(at.height - head)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {head} {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{_text(label)}" {_FONT} font-size="12" fill="{INK}">',
        f'<rect y="{head}" width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{_n(at.left)}" y="24" font-size="16" font-weight="600">{_text(cut(title, 72))}</text>'
        f'<text x="{_n(at.left)}" y="44" fill="{FAINT}">{_text(cut(subtitle, 104))}</text>' if title else "",
        f'<g transform="translate({_n(at.left)},{_n(at.top)})">',
        _cells(grid, folded, values, steps, by), _frame(grid), _ticks(at), _names(grid), _titles(grid, at), "</g>",
        _bar(steps, by, at), "</svg>"]
    return "\n".join(part for part in parts if part) + "\n"


def document(svg: str) -> str:
    """A figure as a file."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n<!-- written by Lucid -->\n' + svg


def _text(text: str) -> str:
    return escape(plain(text), quote=True)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _cells(grid: Grid, folded: Dict, values: Dict, steps: Scale, by: str) -> str:
    side = PLOT / grid.size
    if grid.size <= _TOOLTIPS:
        parts = []
        for (i, j), value in sorted(values.items()):
            hint = f"{grid.labels[i]} → {grid.labels[j]}: {size(folded[i, j].bytes)}, {count(folded[i, j].messages)} messages"
            parts.append(f'<rect x="{_n(j * side)}" y="{_n(i * side)}" width="{_n(side)}" height="{_n(side)}" '
                         f'fill="{hexadecimal(on_white(steps.place(value)))}"><title>{_text(hint)}</title></rect>')
        return '<g class="cells" shape-rendering="crispEdges">' + "\n".join(parts) + "</g>"
    paths: Dict[int, List[str]] = {}
    for color, i, start, end in _runs(values, steps):
        paths.setdefault(color, []).append(f"M{start} {i}h{end - start}v1h-{end - start}z")
    drawn = (f'<path fill="{hexadecimal(on_white(color / (_COLORS - 1)))}" d="{"".join(path)}"/>'
             for color, path in sorted(paths.items()))
    return f'<g class="cells" transform="scale({PLOT / grid.size:.6f})" shape-rendering="crispEdges">' + "\n".join(drawn) + "</g>"


def _runs(values: Dict, steps: Scale) -> List[Tuple[int, int, int, int]]:
    """Neighbouring cells of one colour in a row: (colour, row, first column, column beyond the last)."""
    runs: List[Tuple[int, int, int, int]] = []
    for (i, j), value in sorted(values.items()):
        color = steps.level(value, _COLORS)
        if runs and runs[-1][:2] == (color, i) and runs[-1][3] == j:
            runs[-1] = (color, i, runs[-1][2], j + 1)
        else:
            runs.append((color, i, j, j + 1))
    return runs


def _frame(grid: Grid) -> str:
    side, edges = PLOT / grid.size, grid.boundaries()
    weight = 1 if len(edges) < 32 else 0.5
    lines = "".join(f"M{_n(e * side)} 0V{PLOT}M0 {_n(e * side)}H{PLOT}" for e in edges)
    drawn = f'<path d="{lines}" stroke="{INK}" stroke-opacity=".55" stroke-width="{weight}" fill="none"/>' if lines else ""
    return drawn + f'<rect width="{PLOT}" height="{PLOT}" fill="none" stroke="{INK}" stroke-width="1"/>'


def _ticks(at: Geometry) -> str:
    side = PLOT / len(at.labels)
    parts = [f'<text x="-6" y="{_n((i + .5) * side + 3.5)}" text-anchor="end">{_text(at.labels[i])}</text>' for i in at.rows()]
    for i in at.columns():
        x = _n((i + .5) * side + (3.5 if at.upright else 0))
        turn = f' transform="rotate(-90 {x} -6)" text-anchor="start"' if at.upright else ' text-anchor="middle"'
        parts.append(f'<text x="{x}" y="-6"{turn}>{_text(at.labels[i])}</text>')
    return f'<g font-size="11" fill="{FAINT}">' + "".join(parts) + "</g>"


def _names(grid: Grid) -> str:
    """The nodes' names, right of their rows and below their columns."""
    side, parts, last = PLOT / grid.size, [], -1e9
    for span in grid.spans:
        middle = (span.start + span.end) / 2 * side
        if middle - last < 13:
            continue
        last = middle
        name = _text(cut(span.label, 16))
        parts.append(f'<text x="{PLOT + 8}" y="{_n(middle + 3.5)}">{name}</text>')
        if (span.end - span.start) * side >= 6.6 * min(len(span.label), 16) + 4:
            parts.append(f'<text x="{_n(middle)}" y="{PLOT + 17}" text-anchor="middle">{name}</text>')
    return '<g font-size="11" font-weight="600">' + "".join(parts) + "</g>" if parts else ""


def _titles(grid: Grid, at: Geometry) -> str:
    axis, x, y = _text(grid.axis()), _n(30 - at.left), _n(TITLE - at.top)
    return (f'<text x="{PLOT / 2:.0f}" y="{y}" text-anchor="middle">receiver = column ({axis})</text>'
            f'<text x="{x}" y="{PLOT / 2:.0f}" text-anchor="middle" transform="rotate(-90 {x} {PLOT / 2:.0f})">'
            f'sender = row ({axis})</text>')


def _bar(steps: Scale, by: str, at: Geometry) -> str:
    """The colour bar with its ticks."""
    if not steps:
        return f'<text x="{_n(at.left + PLOT / 2)}" y="{_n(at.top + PLOT / 2)}" text-anchor="middle" fill="{FAINT}">no {by}</text>'
    length, slices = PLOT * .62, 64
    parts = [f'<g class="bar" transform="translate({_n(at.bar)},{_n(at.top)})" font-size="11">',
             f'<text y="-12" font-weight="600">{by}</text>']
    for k in range(slices):
        parts.append(f'<rect y="{_n(length * k / slices)}" width="14" height="{_n(length / slices + .6)}" '
                     f'fill="{hexadecimal(on_white(1 - k / (slices - 1)))}"/>')
    parts.append(f'<rect width="14" height="{_n(length)}" fill="none" stroke="{INK}" stroke-width=".75"/>')
    for tick in steps.ticks():
        y = length * (1 - steps.place(tick))
        parts.append(f'<path class="tick" d="M14 {_n(y)}h4" stroke="{INK}" stroke-width=".75"/>'
                     f'<text x="22" y="{_n(y + 3.5)}">{tick_label(tick, by)}</text>')
    parts.append(f'<rect y="{_n(length + 12)}" width="14" height="14" fill="#fff" stroke="{INK}" stroke-width=".75"/>'
                 f'<text x="22" y="{_n(length + 23)}">nothing</text>'
                 f'<text y="{_n(length + 46)}" fill="{FAINT}">log scale</text></g>')
    return "".join(parts)
