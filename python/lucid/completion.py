# SPDX-License-Identifier: BSD-3-Clause
"""What bash and zsh are told of the command line, made from its parsers: what a word may be completed to cannot differ from what is
understood."""

from __future__ import annotations

import argparse
import re
import shlex
from typing import Dict, List, NamedTuple

from . import __version__

#: What the names of values stand for; anything else is a word of the user's own.
_PLACES = {"DIR": "@dir", "FILE": "@file", "PATH": "@file", "REPORT": "@file", "PROFILE": "@file", "A": "@file", "B": "@file"}


class Option(NamedTuple):
    """An option or an argument: its names ([] for an argument), what it does, and what may follow it."""

    names: List[str]
    help: str
    values: str      # words, '@file', '@dir', '' (any word)
    takes: str       # 'none', 'one', 'attached' (--option=value only)
    label: str


class Command(NamedTuple):
    """A sub-command."""

    name: str
    help: str
    options: List[Option]
    arguments: List[Option]
    program: bool    # a program and its own words may follow


def commands_of(parser: argparse.ArgumentParser) -> List[Command]:
    """The sub-commands of the parser of the whole command line."""
    group = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    said = {action.dest: action.help or "" for action in group._choices_actions}
    found = []
    for name, sub in group.choices.items():
        options = [_option(action) for action in sub._actions]
        found.append(Command(name, said.get(name, ""), [o for o in options if o.names], [o for o in options if not o.names],
                             name == "run"))
    return found


def _option(action: argparse.Action) -> Option:
    label = action.metavar if isinstance(action.metavar, str) else action.dest
    values = " ".join(map(str, action.choices)) if action.choices else _PLACES.get(label.split("[")[0].split(",")[0], "")
    takes = "none" if action.nargs == 0 else "attached" if action.nargs == "?" and action.option_strings else "one"
    return Option(list(action.option_strings), re.sub(r"\s+", " ", action.help or ""), values, takes, label)


def bash(parser: argparse.ArgumentParser) -> str:
    """The file for share/bash-completion/completions."""
    commands = commands_of(parser)
    top = [command.name for command in commands] + _top_options(parser)
    options = "".join(f"    {command.name}) echo {shlex.quote(' '.join(_words(command)))} ;;\n" for command in commands)
    values: Dict[str, List[str]] = {}
    for command in commands:
        for option in (one for one in command.options if one.takes != "none"):
            patterns = [f'"{command.name} {name}{"=" if option.takes == "attached" else ""}"' for name in option.names]
            values.setdefault(option.values or "@word", []).extend(patterns)
        for argument in (one for one in command.arguments if one.values):
            patterns = values.setdefault(argument.values, [])
            patterns += [one for one in [f'"{command.name} argument"'] if one not in patterns]
    cases = "".join(f"    {' | '.join(patterns)}) echo {shlex.quote(value)} ;;\n" for value, patterns in sorted(values.items()))
    return _BASH.format(version=__version__, top=" ".join(top), options=options, values=cases)


def _top_options(parser: argparse.ArgumentParser) -> List[str]:
    return [name for action in parser._actions for name in action.option_strings]


def _words(command: Command) -> List[str]:
    """All names of options; with '=' besides where a value may be attached."""
    return [word for option in command.options for name in option.names
            for word in ([name, name + "="] if option.takes == "attached" else [name])]


