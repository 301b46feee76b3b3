# SPDX-License-Identifier: BSD-3-Clause
"""lucid run --sparse: the program's output stays, its reductions move less, and measure says what they were given."""
import json

import pytest

import lucid as package
from conftest import built


def allreduce_bytes(directory):
    return package.load(directory / "run.json").total("coll").bytes


def test_measure_looks_and_changes_nothing(lucid, tmp_path):
    done = lucid("run", "--sparse=measure", "-n", "3", built("cli_tally"))
    assert (done.code, done.out) == (0, "sum 2400 of 3\n")
    sites = json.loads((tmp_path / "lucid-report" / "sparse.json").read_text())["sites"]
    assert len(sites) == 1
    site = sites[0]
    assert (site["call"], site["object"], site["calls"], site["ranks"]) == ("MPI_Allreduce", "cli_tally", 30, 3)
    assert (site["elements"], site["element_bytes"], site["exceptions"]) == (30 * 200000, 8, 30 * 200)
    assert 0 < site["encoded_bytes"] < 0.01 * 30 * 200000 * 8
    assert site["bound_ratio"] >= site["predicted_ratio"] > 0 and site["replayed_share"] == 1
    assert site["library_seconds"] > 0
    shown = lucid("show", "lucid-report")
    line = [words for words in map(str.split, shown.out.splitlines()) if words[:1] == ["MPI_Allreduce"]]
    assert shown.code == 0 and len(line) == 1 and line[0][2:7] == ["30", "1.60", "MB", "0.1", "%"]
    values = json.loads(lucid("show", "lucid-report", "--format", "json").out)["reductions"]
    assert values["undeclared_calls"] == 0 and [one["calls"] for one in values["sites"]] == [30]
    assert lucid("show", "lucid-report", "-o", "page.html").code == 0
    assert "<th scope=row>MPI_Allreduce</th>" in (tmp_path / "page.html").read_text()


def test_measure_tells_sorts_of_vectors_apart(lucid, tmp_path):
    """A place that is called with thin and with full vectors gains what the thin ones gain: a mean of them would be too dense."""
    done = lucid("run", "--sparse=measure", "-n", "2", built("cli_swing"), env={"LUCID_REPLAY": "0"})
    assert done.code == 0
    found = json.loads((tmp_path / "lucid-report" / "sparse.json").read_text())
    assert found["undeclared_calls"] == 2 * 3
    swing, full = sorted(found["sites"], key=lambda site: site["exceptions"] / site["elements"])
    assert (swing["calls"], full["calls"]) == (2 * 20, 2 * 10) and 0.4 < swing["exceptions"] / swing["elements"] < 0.6
    assert full["predicted_ratio"] == 1 <= swing["predicted_ratio"] <= swing["bound_ratio"]
    assert full["replayed_share"] == swing["replayed_share"] == 0
    shown = lucid("show", "lucid-report").out
    assert shown.count("  ~") == 2  # by the model alone
    assert "6 calls with operators of the program's own were not looked at" in shown
    assert "MPI_Reduce_scatter_block  " in shown


def test_measure_tells_how_positions_overlap(lucid, tmp_path):
    """What stands out at any rank, of inputs that stand out at a tenth of their places, or everyone at a quarter of them."""
    assert lucid("run", "--sparse=measure", "-n", "4", built("cli_overlap")).code == 0
    sites = json.loads((tmp_path / "lucid-report" / "sparse.json").read_text())["sites"]
    union = {site["call"]: site.get("union_share") for site in sites}
    share = {site["call"]: site["exceptions"] / site["elements"] for site in sites}
    assert share["MPI_Allreduce"] == pytest.approx(0.1, rel=0.05) and union["MPI_Allreduce"] == pytest.approx(0.1, rel=0.2)  # the same
    assert share["MPI_Scan"] == pytest.approx(0.1, rel=0.05) and union["MPI_Scan"] == pytest.approx(1 - 0.9 ** 4, rel=0.1)  # their own
    assert (share["MPI_Reduce"], union["MPI_Reduce"]) == (0.25, 1)  # everyone has a part
    assert share["MPI_Exscan"] == union["MPI_Exscan"] == 0
    assert share["MPI_Reduce_scatter_block"] == pytest.approx(0.1, rel=0.05) and union["MPI_Reduce_scatter_block"] is None  # of two ranks
    line = [words for words in map(str.split, lucid("show", "lucid-report").out.splitlines()) if words[:1] == ["MPI_Reduce"]]
    assert line[0][2:9] == ["12", "4.19", "MB", "25", "%", "100", "%"]
    shown = {site["call"]: site["union"] for site in json.loads(lucid("show", "lucid-report", "--format", "json").out)["reductions"]["sites"]}
    assert shown == pytest.approx(union)


def sites_of(directory):
    return json.loads((directory / "sparse.json").read_text())["sites"]


