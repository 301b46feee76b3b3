# SPDX-License-Identifier: BSD-3-Clause
"""Figures and the page: what is drawn is what was sent, zero is white, and a page needs nothing but itself."""
import json
import os
import re
import struct
import xml.etree.ElementTree as xml
import zlib
from html.parser import HTMLParser

import pytest

import lucid as package
from conftest import DATA
from lucid import grid, scale, svg
from lucid.report import thumb

REPORT4, REPORT16 = os.path.join(DATA, "report4"), os.path.join(DATA, "report16")
SVG = "{http://www.w3.org/2000/svg}"


def load(name):
    return package.load(os.path.join(DATA, name, "run.json"))


def test_grids():
    session = load("report16")
    fine = grid.layout(session)
    assert fine.unit == "rank" and fine.size == 16 and fine.boundaries() == [4, 8, 12] and not fine.regrouped
    blocks = grid.layout(session, 8)
    assert blocks.unit == "ranks" and blocks.labels[:3] == ["0-1", "2-3", "4-5"] and blocks.boundaries() == [2, 4, 6]
    assert grid.layout(session, 4).labels == ["0-3", "4-7", "8-11", "12-15"]
    assert grid.layout(session, 3).labels == ["node00…01", "node02…03"]
    for rows in (fine, blocks, grid.layout(session, 3)):
        folded = rows.fold(session.matrix())
        assert sum(t.bytes for t in folded.values()) == session.total().bytes


def test_ranks_dealt_out_over_the_nodes(tmp_path):
    """Rank 0, 4, 8, 12 on the first node: shown node by node, or as numbered without lines that would be everywhere."""
    import sample
    data = sample.session(16, 4)
    for rank in data["ranks"]:
        rank["node"] = rank["rank"] % 4
    (tmp_path / "x.json").write_text(json.dumps(data))
    session = package.load(tmp_path / "x.json")
    rows = grid.layout(session)
    assert rows.regrouped and rows.labels[:5] == ["0", "4", "8", "12", "1"] and rows.boundaries() == [4, 8, 12]
    assert "grouped by node" in rows.axis()
    numbered = grid.layout(session, order="rank")
    assert numbered.labels[:3] == ["0", "1", "2"] and numbered.boundaries() == [] and not numbered.regrouped


def test_above_512_ranks_a_row_is_a_node(large):
    session = package.load(large)
    rows = grid.layout(session)
    assert (rows.unit, rows.size, rows.labels[31], len(rows.members[31])) == ("node", 32, "node31", 32)


def test_many_ranks_on_one_node(tmp_path):
    import sample
    (tmp_path / "x.json").write_text(sample.text(sample.session(600, 1)))
    rows = grid.layout(package.load(tmp_path / "x.json"))
    assert rows.unit == "ranks" and rows.size == 300 and rows.members[0] == [0, 1]


def test_scale():
    steps = scale.scale([0, 10, 1000, 0, 100000])
    assert (steps.low, steps.high) == (10, 100000) and steps.place(1000) == pytest.approx(.5)
    assert [steps.level(v, 4) for v in (10, 99, 101, 1001, 100000)] == [0, 0, 1, 2, 3]
    assert steps.ticks() == [10, 100, 1000, 10000, 100000]
    assert not scale.scale([0, 0]) and scale.scale([0]).ticks() == []
    one = scale.scale([7])
    assert one.place(7) == 1 and one.ticks() == [7]


def luminance(color):
    return sum(w * c for w, c in zip((.2126, .7152, .0722), color))


def test_colours_darken_steadily_and_never_reach_white():
    lights = [luminance(scale.on_white(k / 40)) for k in range(41)]
    assert all(a > b + 1 for a, b in zip(lights, lights[1:]))
    assert lights[0] < 235 and lights[-1] < 40


def cells(root):
    """{(row, column): fill} of a figure's rectangles with tooltips."""
    found = {}
    for rect in root.iter(SVG + "rect"):
        title = rect.find(SVG + "title")
        if title is not None:
            side = float(rect.get("width"))
            found[round(float(rect.get("y")) / side), round(float(rect.get("x")) / side)] = (rect.get("fill"), title.text)
    return found


