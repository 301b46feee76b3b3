# SPDX-License-Identifier: BSD-3-Clause
"""The reader of session files: what it says of good ones, and that of bad ones it says one clear line, whatever is wrong."""
import json
import os
import random

import pytest

import lucid
import sample
from conftest import DATA

REPORT4 = os.path.join(DATA, "report4", "run.json")
REPORT16 = os.path.join(DATA, "report16", "run.json")


def test_samples_are_what_the_generator_makes():
    """So that the figures in the golden files can be traced to a rule."""
    for path, ranks, nodes in ((REPORT4, 4, 2), (REPORT16, 16, 4)):
        with open(path, encoding="utf-8") as file:
            assert file.read() == sample.text(sample.session(ranks, nodes))


def test_figures_of_a_session():
    session = lucid.load(REPORT4)
    assert (session.size, len(session.nodes), session.name, session.command) == (4, 2, "run", ["./stencil", "-n", "1000"])
    assert session.total() == (9696, 304364084)
    assert session.total("osc") == (7, 2100) and session.total("kind:put") == (7, 2100)
    assert session.total("p2p") == (9689, 304361984) and session.total("user") == (8000, 294912000)
    assert session.total("coll") == (1689, 304361984 - 294912000)
    assert session.by_kind()["allreduce"] == (1600, 12800)
    assert session.matrix("osc") == {(0, 3): (7, 2100)}
    assert session.top_pairs(1)[0][:2] == (0, 2)


def test_distances_add_up():
    session = lucid.load(REPORT16)
    for kinds in (None, "user", "coll", "osc", "kind:bcast"):
        parts = session.by_distance(kinds)
        assert tuple(map(sum, zip(*parts.values()))) == session.total(kinds)
        assert parts["between"] == session.between_nodes(kinds)
    assert session.distance(0, 0) == "itself" and session.distance(0, 1) == "package"
    assert session.distance(0, 3) == "node" and session.distance(3, 4) == "between"


def test_classes_and_kinds_with_one_name():
    session = lucid.load(REPORT4)
    assert session.select("p2p") != session.select("kind:p2p") == [0]
    assert session.select(["bcast", "coll"]) == session.select("coll")
    with pytest.raises(lucid.LucidError, match="no class or kind of traffic is called 'gossip'"):
        session.select("gossip")


def test_array():
    numpy = pytest.importorskip("numpy")
    array = lucid.load(REPORT4).array("osc", "messages")
    assert array.dtype == numpy.uint64 and array[0, 3] == 7 and array.sum() == 7


def write(tmp_path, data):
    path = tmp_path / "session.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def error_of(path):
    with pytest.raises(lucid.SessionError) as caught:
        lucid.load(path)
    line = str(caught.value)
    assert line.startswith(str(path) + ": ") and "\n" not in line
    return line[len(str(path)) + 2:]


def change(data, place, value):
    """Sets the value at a path such as ('ranks', 1, 'node'); removes it where value is KeyError."""
    *way, last = place
    for step in way:
        data = data[step]
    if value is KeyError:
        del data[last]
    else:
        data[last] = value


@pytest.mark.parametrize("place, value, line", [
    (("format",), "lucid-run", 'not a Lucid session (it does not say "format": "lucid-session")'),
    (("version",), 2, "session format version 2, but this lucid reads version 1: use a newer lucid"),
    (("version",), True, "session format version true, but this lucid reads version 1: use a newer lucid"),
    (("size",), 0, "size: expected a whole number from 1 up, found 0"),
    (("size",), 5, "ranks: 4 entries, but size says 5"),
    (("size",), 4.0, "size: expected a whole number from 1 up, found 4.0"),
    (("seconds",), -1, "seconds: expected a time in seconds, found -1"),
    (("seconds_in_mpi",), {"mean": 1.0}, "seconds_in_mpi.most is missing"),
    (("command",), "./app", 'command: expected an array, found "./app"'),
    (("mpi", "library"), None, "mpi.library: expected a text, found null"),
    (("source",), [], "source: expected an object, found []"),
    (("source", "decomposed"), 1, "source.decomposed: expected true or false, found 1"),
    (("source", "blind", 0), 7, "source.blind[0]: expected a text, found 7"),
    (("nodes", 1), 3, "nodes[1]: expected an object, found 3"),
    (("nodes", 1, "name"), KeyError, "nodes[1].name is missing"),
    (("nodes", 0, "cores"), -2, "nodes[0].cores: expected a whole number from 0 up, found -2"),
    (("ranks", 2, "rank"), 1, "ranks[2].rank: expected 2, found 1"),
    (("ranks", 3, "node"), 2, "ranks[3].node: node 2, but there are 2 nodes"),
    (("kinds", 1), "p2p", "kinds: a name stands there twice"),
    (("classes", "osc", 0), "gossip", 'classes."osc": "gossip" is not one of the kinds'),
    (("lost",), "0", 'lost: expected a whole number from 0 up, found "0"'),
    (("cells", 3), [0, 1, 0, 10], "cells[3]: expected 5 numbers, found [0, 1, 0, 10]"),
    (("cells", 3, 0), 4, "cells[3]: the sender is 4, but there are 4 ranks"),
    (("cells", 3, 1), 9, "cells[3]: the receiver is 9, but there are 4 ranks"),
    (("cells", 3, 2), 99, "cells[3]: the kind is 99, but there are 30 kinds"),
    (("cells", 3, 4), 1.5, "cells[3]: expected whole numbers from 0 up, found 1.5"),
    (("cells", 3, 3), True, "cells[3]: expected whole numbers from 0 up, found true"),
    (("cells", 0, 3), 2**64, "cells[0]: expected whole numbers from 0 up, found 18446744073709551616"),
    (("outside",), [[0, 1, 2]], "outside[0]: expected 4 numbers, found [0, 1, 2]"),
    (("histograms", "p2p"), [1, 2], 'histograms."p2p": expected 65 numbers'),
    (("histograms", "gossip"), [0] * 65, 'histograms: "gossip" is not one of the kinds'),
    (("totals", "bytes"), 1, "totals.bytes: says 1, but the cells add up to 304364084"),
    (("totals",), KeyError, "totals is missing"),
])
def test_what_is_wrong_and_where(tmp_path, place, value, line):
    data = sample.session(4, 2)
    data["source"]["blind"] = ["coll/sm serves MPI_COMM_WORLD"]
    change(data, place, value)
    assert error_of(write(tmp_path, data)) == line


