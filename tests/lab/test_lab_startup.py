# SPDX-License-Identifier: BSD-3-Clause
"""coll/lazy on several nodes, where coll/han makes sub-communicators: random programs, and what communicators cost."""
import json
import os
import subprocess
import sys
import tempfile

import pytest

from conftest import LAB, ROOT, sys_path

BUILD = os.environ.get("LUCID_BUILD_DIR", "")
sys_path(os.path.join(ROOT, "python"))

from lucid import components # noqa: E402


def program(name):
    path = os.path.join(BUILD, "tests", "mpi", name)
    if not os.access(path, os.X_OK):
        pytest.skip("%s is not there: run this test through ctest -L lab" % name)
    return path


def settings(layer="share", **more):
    """Words for mpirun: han in its place, as in Open MPI 5 by default, and coll/lazy below."""
    path = components.path_variable("mpirun", {}, "lazy")
    if not path:
        pytest.skip("coll/lazy is not built")
    values = dict(OMPI_MCA_mca_base_component_path=path[components.VARIABLE], OMPI_MCA_coll_han_priority="40", LUCID_LAZY=layer, **more)
    words = []
    for name, value in sorted(values.items()): # PRRTE takes no MCA parameter by -x
        own = name.startswith("OMPI_MCA_")
        words += ["--mca", name[len("OMPI_MCA_"):], value] if own else ["-x", "%s=%s" % (name, value)]
    return words


@pytest.mark.parametrize("ranks, more", [(16, {}), (13, {}), (6, {}), (4, {}), (16, {"LUCID_LAZY_GROUPS": "2"})])
def test_random_programs(cluster, ranks, more):
    # Open MPI 4.1.4's han by itself puts what it gathers in a wrong order where ranks are dealt out round-robin
    words = settings(LUCID_TEST_LAZY="wait", LUCID_TEST_NO_GATHER="1", **more)
    done = cluster.run("mpirun", "--map-by", "node", *words, "-n", ranks, program("lazy_random"), "1", "3")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks, how", [(16, "slot"), (13, "node"), (5, "slot")])
def test_agreements(cluster, ranks, how):
    done = cluster.run("mpirun", "--map-by", how, *settings(LUCID_TEST_LAZY="wait"), "-n", ranks, program("lazy_agree"), 20)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks, how", [(16, "node"), (13, "slot")])
def test_random_programs_over_hier(cluster, ranks, how):
    words = settings(LUCID_TEST_LAZY="wait", LUCID_TEST_NO_GATHER="1", OMPI_MCA_coll_hier_priority="95")
    done = cluster.run("mpirun", "--map-by", how, *words, "-n", ranks, program("lazy_random"), "1", "3")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [5, 16])
def test_every_kind_of_communicator(cluster, ranks):
    done = cluster.run("mpirun", *settings(LUCID_TEST_LAZY="wait", LUCID_TEST_NO_WINDOW="1", TMPDIR=BUILD), "-n", ranks,
                       program("lazy_mix"))
    assert done.returncode == 0, done.stdout + done.stderr


def books(cluster, mode, further=0):
    """The communicators of cli_dups."""
    dups = os.path.join(BUILD, "tests", "cli", "cli_dups")
    if not os.access(dups, os.X_OK):
        pytest.skip("cli_dups is not there: run this test through ctest -L lab")
    with tempfile.TemporaryDirectory(dir=BUILD) as home: # the nodes see the build, not each other's /tmp
        report = os.path.join(home, "report")
        command = [sys.executable, os.path.join(BUILD, "bin", "lucid"), "run", "--startup=" + mode, "-q", "-o", report, "--", LAB,
                   "mpirun", "-x", "OMPI_MCA_coll_han_priority=40", "-n", "16", dups, str(further)]
        done = subprocess.run(command, env=cluster.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=200)
        if done.returncode == 125:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        with open(os.path.join(report, "startup.json")) as stream:
            return json.load(stream)["communicators"]


def by_name(communicators):
    return {one["name"]: one for one in communicators}


def test_the_second_communicator_of_a_group_is_free(cluster):
    alone, shared = by_name(books(cluster, "alone")), by_name(books(cluster, "share"))
    assert alone["second"]["allreduce"] == "han" and shared["second"]["allreduce"] == "hier"
    assert shared["first"]["first_use"]["messages"] <= 40 and shared["first"]["first_use"]["ids"] == 0
    assert alone["second"]["first_use"]["ids"] >= 2 and shared["second"]["first_use"]["ids"] == 0
    assert shared["second"]["first_use"]["messages"] < alone["second"]["first_use"]["messages"] / 4
    assert shared["second"]["modules"] == "shared"


def test_communicators_of_a_group_take_little_memory(cluster):
    """Many of them, on all processes together: where a process has more receives under way than before, Open MPI's list of requests
    grows once, by some 50 KB, on whichever communicator that is."""
    number = 32
    taken = {}
    for mode in ("alone", "share"):
        further = [one for one in books(cluster, mode, number) if one["name"] == "further"]
        assert len(further) == number and all(one["first_use"]["bytes"] > 0 for one in further)
        taken[mode] = sum(one["first_use"]["bytes"] for one in further)
    assert taken["share"] < taken["alone"] / 4, taken
