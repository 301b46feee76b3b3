# SPDX-License-Identifier: BSD-3-Clause
"""coll/hier over real nodes: the map comes from the runtime, messages go over the network."""
import os
import subprocess

import pytest

from conftest import LAB

BUILD = os.environ.get("LUCID_BUILD_DIR", "")
COMPONENTS = os.path.join(BUILD, "lib", "lucid", "openmpi")


def options(**variables):
    """What mpirun is told, so that coll/hier is there, and coll/han too, below it."""
    directory = subprocess.run(["ompi_info", "--path", "pkglibdir", "--parsable"], stdout=subprocess.PIPE, universal_newlines=True)
    settings = {"mca_base_component_path": directory.stdout.strip().split(":")[-1] + ":" + COMPONENTS, "coll": "^lazy,sparse",
                "coll_hier_priority": "95", "coll_han_priority": "40"}
    settings.update({"coll_hier_" + name: str(value) for name, value in variables.items()})
    return [word for name, value in settings.items() for word in ("--mca", name, value)]


def program(name):
    path = os.path.join(BUILD, "tests", "mpi", name)
    if not BUILD or not os.access(path, os.X_OK) or not os.path.exists(os.path.join(COMPONENTS, "mca_coll_hier.so")):
        pytest.skip("coll/hier is not built, or LUCID_BUILD_DIR is not set: run this test through ctest -L lab")
    return path


@pytest.mark.parametrize("how", ["slot", "node"])
def test_the_first_allreduce_takes_few_messages(cluster, how):
    done = cluster.run("mpirun", "--map-by", how, *options(), "-n", 16, program("hier_counts"), 40, 4, "predicted")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "unrecognized" not in done.stdout + done.stderr, "the runtime's daemons complain of what they were asked"


def test_discovery_finds_the_same(cluster):
    done = cluster.run("mpirun", *options(topology="discover"), "-n", 16, program("hier_counts"), 200, 4, "discovered")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("how, ranks", [("slot", 16), ("node", 16), ("slot", 11), ("node", 7)])
def test_random_operations(cluster, how, ranks):
    done = cluster.run("mpirun", "--map-by", how, *options(), "-n", ranks, program("hier_random"), 120, ranks, 30)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_rank_with_another_map(cluster):
    done = cluster.run("mpirun", *options(test_fault=5), "-n", 16, program("hier_random"), 60, 3, 15)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_rankfile_that_names_nodes_in_another_order(cluster):
    """What PMIx knows of the nodes is incomplete then on Open MPI 4.1, and asking for the rest would never end."""
    version = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, universal_newlines=True).stdout
    nodes = (0, 0, 2, 2, 1, 1, 3, 3)
    path = "/var/tmp/lucid_%d.ranks" % os.getpid()  # PRRTE 3.0 reads no rankfile with a dash, or "pe", in its path
    placed = ["-rf", path] if " 4." in version else ["--map-by", "rankfile:file=" + path, "--bind-to", "none"]
    try:
        with open(path, "w") as rankfile:
            rankfile.write("".join("rank %d=node%02d slot=%s\n" % (rank, node, "0-1" if " 4." in version else rank % 2)
                                   for rank, node in enumerate(nodes)))
        done = cluster.run("mpirun", *placed, *options(), "-n", 8, program("hier_random"), 60, 3, 15)
    finally:
        if os.path.exists(path):
            os.unlink(path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 discovered" in done.stdout


def test_eight_nodes():
    path = program("hier_counts")
    done = subprocess.run([LAB, "with", "--nodes", "8", "--slots", "4", "--rate", "1gbit", "--", LAB, "mpirun"] + options() +
                          ["-n", "32", path, "62", "8", "predicted"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
