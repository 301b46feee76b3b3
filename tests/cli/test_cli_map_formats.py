# SPDX-License-Identifier: BSD-3-Clause
"""lucid map: what launchers are given, what other people's orders look like, and one clear line for everything else."""
import json
import os
import random

import pytest

import sample
from conftest import DATA
from test_cli_map import MACHINE16, REPORT16, call, library, round_robin, write_session  # noqa: F401

from lucid.errors import LucidError
from lucid.mapping_formats import parse_fixed, parse_permutation, read_matrix_market

ORDER = [5, 0, 11, 6, 1, 15, 10, 2, 4, 3, 8, 13, 14, 9, 12, 7]


@pytest.fixture
def order(tmp_path):
    (tmp_path / "order.txt").write_text("# theirs\n" + ", ".join(map(str, ORDER[:9])) + "\n" + "\n".join(map(str, ORDER[9:])))
    return "order.txt"


@pytest.mark.parametrize("form", ["permutation", "rankfile", "rankfile5", "mpich", "slurm"])
@pytest.mark.parametrize("name, words", [("job", []), ("machine", ["--topology", MACHINE16, "--hosts", "alpha,beta.site,c-3"]),
                                         ("partly", ["--topology", "node:4 core:2,5,6,9", "--hosts", "hosts"])])
def test_formats(call, golden, tmp_path, order, form, name, words):
    (tmp_path / "hosts").write_text("# cluster\n" + "".join("n%02d slots=5\n" % i for i in range(4)))
    done = call("map", REPORT16, "--evaluate", order, "--format", form, *words)
    assert done.code == 0 and done.err.startswith("lucid: 16 processes on ")
    golden("map_%s_%s" % (name, form), done.out)


def test_without_hosts_nodes_are_counted(call, order):
    done = call("map", REPORT16, "--evaluate", order, "--format", "rankfile", "--topology", MACHINE16)
    assert done.out.splitlines()[1:3] == ["rank 0=+n0 slot=1", "rank 1=+n0 slot=4"]
    done = call("map", REPORT16, "--evaluate", order, "--format", "slurm", "--topology", MACHINE16)
    assert (done.code, done.out) == (2, "")
    assert done.err == "lucid map: --format slurm needs the names of the nodes: --hosts a,b,... or --hosts FILE\n"


def test_formats_agree_on_who_sits_where(call, tmp_path):
    """The place of every rank: by the definition of k, by the rankfile, by the rank order and by the hostfile."""
    data = round_robin(24, 4)
    path = write_session(tmp_path / "s.json", data)
    k = json.loads(call("map", path, "--json").out)["k"]
    host = {k[process]: "node%02d" % (process % 4) for process in range(24)}
    lines = call("map", path, "--format", "rankfile").out.splitlines()[1:]
    assert [line.split(" slot")[0] for line in lines] == ["rank %d=%s" % (rank, host[rank]) for rank in range(24)]
    assert call("map", path, "--format", "slurm").out.split() == [host[rank] for rank in range(24)]
    rows = call("map", path, "--format", "mpich").out.splitlines()[1:]
    assert {int(rank): "node%02d" % node for node, row in enumerate(rows) for rank in row.split(",")} == host


@pytest.mark.parametrize("changes, nodes, slots", [
    ({"core": 3}, {}, {"3"}), ({"core": None}, {}, {"0:*", "1:*"}), ({"core": None, "package": None}, {}, {"0-3"}),
    ({"core": None, "package": None}, {"cores": 1}, {"0"}), ({"core": None}, {"packages": 1}, {"0-3"}),
])
def test_slots(call, tmp_path, changes, nodes, slots):
    data = sample.session(16, 4)
    for rank in data["ranks"]:
        rank.update(changes)
    for node in data["nodes"]:
        node.update(nodes)
    done = call("map", write_session(tmp_path / "s.json", data), "--format", "rankfile5")
    lines = done.out.splitlines()
    assert {line.split("slot=")[1] for line in lines[1:]} == slots and "--bind-to none" in lines[0]


@pytest.mark.parametrize("form, name, said", [("rankfile5", "ranks.txt", 0), ("rankfile5", "my-ranks", 1), ("rankfile5", "Peter", 1),
                                              ("rankfile", "my-ranks", 0)])
def test_names_that_prrte_does_not_read(call, tmp_path, form, name, said):
    done = call("map", write_session(tmp_path / "s.json", round_robin(8, 2)), "--format", form, "-o", name)
    assert done.code == 0 and (done.err + done.out).count("PRRTE 3.0 may not read it by this name") == said


