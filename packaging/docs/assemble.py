# SPDX-License-Identifier: BSD-3-Clause
"""assemble.py TREE DIRECTORY: gathers what Sphinx makes the man pages and the HTML from.

The source is the tree's own markdown, as it lies there; this adds the pages that are made from the command (section 1) and from the
public headers (section 3), and the list of man pages. Nothing of it is committed.
"""
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import command_pages  # noqa: E402
import header_pages  # noqa: E402

# Pages that are man pages as well: name, what for.
SECTION_7 = [("overview", "lucid", "see where the messages of an MPI program go, and put them where they belong"),
             ("parameters", "lucid-parameters", "environment variables of Lucid"),
             ("sessions", "lucid-sessions", "monitoring sessions inside a program"),
             ("session-file", "lucid-session-file", "files that sessions are written to"),
             ("mapping", "lucid-mapping", "which process should have which rank"),
             ("reordering", "lucid-reordering", "reordering of ranks while the program runs"),
             ("sparse", "lucid-sparse", "reductions that move and add only what matters"),
             ("startup", "lucid-startup", "communicators that select their modules when they are used")]
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")


def gather(tree, target):
    """Copies the pages of docs/ and what they link to; what lies outside goes to outside/, and the links follow."""
    docs = os.path.join(tree, "docs")
    for folder, folders, names in os.walk(docs):
        folders.sort()
        for name in sorted(names):
            source = os.path.join(folder, name)
            goal = os.path.join(target, os.path.relpath(source, docs))
            os.makedirs(os.path.dirname(goal), exist_ok=True)
            if name.endswith(".md"):
                write(goal, relinked(read(source), source, tree, target))
            elif not name.endswith(".py"):
                shutil.copyfile(source, goal)


def relinked(text, source, tree, target):
    """A page whose links to files outside docs/ lead to copies of theirs, and those to directories to the pages in them."""
    def follow(found):
        path = os.path.normpath(os.path.join(os.path.dirname(source), found.group(1)))
        anchor = found.group(2) or ""
        if os.path.isdir(path):
            inside = os.path.join(path, "README.md")
            path = inside if os.path.exists(inside) else os.path.join(tree, "docs", "index.md")  # which lists what is in it
        docs = os.path.join(tree, "docs")
        if os.path.commonpath([path, docs]) == docs or not os.path.isfile(path) or os.path.commonpath([path, tree]) != tree:
            return "](%s%s)" % (os.path.relpath(path, os.path.dirname(source)), anchor)
        place = os.path.join("outside", os.path.relpath(path, tree))
        goal = os.path.join(target, place)
        if not os.path.exists(goal):
            os.makedirs(os.path.dirname(goal), exist_ok=True)
            shutil.copyfile(path, goal)
            if path.endswith(".md"):
                write(goal, "---\norphan: true\n---\n" + plain(read(path)))
        up = os.path.relpath(".", os.path.dirname(os.path.relpath(source, docs)) or ".")
        return "](%s%s)" % (os.path.normpath(os.path.join(up, place)), anchor)
    return _LINK.sub(follow, text)


def plain(text):
    """A page from outside docs/: its own links would lead nowhere."""
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main(tree, target):
    sys.path.insert(0, os.path.join(tree, "python"))
    from lucid.cli import parser
    shutil.rmtree(target, ignore_errors=True)
    gather(tree, target)
    entries = command_pages.write(parser(), read(os.path.join(tree, "docs", "command.md")), os.path.join(target, "man1"))
    entries += header_pages.write(os.path.join(tree, "include"), os.path.join(target, "man3"))
    entries += [(page, name, summary, 7) for page, name, summary in SECTION_7]
    version = re.search(r"project\(Lucid VERSION (\S+)", read(os.path.join(tree, "CMakeLists.txt"))).group(1)
    write(os.path.join(target, "pages.json"), json.dumps({"version": version, "pages": entries}, indent=1))


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]))
