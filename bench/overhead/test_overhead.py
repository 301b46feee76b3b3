# SPDX-License-Identifier: BSD-3-Clause
"""The overhead experiments with hardly any repetitions: they run, every message is counted, the tables are what they say.
No time is asserted."""
import math
import os
import re

import pytest

import overhead_launch
import overhead_reduce
import overhead_report
import overhead_self
from overhead_stats import Spread, Welch, student_quantile

BUILD = os.environ["LUCID_BUILD_DIR"]
PROGRAMS = os.environ["LUCID_OVERHEAD_PROGRAMS"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    place = tmp_path_factory.mktemp("overhead")
    if not os.path.exists(os.path.join(BUILD, "lib", "lucid", "lucid_pml.so")):
        pytest.skip("the PML source was not built: there are no internal headers of Open MPI")
    for name in ("self", "peers", "cold", "booking", "reduce"):
        (place / ("overhead_" + name)).symlink_to(os.path.join(PROGRAMS, "overhead_" + name))
    return str(place)


def test_messages_to_oneself_are_all_counted(results):
    overhead_self.measure_self(BUILD, results, rounds=1, blocks=3, messages=50)
    rows = overhead_report.read(results, "self.csv")
    cases = {row["case"] for row in rows}
    assert {"plain", "pml", "pml-8", "pmpi", "plain-multiple", "pml-multiple"} <= cases
    assert len(rows) == len(cases) * 3
    assert all(float(row[column]) > 0 for row in rows for column in overhead_self.HEAD)
    switched = {row["case"]: float(row["us"]) for row in overhead_report.read(results, "switch.csv")}
    assert set(switched) == {case for case in cases if not case.startswith(("plain", "ompi"))}
    report = overhead_report.write_report(results)
    table = report[:report.index("## Suspending")]
    assert len(re.findall(r"^\| (?:Lucid|without|Open MPI's).*\|$", table, re.MULTILINE)) == 2 * len(cases)


def test_a_message_that_is_not_counted_is_noticed():
    with pytest.raises(overhead_launch.Failed, match="counted"):
        overhead_launch.expect(overhead_launch.PML, "counted 9 source pml\n", 10)
    with pytest.raises(overhead_launch.Failed, match="counted"):
        overhead_launch.expect(overhead_launch.PML, "counted 10 source pmpi\n", 10)
    overhead_launch.expect(overhead_launch.PML, "counted 10 source pml\n", 10)


def test_messages_to_peers_in_turn_are_all_counted(results, monkeypatch):
    monkeypatch.setattr(overhead_self, "PEERS", (1, 3))
    overhead_self.measure_peers(BUILD, results, rounds=1, blocks=2, windows=3, window=9)
    rows = overhead_report.read(results, "peers.csv")
    assert {(row["case"], row["peers"]) for row in rows} >= {(case, peers) for case in ("plain", "pml") for peers in "13"}
    assert "To other processes" in overhead_report.write_report(results)


def test_messages_with_cold_caches_are_all_counted(results):
    overhead_self.measure_cold(BUILD, results, repetitions=2)
    rows = overhead_report.read(results, "cold.csv")
    assert [row["session"] for row in rows] == ["without", "with"] * 7
    assert all(float(ns) > 0 for row in rows for ns in row["ns"].split())
    assert "With cold caches" in overhead_report.write_report(results)


def test_bookings_are_all_counted(results):
    overhead_self.measure_booking(results, repeat=2, bookings=5000)
    assert [int(row["peers"]) for row in overhead_report.read(results, "booking.csv")] == [1, 2, 16, 256, 4096] * 2


def test_a_session_costs_instructions_only_while_it_is_active(results):
    if not overhead_launch.have("valgrind"):
        pytest.skip("valgrind is not installed")
    overhead_self.measure_instructions(BUILD, results, [overhead_launch.PML], first=100, more=100)
    rows = overhead_report.read(results, "instructions.csv")
    found = {(row["case"], row["sessions"]): float(row["per_message"]) for row in rows}
    assert 0 < found["pml", "off"] < found["pml", "on"]


def test_reductions(results):
    overhead_reduce.measure_reduce(BUILD, results, repetitions=3, ranks=(1, 3), sizes=(1, 1000), lab=False)
    rows = overhead_report.read(results, "reduce.csv")
    found = {(row["setup"], row["ints"], row["session"]): len(row["us"].split()) for row in rows}
    assert found == {("np %d%s" % (n, row), ints, session): 2 if row else 3 for n in (1, 3) for row in ("", ", in a row")
                     for ints in ("1", "1000") for session in ("with", "without")}
    assert "np 3: 2 points" in overhead_report.write_report(results)


def test_reductions_that_are_not_counted_are_noticed():
    overhead_reduce.check("counted 1 8 16\ncounted 5 8 17\n", 3, 2, 1, (1, 5))
    for text in ("counted 1 8 15\n", "counted 1 8 17\n", "counted 5 8 16\n", "counted 1 3 6\n"):
        with pytest.raises(overhead_launch.Failed):
            overhead_reduce.check(text, 3, 2, 1, (1,))


def test_spread():
    spread = Spread([4, 1, 3, 2, 5])
    assert (spread.n, spread.middle, spread.low, spread.high) == (5, 3, 2, 4)


@pytest.mark.parametrize("freedom, wanted", [(10, 2.228), (30, 2.042), (100, 1.984), (358, 1.967), (math.inf, 1.960)])
def test_student_quantile(freedom, wanted):
    assert student_quantile(0.975, freedom) == pytest.approx(wanted, abs=0.001)


def test_welch():
    # by hand: variances of the means 1/3 and 5/3, degrees of freedom (1/3 + 5/3)^2 / ((1/3)^2 / 2 + (5/3)^2 / 3) = 216 / 53
    welch = Welch([1, 2, 3], [2, 4, 6, 8])
    assert welch.difference == pytest.approx(3)
    assert welch.freedom == pytest.approx(216 / 53)
    assert welch.half == pytest.approx(math.sqrt(2) * student_quantile(0.975, 216 / 53))
    assert not welch.significant
    assert Welch([1, 2, 3] * 9, [5, 6, 7] * 9).significant
    assert not Welch([1, 1], [1, 1]).significant
