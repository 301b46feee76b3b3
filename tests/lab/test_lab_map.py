# SPDX-License-Identifier: BSD-3-Clause
"""Rank orders that `lucid map` writes, given to the launcher: do the ranks land where they are said to?"""
import json
import os
import random
import re
import shutil
import subprocess

import pytest

from conftest import LAB

LINE = re.compile(r"^rank (\d+) host (\S+) cpus (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def launcher():
    """Open MPI's series: '4.1', '5.0'; skipped with other launchers, which read no rankfiles."""
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    said = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, universal_newlines=True).stdout
    found = re.search(r"Open ?(?:MPI|RTE)\)? v?(\d+)\.(\d+)", said)
    if not found:
        pytest.skip("rankfiles are for Open MPI")
    return "%s.%s" % found.groups()


class Job:
    """lab_ring in the lab, recorded by `lucid run`, and what `lucid map` makes of it."""

    def __init__(self, cluster, program, series):
        self.cluster, self.program, self.old = cluster, program("lab_ring"), series < "5"
        self.lucid = os.path.join(os.environ.get("LUCID_BUILD_DIR", ""), "bin", "lucid")
        self.home = os.path.dirname(cluster.state)
        self.copies = []

    def call(self, *words):
        done = subprocess.run([self.lucid, *map(str, words)], env=self.cluster.env, stdin=subprocess.DEVNULL, timeout=200,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def record(self, name, *options):
        """Where every rank was: {rank: (host, cpus)}, and the report's path."""
        report = os.path.join(self.home, name)
        out = self.call("run", "-q", "--force", "-o", report, "--", LAB, "mpirun", *options, self.program)
        return {int(rank): (host, cpus) for rank, host, cpus in LINE.findall(out)}, report

    def with_rankfile(self, path, *options):
        """The launcher's options for a rankfile."""
        if self.old:
            return ["-rf", path]
        plain = "/var/tmp/lucid_%d.ranks" % os.getpid()
        shutil.copyfile(path, plain) # PRRTE 3.0 does not take a path with a dash, or "pe", in it
        self.copies.append(plain)
        return ["--map-by", "rankfile:file=" + plain, *options]

    def rankfile(self, report, *options):
        """The path of a rankfile for the order that `lucid map` makes with these options, and everything about that order."""
        path = os.path.join(self.home, "ranks.txt")
        said = self.call("map", report, "--class", "user", "--format", "rankfile" if self.old else "rankfile5", "-o", path, "--json",
                         *options)
        return path, json.loads(said)

    def between_nodes(self, report):
        """Bytes of the program's own messages between nodes."""
        with open(os.path.join(report, "run.json")) as file:
            session = json.load(file)
        home = [rank["node"] for rank in session["ranks"]]
        return sum(c[4] for c in session["cells"] if session["kinds"][c[2]] == "p2p" and home[c[0]] != home[c[1]])


@pytest.fixture
def job(cluster, program, launcher):
    job = Job(cluster, program, launcher)
    yield job
    for copy in job.copies:
        if os.path.exists(copy):
            os.unlink(copy)


def test_a_bad_order_is_mended(job):
    before, report = job.record("before", "-n", 16, "--map-by", "node")
    path, found = job.rankfile(report)
    assert found["before"]["between_nodes_bytes"] == 16 * 200000  # the next rank is always on the next node
    assert found["after"]["between_nodes_bytes"] == 4 * 200000
    after, report = job.record("after", "-n", 16, *job.with_rankfile(path, "--bind-to", "none"))
    assert {k: after[k][0] for k in found["k"]} == {found["k"][i]: before[i][0] for i in range(16)}
    assert job.between_nodes(report) == 4 * 200000


def test_any_order_lands_where_it_is_stated(job):
    before, report = job.record("before", "-n", 14, "--map-by", "slot")  # the last node has only two
    k = list(range(14))
    random.Random(3).shuffle(k)
    order = os.path.join(job.home, "order.txt")
    with open(order, "w") as file:
        file.write("".join("%d\n" % rank for rank in k))
    path, found = job.rankfile(report, "--evaluate", order)
    assert found["k"] == k
    after, report = job.record("after", "-n", 14, *job.with_rankfile(path, "--bind-to", "none"))
    assert [after[k[i]][0] for i in range(14)] == [before[i][0] for i in range(14)]
    assert job.between_nodes(report) == found["after"]["between_nodes_bytes"]


def test_cores_are_kept(job):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    before, report = job.record("before", "-n", 8, "--map-by", "ppr:2:node", "--bind-to", "core")
    if len(set(before.values())) < 8:
        pytest.skip("the launcher could not bind every rank to a core of its own")
    order = os.path.join(job.home, "order.txt")
    with open(order, "w") as file:
        file.write("3,1,2,0,7,6,5,4\n")
    path, found = job.rankfile(report, "--evaluate", order)
    after, _ = job.record("after", "-n", 8, *job.with_rankfile(path, "--bind-to", "core"))
    assert [after[found["k"][i]] for i in range(8)] == [before[i] for i in range(8)]
