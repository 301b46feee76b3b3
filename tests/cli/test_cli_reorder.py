# SPDX-License-Identifier: BSD-3-Clause
"""lucid run --reorder: what reaches the ranks."""
import os

import pytest

from lucid import load
from lucid.cli import run

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")


def read_mtx(path):
    with open(path) as stream:
        lines = [line.split() for line in stream if not line.startswith("%")]
    size = int(lines[0][0])
    assert lines[0] == [str(size), str(size), str(len(lines) - 1)]
    return size, {(int(r) - 1, int(c) - 1): int(v) for r, c, v in lines[1:]}


@pytest.mark.parametrize("report", ["report4", "report16"])
def test_profile_is_the_matrix_of_the_report(tmp_path, report):
    session = load(os.path.join(DATA, report, "run.json"))
    run._write_profile(session, str(tmp_path / "reorder.mtx"))
    size, entries = read_mtx(tmp_path / "reorder.mtx")
    assert size == max(rank.world for rank in session.ranks) + 1
    expected = {(session.ranks[s].world, session.ranks[r].world): t.bytes for (s, r), t in session.matrix().items() if t.bytes}
    assert entries == expected
