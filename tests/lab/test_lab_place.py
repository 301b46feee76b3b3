# SPDX-License-Identifier: BSD-3-Clause
"""The programs of bench/place: what they compute, and the bytes that reordering takes off the links. No times."""
import os

import pytest

from conftest import end_lab, new_lab

BUILT = os.path.join(os.environ.get("LUCID_BUILD_DIR", ""), "tests", "mpi")


@pytest.fixture(scope="module")
def cluster8():
    """8 nodes with 4 slots each."""
    one = new_lab()
    one.ok("up", "--nodes", "8", "--slots", "4", "--rate", "1gbit")
    yield one
    end_lab(one)


def rows(cluster, layout, ranks, *command, options=()):
    out = cluster.ok("mpirun", "--map-by", layout, *options, "-n", ranks, *command)
    return [line.split(",") for line in out.splitlines() if "," in line]


@pytest.mark.parametrize("layout, placement", [("node", "given"), ("slot", "random"), ("slot", "given")])
def test_conjugate_gradients_give_the_published_result_before_and_after(cluster, program, layout, placement):
    # the program ends with an error where zeta is not the published value, or another one after reordering
    found = rows(cluster, layout, 16, program("place_cg"), "S", placement, 3, 0)
    decision = next(row for row in found if row[0] == "decision")
    before, after = int(decision[9]), int(decision[10])
    assert [row[1:5] for row in found if row[0] == "zeta"] == [["S", placement, "3", "15"]]
    assert 0 < after <= before
    assert (after < before) == (decision[4] == "1")


def test_groups_that_were_spread_come_together(cluster, program):
    found = rows(cluster, "node", 16, program("place_groups"), 1, 4, 0.5, "1,1000", "1,3")
    assert [row[:3] for row in found] == [[ints, n, "0"] for ints in ("1", "1000") for n in ("1", "3")]
    for row in found:
        assert int(row[12]) == 16 * 3 * 4 * int(row[0]) and int(row[13]) == 0


@pytest.mark.parametrize("layout, op, variables", [
    ("node", "reduce", ("coll_tuned_reduce_algorithm", 5, "coll_tuned_bcast_algorithm", 6)),
    ("slot", "bcast", ("coll_tuned_reduce_algorithm", 4, "coll_tuned_bcast_algorithm", 5)),
])
def test_trees_are_put_along_the_nodes(cluster, program, layout, op, variables):
    if "Open MPI) 4." not in cluster.ok("mpirun", "--version"):
        pytest.skip("the algorithms' numbers are those of Open MPI 4.1")
    options = ["--mca", "coll_tuned_use_dynamic_rules", 1, "--mca", *variables[:2], "--mca", *variables[2:]]
    found = rows(cluster, layout, 16, program("place_collectives"), "lucid", 1, 40000, options=options)
    between = {(row[0], row[2]): int(row[5]) for row in found}
    assert 0 < between[op, "lucid"] < between[op, "before"]
    assert all(between[each, "lucid"] <= between[each, "before"] for each in ("reduce", "bcast"))


@pytest.mark.parametrize("name", ["place_reorder", "place_property", "place_fortran"])
def test_on_eight_nodes(cluster8, name):
    path = os.path.join(BUILT, name)
    if not os.access(path, os.X_OK):
        pytest.skip("%s is not built; run this test through ctest -L lab" % name)
    done = cluster8.run("mpirun", "--map-by", "node", "-n", 32, path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_conjugate_gradients_on_a_grid_that_is_not_square(cluster8, program):
    found = rows(cluster8, "node", 32, program("place_cg"), "S", "given", 1, 0)
    assert [row[1] for row in found if row[0] == "zeta"] == ["S"]
