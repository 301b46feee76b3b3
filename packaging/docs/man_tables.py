# SPDX-License-Identifier: BSD-3-Clause
"""A Sphinx extension: on a man page a table is a list, one entry per row; its columns would not fit a terminal."""
import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform


def _inline(entry):
    """The text of a cell without its paragraphs."""
    parts = []
    for child in entry.children:
        parts += ([nodes.Text(" ")] if parts else []) + (child.children if isinstance(child, nodes.paragraph) else [child])
    return [part.deepcopy() for part in parts]


def _breakable(part):
    """a|b|c with room for the end of a line: as one word it may be longer than a line is."""
    return nodes.Text(re.sub(r"(?<=\S)\|(?=\S)", " | ", part)) if isinstance(part, nodes.Text) else part


def _rest(cells, titles):
    """What is in the cells behind the first, each behind its column's title if there are several."""
    text = []
    for cell, title in zip(cells, titles):
        parts = [_breakable(part) for part in _inline(cell)]
        if parts:
            text += [nodes.Text("; ")] if text else []
            text += ([nodes.Text(title + ": ")] if title and len(cells) > 1 else []) + parts
    return text


def _as_list(table):
    head = next(iter(table.findall(nodes.thead)), None)
    titles = [cell.astext() for cell in head.findall(nodes.entry)] if head is not None else []
    result = nodes.definition_list()
    for row in next(iter(table.findall(nodes.tbody))).findall(nodes.row):
        cells = list(row.findall(nodes.entry))
        rest = titles[1:] + [""] * (len(cells) - len(titles[1:]))
        result += nodes.definition_list_item("", nodes.term("", "", *_inline(cells[0])),
                                             nodes.definition("", nodes.paragraph("", "", *_rest(cells[1:], rest))))
    return result


class TablesAsLists(SphinxPostTransform):
    """Replaces the tables of what becomes a man page."""

    default_priority = 5
    builders = ("man",)

    def run(self, **_):
        for table in list(self.document.findall(nodes.table)):
            table.replace_self(_as_list(table))


def setup(app):
    app.add_post_transform(TablesAsLists)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
