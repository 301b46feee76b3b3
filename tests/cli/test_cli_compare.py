# SPDX-License-Identifier: BSD-3-Clause
"""lucid compare: what is put side by side is what the reports say, whatever they have and have not."""
import json
import os
import shutil
import xml.etree.ElementTree as xml

import pytest

import lucid as package
import sample
from conftest import DATA, built
from test_cli_figures import Page

REPORT4, REPORT16 = os.path.join(DATA, "report4"), os.path.join(DATA, "report16")
SVG = "{http://www.w3.org/2000/svg}"


def rows(done):
    assert (done.code, done.err) == (0, "")
    return {row["key"]: row for row in json.loads(done.out)["rows"]}


def report(tmp_path, name, seconds=None, **files):
    """A copy of report4 with more files: name=values."""
    place = tmp_path / name
    shutil.copytree(REPORT4, str(place))
    if seconds is not None:
        files["lucid"] = {"format": "lucid-run", "version": 1, "seconds": seconds}
    for key, values in files.items():
        (place / (key + ".json")).write_text(json.dumps(values))
    return name


def cost(**values):
    return {"bytes": 0, "bytes_of_a_process": 0, "ids": 0, "messages": 0, "message_bytes": 0, "seconds": 0.0, **values}


def startup(layer, each):
    one = {"name": "x", "number": 3, "size": 4, "created_by": "MPI_Comm_dup", "used_by": None, "modules": "own", "allreduce": None,
           "creation": cost(bytes_of_a_process=each, messages=18, ids=1), "first_use": cost(bytes_of_a_process=2 * each, messages=6)}
    return {"format": "lucid-startup", "version": 1, "layer": layer, "ranks": 4, "communicators": [one, one]}


def test_figures_are_the_sessions_own(lucid):
    found = rows(lucid("compare", "--format", "json", REPORT4, REPORT16))
    for key, report_ in (("a", REPORT4), ("b", REPORT16)):
        session = package.load(os.path.join(report_, "run.json"))
        assert found["bytes"][key] == session.total().bytes and found["messages"][key] == session.total().messages
        assert found["bytes_between_nodes"][key] == session.between_nodes().bytes
        assert found["reduction_bytes"][key] == session.total("kind:allreduce").bytes
        assert found["point_to_point_bytes"][key] == session.total("user").bytes
        assert found["one_sided_bytes"][key] == session.total("osc").bytes
        assert found["recorded"][key] == session.seconds
    assert found["bytes"]["ratio"] == found["bytes"]["b"] / found["bytes"]["a"] and "run_time" not in found


def test_time_in_mpi(lucid, tmp_path):
    one, other = report(tmp_path, "one"), report(tmp_path, "other")
    assert "in_mpi" not in rows(lucid("compare", one, other, "--format", "json"))
    for path, seconds in ((one, 4.0), (other, 3.0)):
        run = json.loads((tmp_path / path / "run.json").read_text())
        (tmp_path / path / "run.json").write_text(json.dumps(dict(run, seconds_in_mpi={"mean": seconds, "most": seconds + 1})))
    found = rows(lucid("compare", one, other, "--format", "json"))["in_mpi"]
    assert (found["a"], found["b"], found["ratio"]) == (4.0, 3.0, 0.75)


def test_text_says_what_differs(lucid):
    done = lucid("compare", REPORT4, REPORT16, env={"COLUMNS": 120})
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == f"A: {REPORT4}: 4 ranks on 2 nodes, source pml"
    assert [line.split() for line in lines if line.startswith("messages  ")] == [["messages", "9,696", "77,492", "7.99"]]
    assert lines[-2:] == ["note: different numbers of ranks: 4 and 16", "note: different numbers of nodes: 2 and 4"]


def test_run_time_only_where_both_have_it(lucid, tmp_path):
    one, other = report(tmp_path, "one", 4.0), report(tmp_path, "other", 3.0)
    found = rows(lucid("compare", one, other, "--format", "json"))
    assert (found["run_time"]["a"], found["run_time"]["b"], found["run_time"]["ratio"]) == (4.0, 3.0, 0.75) and "recorded" not in found
    found = rows(lucid("compare", one, REPORT4, "--format", "json"))
    assert "run_time" not in found and found["recorded"]["a"] == 12.5


def test_communicators(lucid, tmp_path):
    one, other = report(tmp_path, "one", startup=startup("off", 4000)), report(tmp_path, "other", startup=startup("share", 1000))
    found = rows(lucid("compare", one, other, "--format", "json"))
    assert (found["communicators"]["a"], found["communicator_bytes"]["a"], found["communicator_bytes"]["b"]) == (2, 12000, 3000)
    assert found["communicator_bytes"]["ratio"] == 0.25 and found["startup_messages"]["a"] == 48 and found["startup_ids"]["b"] == 2
    half = lucid("compare", one, REPORT4)
    assert "bytes per communicator           12.0 kB" in half.out and "note: only one was recorded with --startup" in half.out


