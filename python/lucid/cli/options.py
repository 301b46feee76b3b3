# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have."""

from __future__ import annotations


def traffic(parser, verb: str) -> None:
    """Which part of a report's traffic is meant, and what of it the command is to `verb`."""
    parser.add_argument("--phase", type=int, metavar="LEVEL", help="the phase of this MPI_Pcontrol level")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--class", dest="class_", choices=["all", "p2p", "user", "coll", "osc"], help="class of traffic")
    which.add_argument("--kind", metavar="KIND[,KIND]", help="kinds of traffic: p2p, bcast, allreduce, put, ...")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--bytes", dest="by", action="store_const", const="bytes", default="bytes", help=f"{verb} bytes (default)")
    what.add_argument("--messages", dest="by", action="store_const", const="messages", help=f"{verb} messages")
