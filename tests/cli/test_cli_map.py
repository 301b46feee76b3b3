# SPDX-License-Identifier: BSD-3-Clause
"""lucid map: what it finds is an order and costs what it says, by a cost function written anew here; what is printed."""
import ctypes
import ctypes.util
import json
import os
import random
import re
import shutil
import sys

import pytest

import sample
from conftest import DATA, ROOT

sys.path.insert(0, os.path.join(ROOT, "python"))
from lucid import cli, mapping, mapping_library, session as sessions  # noqa: E402
from lucid.errors import LucidError  # noqa: E402

REPORT4, REPORT16 = os.path.join(DATA, "report4"), os.path.join(DATA, "report16")
MACHINE16 = "node:2 numa:2 core:4"


class Ended:
    """How a call of the command in this process ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture(scope="session", autouse=True)
def library():
    """The build's liblucid, loaded into this process; all tests are skipped where there is none."""
    before = os.environ.get("LUCID_LIBRARY")
    if os.environ.get("LUCID_COMMAND"):
        build = os.path.dirname(os.path.dirname(os.environ["LUCID_COMMAND"]))
        os.environ["LUCID_LIBRARY"] = os.path.join(build, "lib", "liblucid.so")
    try:
        mapping_library.Tree.read("node:1")
    except LucidError as error:
        pytest.skip(str(error))
    finally:
        if before is None:
            os.environ.pop("LUCID_LIBRARY", None)


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Runs the command in this process, in a directory of its own: call("map", path, ...)."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        try:
            code = cli.main([str(word) for word in words])
        except SystemExit as error:
            code = error.code
        return Ended(code, *capsys.readouterr())
    return run


def without_times(text):
    """A summary with its durations taken out."""
    return re.sub(r"(, in) [0-9.]+ (ms|s)$", r"\1 TIME", text, flags=re.MULTILINE)


