# SPDX-License-Identifier: BSD-3-Clause
"""Reordering over real nodes: ranks dealt out round-robin, so that neighbours are on different ones."""
import os

import pytest

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
