# SPDX-License-Identifier: BSD-3-Clause
"""lucid completion: what a shell needs to complete this command's words."""

from __future__ import annotations

import argparse
import sys

from .. import completion, reports

_DESCRIPTION = """\
Prints a completion file for bash or zsh, made from the command's own options. An installation has it already
(share/bash-completion/completions/lucid, share/zsh/site-functions/_lucid).
"""

_EPILOG = """\
examples:
  source <(lucid completion bash)                    for this shell
  lucid completion zsh -o ~/.zfunc/_lucid            with fpath+=~/.zfunc before compinit
"""


def setup_parser(commands) -> None:
    """Adds the command's options."""
    parser = commands.add_parser("completion", help="complete lucid's options in a shell", description=_DESCRIPTION, epilog=_EPILOG,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shell", choices=["bash", "zsh"], help="which shell")
    parser.add_argument("-o", "--output", metavar="FILE", help="write FILE instead of printing it")


def main(arguments) -> int:
    """lucid completion"""
    from . import parser  # of which this module is a part
    text = getattr(completion, arguments.shell)(parser())
    if arguments.output:
        reports.write_whole(arguments.output, text.encode())
    else:
        sys.stdout.write(text)
    return 0