def test_svg(lucid, tmp_path):
    assert lucid("show", REPORT4, "-o", "m.svg").code == 0
    root = xml.parse(str(tmp_path / "m.svg")).getroot()
    drawn, matrix = cells(root), load("report4").matrix()
    assert set(drawn) == {key for key, traffic in matrix.items() if traffic.bytes}
    assert drawn[0, 3][1] == "0 → 3: 2.10 kB, 7 messages"
    assert drawn[0, 2][0] == scale.hexadecimal(scale.on_white(1)) and "#ffffff" not in {fill for fill, _ in drawn.values()}
    text = " ".join(root.itertext())
    for word in ("row = sender", "sender = row (rank)", "receiver = column (rank)", "node00", "node01", "log scale", "bytes", "./stencil -n 1000"):
        assert word in text


def test_svg_draws_a_line_between_nodes(lucid, tmp_path):
    lucid("show", REPORT16, "-o", "m.svg")
    path = next(p for p in xml.parse(str(tmp_path / "m.svg")).getroot().iter(SVG + "path") if p.get("class") is None)
    assert path.get("d") == "".join(f"M{e} 0V560M0 {e}H560" for e in (140, 280, 420))


def test_svg_of_many_ranks_is_made_of_runs(tmp_path):
    """512 ranks stay ranks; the runs cover exactly the cells with traffic."""
    import sample
    (tmp_path / "x.json").write_text(sample.text(sample.session(512, 16)))
    session = package.load(tmp_path / "x.json")
    rows = grid.layout(session)
    folded = rows.fold(session.matrix())
    root = xml.fromstring(svg.figure(rows, folded, "bytes", "x", "y"))
    group = next(g for g in root.iter(SVG + "g") if g.get("class") == "cells")
    covered = set()
    for path in group:
        for column, row, length in re.findall(r"M(\d+) (\d+)h(\d+)v1", path.get("d")):
            covered |= {(int(row), int(column) + k) for k in range(int(length))}
    assert covered == {key for key, traffic in folded.items() if traffic.bytes > 0}


def test_svg_without_traffic(lucid, tmp_path):
    assert lucid("show", REPORT4, "--kind", "scan", "-o", "m.svg").code == 0
    root = xml.parse(str(tmp_path / "m.svg")).getroot()
    assert cells(root) == {} and "no bytes" in " ".join(root.itertext())


def pixels(png):
    """(size, palette indices by row) of a PNG as thumb.py writes it."""
    size = struct.unpack(">I", png[16:20])[0]
    start = png.index(b"IDAT") + 4
    length = struct.unpack(">I", png[start - 8:start - 4])[0]
    raw = zlib.decompress(png[start:start + length])
    return size, [list(raw[i * (size + 1) + 1:(i + 1) * (size + 1)]) for i in range(size)]


def test_thumbnails():
    size, rows = pixels(thumb.png(3, {(0, 1): 1, (2, 0): 1000000, (1, 1): 0}))
    assert size == 3 and rows == [[0, 1, 0], [0, 0, 0], [63, 0, 0]]


def test_png(lucid, tmp_path):
    pytest.importorskip("matplotlib")
    import matplotlib.image
    for name, words in (("a.png", [REPORT4]), ("b.png", [REPORT4, "--kind", "scan"])):
        done = lucid("show", *words, "-o", name)
        assert (done.code, done.err) == (0, "")
        image = matplotlib.image.imread(str(tmp_path / name))
        assert image.shape[0] > 1000 and image[0, 0, :3].tolist() == [1, 1, 1]
    colour = [c / 255 for c in scale.on_white(1)]
    dark = (abs(matplotlib.image.imread(str(tmp_path / "a.png"))[:, :, :3] - colour).max(axis=2) < .01).sum()
    assert dark > 2 * 250 * 250  # the two largest pairs fill an eighth of the matrix


