# SPDX-License-Identifier: BSD-3-Clause
"""Pages of section 3 from the comments of the public headers: one for each header, one for each function."""
import os
import re

_COMMENT = r"/\*\*?(?P<comment>(?:(?!\*/).)*)\*/"
_OPENING = re.compile(r"\A/\*(.*?)\*/", re.DOTALL)
_PROTOTYPE = re.compile(r"(?:" + _COMMENT + r"\s*)?LUCID_PUBLIC\s+(?P<prototype>[^;{]*?\b(?P<name>\w+)\s*\([^;]*?\));", re.DOTALL)
_TYPE = re.compile(r"^(?:typedef\s+(?:struct|enum)\s+\w+\s*\{.*?^\}\s*\w+;|(?:enum|struct)\s*\w*\s*\{.*?^\};|typedef [^{;]*;)",
                   re.MULTILINE | re.DOTALL)

_CONSTANT = re.compile(r"(?:^/\*\*(?:(?!\*/).)*\*/\n)?^#define .*$", re.MULTILINE)


def _plain(comment):
    """A comment's text without its stars; blank lines part paragraphs."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in (comment or "").strip().splitlines()]
    return "\n".join(line.rstrip() for line in lines).strip()


def _prose(text):
    """Text of a comment as markdown: names of functions and constants as code, the rest as it stands."""
    text = re.sub(r"([<>*\[\]|#])", r"\\\1", text)
    text = re.sub(r"`([^`]*)`", lambda code: "`" + code.group(1).replace("\\", "") + "`", text)
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"\b(_?[A-Za-z]+(?:_\w+)+)(\(\))?", r"`\1\2`", parts[i])
    return re.sub(r"(?m)^(\d+)\.", r"\1\\.", "".join(parts))


class Function:
    """A public function: its name, prototype and comment."""

    def __init__(self, header, name, prototype, comment):
        self.header, self.name, self.prototype, self.comment = header, name, prototype, comment

    def summary(self):
        """The first sentence, as a man page's NAME line has it."""
        first = re.split(r"(?<=[.:])\s", self.comment.replace("\n", " "), maxsplit=1)[0].rstrip(".:")
        return first[:1].lower() + first[1:]


class Header:
    """A public header: what its opening comment says, its types, its functions."""

    def __init__(self, path):
        self.name = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        opening = _plain(_OPENING.match(text).group(1))
        opening = opening[opening.index(self.name + ":") + len(self.name) + 1:].strip()
        about, _, self.rules = opening.partition("\n\n")
        self.about = about[:1].upper() + about[1:]
        self.constants = [found.group() for found in _CONSTANT.finditer(text) if not re.search(r"_H$|LUCID_PUBLIC", found.group())]
        text = re.sub(r"(?m)^[ \t]*#.*\n", "", text)
        self.types = [found.group() for found in _TYPE.finditer(text)]
        self.functions = []
        for found in _PROTOTYPE.finditer(text):
            comment = _plain(found.group("comment"))
            if not comment:
                raise SystemExit("%s: %s has no comment to make its page from" % (path, found.group("name")))
            prototype = re.sub(r"\s+", " ", found.group("prototype"))
            self.functions.append(Function(self, found.group("name"), prototype, comment))


def link(name):
    """A link to the page of a header or function, beside this one."""
    return "[%s(3)](%s.md)" % (name, name)


def read(folder):
    """The headers of a directory."""
    return [Header(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".h")]


def _wrapped(prototype):
    """A prototype in lines that fit a terminal."""
    if len(prototype) <= 76:
        return prototype + ";"
    head, _, arguments = prototype.partition("(")
    return head + "(\n    " + ",\n    ".join(part.strip() for part in arguments[:-1].split(",")) + ");"


def function_page(function):
    """The markdown of a function's page."""
    header = function.header
    others = [other.name for other in header.functions if other is not function]
    beside = "The rules for all functions of this header are in %s." % link(header.name)
    near = sorted(others, key=lambda name: -len(os.path.commonprefix([name, function.name])))[:4]
    return "\n".join([
        "# %s" % function.name, "",
        "## Synopsis", "", "```c", "#include <%s>" % header.name, "", _wrapped(function.prototype), "```", "",
        "## Description", "", _prose(function.comment), "",
        beside, "",
        "## See also", "", ", ".join(map(link, [header.name, *near])), ""])


def header_page(header):
    """The markdown of a header's page."""
    lines = ["# %s" % header.name, "", "## Synopsis", "", "```c", "#include <%s>" % header.name, "```", "",
             "## Description", "", _prose(header.about), ""]
    if header.rules:
        lines += [_prose(header.rules), ""]
    if header.functions:
        lines += ["## Functions", ""]
        lines += ["%s\n: %s\n" % (link(function.name), _prose(function.summary())) for function in header.functions]
    for title, parts in (("Types", "\n\n".join(header.types)), ("Constants", "\n".join(header.constants))):
        if parts:
            lines += ["## " + title, "", "```c", parts, "```", ""]
    return "\n".join(lines)


def write(include, folder):
    """Writes all pages as markdown to a directory; returns Sphinx's entries (page, name, summary, section)."""
    os.makedirs(folder, exist_ok=True)
    entries = []
    for header in read(include):
        pages = [(header.name, header_page(header), "functions and types of Lucid")]
        pages += [(function.name, function_page(function), function.summary()) for function in header.functions]
        for name, text, summary in pages:
            with open(os.path.join(folder, name + ".md"), "w", encoding="utf-8") as file:
                file.write(text)
            entries.append((os.path.basename(folder) + "/" + name, name, summary, 3))
    return entries
