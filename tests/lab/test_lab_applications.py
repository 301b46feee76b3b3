# SPDX-License-Identifier: BSD-3-Clause
"""Programs nobody here wrote, under `lucid run` in the lab: is the report right about them?"""
import os
import re
import shutil

import pytest

from conftest import LAB, ROOT, sys_path

sys_path(os.path.join(ROOT, "bench", "wire"))
import wire  # noqa: E402

INPUT = os.path.join(ROOT, "examples", "in.lj")
SMALL = ["lmp", "-in", INPUT, "-log", "none", "-var", "side", "16", "-var", "steps", "60"]


def needs(program):
    if not shutil.which(program):
        pytest.skip("%s is not installed" % program)


@pytest.fixture(scope="module")
def lucid():
    path = os.path.join(os.environ.get("LUCID_BUILD_DIR", ""), "bin", "lucid")
    if not os.path.exists(path):
        pytest.skip("the command lucid is not built; run this test through ctest -L lab")
    return [path]


@pytest.fixture(scope="module")
def four_nodes():
    with wire.Cluster(nodes=4, slots=4, rate="10gbit") as cluster:
        yield cluster


def matches_the_cards(one, session, ranks):
    assert session["size"] == ranks and session["lost"] == 0
    assert [node["name"] for node in session["nodes"]] == ["node00", "node01", "node02", "node03"]
    assert abs(one.raw) < 0.05 and abs(one.net) < 0.02, (one.raw, one.net)


def test_lammps(four_nodes, lucid):
    needs("lmp")
    report = os.path.join(four_nodes.home, "lammps")
    one, session = wire.application(four_nodes, lucid, 16, SMALL, report)
    matches_the_cards(one, session, 16)
    assert one.monitored > 10000000
    sent = {cell[0] for cell in session["cells"] if session["kinds"][cell[2]] == "p2p"}
    assert sent == set(range(16))


def thermo(text):
    """The physics that LAMMPS prints."""
    return re.findall(r"^ +\d+(?: +-?[0-9.e+-]+){4} *$", text, re.MULTILINE)


def test_lammps_computes_the_same_with_and_without(four_nodes, lucid):
    needs("lmp")
    launch = [LAB, "mpirun", "-n", "16"] + SMALL
    without = thermo(four_nodes.run(launch))
    observed = thermo(four_nodes.run([*lucid, "run", "-q", "-o", os.path.join(four_nodes.home, "same"), "--", *launch]))
    assert len(without) >= 2 and observed == without


def test_hpcc(four_nodes, lucid):
    needs("hpcc")
    with open(os.path.join(ROOT, "examples", "hpccinf.txt"), encoding="utf-8") as stream:
        text = stream.read()
    for old, new in (("512          Ns", "256          Ns"), ("4            Ps", "2            Ps"), ("4            Qs", "4            Qs")):
        assert old in text
        text = text.replace(old, new)
    with open(os.path.join(four_nodes.home, "hpccinf.txt"), "w", encoding="utf-8") as stream:
        stream.write(text)
    report = os.path.join(four_nodes.home, "hpcc")
    one, session = wire.application(four_nodes, lucid, 8, ["hpcc"], report, cwd=four_nodes.home, per_node=2)
    matches_the_cards(one, session, 8)
    with open(os.path.join(four_nodes.home, "hpccoutf.txt"), encoding="utf-8") as stream:
        said = stream.read()
    # Its RandomAccess allows itself a share of wrong updates, and with a table this small exceeds it now and then.
    assert "End of HPC Challenge tests." in said
    assert re.findall(r"(\d+) tests completed and failed residual checks", said) == ["0", "0"]
