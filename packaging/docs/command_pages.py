# SPDX-License-Identifier: BSD-3-Clause
"""Pages of section 1: the command and each sub-command, from what the command says of itself and from docs/command.md."""
import argparse
import os
import re


def _code(text):
    return "```\n" + text.strip("\n") + "\n```\n"


def _options(parser):
    """The options of a parser as a definition list."""
    lines = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            continue
        value = action.metavar or ("{%s}" % ",".join(map(str, action.choices)) if action.choices else action.dest.upper())
        if not action.option_strings:
            words = "`%s`" % value
        elif action.nargs == 0:
            words = ", ".join("`%s`" % word for word in action.option_strings)
        elif action.nargs == "?":
            words = ", ".join("`%s[=%s]`" % (word, value) for word in action.option_strings)
        else:
            words = ", ".join("`%s %s`" % (word, value) for word in action.option_strings)
        text = (action.help or "").replace("%%", "%")
        lines.append("%s\n: %s\n" % (words, re.sub(r"([*<>|\[\]])", r"\\\1", text) or "see above"))
    return "\n".join(lines)


def _usage(parser):
    return re.sub(r"^usage: ", "", parser.format_usage()).rstrip()


def _section(page, name):
    """What docs/command.md says about a sub-command, without its synopsis and its table of options, which come from the command."""
    found = re.search(r"(?ms)^## lucid %s\n(.*?)(?=^## |\Z)" % re.escape(name), page)
    if not found:
        return ""
    text = re.sub(r"\A\s*```.*?```\n", "", found.group(1), flags=re.DOTALL)
    text = re.sub(r"(?m)^\| option \|.*\n(?:\|.*\n)+", "", text)
    return text.strip()


def _page(title, parser, details, others):
    lines = ["# %s" % title, "", "## Synopsis", "", _code(_usage(parser))]
    lines += ["## Description", "", details or re.sub(r"\s+", " ", parser.description or ""), ""]
    lines += ["## Options", "", _options(parser)]
    if parser.epilog:
        lines += ["## Examples", "", _code(parser.epilog)]
    lines += ["## See also", "", ", ".join(others), ""]
    return "\n".join(lines)


def write(top, command_md, folder):
    """Writes the pages to a directory beside command.md; returns Sphinx's entries (page, name, summary, section)."""
    os.environ["COLUMNS"] = "80"  # what argparse wraps the synopsis to
    os.makedirs(folder, exist_ok=True)
    choices = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    said = {action.dest: action.help for action in choices._choices_actions}
    names = [name for name in choices.choices if name != "help"]
    all_pages = ["[lucid(1)](lucid.md)", *("[lucid-%s(1)](lucid-%s.md)" % (name, name) for name in names),
                 "[lucid(7)](../overview.md)", "[lucid-parameters(7)](../parameters.md)"]
    pages = [("lucid", "where the messages of an MPI program go, and what to do about it", top, "")]
    pages += [("lucid-" + name, said[name], choices.choices[name], _section(command_md, name)) for name in names]
    entries = []
    for name, summary, parser, details in pages:
        others = [page for page in all_pages if not page.startswith("[%s(1)]" % name)]
        # links of command.md go one folder up from here
        details = re.sub(r"\]\((?!https?:|#|/)([^)]+)\)", r"](../\1)", details)
        with open(os.path.join(folder, name + ".md"), "w", encoding="utf-8") as file:
            file.write(_page(name.replace("-", " ", 1), parser, details, others))
        entries.append((os.path.basename(folder) + "/" + name, name, summary, 1))
    return entries