def values(call, *words):
    done = call("map", *words, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def write_session(path, data):
    path.write_text(sample.text(data))
    return path


def with_cells(data, cells):
    """A session with other traffic."""
    data.update(cells=cells, histograms={}, totals={"messages": sum(c[3] for c in cells), "bytes": sum(c[4] for c in cells)})
    return data


def round_robin(ranks, nodes, **changes):
    """A session whose ranks were dealt out to the nodes like cards, unbound."""
    data = sample.session(ranks, nodes)
    for rank in data["ranks"]:
        rank.update({"node": rank["rank"] % nodes, "package": None, "numa": None, "core": None, **changes})
    return data


def cost_of(data, k, distance, what=4):
    """J by the definition: process i has rank k[i] and sits where process i sits."""
    sits = {rank: process for process, rank in enumerate(k)}
    return sum(cell[what] * distance(sits[cell[0]], sits[cell[1]]) for cell in data["cells"])


def machine_distance(node, numa):
    """Between places of a machine of nodes of `node` places, in NUMA parts of `numa`."""
    return lambda a, b: 0 if a == b else 100 if a // node != b // node else 10 if a // numa != b // numa else 1


def job_distance(data):
    """Between processes of a session, with the costs of lucid map."""
    def home(process):
        rank = data["ranks"][process]
        return [rank["node"], rank["package"], rank["numa"], rank["core"]]

    def distance(a, b):
        for here, there, cost in zip(home(a), home(b), (100, 10, 5, 1)):
            if here != there:
                return cost
        return 0 if a == b else 1
    return distance


def report16():
    with open(os.path.join(REPORT16, "run.json"), encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize("algorithm", ["auto", "identity", "treematch", "multilevel"])
@pytest.mark.parametrize("topology, distance", [(MACHINE16, machine_distance(8, 4)), ("node:8 numa:1 core:2", machine_distance(2, 2)),
                                                ("session", None)])
def test_cost_is_what_it_is_said_to_be(call, algorithm, topology, distance):
    data = report16()
    distance = distance or job_distance(data)
    found = values(call, REPORT16, "--topology", topology, "--algorithm", algorithm, "--seed", "3")
    assert sorted(found["k"]) == list(range(16))
    assert found["before"]["cost"] == pytest.approx(cost_of(data, range(16), distance))
    assert found["after"]["cost"] == pytest.approx(cost_of(data, found["k"], distance))
    assert found["after"]["cost"] <= found["before"]["cost"]
    assert found["ratio"] == pytest.approx(found["after"]["cost"] / found["before"]["cost"])


def between(data, k, node):
    """Bytes between nodes, and the most that one node sends and receives."""
    sits, links, total = {rank: node(process) for process, rank in enumerate(k)}, {}, 0
    for sender, receiver, _, _, volume in data["cells"]:
        a, b = sits[sender], sits[receiver]
        if a != b:
            total += volume
            links[a], links[b] = links.get(a, 0) + volume, links.get(b, 0) + volume
    return {"between_nodes_bytes": total, "busiest_link_bytes": max(links.values(), default=0)}


@pytest.mark.parametrize("nodes", [1, 2, 4, 5])
def test_ranks_that_do_not_sit_in_order(call, tmp_path, nodes):
    data = round_robin(20, nodes)
    found = values(call, write_session(tmp_path / "s.json", data))
    distance = job_distance(data)
    for when, k in (("before", list(range(20))), ("after", found["k"])):
        assert found[when] == {"cost": pytest.approx(cost_of(data, k, distance)), **between(data, k, lambda p: p % nodes)}
    assert found["nodes"] == nodes
    assert (found["ratio"] < 1) == (nodes in (2, 4))  # 5 nodes: the grid's columns, where the bytes are, are on one node already


def test_figures_of_a_rack_are_those_of_its_nodes(call):
    data = report16()
    found = values(call, REPORT16, "--topology", "rack=500:2 node:2 core:4")
    for when, k in (("before", range(16)), ("after", found["k"])):
        assert {name: found[when][name] for name in ("between_nodes_bytes", "busiest_link_bytes")} == \
            between(data, k, lambda place: place // 4)
    assert found["nodes"] == 4 and [level["cost"] for level in found["levels"]] == [500, 10, 1]


def test_a_single_node_has_nothing_between_nodes(call):
    done = call("map", REPORT16, "--topology", "numa:2 core:8", "--json")
    found = json.loads(done.out)
    assert found["nodes"] == 1 and found["before"]["between_nodes_bytes"] == found["after"]["busiest_link_bytes"] == 0


def test_messages_can_be_weighed(call):
    data = report16()
    found = values(call, REPORT16, "--topology", MACHINE16, "--messages")
    assert found["by"] == "messages"
    assert found["before"]["cost"] == pytest.approx(cost_of(data, range(16), machine_distance(8, 4), what=3))
    assert found["after"]["cost"] == pytest.approx(cost_of(data, found["k"], machine_distance(8, 4), what=3))
    assert found["before"]["between_nodes_bytes"] == between(data, range(16), lambda place: place // 8)["between_nodes_bytes"]


@pytest.mark.parametrize("words, kinds", [(["--class", "user"], ["p2p"]), (["--kind", "bcast,put"], ["bcast", "put"])])
def test_traffic_can_be_chosen(call, words, kinds):
    data = report16()
    data["cells"] = [cell for cell in data["cells"] if data["kinds"][cell[2]] in kinds]
    found = values(call, REPORT16, "--topology", MACHINE16, *words)
    assert found["before"]["cost"] == pytest.approx(cost_of(data, range(16), machine_distance(8, 4)))


def test_costs_can_be_chosen(call):
    found = values(call, REPORT16, "--topology", "node:2 core:8", "--costs", "1,0", "--algorithm", "identity")
    assert found["before"]["cost"] == found["before"]["between_nodes_bytes"]
    again = values(call, REPORT16, "--topology", "node=1:2 core=0:8", "--algorithm", "identity")
    assert again["before"] == found["before"]


def test_same_seed_same_order_whatever_the_threads(call, large):
    words = ["map", large, "--class", "user", "--starts", "3", "--seed", "5"]
    one, four = (call(*words, "--threads", n) for n in (1, 4))
    assert one.code == 0 and one.out == four.out and sorted(map(int, one.out.split())) == list(range(1024))


def test_summary_and_permutation(lucid, golden):
    done = lucid("map", REPORT16, "--starts", "2")
    assert done.code == 0 and sorted(map(int, done.out.split())) == list(range(16))
    golden("map_16", without_times(done.err))


def test_nothing_to_gain_is_said(call, golden, tmp_path):
    done = call("map", write_session(tmp_path / "zero.json", with_cells(sample.session(16, 4), [])))
    assert done.code == 0 and done.out == "".join("%d\n" % i for i in range(16))
    golden("map_zero", without_times(done.err))


def test_places_that_are_left_over(call, golden):
    done = call("map", REPORT16, "--topology", "node:3 core:7", "--starts", "2")
    assert done.code == 0
    golden("map_partly", without_times(done.err))


def test_fixed_ranks(call, tmp_path):
    assert values(call, REPORT16, "--fixed", "0=9,15=2")["k"][0] == 9
    (tmp_path / "fixed.txt").write_text("# who stays\n3 3\n\n4=12\n")
    k = values(call, REPORT16, "--fixed", "fixed.txt", "--topology", MACHINE16)["k"]
    assert sorted(k) == list(range(16)) and (k[3], k[4]) == (3, 12)


def test_fixed_ranks_of_a_job_out_of_order(call, tmp_path):
    path = write_session(tmp_path / "s.json", round_robin(12, 4))
    k = values(call, path, "--fixed", "1=7,5=0")["k"]
    assert sorted(k) == list(range(12)) and (k[1], k[5]) == (7, 0)


def test_scotch_if_it_is_there(call):
    done = call("map", REPORT16, "--algorithm", "scotch")
    if done.code:
        assert done.code == 2 and done.err.startswith("lucid map: map: no algorithm \"scotch\" here") and done.err.count("\n") == 1
    else:
        assert sorted(map(int, done.out.split())) == list(range(16)) and done.err.startswith("lucid: 16 processes")


def test_output_and_json_together(call, tmp_path):
    found = values(call, REPORT16, "-o", "k.txt")
    assert (tmp_path / "k.txt").read_text() == "".join("%d\n" % rank for rank in found["k"])
    assert found["format"] == "lucid-map" and found["processes"] == 16 and found["hosts"] == ["node00", "node01", "node02", "node03"]


def test_latest_report_and_phase(call, tmp_path):
    shutil.copytree(REPORT16, str(tmp_path / "lucid-report"))
    shutil.copy(os.path.join(REPORT4, "run.json"), str(tmp_path / "lucid-report" / "phase-2.json"))
    assert values(call)["processes"] == 16 and values(call, "lucid-report", "--phase", "2")["processes"] == 4


def test_lstopo_files(call, tmp_path):
    name = ctypes.util.find_library("hwloc")
    if not name:
        pytest.skip("no libhwloc to write a topology with")
    hwloc = ctypes.CDLL(name)
    topology = ctypes.c_void_p()
    assert hwloc.hwloc_topology_init(ctypes.byref(topology)) == 0
    assert hwloc.hwloc_topology_set_synthetic(topology, b"pack:2 core:4 pu:2") == 0 and hwloc.hwloc_topology_load(topology) == 0
    assert hwloc.hwloc_topology_export_xml(topology, os.fsencode(str(tmp_path / "m.xml")), ctypes.c_ulong(0)) == 0
    hwloc.hwloc_topology_destroy(topology)
    one, same = (values(call, REPORT16, "--topology", text) for text in ("2*m.xml", MACHINE16))
    assert one["before"] == same["before"] and one["nodes"] == 2 and one["processes"] == 16
    done = call("map", REPORT16, "--topology", "m.xml")
    assert (done.code, done.err) == (2, "lucid map: topology: m.xml has 8 places for 16 processes\n")


def write_mtx(path, head, lines):
    path.write_text("%%%%MatrixMarket matrix coordinate %s\n%% a comment\n%s\n" % (head, "\n".join(lines)))


@pytest.mark.parametrize("head, lines, cost", [
    ("integer general", ["4 4 3", "1 2 10", "2 1 5", "1 4 7"], 15 * 1 + 7 * 10),
    ("integer symmetric", ["4 4 2", "2 1 10", "4 1 7"], 2 * (10 + 70)),
    ("pattern general", ["4 4 2", "1 1", "1 3"], 10),
    ("real general", ["4 4 2", "3 4 2.0e1", "3 4 4.4"], 24),
    ("integer general", ["4 4 1", "1 3 18446744073709551615"], 10 * (2.0 ** 64 - 1)),
])
def test_matrices(call, tmp_path, head, lines, cost):
    write_mtx(tmp_path / "m.mtx", head, lines)
    assert values(call, "m.mtx", "--topology", "node:2 core:2")["before"]["cost"] == pytest.approx(cost)


def test_a_matrix_that_lucid_show_wrote(call):
    assert call("show", REPORT16, "-o", "m.mtx").code == 0
    assert values(call, "m.mtx", "--topology", MACHINE16)["before"] == values(call, REPORT16, "--topology", MACHINE16)["before"]


def test_numbers_beyond_64_bits_do_not_wrap(call, tmp_path):
    write_mtx(tmp_path / "m.mtx", "integer general", ["4 4 2", "1 3 %d" % 2 ** 63, "1 4 %d" % 2 ** 63])
    found = values(call, "m.mtx", "--topology", "node:2 core:2", "--algorithm", "identity")
    assert found["before"]["cost"] == pytest.approx(10 * 2.0 ** 64)
    assert found["before"]["between_nodes_bytes"] == 2 ** 64 - 1  # the largest number, not a small one


def test_from_python():
    problem = mapping.of_session(sessions.load(os.path.join(REPORT16, "run.json")), MACHINE16)
    best = problem.solve(starts=2)
    assert problem.score(best.k).after == best.after and best.ratio < 1
    shuffled = list(range(16))
    random.Random(1).shuffle(shuffled)
    assert problem.score(shuffled).after.cost == pytest.approx(cost_of(report16(), shuffled, machine_distance(8, 4)))
