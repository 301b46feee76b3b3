# SPDX-License-Identifier: BSD-3-Clause
"""lucid doctor."""


def setup_parser(commands):
    """Adds the command's options."""
    commands.add_parser("doctor", help="what works here, and what does not")


def main(arguments):
    """lucid doctor"""
    return 0
