# SPDX-License-Identifier: BSD-3-Clause
"""lucid show: what is printed, what is written, and one clear line where it cannot be."""
import json
import os
import pty
import shutil
import subprocess

import pytest

from conftest import DATA, command, environment

REPORT4, REPORT16 = os.path.join(DATA, "report4"), os.path.join(DATA, "report16")


@pytest.mark.parametrize("name, words", [
    ("show_4", [REPORT4]),
    ("show_16", [REPORT16]),
    ("show_16_file", [os.path.join(REPORT16, "run.json")]),
    ("show_16_messages", [REPORT16, "--messages", "--top", "3"]),
    ("show_16_coll", [REPORT16, "--class", "coll", "--top", "2"]),
    ("show_16_user", [REPORT16, "--class", "user", "--top", "2"]),
    ("show_16_kinds", [REPORT16, "--kind", "bcast,put", "--top", "0"]),
    ("show_16_barrier", [REPORT16, "--kind", "barrier"]),
])
def test_text(lucid, golden, name, words):
    done = lucid("show", *words)
    assert (done.code, done.err) == (0, "")
    golden(name, done.out)


def test_thousand_ranks_by_node(lucid, golden, large):
    done = lucid("show", large)
    assert done.code == 0 and "bytes from each node (row = sender)" in done.out
    golden("show_1024", done.out)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_fits_the_width(lucid, large, width):
    for report in (large, REPORT16):
        done = lucid("show", report, env={"COLUMNS": width})
        drawn = done.out[done.out.index("(row = sender)"):].splitlines()[1:-3]
        assert max(map(len, drawn)) <= width and any("█" in line for line in drawn)


def test_narrow_map_gathers_ranks(lucid, golden, tmp_path):
    import sample
    (tmp_path / "x.json").write_text(sample.text(sample.session(64, 4)))
    done = lucid("show", "x.json", "--top", "0", env={"COLUMNS": "60"})
    assert "bytes from each block of ranks (row = sender)" in done.out and "\n   0-3 █" in done.out  # 16 ranks a node: 3 would fit, 4 is even
    golden("show_64_narrow", done.out)


def test_no_escapes_unless_a_terminal_wants_them(lucid):
    assert "\033" not in lucid("show", REPORT16).out
    assert "\033[" in on_terminal({})
    assert "\033" not in on_terminal({"NO_COLOR": "1"})
    assert "\033" not in on_terminal({"TERM": "dumb"})


def on_terminal(changes):
    """What `lucid show` prints on a terminal."""
    mine, theirs = pty.openpty()
    shown = subprocess.Popen(command() + ["show", REPORT16], stdout=theirs, stderr=theirs, stdin=theirs, env=environment(**changes))
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(mine, 65536)
        except OSError:
            part = b""
        if not part:
            break
        text += part
    os.close(mine)
    assert shown.wait() == 0
    return text.decode("utf-8")


def test_json(lucid):
    values = json.loads(lucid("show", REPORT16, "--format", "json", "--top", "2").out)
    assert values["total"] == {"messages": 77492, "bytes": 2406586420}
    assert sum(amount["bytes"] for amount in values["distance"].values()) == 2406586420
    assert sum(amount["bytes"] for amount in values["kinds"].values()) == 2406586420
    assert values["kinds"]["put"] == {"messages": 7, "bytes": 2100} and len(values["pairs"]) == 2
    assert values["pairs"][0] == {"sender": 0, "receiver": 4, "sender_node": "node00", "receiver_node": "node01",
                                  "messages": 1213, "bytes": 1000 * 65536 + 3 * 1048576 + 200 * 8}


def test_the_latest_report_is_shown(lucid, tmp_path):
    for name, age in (("lucid-report", 100), ("lucid-report-2", 50), ("lucid-report-3", 10)):
        shutil.copytree(REPORT4, str(tmp_path / name))
        os.utime(str(tmp_path / name / "run.json"), (2000000000 - age, 2000000000 - age))
    shutil.copy(os.path.join(REPORT16, "run.json"), str(tmp_path / "lucid-report-2"))
    os.utime(str(tmp_path / "lucid-report-2" / "run.json"), (2000000000, 2000000000))
    assert "16 ranks on 4 nodes" in lucid("show").out


def test_phases(lucid, tmp_path):
    shutil.copytree(REPORT16, str(tmp_path / "r"))
    shutil.copy(os.path.join(REPORT4, "run.json"), str(tmp_path / "r" / "phase-7.json"))
    assert lucid("show", "r").out.endswith("\nphases: 7 (--phase LEVEL shows one)\n")
    assert "4 ranks on 2 nodes" in lucid("show", "r", "--phase", "7").out
    done = lucid("show", "r", "--phase", "8")
    assert (done.code, done.err) == (2, "lucid show: r: no phase 8; phases there: 7\n")