_BASH = r"""# SPDX-License-Identifier: BSD-3-Clause
# bash completion for lucid {version}, made by: lucid completion bash

_lucid_options() {{ # command: its options
    case $1 in
{options}    esac
}}

_lucid_values() {{ # command option: words that may follow it, or @file, @dir, @word
    case "$1 $2" in
{values}    esac
}}

# Where the program of `lucid run` begins, in LUCID_PROGRAM; 0 if it has not begun before the word that is completed.
_lucid_program() {{
    local i=2 word
    LUCID_PROGRAM=0
    while [ $i -lt $COMP_CWORD ]; do
        word=${{COMP_WORDS[i]}}
        case $word in
        --) LUCID_PROGRAM=$((i + 1)) && return ;;
        -*)
            if [ "${{COMP_WORDS[i + 1]}}" = "=" ]; then
                i=$((i + 2))
            elif [ -n "$(_lucid_values run "$word")" ]; then
                i=$((i + 1))
            fi
            ;;
        *) LUCID_PROGRAM=$i && return ;;
        esac
        i=$((i + 1))
    done
}}

_lucid_files() {{ # -f or -d
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen "$1" -- "$cur"))
}}

_lucid() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]}} values LUCID_PROGRAM
    COMPREPLY=()
    if [ $COMP_CWORD -eq 1 ]; then
        COMPREPLY=($(compgen -W "{top}" -- "$cur"))
        return
    fi
    if [ "$command" = run ]; then
        _lucid_program
        if [ $LUCID_PROGRAM -gt 0 ] && [ $LUCID_PROGRAM -lt $COMP_CWORD ]; then
            if declare -F _command_offset >/dev/null; then _command_offset $LUCID_PROGRAM; else _lucid_files -f; fi
            return
        fi
    fi
    if [ "$cur" = "=" ]; then
        cur= previous+="="
    elif [ "$previous" = "=" ]; then
        previous=${{COMP_WORDS[COMP_CWORD - 2]}}=
    fi
    values=$(_lucid_values "$command" "$previous")
    [ -n "$values" ] || [ "${{previous: -1}}" != "=" ] || values=$(_lucid_values "$command" "${{previous%=}}")
    if [ -z "$values" ] && [[ $cur == -* ]] && [ "${{LUCID_PROGRAM:-0}}" -eq 0 ]; then
        COMPREPLY=($(compgen -W "$(_lucid_options "$command")" -- "$cur"))
        [[ ${{COMPREPLY[0]-}} != *= ]] || compopt -o nospace 2>/dev/null
        return
    fi
    if [ -z "$values" ] && [ "$command" = run ]; then
        _lucid_files -c
        [ ${{#COMPREPLY[@]}} -gt 0 ] || _lucid_files -f
        return
    fi
    [ -n "$values" ] || values=$(_lucid_values "$command" argument)
    case $values in
    @dir) _lucid_files -d ;;
    @file) _lucid_files -f ;;
    '' | @word) ;;
    *) COMPREPLY=($(compgen -W "$values" -- "$cur")) ;;
    esac
}}

complete -F _lucid lucid
"""


def zsh(parser: argparse.ArgumentParser) -> str:
    """The file for share/zsh/site-functions."""
    commands = commands_of(parser)
    listed = "\n".join("    " + _quoted(f"{command.name}:{command.help}") for command in commands)
    cases = "\n".join(f"    {command.name})\n      _arguments -S : \\\n        " + " \\\n        ".join(_zsh_words(command)) + "\n      ;;"
                      for command in commands)
    return _ZSH.format(version=__version__, commands=listed, cases=cases)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _zsh_words(command: Command) -> List[str]:
    words = []
    for option in command.options:
        others = f"({' '.join(option.names)})" if len(option.names) > 1 else ""
        about = re.sub(r"([\[\]:\\])", r"\\\1", option.help)
        for name in option.names:
            mark = {"none": "", "one": "", "attached": "=-"}[option.takes]
            value = "" if option.takes == "none" else f"{'::' if option.takes == 'attached' else ':'}{option.label}:{_action(option)}"
            words.append(_quoted(f"{others}{name}{mark}[{about}]{value}"))
    if command.program:
        return words + [_quoted("*::program: _normal")]
    return words + [_quoted(f":{argument.label}:{_action(argument)}") for argument in command.arguments]


def _action(option: Option) -> str:
    return {"@file": "_files", "@dir": "_files -/", "": " "}.get(option.values, f"({option.values})")


_ZSH = r"""#compdef lucid
# SPDX-License-Identifier: BSD-3-Clause
# zsh completion for lucid {version}, made by: lucid completion zsh

_lucid() {{
  local curcontext=$curcontext state line
  local -a commands
  commands=(
{commands}
  )
  _arguments -C '--version[show the version]' '(- *)'{{-h,--help}}'[show help]' '1:command:->command' '*::argument:->argument'
  case $state in
  command) _describe -t commands 'lucid command' commands ;;
  argument)
    case $words[1] in
{cases}
    esac
    ;;
  esac
}}

_lucid "$@"
"""