def test_slots_that_nobody_knows(call, tmp_path):
    data = round_robin(8, 2)
    for node in data["nodes"]:
        node.update(cores=None, packages=None)
    done = call("map", write_session(tmp_path / "s.json", data), "--format", "rankfile")
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1 and "how many its nodes have" in done.err
    assert call("map", tmp_path / "s.json", "--format", "slurm").code == 0


def test_ranks_of_a_part_of_the_job(call, tmp_path):
    data = sample.session(8, 2)
    for rank in data["ranks"]:
        rank["world"] = 2 * rank["rank"]
    path = write_session(tmp_path / "s.json", data)
    assert call("map", path).code == 0
    done = call("map", path, "--format", "mpich")
    assert (done.code, done.err) == (2, "lucid map: --format mpich places a whole job, and the session covers a part of one: "
                                        "use permutation\n")


def test_launchers_are_told_world_ranks(call, tmp_path):
    data = sample.session(8, 2)
    for rank in data["ranks"]:
        rank["world"] = 7 - rank["rank"]
    path = write_session(tmp_path / "s.json", data)
    done = call("map", path, "--algorithm", "identity", "--format", "mpich")
    assert done.out.splitlines()[1:] == ["7,6,5,4", "3,2,1,0"]


def test_evaluate(call, golden, order):
    done = call("map", REPORT16, "--evaluate", order)
    assert (done.code, done.err) == (0, "")
    golden("map_evaluate", done.out)


def test_inverse(call, tmp_path, order):
    back = [ORDER.index(rank) for rank in range(16)]
    (tmp_path / "back.txt").write_text("\n".join(map(str, back)))
    one = json.loads(call("map", REPORT16, "--evaluate", order, "--json").out)
    two = json.loads(call("map", REPORT16, "--evaluate", "back.txt", "--inverse", "--json").out)
    assert one == two and one["k"] == ORDER and one["algorithm"] is None


def test_what_was_found_evaluates_to_the_same(call):
    found = json.loads(call("map", REPORT16, "-o", "k.txt", "--json").out)
    again = json.loads(call("map", REPORT16, "--evaluate", "k.txt", "--json").out)
    assert again["after"] == found["after"] and again["before"] == found["before"] and again["k"] == found["k"]


GOOD = " ".join(map(str, range(16)))


@pytest.mark.parametrize("text, line", [
    (GOOD.replace("9", "8"), "x: line 1: rank 8 for the second time (first in line 1)"),
    (GOOD.replace(" 9", "\n9"), None),
    (GOOD.replace("9", "16"), "x: line 1: rank 16 is out of range: there are 16 processes"),
    (GOOD.replace(" 15", ""), "x: 15 ranks for 16 processes"),
    (GOOD + "\n15", "x: line 2: rank 15 for the second time (first in line 1)"),
    (GOOD.replace("9", "-9"), "x: line 1: '-9' is not a rank"),
    (GOOD.replace("9", "9.0"), "x: line 1: '9.0' is not a rank"),
    (GOOD.replace("9", "\u0669"), "x: line 1: '\u0669' is not a rank"),
    (GOOD.replace("9", "1_0"), "x: line 1: '1_0' is not a rank"),
    ("", "x: 0 ranks for 16 processes"),
    ("\0\1\033[31m", "x: line 1: '???[31m' is not a rank"),
    ("9" * 5000, "x: line 1: '" + "9" * 40 + "' is not a rank"),
])
def test_permutations(call, tmp_path, text, line):
    (tmp_path / "x").write_text(text, encoding="utf-8")
    done = call("map", REPORT16, "--evaluate", "x")
    assert (done.code, done.err) == ((2, "lucid map: %s\n" % line) if line else (0, ""))


MTX = "%%MatrixMarket matrix coordinate integer general\n"


