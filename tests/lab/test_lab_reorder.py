# SPDX-License-Identifier: BSD-3-Clause
"""Reordering over real nodes: ranks dealt out round-robin, so that neighbours are on different ones."""
import json
import os
import shutil
import subprocess
import tempfile

import pytest

from conftest import LAB, ROOT

PROGRAM = os.path.join(os.environ.get("LUCID_BUILD_DIR", ""), "tests", "mpi", "place_reorder")


@pytest.mark.parametrize("ranks", [6, 13, 16])
def test_a_ring_dealt_out_round_robin_is_put_together(cluster, ranks):
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip("LUCID_BUILD_DIR is not set: run this test through ctest -L lab")
    done = cluster.run("mpirun", "--map-by", "node", "-n", ranks, PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [12, 16])
def test_topologies_are_reordered_where_the_program_allows_it(cluster, ranks):
    program = os.path.join(os.path.dirname(PROGRAM), "place_topology")
    if not os.access(program, os.X_OK):
        pytest.skip("LUCID_BUILD_DIR is not set: run this test through ctest -L lab")
    done = cluster.run("mpirun", "--map-by", "node", "-x", "LD_PRELOAD=" + os.environ["LUCID_BUILT_LIBRARY"], "-x",
                       "LUCID_REORDER=topology", "-n", ranks, program, "expect-better")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("lmp") is None, reason="lmp (package lammps) is not installed")
def test_run_place_brings_an_unmodified_program_together(cluster):
    build = os.environ.get("LUCID_BUILD_DIR")
    if not build:
        pytest.skip("LUCID_BUILD_DIR is not set: run this test through ctest -L lab")
    with tempfile.TemporaryDirectory(dir=build) as home: # the nodes see the build, not each other's /tmp
        report = os.path.join(home, "speed") # PRRTE 3.0 reads no rankfile with "pe" in its path
        command = [os.path.join(build, "bin", "lucid"), "run", "--place", "-q", "-o", report, "--", LAB, "mpirun", "--map-by", "node",
                   "-n", "16", "lmp", "-in", os.path.join(ROOT, "examples", "in.lj"), "-var", "side", "12", "-var", "steps", "10",
                   "-log", "none"]
        done = subprocess.run(command, env=cluster.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=200)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("Total wall time") == 2
        before, after = (between_nodes(os.path.join(report, name, "run.json")) for name in ("before", "after"))
    assert 0 < after < before
    assert "lucid: placed: " in done.stderr


def between_nodes(path):
    with open(path) as stream:
        session = json.load(stream)
    node = [rank["node"] for rank in session["ranks"]]
    return sum(cell[4] for cell in session["cells"] if node[cell[0]] != node[cell[1]])
