# SPDX-License-Identifier: BSD-3-Clause
"""What sessions say against what the nodes' network cards say (bench/wire, smaller). Bytes only, no times."""
import csv
import os
import re
import subprocess

import pytest

from conftest import ROOT, sys_path

sys_path(os.path.join(ROOT, "bench", "wire"))
import wire  # noqa: E402


@pytest.fixture(scope="module")
def two_nodes():
    with wire.Cluster(nodes=2, slots=1) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def four_nodes():
    with wire.Cluster(nodes=4, slots=4) as cluster:
        yield cluster


@pytest.fixture
def source(request):
    """Settings for a traffic source; the test is skipped where it was not built."""
    module = os.path.join(os.environ.get("LUCID_LIBDIR", ""), "lucid_pml.so")
    if request.param == "pml" and not os.path.exists(module):
        pytest.skip("the PML source is not built")
    if request.param == "mpit" and not open_mpi_version().startswith(("4.", "5.")):
        pytest.skip("Open MPI's monitoring works in 4.x and 5.x only")
    return {"LUCID_SOURCE": request.param}


def open_mpi_version():
    """"4.1.4", or "" for another MPI."""
    said = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, universal_newlines=True, check=False).stdout
    found = re.search(r"Open MPI\) (\S+)", said)
    return found.group(1) if found else ""


def test_headers_are_told_from_payload():
    one = wire.Comparison(messages=10, monitored=1000, nic_bytes=1000 + 10 * 22 + 15 * 66, nic_packets=15)
    assert one.payload == 1220 and one.per_message == 22
    assert one.raw == pytest.approx(-0.5475, abs=1e-4) and one.net == pytest.approx(-0.0995, abs=1e-4)
    assert (one + one).monitored == 2000 and (one + one).per_message == 22


def test_only_traffic_between_nodes_is_compared():
    session = {"ranks": [{"rank": 0, "node": 0}, {"rank": 1, "node": 0}, {"rank": 2, "node": 1}],
               "cells": [[0, 1, 0, 1, 10], [0, 2, 0, 2, 20], [2, 1, 3, 3, 30], [2, 2, 0, 4, 40]]}
    assert wire.between_nodes(session) == (5, 50)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_messages_match_the_card(two_nodes, program, tmp_path_factory, seed):
    rows = os.path.join(two_nodes.home, "pair-%d.csv" % seed)
    totals = wire.pair(two_nodes, program("wire_pair"), rows, messages=60, pause=(1, 30), seed=seed)
    one = wire.pair_comparison(totals)
    assert totals["sent_bytes"] > 10000000 and totals["session_messages"] == 61
    assert totals["session_bytes"] == totals["sent_bytes"]
    assert abs(one.raw) < 0.05 and abs(one.net) < 0.01
    with open(rows, encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    assert sum(int(row["nic_bytes"]) for row in table) == totals["nic_bytes"]
    assert sum(int(row["session_bytes"]) for row in table) == totals["sampled_bytes"]
    # A message that is sent between suspend and continue is not in the readings; that is how suspending is meant.
    assert totals["sent_bytes"] - 3 * 800000 <= totals["sampled_bytes"] <= totals["sent_bytes"]


LARGE = ["pairs", "alltoall", "allgather", "bcast", "allreduce", "ireduce"]


@pytest.mark.parametrize("source, names", [("pml", LARGE + ["persistent", "put"]), ("mpit", LARGE)], indirect=["source"])
def test_large_messages_match_the_cards(four_nodes, program, source, names):
    found = wire.patterns(four_nodes, program("wire_patterns"), only=names, env=source)
    assert [name.split()[0] for name in found] == names
    for name, nodes in found.items():
        total = sum(nodes[1:], nodes[0])
        assert len(nodes) == 4 and total.monitored > 3000000, name
        assert abs(total.raw) < 0.05 and abs(total.net) < 0.02, (name, total.raw, total.net)
        for one in nodes:  # a node may have nothing to send
            assert abs(one.monitored - one.payload) < 0.02 * one.nic_bytes + 20000, (name, one.monitored, one.payload)


@pytest.mark.parametrize("source", ["pml", "pmpi"], indirect=True)
def test_alltoall_is_exact(four_nodes, program, source):
    """Each of 4 ranks of a node sends 64 kB to each of the 12 ranks elsewhere; two barriers send nothing but headers."""
    (nodes,) = wire.patterns(four_nodes, program("wire_patterns"), only=["alltoall"], env=source).values()
    assert [one.monitored for one in nodes] == [4 * 12 * 65536] * 4


@pytest.mark.parametrize("source", ["pml"], indirect=True)
def test_of_small_messages_only_headers_are_missing(four_nodes, program, source):
    (nodes,) = wire.patterns(four_nodes, program("wire_patterns"), only=["small"], env=source).values()
    for one in nodes:
        assert one.monitored == 4 * 1000 * 64
        assert one.raw < -0.3       # frames of 66 bytes around messages of 64
        assert 12 < one.per_message < 64  # the MPI library's own header