def test_matrix_market(lucid, tmp_path):
    assert lucid("show", REPORT16, "-o", "m.mtx", "--class", "user").code == 0
    lines = (tmp_path / "m.mtx").read_text().splitlines()
    assert lines[0] == "%%MatrixMarket matrix coordinate integer general" and lines[2].split()[:2] == ["16", "16"]
    entries = {tuple(map(int, line.split()[:2])): int(line.split()[2]) for line in lines[3:]}
    assert len(entries) == int(lines[2].split()[2]) == 64
    assert entries[1, 5] == 65536000 and entries[1, 2] == 8192000 and sum(entries.values()) == 2359296000


def test_csv(lucid, tmp_path):
    assert lucid("show", REPORT4, "-o", "m.csv").code == 0
    lines = (tmp_path / "m.csv").read_text().splitlines()
    assert lines[0] == "sender,receiver,kind,messages,bytes,sender_node,receiver_node"
    assert "0,3,put,7,2100,node00,node01" in lines
    assert sum(int(line.split(",")[4]) for line in lines[1:]) == 304364084


@pytest.mark.parametrize("words, code, line", [
    (["none"], 2, "none: no such file or directory"),
    ([DATA], 2, f"{DATA}: no report in this directory (no run.json)"),
    ([], 2, "no report here: name a report directory or a session file"),
    ([REPORT4, "--kind", "gossip"], 2, None),
    ([REPORT4, "-o", "x.jpg"], 2, "x.jpg: the extension says what is written: .png, .svg, .html, .mtx, .csv"),
    ([REPORT4, "-o", "none/x.svg"], 1, "cannot write none/x.svg: no such file or directory"),
    ([os.path.join(REPORT4, "run.json"), "--phase", "1"], 2,
     f"--phase needs a report directory, and {os.path.join(REPORT4, 'run.json')} is not one"),
])
def test_error_lines(lucid, words, code, line):
    done = lucid("show", *words)
    assert done.code == code and done.out == "" and done.err.count("\n") == 1
    assert done.err == f"lucid show: {line}\n" if line else "'gossip'" in done.err


def test_truncated_file(lucid, tmp_path):
    with open(os.path.join(REPORT16, "run.json"), "rb") as file:
        whole = file.read()
    for cut in (0, 1, 100, len(whole) // 2, len(whole) - 3):
        (tmp_path / "cut.json").write_bytes(whole[:cut])
        done = lucid("show", "cut.json")
        assert done.code == 2 and done.err.startswith("lucid show: cut.json: ") and done.err.count("\n") == 1


def test_nothing_is_left_of_a_figure_that_could_not_be_written(lucid, tmp_path):
    (tmp_path / "x.svg").mkdir()
    done = lucid("show", REPORT4, "-o", "x.svg")
    assert done.code == 1 and done.err == "lucid show: cannot write x.svg: is a directory\n"
    assert os.listdir(str(tmp_path)) == ["x.svg"]


def in_shell(line):
    """Output of a shell's command line in which LUCID is the command."""
    shell = subprocess.run(line.replace("LUCID", " ".join(command())), shell=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, env=environment())
    return shell.stdout.decode()


def test_a_reader_that_goes_away_is_no_error():
    assert in_shell(f"LUCID show {REPORT16} | head -1") == "run: ./stencil -n 1000\n"


def test_output_that_cannot_be_written_is_one():
    assert in_shell(f"LUCID show {REPORT16} >/dev/full; echo $?") == \
        "lucid show: cannot write the output: no space left on device\n1\n"


def test_names_from_the_file_cannot_drive_the_terminal(lucid, tmp_path):
    with open(os.path.join(REPORT4, "run.json"), encoding="utf-8") as file:
        data = json.load(file)
    data["command"] = ["./a\033[31m\nb"]
    data["nodes"][0]["name"] = "n\033]0;x\007"
    data["nodes"][1]["name"] = "<script>alert(1)</script>"
    (tmp_path / "x.json").write_text(json.dumps(data))
    done = lucid("show", "x.json")
    assert "\033" not in done.out and "\007" not in done.out
    for name in ("x.html", "x.svg"):
        assert lucid("show", "x.json", "-o", name).code == 0
        text = (tmp_path / name).read_text()
        assert "<script>alert" not in text and "\033" not in text


def test_an_ascii_locale_is_no_obstacle(lucid):
    done = lucid("show", REPORT4, env={"PYTHONIOENCODING": None, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert done.code == 0 and "█" in done.out
