# SPDX-License-Identifier: BSD-3-Clause
"""Man pages and HTML: made without a warning, one page for every function and sub-command, and man shows them without one."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from house import ROOT, read, setting

SECTION = re.compile(r"^\.SH (.*)$", re.MULTILINE)


def make_docs():
    return subprocess.run([setting("LUCID_CMAKE"), "--build", setting("LUCID_BUILD_DIR"), "--target", "lucid_docs"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


@pytest.fixture(scope="module")
def docs():
    """The directory with man/ and html/, made now."""
    for module in ("sphinx", "myst_parser"):
        if subprocess.run(["/usr/bin/python3", "-c", "import " + module], stderr=subprocess.DEVNULL).returncode:
            pytest.skip("needs Sphinx and myst_parser (make docs installs them)")
    done = make_docs()
    assert done.returncode == 0, done.stdout
    return os.path.join(setting("LUCID_BUILD_DIR"), "docs")


def pages(docs, section):
    folder = os.path.join(docs, "man", "man%d" % section)
    return {name[:-2]: os.path.join(folder, name) for name in os.listdir(folder)}


def public_functions():
    names = set()
    for header in os.listdir(os.path.join(ROOT, "include")):
        text = re.sub(r"/\*.*?\*/|^#[^\n]*", "", read("include/" + header), flags=re.DOTALL | re.MULTILINE)
        names |= set(re.findall(r"LUCID_PUBLIC[^;(]*?\b(\w+)\s*\(", text))
    return names


def test_every_public_function_has_its_page(docs):
    functions = public_functions()
    headers = {name for name in os.listdir(os.path.join(ROOT, "include")) if name.endswith(".h")}
    assert len(functions) > 30 and set(pages(docs, 3)) == functions | headers
    for name in functions:
        text = read(pages(docs, 3)[name])
        assert {'"SYNOPSIS"', '"DESCRIPTION"'} <= {'"%s"' % s.strip('"') for s in SECTION.findall(text)}, name
        assert name + r"(" in text.replace("\\", ""), name


def sub_commands():
    sys.path.insert(0, os.path.join(ROOT, "python"))
    from lucid.cli import parser
    choices = next(a for a in parser()._actions if hasattr(a, "choices") and a.choices and "run" in a.choices).choices
    return {name: sub for name, sub in choices.items() if name != "help"}


def test_every_sub_command_has_its_page(docs):
    commands = sub_commands()
    assert set(pages(docs, 1)) == {"lucid"} | {"lucid-" + name for name in commands}
    for name, parser in commands.items():
        text = read(pages(docs, 1)["lucid-" + name]).replace("\\-", "-").replace("\\", "")
        for action in parser._actions:
            for word in action.option_strings:
                assert word in text, (name, word)


def test_overview_and_parameters(docs):
    assert {"lucid", "lucid-parameters"} <= set(pages(docs, 7))
    text = read(pages(docs, 7)["lucid-parameters"]).replace("\\", "")
    for name in re.findall(r"^LUCID_PARAM\((\w+),", read("src/core/params.def"), re.MULTILINE):
        assert "LUCID_" + name in text


def test_they_render_without_a_warning(docs):
    if not shutil.which("groff"):
        pytest.skip("needs groff")
    every = [path for section in (1, 3, 7) for path in pages(docs, section).values()]
    for path in every:
        done = subprocess.run(["groff", "-Kutf8", "-t", "-man", "-Tutf8", "-ww", "-rLL=100n", "-dAD=l", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (0, b""), path
        assert len(done.stdout) > 200, path
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "error", *every], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert (done.returncode, done.stdout) == (0, b"")


def test_man_finds_a_page(docs):
    if not shutil.which("man") or not os.path.exists("/usr/bin/man"):
        pytest.skip("needs man")
    done = subprocess.run(["man", "-M", os.path.join(docs, "man"), "-P", "cat", "3", "lucid_session_start"],
                          env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout.decode())
    if "minimized" in said + done.stderr.decode():
        pytest.skip("this system was made without man pages")
    words = " ".join(said.split())
    assert done.returncode == 0
    assert "int lucid_session_start( MPI_Comm comm, const char *name," in words and "Collective over comm" in words


def test_links_of_the_pages_lead_somewhere(docs):
    html = os.path.join(docs, "html")
    broken = []
    for folder, _, names in os.walk(html):
        for name in (name for name in names if name.endswith(".html")):
            text = read(os.path.join(folder, name))
            for target in re.findall(r'(?:href|src)="([^"#?]+)', text):
                if not re.match(r"https?:|mailto:|data:", target) and not os.path.exists(os.path.join(folder, target)):
                    broken.append((os.path.relpath(os.path.join(folder, name), html), target))
    assert broken == []
    assert os.path.exists(os.path.join(html, "index.html"))


def test_a_broken_link_stops_the_build(docs, tmp_path):
    """The same way with one link that leads nowhere."""
    source = tmp_path / "source"
    shutil.copytree(os.path.join(docs, "source"), str(source))
    with open(str(source / "overview.md"), "a") as page:
        page.write("\n[nowhere](nowhere.md)\n")
    done = subprocess.run(["/usr/bin/python3", "-m", "sphinx", "-q", "-W", "--keep-going", "-c", os.path.join(ROOT, "docs"), "-b",
                           "man", str(source), str(tmp_path / "man")], env={**os.environ, "LUCID_DOCS_SOURCE": str(source),
                                                         "LUCID_DOCS_TOOLS": os.path.join(ROOT, "packaging", "docs")},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode != 0 and b"nowhere" in done.stdout