def test_measure_runs_calls_again_that_all_ranks_have_kept(lucid, tmp_path):
    """And only those. That is after the program's last call: its output and its traffic stay as they are."""
    plain = lucid("run", "-o", "plain", "-n", "4", built("cli_replay"))
    model = lucid("run", "--sparse=measure", "-o", "model", "-n", "4", built("cli_replay"), env={"LUCID_REPLAY": "0"})
    again = lucid("run", "--sparse=measure", "-o", "again", "-n", "4", built("cli_replay"))
    assert plain.code == model.code == again.code == 0 and plain.out == model.out == again.out and plain.out.strip()
    traffic = [package.load(tmp_path / name / "run.json").total() for name in ("plain", "model", "again")]
    assert traffic[0] == traffic[1] == traffic[2]
    assert {site["replayed_share"] for site in sites_of(tmp_path / "model")} == {0}
    shares = {}
    for site in sites_of(tmp_path / "again"):
        if site["elements"] > 12:  # not the last one, of a single element
            shares.setdefault(site["call"], set()).add(site["replayed_share"])
    assert shares == {"MPI_Allreduce": {1}, "MPI_Reduce": {1}, "MPI_Reduce_scatter": {1}, "MPI_Iallreduce": {1},
                      "MPI_Exscan": {1}, "MPI_Scan": {0}, "MPI_Reduce_scatter_block": {1}}


def test_measure_runs_calls_of_some_ranks_again(lucid, tmp_path):
    """On communicators that are gone, several of which have called the same place, in whatever order; not of all ranks in another order. They
    leave room for those of all."""
    plain = lucid("run", "-o", "plain", "-n", "4", built("cli_parts"))
    again = lucid("run", "--sparse=measure", "-o", "again", "-n", "4", built("cli_parts"))
    assert plain.code == again.code == 0 and plain.out == again.out and plain.out.strip()
    assert package.load(tmp_path / "plain" / "run.json").total() == package.load(tmp_path / "again" / "run.json").total()
    found = {(site["call"], site["ranks"]): (site["calls"], site["replayed_share"])
             for site in sites_of(tmp_path / "again") if site["elements"] > 4}
    assert found == {("MPI_Allreduce", 2): (4 * 8, 1), ("MPI_Reduce", 3): (3 * 4, 1), ("MPI_Scan", 2): (2 * 2 * 3, 1),
                     ("MPI_Exscan", 4): (4, 0), ("MPI_Reduce_scatter_block", 2): (4 * 70, 1), ("MPI_Allreduce", 4): (4, 1)}


def test_what_is_too_much_to_keep_is_left(lucid, tmp_path):
    """Three of the five calls have room; a call of their sort is run again all the same."""
    done = lucid("run", "--sparse=measure", "-n", "2", built("cli_replay"), "more", env={"LUCID_REPLAY": "1"})
    assert done.code == 0 and not any(line.startswith("lucid: ") and "error" in line for line in done.err.splitlines())
    long = [site for site in sites_of(tmp_path / "lucid-report") if site["elements"] == 2 * 16 * (2 << 20)]
    assert [(site["call"], site["replayed_share"]) for site in long] == [("MPI_Allreduce", 1)]


def test_measure_of_a_program_without_reductions(lucid):
    assert lucid("run", "--sparse=measure", "-n", "2", built("cli_ring")).code == 0
    assert "reductions\n  no call was looked at\n" in lucid("show", "lucid-report").out


def test_sparse_moves_less_and_computes_the_same(lucid, tmp_path):
    without = lucid("run", "-o", "without", "-n", "3", built("cli_tally"))
    with_it = lucid("run", "--sparse", "-o", "with", "-n", "3", built("cli_tally"))
    assert without.code == with_it.code == 0 and without.out == with_it.out == "sum 2400 of 3\n"
    assert not (tmp_path / "with" / "sparse.json").exists()
    assert [line for line in with_it.err.splitlines() if not line.startswith(("lucid: ", "       "))] == []
    # what is chosen depends on measured rates; on one node the library's own may be taken for faster
    assert allreduce_bytes(tmp_path / "with") <= 1.05 * allreduce_bytes(tmp_path / "without")
    always = lucid("run", "--sparse", "-o", "always", "-n", "3", built("cli_tally"), env={"LUCID_SPARSE_ALWAYS": "1"})
    assert (always.code, always.out) == (0, "sum 2400 of 3\n")
    assert allreduce_bytes(tmp_path / "always") < 0.05 * allreduce_bytes(tmp_path / "without")


@pytest.mark.parametrize("text, said", [
    ("{", "damaged, or not a file of lucid run --sparse=measure"),
    ("[]", "damaged, or not a file of lucid run --sparse=measure"),
    ('{"format": 1, "sites": [{}]}', "damaged, or not a file of lucid run --sparse=measure"),
    ('{"format": 1, "sites": 3}', "damaged, or not a file of lucid run --sparse=measure"),
    ('{"format": 99, "sites": []}', "written by another version of Lucid (format 99, not 1)"),
])
def test_a_damaged_file_is_named(lucid, tmp_path, text, said):
    assert lucid("run", "-n", "1", built("cli_tally")).code == 0
    (tmp_path / "lucid-report" / "sparse.json").write_text(text)
    done = lucid("show", "lucid-report")
    assert done.code == 2 and done.err.endswith(f"sparse.json: {said}\n") and done.err.count("\n") == 1