def test_predicted_gain_is_weighted_by_bytes(lucid, tmp_path):
    def site(calls, gain):
        return {"call": "MPI_Reduce", "function": "f", "object": "x", "offset": 0, "calls": calls, "ranks": 4, "elements": 100 * calls,
                "element_bytes": 8, "exceptions": calls, "encoded_bytes": 16 * calls, "predicted_ratio": gain, "bound_ratio": gain}
    one = report(tmp_path, "one", sparse={"format": 1, "sites": [site(1, 4.0), site(3, 1.0)]})
    found = rows(lucid("compare", one, REPORT4, "--format", "json"))
    assert found["sparse_gain"]["a"] == pytest.approx(4 / (1 / 4 + 3)) and found["sparse_gain"]["b"] is None


def test_one_node_has_nothing_between_nodes(lucid, tmp_path):
    (tmp_path / "one.json").write_text(sample.text(sample.session(4, 1)))
    found = rows(lucid("compare", "one.json", REPORT4, "--format", "json"))
    assert found["bytes_between_nodes"]["a"] is None and found["bytes_between_nodes"]["ratio"] is None
    assert [line.split()[-2:] for line in lucid("compare", "one.json", REPORT4).out.splitlines()
            if line.startswith("bytes between")] == [["268", "MB"]]


def test_both_runs_of_place(lucid, tmp_path):
    report(tmp_path, "before")
    shutil.copytree(REPORT16, str(tmp_path / "after"))
    (tmp_path / "placed").mkdir()
    for name in ("before", "after"):
        (tmp_path / name).rename(tmp_path / "placed" / name)
    assert rows(lucid("compare", "placed", "--format", "json"))["bytes"]["ratio"] > 7
    assert "16 ranks on 4 nodes" in lucid("show", "placed").out
    shutil.rmtree(str(tmp_path / "placed" / "after"))
    assert "4 ranks on 2 nodes" in lucid("show", "placed").out
    done = lucid("compare", "placed")
    assert (done.code, done.err) == (2, "lucid compare: placed holds no two runs (lucid run --place leaves such a report): "
                                        "name two reports\n")


@pytest.mark.parametrize("words, code, text", [
    (["none", REPORT4], 2, "none: no such file or directory"),
    ([REPORT4, "."], 2, ".: no report in this directory (no run.json)"),
    ([REPORT4], 2, REPORT4 + " holds no two runs (lucid run --place leaves such a report): name two reports"),
    ([REPORT4, REPORT16, "-o", "x.mtx"], 2, "x.mtx: the extension says what is written: .png, .svg, .html"),
    ([REPORT4, REPORT16, "-o", "no/x.svg"], 1, "cannot write no/x.svg: no such file or directory"),
])
def test_errors_are_one_line(lucid, words, code, text):
    done = lucid("compare", *words)
    assert (done.code, done.out, done.err) == (code, "", f"lucid compare: {text}\n")


def test_a_damaged_report(lucid, tmp_path):
    name = report(tmp_path, "damaged", startup={"format": "lucid-startup", "version": 1, "layer": "off", "ranks": 4})
    done = lucid("compare", REPORT4, name)
    assert done.code == 2 and "startup.json: damaged" in done.err and done.err.count("\n") == 1


def test_svg_draws_the_figures(lucid, tmp_path):
    found = rows(lucid("compare", "--format", "json", REPORT4, REPORT16))
    assert lucid("compare", REPORT4, REPORT16, "-o", "x.svg").code == 0
    drawn = [float(one.get("width")) for one in xml.parse(str(tmp_path / "x.svg")).getroot().iter(SVG + "rect") if one.get("class") == "bar"]
    assert len(drawn) == 2 * len(found)
    for row, a, b in zip(found.values(), drawn[::2], drawn[1::2]):
        assert max(a, b) == 380 and b / a == pytest.approx(row["ratio"], rel=1e-2)


def test_png(lucid, tmp_path):
    pytest.importorskip("matplotlib")
    import matplotlib.image
    assert lucid("compare", REPORT4, REPORT16, "-o", "x.png").code == 0
    image = matplotlib.image.imread(str(tmp_path / "x.png"))
    blue = (abs(image[:, :, :3] - [0x35 / 255, 0x5f / 255, 0x8d / 255]).max(axis=2) < .01).sum()
    assert blue > 6 * 2 * 380 * 2 * 12 * .9  # most of B's bars reach from end to end


def test_page_has_both_matrices_on_one_scale(lucid, tmp_path):
    assert lucid("compare", REPORT4, REPORT16, "-o", "x.html").code == 0
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    page = Page(text)
    said = " ".join(page.text)
    assert page.references == [] and page.scripts == [] and "different numbers of ranks: 4 and 16" in said and "7.95" in said
    bars = text.split('<g class="bar"')[1:]
    ticks = [[part.split("</text>")[0].rsplit(">", 1)[1] for part in bar.split('class="tick"')[1:]] for bar in bars]
    assert len(bars) == 2 and ticks[0] == ticks[1] != []


def test_two_real_runs(lucid, tmp_path):
    for name, options in (("without", ()), ("with", ("--sparse",))):
        done = lucid("run", "-q", "-o", name, *options, "-n", "3", built("cli_tally"), env={"LUCID_SPARSE_ALWAYS": "1"})
        assert (done.code, done.err) == (0, "")
    found = rows(lucid("compare", "without", "with", "--format", "json"))
    assert found["reduction_bytes"]["ratio"] < 0.5 and found["run_time"]["a"] > 0