def test_png_without_matplotlib(lucid, tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('gone', name='matplotlib')\n")
    done = lucid("show", REPORT4, "-o", "x.png", env={"PYTHONPATH": str(tmp_path) + ":" + os.path.join(os.path.dirname(os.path.dirname(DATA)), "python")})
    assert done.code == 1 and not os.path.exists(str(tmp_path / "x.png"))
    assert done.err == ("lucid show: PNG needs matplotlib: install python3-matplotlib (or pip install matplotlib), or write .svg or "
                        ".html, which need nothing\n")


class Page(HTMLParser):
    """What a page refers to, and its text; fails where tags do not match."""

    VOID = {"meta", "img", "br", "link", "input", "hr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.text, self.scripts, self.ids = [], [], [], [], set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href"):
                self.references.append(value)
            if name == "id":
                assert value not in self.ids
                self.ids.add(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.scripts if self.open and self.open[-1] == "script" else self.text).append(data)


def page_of(lucid, tmp_path, *words):
    done = lucid("show", *words, "-o", "page.html")
    assert (done.code, done.out, done.err) == (0, "", "")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    return text, Page(text)


def test_page_is_self_contained(lucid, tmp_path):
    text, page = page_of(lucid, tmp_path, REPORT16)
    assert page.references and all(reference.startswith("data:image/png;base64,") for reference in page.references)
    assert set(re.findall(r"https?://[^\"'\s<]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "@import" not in text and "url(" not in text and "fetch(" not in text and "XMLHttp" not in text


def test_page_says_everything_without_its_script(lucid, tmp_path):
    _, page = page_of(lucid, tmp_path, REPORT16)
    text = " ".join(page.text)
    for word in ("2.41 GB", "77,492", "89 %", "node03", "package 1", "allreduce", "one-sided", "Open MPI v4.1.4", "64 – 256 KiB",
                 "0 → 4", "Row = sender", "collectives as the messages they are made of"):
        assert word in text, word


def test_page_has_every_class_and_kind(lucid, tmp_path):
    text, page = page_of(lucid, tmp_path, REPORT16)
    views = re.findall(r'data-view="([a-z0-9-]+)"', text)
    assert views == ["all", "class-p2p", "class-user", "class-coll", "kind-bcast", "kind-allreduce", "kind-barrier", "class-osc", "kind-put"]
    data = json.loads(page.scripts[0])["sessions"][0]
    assert [view["key"] for view in data["views"]] == views
    flat = data["cells"]
    assert sum(flat[4::5]) == 2406586420 and sum(flat[3::5]) == 77492 and data["size"] == 16
    for view in data["views"]:
        kinds = set(view["kinds"])
        assert view["total"][1] == sum(b for k, b in zip(flat[2::5], flat[4::5]) if k in kinds)


def test_page_with_phases_and_the_run(lucid, tmp_path):
    import shutil
    shutil.copytree(REPORT16, str(tmp_path / "r"))
    shutil.copy(os.path.join(REPORT4, "run.json"), str(tmp_path / "r" / "phase-2.json"))
    (tmp_path / "r" / "lucid.json").write_text(json.dumps({"format": "lucid-run", "version": 1, "exit_code": 7, "seconds": 3.5,
                                                           "environment": {"OMPI_MCA_btl": "tcp,<self>"}}))
    text, page = page_of(lucid, tmp_path, "r")
    assert [s["label"] for s in json.loads(page.scripts[0])["sessions"]] == ["run", "phase 2"]
    assert '<option value="1">phase 2</option>' in text and "OMPI_MCA_btl=tcp,&lt;self&gt;" in text


def test_page_with_a_damaged_description_of_the_run(lucid, tmp_path):
    import shutil
    shutil.copytree(REPORT4, str(tmp_path / "r"))
    (tmp_path / "r" / "lucid.json").write_text('{"format": "lucid-run", ')
    done = lucid("show", "r", "-o", "x.html")
    assert (done.code, done.err) == (2, "lucid show: r/lucid.json: the file is cut short (line 1)\n")


def test_page_of_a_thousand_ranks(lucid, tmp_path, large):
    text, page = page_of(lucid, tmp_path, large)
    data = json.loads(page.scripts[0])["sessions"][0]
    assert data["unit"] == "node" and data["size"] == 32 and len(text) < 400000
    assert "ranks 992-1023" in " ".join(page.text)
