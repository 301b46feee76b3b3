# SPDX-License-Identifier: BSD-3-Clause
"""The `lucid` command. A sub-command is a module with setup_parser(subparsers) and main(arguments)."""

from __future__ import annotations

import argparse
import os
import sys
from typing import List, Optional

from .. import __version__
from ..errors import LucidError, reason
from . import compare, completion, doctor, install, map as map_, run, show, uninstall

_COMMANDS = {"run": run, "show": show, "map": map_, "compare": compare, "doctor": doctor, "install": install, "uninstall": uninstall,
             "completion": completion}

_EPILOG = """\
first steps:
  lucid doctor                         what works on this machine
  lucid run -n 4 ./app                 run a program, leave a report in ./lucid-report
  lucid run -- mpirun -n 4 ./app       the same with your own launch command
  lucid show                           the latest report, in the terminal
  lucid show lucid-report -o run.html  as a page to pass on
  lucid compare lucid-report other     two runs side by side
  lucid map lucid-report               an order of the ranks that keeps messages near

'lucid COMMAND --help' says more about a command.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(prog="lucid", description="See where the messages of an MPI program go.", epilog=_EPILOG,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--version", action="version", version=f"lucid {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for module in _COMMANDS.values():
        module.setup_parser(commands)
    helper = commands.add_parser("help", help="this text, or the help of a command", add_help=False)
    helper.add_argument("topic", nargs="?", choices=[*_COMMANDS, "help"])
    return top


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs a command line and returns its exit code; errors are one line on standard error."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except LucidError as error:
        name = words[0] if words and words[0] in _COMMANDS else ""
        print(f"lucid {name}: {error}" if name else f"lucid: {error}", file=sys.stderr)
        return error.code
    except BrokenPipeError:
        _close_output()
        return 0  # `lucid show | head` is not an error
    except OSError as error:
        _close_output()
        print(f"lucid {words[0] if words else ''}: cannot write the output: {reason(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _close_output() -> None:
    """What is still to be printed has nowhere to go; the interpreter shall not try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(words: List[str]) -> int:
    top = parser()
    if words and words[0] == "run":
        words, program = run.split(words)
    else:
        program = []
    chosen = top.parse_args(words)
    if chosen.command is None:
        top.print_help(sys.stderr)
        return 2
    if chosen.command == "help":
        if chosen.topic in _COMMANDS:
            return _dispatch([chosen.topic, "--help"])
        top.print_help()
        return 0
    chosen.program = program
    return _COMMANDS[chosen.command].main(chosen)