@pytest.mark.parametrize("text, line", [
    ("", "not a sparse matrix in Matrix Market format (integer, real or pattern; general or symmetric)"),
    ("\0\xff" * 50, "not a sparse matrix in Matrix Market format (integer, real or pattern; general or symmetric)"),
    (MTX, "the line with rows, columns and entries is missing"),
    (MTX + "2 x 1\n", "the line with rows, columns and entries is missing"),
    (MTX + "2 3 0\n", "2 rows and 3 columns: not a matrix of who sends to whom"),
    (MTX + "0 0 0\n", "0 rows and 0 columns: not a matrix of who sends to whom"),
    (MTX + "2 2 2\n1 2 1\n", "1 line for the 2 entries it promises"),
    (MTX + "2 2 1\n1 3 1\n", "line 3: row or column outside 1 to 2"),
    (MTX + "2 2 1\n0 1 1\n", "line 3: row or column outside 1 to 2"),
    (MTX + "2 2 1\n1 2\n", "line 3: not an entry"),
    (MTX + "2 2 1\n1 2 -1\n", "line 3: the value is not a number from 0 to 2^64 - 1"),
    (MTX + "2 2 1\n1 2 nan\n", "line 3: the value is not a number from 0 to 2^64 - 1"),
    (MTX + "2 2 1\n1 2 inf\n", "line 3: the value is not a number from 0 to 2^64 - 1"),
    (MTX + "2 2 1\n1 2 18446744073709551616\n", "line 3: the value is not a number from 0 to 2^64 - 1"),
])
def test_bad_matrices(call, tmp_path, text, line):
    (tmp_path / "m.mtx").write_text(text, encoding="latin-1")
    done = call("map", "m.mtx", "--topology", "node:2")
    assert (done.code, done.out, done.err) == (2, "", "lucid map: m.mtx: %s\n" % line)


@pytest.mark.parametrize("words, code, line", [
    (["none"], 2, "none: no such file or directory"),
    (["none.mtx", "--topology", "node:2"], 2, "none.mtx: no such file or directory"),
    ([DATA], 2, "%s: no report in this directory (no run.json)" % DATA),
    ([], 2, "no report here: name a report directory or a session file"),
    ([REPORT16, "--topology", "node:5"], 2, "topology: node:5 has 5 places for 16 processes"),
    ([REPORT16, "--topology", "node"], 2, None),
    ([REPORT16, "--topology", ""], 2, None),
    ([REPORT16, "--topology", "none.xml"], 2,
     "topology: cannot read none.xml: not a file of hwloc's lstopo with cores in it, or too many"),
    ([REPORT16, "--topology", "node:4 core:4", "--costs", "1,2,3"], 2, "--costs: 3 costs for 2 levels (node, core)"),
    ([REPORT16, "--costs", "1,x"], 2, "--costs: '1,x' is not a list of costs like 100,10,1"),
    ([REPORT16, "--costs", "1,-1"], 2, "--costs: '1,-1' is not a list of costs like 100,10,1"),
    ([REPORT16, "--costs", "nan,1"], 2, "--costs: 'nan,1' is not a list of costs like 100,10,1"),
    ([REPORT16, "--hosts", "a,b"], 2, "--hosts: 2 names for 4 nodes"),
    ([REPORT16, "--hosts", "a,b,c,c"], 2, "--hosts: a host is named twice"),
    ([REPORT16, "--hosts", "a,b;rm,c,d"], 2, "--hosts: 'b;rm' is not the name of a host"),
    ([REPORT16, "--hosts", "./none"], 2, "--hosts: ./none: no such file or directory"),
    ([REPORT16, "--evaluate", "none"], 2, "none: no such file or directory"),
    ([REPORT16, "--evaluate", "none", "--fixed", "0=1"], 2, "--fixed is for the search, and --evaluate does not search"),
    ([REPORT16, "--inverse"], 2, "--inverse says what is in the file of --evaluate"),
    ([REPORT16, "--fixed", "0=16"], 2, "--fixed: rank 16 is out of range: there are 16 processes"),
    ([REPORT16, "--fixed", "0=1,2=1"], 2, "--fixed: rank 1 is given twice"),
    ([REPORT16, "--fixed", "0=1,0=2"], 2, "--fixed: process 0 is given twice"),
    ([REPORT16, "--fixed", "0=1=2"], 2, "--fixed: '0=1=2' is not of the form PROCESS=RANK"),
    ([REPORT16, "--fixed", "none"], 2, "none: no such file or directory"),
    ([REPORT16, "--kind", "gossip"], 2, None),
    ([REPORT16, "-o", "none/k.txt"], 1, "cannot write none/k.txt: no such file or directory"),
    ([REPORT16, "--topology", "node:4 core:3,5,4,4", "--algorithm", "treematch"], 2, None),
])
def test_error_lines(call, words, code, line):
    done = call("map", *words)
    assert (done.code, done.out) == (code, "") and done.err.count("\n") == 1
    assert done.err == "lucid map: %s\n" % line if line else done.err.startswith("lucid map: ")


