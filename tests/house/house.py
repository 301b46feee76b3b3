# SPDX-License-Identifier: BSD-3-Clause
"""What the house tests share: the files of the tree, and C source without its comments and strings."""
import os
import re
import subprocess

ROOT = os.environ.get("LUCID_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def setting(name):
    """A setting that CTest passes on; the test is skipped where it was started by hand without it."""
    value = os.environ.get(name)
    if not value:
        import pytest
        pytest.skip("%s is not set: run this test through ctest -L house" % name)
    return value


def tracked_files():
    """Paths, relative to the root, of the files that git has or would have; all files where there is no git."""
    try:
        out = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT,
                             check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        paths = [p.decode() for p in out.split(b"\0") if p]
    except (OSError, subprocess.CalledProcessError):
        paths = list(_walk())
    return sorted({p for p in paths if os.path.isfile(os.path.join(ROOT, p))})


def _walk():
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ("build", "__pycache__", ".git") and not f.startswith("build-")]
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def sources():
    """{path: text} of every text file of the tree."""
    return {path: read(path) for path in tracked_files() if not path.endswith((".png", ".svg", ".pdf", ".gz"))}


_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    """C source with comments and literals blanked, line numbers kept."""
    return _COMMENT_OR_STRING.sub(_blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