def test_a_cell_that_stands_twice(tmp_path):
    data = sample.session(4, 2)
    data["cells"].append(list(data["cells"][0]))
    number = len(data["cells"]) - 1
    assert error_of(write(tmp_path, data)) == f"cells[{number}]: the same sender, receiver and kind stand there twice"


@pytest.mark.parametrize("raw, line", [
    (b"", "the file is empty"),
    (b" \n", "the file is empty"),
    (b'{"format": "lucid-session", "version"', "the file is cut short (line 1)"),
    (b'{"format": "lucid-ses', "the file is cut short (line 1)"),
    (b'{"format": ]', "not JSON: expecting value at line 1, column 12"),
    (b"hello", "not JSON: expecting value at line 1, column 1"),
    (b"[1, 2]", 'not a Lucid session (it does not say "format": "lucid-session")'),
    (b"\xff\xfe{}", "not text: byte 0 is not UTF-8"),
    (b'{"a": NaN}', "not a session: NaN is not a number that JSON knows"),
    (b"[" * 100000, "not a session: nested too deeply"),
    (b"%%MatrixMarket matrix coordinate", "not JSON: expecting value at line 1, column 1"),
])
def test_files_that_are_no_sessions(tmp_path, raw, line):
    path = tmp_path / "x.json"
    path.write_bytes(raw)
    assert error_of(path) == line


def test_files_that_cannot_be_opened(tmp_path):
    assert error_of(tmp_path / "none.json") == "no such file or directory"
    assert error_of(tmp_path) == "is a directory"


def test_optional_fields_may_be_null_or_missing(tmp_path):
    data = sample.session(4, 2)
    data["name"] = None
    data["nodes"][0]["model"] = None
    for key in ("cpus", "package", "numa", "core"):
        data["ranks"][0][key] = None
        del data["ranks"][1][key]
    session = lucid.load(write(tmp_path, data))
    assert session.name == "" and session.nodes[0].model is None and session.ranks[1].core is None
    assert session.distance(0, 1) == "node"


def test_fields_of_a_later_lucid_are_let_be(tmp_path):
    data = sample.session(4, 2)
    data["colour"] = "blue"
    data["ranks"][0]["gpu"] = 1
    assert lucid.load(write(tmp_path, data)).size == 4


def mutate(random_, text):
    """One random change to the text, or to a value in it."""
    kind = random_.randrange(5)
    at = random_.randrange(len(text))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + chr(random_.randrange(32, 127)) + text[at + 1:]
    if kind == 2:
        end = min(len(text), at + random_.randrange(1, 40))
        return text[:at] + text[end:]
    if kind == 3:
        end = min(len(text), at + random_.randrange(1, 40))
        return text[:end] + text[at:end] + text[end:]
    data = json.loads(text)
    walk = data
    while isinstance(walk, (dict, list)) and walk:
        keys = list(walk) if isinstance(walk, dict) else range(len(walk))
        key = random_.choice(list(keys))
        if random_.random() < .3 or not isinstance(walk[key], (dict, list)) or not walk[key]:
            walk[key] = random_.choice([None, True, -1, 0, 1, 2**63, 2**70, 1e300, "", "p2p", [], {}, [[]], "\ud800", 0.5])
            break
        walk = walk[key]
    return json.dumps(data)


def test_no_mutation_ends_in_a_traceback(tmp_path):
    """A reader of files from anywhere either reads them or says in one line why not; and what it reads, it can show."""
    from lucid import summary_text
    from lucid.terminal import Terminal

    random_, text = random.Random(20261121), sample.text(sample.session(4, 2))
    path, read = tmp_path / "mutant.json", 0
    for _ in range(1500):
        mutant = mutate(random_, text)
        if random_.random() < .2:
            mutant = mutate(random_, mutant) if _is_json(mutant) else mutant
        path.write_bytes(mutant.encode("utf-8", "surrogatepass"))
        try:
            session = lucid.load(path)
        except lucid.LucidError as error:
            assert "\n" not in str(error) and len(str(error)) < 400
            continue
        read += 1
        "\n".join(summary_text.render(session, Terminal(width=80))).encode()
    assert 20 < read < 1400  # both ways have really been gone


def _is_json(text):
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def test_a_thousand_ranks(large):
    session = lucid.load(large)
    assert session.size == 1024 and len(session.nodes) == 32 and session.total("user")[0] == 4096000