@pytest.mark.parametrize("words", [["--seconds", "0"], ["--seconds", "nan"], ["--threads", "-1"], ["--seed", "x"],
                                   ["--algorithm", "magic"], ["--format", "pdf"], ["--starts", "99999999999"]])
def test_wrong_words(call, words):
    done = call("map", REPORT16, *words)
    assert done.code == 2 and done.out == "" and "lucid map: error: argument " in done.err.splitlines()[-1]


@pytest.mark.parametrize("words", [[], ["--topology", "session"], ["--topology", "node:4", "--messages"],
                                   ["--topology", "node:4", "--class", "user"], ["--topology", "node:4", "--phase", "1"]])
def test_a_matrix_is_no_session(call, tmp_path, words):
    (tmp_path / "m.mtx").write_text(MTX + "4 4 1\n1 2 3\n")
    done = call("map", "m.mtx", *words)
    assert done.code == 2 and done.err.count("\n") == 1 and done.err.startswith("lucid map: m.mtx: a matrix ")


def test_nothing_is_left_of_a_file_that_could_not_be_written(call, tmp_path):
    (tmp_path / "k.txt").mkdir()
    done = call("map", REPORT16, "-o", "k.txt")
    assert (done.code, done.err) == (1, "lucid map: cannot write k.txt: is a directory\n")
    assert os.listdir(str(tmp_path)) == ["k.txt"]


def test_host_names_of_a_session_are_checked(call, tmp_path):
    data = sample.session(4, 2)
    data["nodes"][1]["name"] = "a b\nrank 0=evil"
    path = write_session(tmp_path / "s.json", data)
    for form in ("rankfile", "slurm"):
        done = call("map", path, "--format", form)
        assert done.code == 2 and done.out == "" and done.err.count("\n") == 1
        assert done.err.startswith("lucid map: the session's nodes: 'a b?rank 0=evil' is not the name of a host")


# ---- parsers, with anything at all ------------------------------------------------------------------------------------

PIECES = ["0", "1", "2", "3", "12", "-1", "+2", "1.5", "1e9", "#", "\n", "\r\n", ",", " ", "\t", "=", "rank", "\0", "\x85", "\u2003",
          "\u0665", "9" * 30, "%", ";", ":", "0x1", "1_0", "nan", "\udcff", "%%MatrixMarket", "4 4 2"]


def tries(kind):
    """Reproducible texts: random pieces, and good ones with a few bytes changed."""
    chance = random.Random(kind)
    good = {"permutation": "3\n1\n0\n2\n", "fixed": "0=3\n2=1\n", "matrix": MTX + "4 4 2\n1 2 5\n3 4 7\n"}[kind]
    for _ in range(1500):
        yield "".join(chance.choice(PIECES) for _ in range(chance.randrange(12)))
        text = list(good)
        for _ in range(chance.randrange(4)):
            text[chance.randrange(len(text))] = chance.choice(PIECES)
        yield "".join(text)


def attempt(parse):
    """The result, or None for a refusal in one line; anything else is a failure of the test."""
    try:
        return parse()
    except LucidError as error:
        assert error.code == 2 and "\n" not in str(error) and len(str(error)) < 300
        return None


def test_permutations_of_any_text():
    results = [attempt(lambda text=text: parse_permutation(text, 4, "x")) for text in tries("permutation")]
    good = [result for result in results if result is not None]
    assert all(sorted(result) == [0, 1, 2, 3] for result in good)
    assert good and len(good) < len(results)


def test_fixed_ranks_of_any_text(tmp_path):
    path = tmp_path / "fixed"

    def parse(text):
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        return parse_fixed(str(path), 4)

    results = [attempt(lambda text=text: parse(text)) for text in tries("fixed")]
    good = [[rank for rank in result if rank >= 0] for result in results if result is not None]
    assert all(len(set(ranks)) == len(ranks) and set(ranks) <= {0, 1, 2, 3} for ranks in good)
    assert any(good) and len(good) < len(results)


def test_matrices_of_any_text(tmp_path):
    path = tmp_path / "m.mtx"

    def parse(text):
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        return read_matrix_market(str(path))

    results = [attempt(lambda text=text: parse(text)) for text in tries("matrix")]
    good = [result for result in results if result is not None]
    assert all(0 <= s < size and 0 <= r < size and 0 <= value < 2 ** 64 for size, cells in good for (s, r), value in cells.items())
    assert good and len(good) < len(results)
