# SPDX-License-Identifier: BSD-3-Clause
"""The list of packages that the Makefile installs, what the docs say about it, and the tools that read it."""
import os
import re
import subprocess

import pytest

from house import ROOT, read, sources

GROUPS = {"build", "test", "aarch64", "demo", "chroot", "bench", "docs", "wheel"}
PROBE = re.compile(r"^(cmd:\S+|header:\S+\.h|pc:\S+|python:\w+|dpkg|fuzzer)$")


def package_list(text):
    rows = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            group, package, probe, purpose = line.split(None, 3)
            rows.append((group.rstrip("?"), group.endswith("?"), package, probe, purpose))
    return rows


def test_the_list_is_well_formed():
    rows = package_list(read("tools/packages"))
    assert {row[0] for row in rows} == GROUPS
    assert [row for row in rows if not PROBE.match(row[3]) or not row[4].strip()] == []
    assert len({(row[0], row[2]) for row in rows}) == len(rows)


def documented(text):
    """Packages in the table of docs/install.md: {(group, package)}."""
    return {(group, package) for group, cell in re.findall(r"^\| (\w+)[^|]*\|[^|]*\| ([^|]*)\|", text, re.MULTILINE)
            for package in re.findall(r"`([^`]+)`", cell)}


def test_the_docs_name_the_same_packages():
    listed = {(row[0], row[2]) for row in package_list(read("tools/packages"))}
    assert documented(read("docs/install.md")) == listed


def test_a_package_missing_from_the_docs_would_be_seen():
    assert documented("| build | `make build` | `gcc`, `cmake` |\n") == {("build", "gcc"), ("build", "cmake")}


def run_installer(tmp_path, arguments, path):
    """The installer on a system of which only the commands in `path` are seen."""
    environment = {"PATH": path, "HOME": str(tmp_path)}
    return subprocess.run(["/bin/bash", os.path.join(ROOT, "tools", "install-packages"), *arguments], env=environment,
                          universal_newlines=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture
def bare_path(tmp_path):
    """A PATH with a shell's usual tools, but no compiler, no MPI and no apt-get."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "cat", "cut", "dirname", "grep", "id", "mktemp", "rm", "sed", "find", "printf", "env"):
        for place in ("/bin", "/usr/bin"):
            if os.path.exists(os.path.join(place, name)):
                (folder / name).symlink_to(os.path.join(place, name))
                break
    return str(folder)


def test_what_is_missing_is_named_where_nothing_can_be_installed(tmp_path, bare_path):
    done = run_installer(tmp_path, ["build", "test"], bare_path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("lucid: this system has no apt-get")
    named = {line.split()[0] for line in done.stderr.splitlines()[1:]}
    needed = {row[2] for row in package_list(read("tools/packages")) if row[0] in ("build", "test") and not row[1]}
    assert {"cmake", "libopenmpi-dev", "ninja-build", "libhwloc-dev"} <= named <= needed


def test_only_the_groups_asked_for_are_looked_at(tmp_path, bare_path):
    named = {line.split()[0] for line in run_installer(tmp_path, ["--check", "chroot"], bare_path).stderr.splitlines()[1:]}
    assert named == {"debootstrap", "util-linux"}


def test_no_registry_is_named_in_the_tree():
    hosts = re.compile(r"\b(?:deb|ftp|archive|ports|snapshot|security)\.(?:debian|ubuntu)\.(?:org|com)\b|\bpypi\.org\b")
    assert [path for path, text in sources().items() if hosts.search(text)] == []
