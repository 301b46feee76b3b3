# SPDX-License-Identifier: BSD-3-Clause
"""The examples: they print what docs/examples.md shows, and they compile with an installed Lucid and pkg-config.

LUCID_UPDATE_GOLDEN=1 writes what they print into docs/examples.md."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import MPIEXEC, ROOT, built, lucid, run, setting

PAGE = os.path.join(ROOT, "docs", "examples.md")
EXAMPLES = os.path.join(ROOT, "examples")
BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)

with open(PAGE, encoding="utf-8") as stream:
    BLOCKS = [match.group(1) for match in BLOCK.finditer(stream.read())]


@pytest.fixture
def place(tmp_path):
    """A directory as the page's reader has it: the programs, the lab, and lucid on PATH."""
    for name in os.listdir(EXAMPLES):
        if name.endswith(".py"):
            os.symlink(os.path.join(EXAMPLES, name), str(tmp_path / name))
    for name in os.listdir(setting("LUCID_EXAMPLES")):
        path = built(name, "LUCID_EXAMPLES")
        if os.path.isfile(path) and os.access(path, os.X_OK) and not name.endswith(".py"):
            os.symlink(path, str(tmp_path / name))
    os.symlink(os.path.join(ROOT, "lab"), str(tmp_path / "lab"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "lucid").symlink_to(setting("LUCID_COMMAND"))
    os.symlink("/usr/bin/python3", str(tmp_path / "bin" / "python3"))
    return tmp_path


def said(place, command):
    """What a command of the page prints: its output, then Lucid's lines on standard error."""
    library = os.path.join(setting("LUCID_BUILD_DIR"), "lib", "liblucid.so.0")
    env = {"PATH": "%s:%s" % (place / "bin", os.environ["PATH"]), "LUCID_LIBRARY": library, "COLUMNS": "100"}
    if "lab/lab" in command:  # which has a network, and settings, of its own
        env.update({name: None for name in os.environ if name.startswith(("OMPI_MCA_", "PRTE_MCA_"))})
    done = run(["sh", "-c", command], place, env, timeout=200)
    assert done.code == 0, done.out + done.err
    lines = [line for line in done.err.splitlines() if re.match(r"lucid: |       \w", line)]
    return done.out + "".join(line + "\n" for line in lines)


def without_numbers(text):
    """Figures that depend on the machine: everything with a unit, and all of Lucid's paragraph and its tables."""
    text = re.sub(r"> ?99\.9 ", "99 ", text)
    text = re.sub(r"(?<![\w.])[\d,]+(?:\.\d+)? ?(ms|s|kB|MB|GB|B|%|times)(?!\w)", r"# unit", text)
    text = re.sub(r"after [\d,]+ iterations, ", "after # iterations, ", text)
    text = re.sub(r"\n {7}", " ", text)  # where lines end depends on the figures
    text = re.sub(r"(?m)^(lucid: ).*$", lambda line: re.sub(r"[\d,]+", "#", line.group()), text)
    return re.sub(r" +", " ", text)


def needs(place, command):
    if "lab/lab" in command and subprocess.run([str(place / "lab" / "lab"), "check"], stdout=subprocess.DEVNULL).returncode != 0:
        pytest.skip("no lab can be made here")
    if ".py" in command and run(["/usr/bin/python3", "-c", "import numpy, mpi4py.MPI"], place).code != 0:
        pytest.skip("numpy or mpi4py is not installed")
    for word in re.findall(r"\./(\w+)", command):
        if not os.path.exists(str(place / word)):
            pytest.skip("%s was not built" % word)
    lazy = os.path.join(setting("LUCID_BUILD_DIR"), "lib", "lucid", "openmpi", "mca_coll_lazy.so")
    if "--startup" in command and not os.path.exists(lazy):
        pytest.skip("coll/lazy was not built")


def commands_of(block):
    """[(command, what the page says it prints)]"""
    return [tuple(part.split("\n", 1)) for part in re.split(r"(?m)^\$ ", block)[1:]]


def name_of(block):
    words = re.findall(r"[\w.]*(?:jacobi|histogram|communicators)[\w.]*", block)
    return words[0] + ("-lab" if "lab/lab" in block else "")


def printed(place, command, shown):
    """What the command prints. Whether reordering pays depends on how busy the machine is: some attempts in the lab."""
    for _ in range(4 if "lab/lab" in command else 1):
        out = said(place, command)
        if without_numbers(out) == without_numbers(shown) or "would pay only after" not in out:
            break
    return out


@pytest.mark.parametrize("block", BLOCKS, ids=[name_of(block) for block in BLOCKS])
def test_the_page_shows_what_they_print(place, block):
    for command, _ in commands_of(block):
        needs(place, command)
    outputs = [(command, printed(place, command, shown)) for command, shown in commands_of(block)]
    if os.environ.get("LUCID_UPDATE_GOLDEN"):
        with open(PAGE, encoding="utf-8") as stream:
            text = stream.read()
        with open(PAGE, "w", encoding="utf-8") as stream:
            stream.write(text.replace(block, "".join("$ %s\n%s" % pair for pair in outputs)))
    else:
        for (_, shown), (command, out) in zip(commands_of(block), outputs):
            assert without_numbers(out) == without_numbers(shown), command


def test_the_page_shows_every_example():
    text = "".join(BLOCKS)
    programs = [name for name in os.listdir(EXAMPLES) if name.endswith((".c", ".f90", ".py")) and name != "lucid_ctypes.py"]
    assert [name for name in programs if (name if name.endswith(".py") else "./" + name.rsplit(".", 1)[0]) not in text] == []


def figure(text, pattern):
    return float(re.search(pattern, text).group(1))


def test_communicators_are_smaller_with_lucid(place):
    needs(place, "--startup")
    kilobytes = [figure(said(place, command + " ./communicators"), r"([\d.]+) kB of memory")
                 for command in ("lucid run -q -n 4 --startup=alone", "lucid run -q -n 4 --startup")]
    assert kilobytes[1] < 0.75 * kilobytes[0]


def test_the_histogram_moves_less_with_lucid(place):
    """Whatever this machine's rates say."""
    needs(place, "./histogram")
    moved = []
    for options in ([], ["--sparse"]):
        words = lucid("run", "-q", "--force", "-o", "report", *options, "-n", 4, "./histogram")
        done = run(words, place, {"LUCID_SPARSE_ALWAYS": "1"})
        assert done.code == 0, done.err
        shown = run(lucid("show", "--format", "json", "report"), place)
        moved.append(figure(shown.out, r'"bytes": (\d+)'))
    assert moved[1] < moved[0] / 10


def test_they_compile_with_pkg_config(tmp_path):
    prefix, copy = tmp_path / "prefix", tmp_path / "copy"
    done = run(["bash", os.path.join(ROOT, "tools", "install"), setting("LUCID_BUILD_DIR"), prefix], tmp_path)
    assert done.code == 0, done.err
    shutil.copytree(EXAMPLES, str(copy))
    found = [folder for folder, _, names in os.walk(str(prefix)) if "lucid.pc" in names]
    with_fortran = os.path.exists(os.path.join(setting("LUCID_EXAMPLES"), "jacobi_mpi"))
    done = run(["make", "-C", copy, "all" if with_fortran else "c"], tmp_path, {"PKG_CONFIG_PATH": found[0], "MAKEFLAGS": None})
    assert done.code == 0, done.out + done.err
    for name in ("jacobi", *(("jacobi_mpi",) if with_fortran else ())):
        out = run([MPIEXEC, "-n", 2, copy / name], tmp_path, {"LD_LIBRARY_PATH": None}).out
        assert "64 x 4096 points on 2 ranks: after 500 iterations" in out
