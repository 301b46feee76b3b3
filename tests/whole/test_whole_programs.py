# SPDX-License-Identifier: BSD-3-Clause
"""Programs nobody here wrote, under lucid run --all: they print what they print by themselves. On one node there is no better order
of ranks, so that --all runs them once."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, both, lucid, setting

sys.path.insert(0, os.path.join(ROOT, "bench", "wire"))
import wire  # noqa: E402

ALL = ["--all", "--phases"]
LAMMPS = ["lmp", "-in", os.path.join(ROOT, "examples", "in.lj"), "-log", "none"]
GENTLE = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def needs(program):
    if not shutil.which(program):
        pytest.skip("%s is not installed" % program)


def physics(text):
    """What LAMMPS prints, without its times and the memory of its processes."""
    timed = re.compile(r"^(Loop time|Performance|Total wall|Per MPI rank memory|MPI task timing|Section|Pair|Neigh|Comm|Output|"
                       r"Modify|Other|\d+\.\d+% CPU|  generate|  \w+ CPU =|  bin: )|CPU = ")
    return [line for line in text.splitlines() if not timed.search(line)]


def test_lammps(tmp_path):
    needs("lmp")
    program = [*LAMMPS, "-var", "side", "10", "-var", "steps", "60"]
    alone, layered = both(tmp_path, program, 4, options=ALL)
    assert (alone.code, layered.code) == (0, 0), alone.err + layered.err
    assert physics(layered.out) == physics(alone.out) and len(physics(alone.out)) > 20


@pytest.fixture(scope="module")
def four_nodes():
    if subprocess.run([wire.LAB, "check"], stdout=subprocess.DEVNULL).returncode != 0:
        pytest.skip("no lab can be made here")
    with wire.Cluster(nodes=4, slots=2, rate="1gbit") as cluster:
        for name in [name for name in cluster.env if name.startswith(("OMPI_MCA_", "PRTE_MCA_"))]:
            del cluster.env[name]  # the lab has a network, and settings, of its own
        yield cluster


def test_lammps_in_the_lab(four_nodes):
    """With the ranks dealt out to the nodes in turn there is a better order: --all runs the program again in it."""
    needs("lmp")
    launch = [wire.LAB, "mpirun", "-n", "8", "--map-by", "node", *LAMMPS, "-var", "side", "10", "-var", "steps", "40"]
    report = os.path.join(four_nodes.home, "report")
    alone = physics(four_nodes.run(launch))
    layered = physics(four_nodes.run([*lucid("run", *ALL, "-o", report), "--", *launch]))
    assert sorted(os.listdir(report)) == ["after", "before", "rankfile"]
    assert len(alone) > 20 and layered == 2 * alone


def verdicts(place):
    """What HPCC says about its own results, without times and rates."""
    with open(str(place / "hpccoutf.txt"), encoding="utf-8") as stream:
        text = stream.read()
    (place / "hpccoutf.txt").unlink()
    said = re.findall(r"^.*(?:PASSED|FAILED|failed residual checks|tests completed|End of HPC Challenge).*$", text, re.MULTILINE)
    # its RandomAccess allows itself a share of wrong updates, and with a table this small exceeds it now and then; its PTRANS has a
    # second line for every matrix, beside WALL, where that took more CPU time than none
    return [" ".join(re.sub(r"\d[\d.e+-]*", "#", line).split()) for line in said
            if "random" not in line.lower() and "Found" not in line and not line.startswith("CPU ")]


def test_hpcc(tmp_path):
    needs("hpcc")
    with open(os.path.join(ROOT, "examples", "hpccinf.txt"), encoding="utf-8") as stream:
        text = stream.read()
    for old, new in (("512          Ns", "200          Ns"), ("4            Ps", "2            Ps"),
                     ("4            Qs", "2            Qs")):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "hpccinf.txt").write_text(text)
    said = []

    def keep(done):
        assert done.code == 0, done.err
        said.append(verdicts(tmp_path))
    both(tmp_path, ["hpcc"], 4, options=ALL, afterwards=keep)
    assert said[0] == said[1] and any("PASSED" in line for line in said[0])


# Suites of mpi4py: all that has to do with what Lucid stands in the way of. The whole of it: LUCID_MPI4PY_MODULES=all.
MODULES = ["test_comm", "test_comm_inter", "test_comm_topo", "test_group", "test_op", "test_p2p_buf", "test_request", "test_rma",
           "test_cco_buf", "test_cco_buf_inter", "test_cco_nb_buf", "test_cco_ngh_buf", "test_cco_obj", "test_cco_vec", "test_win"]


def ended(text):
    """(tests run, the names of those that failed) of every rank. unittest ends its lines by a write of its own, so that another rank's
    words may stand before and behind these on one line."""
    ran, failed = (re.findall(pattern, text) for pattern in (r"Ran (\d+) tests", r"(?:FAIL|ERROR): (\w+ \([\w.]+\))"))
    return sorted(ran), sorted(failed)


def test_mpi4py(tmp_path):
    suite = setting("LUCID_MPI4PY_SUITE")
    if not os.path.exists(os.path.join(suite, "done")):
        pytest.skip("mpi4py and its tests are not there (mpi.mpi4py_prepare)")
    wanted = os.environ.get("LUCID_MPI4PY_MODULES", " ".join(MODULES)).split()
    if wanted == ["all"]:
        names = os.listdir(os.path.join(suite, "test"))
        wanted = sorted(name[:-3] for name in names if re.match(r"test_(?!spawn|dynproc).*\.py$", name))
    wanted = [name for name in wanted if os.path.exists(os.path.join(suite, "test", name + ".py"))]
    program = [os.path.join(ROOT, "tests", "mpi", "mpi4py_suite.sh"), "run", suite, *wanted]
    alone, layered = both(tmp_path, program, 2, GENTLE, ALL, timeout=250)
    assert ended(layered.err) == ended(alone.err) and len(ended(alone.err)[0]) == 2, layered.err[-4000:]
    assert layered.code == alone.code
    assert os.path.getsize(str(tmp_path / "report" / "before" / "run.json")) > 0
