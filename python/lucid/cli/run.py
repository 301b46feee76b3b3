# SPDX-License-Identifier: BSD-3-Clause
"""lucid run: runs a program with the layer on and leaves a report."""

from __future__ import annotations

import argparse
import datetime
import os
import shlex
import shutil
import signal
import socket
import sys
from typing import Dict, List, Optional, Tuple

from .. import (__version__, child, components, launchers, placed, places, program, reports, startup, startup_twice, summary_text,
                together)
from ..errors import LucidError

NO_REPORT = 3

_DESCRIPTION = """\
Runs an MPI program, unchanged, with Lucid's library loaded into its ranks, and leaves a report of who sent what to whom.
The program's input, output and exit code are its own; one paragraph on standard error says where the report lies.
"""

_EPILOG = """\
examples:
  lucid run -n 4 ./app input.dat              start 4 ranks with mpirun
  lucid run -- mpirun -n 4 --bind-to core ./app
  lucid run -- srun -n 64 ./app               also orterun, prterun, mpiexec; env, time, timeout before them
  lucid run ./app                             without a launcher: one rank
  lucid run --phases -- mpirun -n 4 ./app     one more report per MPI_Pcontrol level
  lucid run --place -- mpirun -n 16 ./app     run, find a better rank order, run again in it, compare
  lucid run --sparse -- mpirun -n 16 ./app    reductions of sparse vectors move and add only what matters
  lucid run --startup -- mpirun -n 16 ./app   communicators start small; what each one costs is in the report
  lucid run --all -- mpirun -n 16 ./app       all of these, as far as they can be had here
  lucid run --reorder lucid-report -- mpirun -n 64 ./app
                                              ranks of topologies created with reorder = 1 follow an earlier run

exit codes: the program's own, but
  3    the program ended with 0 and left no report (not an MPI program, or no MPI_Finalize)
  125  nothing was started: no liblucid, no mpirun, another MPI, a directory that cannot be written
  126  the program cannot be executed     127  there is no such program

Without -o the report goes to ./lucid-report, or lucid-report-2, -3, ... if that exists: no run overwrites another.
"""

_PREFIXES = ("LUCID_", "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPIR_CVAR_")
_VALUED = {"-n", "-np", "--np", "-o", "--output", "--source", "--mpiexec", "--reorder"}


def setup_parser(commands) -> None:
    """Adds the command's options."""
    parser = commands.add_parser("run", help="run a program and leave a report", description=_DESCRIPTION, epilog=_EPILOG,
                                 formatter_class=argparse.RawDescriptionHelpFormatter,
                                 usage="lucid run [-n N] [options] [--] PROGRAM [ARGUMENTS]\n"
                                       "       lucid run [options] -- mpirun ... PROGRAM [ARGUMENTS]")
    parser.add_argument("-n", "-np", "--np", dest="n", type=_ranks, metavar="N", help="start N ranks with mpirun")
    parser.add_argument("-o", "--output", metavar="DIR", help="directory of the report (default: ./lucid-report, numbered)")
    parser.add_argument("--phases", action="store_true", help="also record each MPI_Pcontrol level by itself")
    parser.add_argument("--time", action="store_true", help="also measure the time that ranks spend in MPI")
    parser.add_argument("--source", choices=["auto", "pml", "mpit", "pmpi"], help="where the traffic is read (see lucid doctor)")
    parser.add_argument("--trace", action="store_true", help="record who sends what to whom: what is done in any case")
    parser.add_argument("--all", action="store_true", help="--trace --place --sparse --startup, as far as they can be had here")
    parser.add_argument("--place", action="store_true", help="run twice: find a better rank order in the first run, use it in "
                        "the second, and compare (Open MPI)")
    parser.add_argument("--reorder", metavar="PROFILE", help="give other ranks where the program creates a topology with "
                        "reorder = 1: by the report of an earlier run, or 'topology': by the topology's own edges")
    parser.add_argument("--sparse", nargs="?", const="on", choices=["on", "measure"], help="reductions move and add only what "
                        "stands out of their vectors, where that pays; =measure: only look at what they are given")
    parser.add_argument("--startup", nargs="?", const="share", choices=[*startup.MODES, "compare"], help="communicators "
                        "select their modules when they are used, and share them; the report says what each one cost (=delay: "
                        "nothing is shared; =alone: what Open MPI's own way costs; =compare: run twice, alone and with it)")
    parser.add_argument("--mpiexec", metavar="PATH", help="the mpirun to use with -n")
    parser.add_argument("--force", action="store_true", help="replace the report that DIR holds")
    parser.add_argument("-q", "--quiet", action="store_true", help="no paragraph at the end")
    parser.add_argument("--dry-run", action="store_true", help="print what would be started, and start nothing")


def _ranks(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of ranks, found '{text}'")
    return number


def split(words: List[str]) -> Tuple[List[str], List[str]]:
    """Lucid's own words and the program's: the first word that is no option, or all behind the first '--'."""
    i = 1
    while i < len(words):
        if words[i] == "--":
            return words[:i], words[i + 1:]
        if not words[i].startswith("-") or words[i] == "-":
            break
        i += 2 if words[i] in _VALUED else 1
    return words[:i], words[i:]


def main(arguments) -> int:
    """lucid run"""
    if not arguments.program:
        raise LucidError("which program? lucid run [-n N] [options] [--] PROGRAM [ARGUMENTS]", code=2)
    if arguments.all:
        _settle(arguments)
    if arguments.startup == "compare":
        return startup_twice.run(arguments, main)
    if arguments.place:
        return _placed(arguments)
    liblucid = places.library()
    command = list(arguments.program)
    if arguments.n is not None:
        command = _with_mpirun(arguments, command)
    launcher = launchers.find(command)
    found = _check(command, launcher, liblucid, bool(arguments.n))
    if arguments.dry_run:
        _say_what(command, launcher, liblucid, arguments)
        return 0
    profile = None if arguments.reorder in (None, "topology") else reports.open_session(arguments.reorder)
    directory = reports.prepare(arguments.output, arguments.force)
    variables = _variables(arguments, directory.path, command, launcher)
    if profile is not None:
        _write_profile(profile, variables["LUCID_REORDER"])
    preloads = startup.preloads(arguments.startup, command[launcher.index] if launcher else None, liblucid)
    full, environment = launchers.with_variables(command, launcher, variables, preloads, dict(os.environ))
    started = datetime.datetime.now(datetime.timezone.utc)
    try:
        end = child.run(full, environment)
    except LucidError:
        _drop_profile(profile, variables)
        reports.discard(directory)
        raise
    _drop_profile(profile, variables)
    notes = {"lucid": __version__, "command": arguments.program, "started_as": full, "exit_code": end.code,
             "signal": end.signal or None, "started": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
             "seconds": round(end.seconds, 3), "host": socket.gethostname(), "directory": os.getcwd(), "library": liblucid,
             "launcher": launcher.version if launcher else None, "python": sys.version.split()[0],
             "environment": {k: v for k, v in sorted(environment.items()) if k.startswith(_PREFIXES)}}
    starter = os.path.basename(command[launcher.index]) if launcher else None
    code = _conclude(directory, end, found, starter, notes, arguments.quiet)
    return child.end_as(end) if end.signal else code


def _settle(arguments) -> None:
    """What --all stands for; what is left out is said, unless the user wants quiet."""
    command = list(arguments.program)
    for line in together.settle(arguments, command if arguments.n is None else _with_mpirun(arguments, command)):
        if not arguments.quiet:
            print(f"lucid run: --all goes without one part: {line}", file=sys.stderr)


def _placed(arguments) -> int:
    if arguments.n is not None:
        arguments.program, arguments.n = _with_mpirun(arguments, list(arguments.program)), None
    return placed.run(arguments, main)


def _with_mpirun(arguments, command: List[str]) -> List[str]:
    if launchers.find(command) is not None:
        raise LucidError(f"-n starts mpirun by itself: leave out -n {arguments.n}, or the {os.path.basename(command[0])}", code=2)
    return [places.mpiexec(arguments.mpiexec), "-n", str(arguments.n), *command]


def _variables(arguments, path: str, command: List[str], launcher) -> Dict[str, str]:
    """What the ranks must know: Lucid's parameters, those of the caller's environment included."""
    variables = {k: v for k, v in os.environ.items() if k.startswith("LUCID_") and k != "LUCID_LIBRARY"}
    variables["LUCID_DIR"] = path
    if arguments.phases:
        variables["LUCID_PHASES"] = "1"
    if arguments.time:
        variables["LUCID_TIME"] = "1"
    if arguments.source:
        variables["LUCID_SOURCE"] = arguments.source
    if arguments.reorder:
        variables["LUCID_REORDER"] = "topology" if arguments.reorder == "topology" else os.path.join(path, "reorder.mtx")
    if arguments.sparse:
        variables.update(_sparse(arguments.sparse, command, launcher, arguments.startup == "share"))
    if arguments.startup:
        mpirun = command[launcher.index] if launcher else None
        variables.update(startup.variables(arguments.startup, components.path_variable(mpirun, dict(os.environ), "lazy")))
    return variables


def _sparse(mode: str, command: List[str], launcher, shared: bool) -> Dict[str, str]:
    """Reductions go through the component of Open MPI, or, where there is none, through the preloaded library; and where
    communicators share their modules: a module of coll/sparse belongs to one communicator, and nothing would be shared."""
    if mode == "on" and not shared and (launcher is None or launcher.family != "hydra"):
        path = components.path_variable(command[launcher.index] if launcher else None, dict(os.environ))
        if path:
            return {**path, "LUCID_SPARSE_PRIORITY": "60"}
    return {"LUCID_SPARSE": mode}


def _write_profile(profile, path: str) -> None:
    """The bytes between ranks of MPI_COMM_WORLD, as the library reads them."""
    world = [rank.world for rank in profile.ranks]
    entries = sorted(((world[s], world[r]), cell.bytes) for (s, r), cell in profile.matrix().items() if cell.bytes)
    size = max(world) + 1
    with open(path, "w", encoding="ascii") as stream:
        stream.write("%%MatrixMarket matrix coordinate integer general\n")
        stream.write(f"{size} {size} {len(entries)}\n")
        stream.writelines(f"{sender + 1} {receiver + 1} {count}\n" for (sender, receiver), count in entries)


def _drop_profile(profile, variables: Dict[str, str]) -> None:
    if profile is not None:
        os.unlink(variables["LUCID_REORDER"])


def _check(command: List[str], launcher, liblucid: str, own_mpirun: bool) -> Optional[program.Program]:
    """What can be known before anything is started. Where a launcher of the user's starts the program, only its MPI."""
    if launcher is not None and not own_mpirun:
        program.find(command[0])
    found = _program(command, launcher, liblucid, own_mpirun)
    wrong = program.check_launcher(command[launcher.index], launcher, found, liblucid) if launcher is not None else None
    if wrong:
        print(f"lucid run: {wrong}", file=sys.stderr)
    return found


def _program(command: List[str], launcher, liblucid: str, own_mpirun: bool) -> Optional[program.Program]:
    """The program that a command starts, where it can be seen; LucidError if it is another MPI's."""
    word = launchers.program_word(command, launcher)
    if word is None:
        return None
    try:
        path = program.find(word)
    except LucidError:
        if launcher is None or own_mpirun:
            raise
        return None
    found = program.look(path)
    program.check_mpi(found, liblucid)
    return found


def _say_what(command: List[str], launcher, liblucid: str, arguments) -> None:
    path = os.path.abspath(arguments.output or reports.DEFAULT)
    variables = _variables(arguments, path, command, launcher)
    preloads = startup.preloads(arguments.startup, command[launcher.index] if launcher else None, liblucid)
    full, environment = launchers.with_variables(command, launcher, variables, preloads, dict(os.environ))
    names = [*variables, *(["LD_PRELOAD"] if launcher is None else [])]
    print(shlex.join(["env", *(f"{name}={environment[name]}" for name in names), *full]))


def _conclude(directory: reports.Directory, end: child.End, found, starter, notes, quiet: bool) -> int:
    """Reads the report, says what is in it, and decides the exit code."""
    path = os.path.join(directory.path, "run.json")
    if not os.path.exists(path):
        reports.discard(directory)
        return _fail(_why_nothing(end, found, starter, directory), end)
    try:
        session = reports.open_session(directory.path)
        reports.write_run(directory, notes)
    except LucidError as error:
        return _fail(str(error), end)
    if not quiet:
        width = min(shutil.get_terminal_size((100, 24)).columns, 110)
        phases = len(reports.phases(directory.path))
        sys.stderr.write(summary_text.paragraph(session, directory.shown, phases, max(width, 60)))
    return end.code


def _fail(line: str, end: child.End) -> int:
    print(f"lucid run: {line}", file=sys.stderr)
    return end.code or NO_REPORT


def _why_nothing(end: child.End, found, starter: Optional[str], directory: reports.Directory) -> str:
    """Why there is no report, as far as it can be told from outside."""
    who = starter or "the program"
    script = found is not None and found.runs_others
    not_mpi = f"{found.path} is not linked with an MPI library" if found is not None and not script and found.mpi is None else ""
    hint = f" ({not_mpi})" if not_mpi else ""
    if end.signal:
        return f"no report: {who} was killed by signal {end.signal} ({_signal_name(end.signal)}) before MPI_Finalize{hint}"
    if end.code:
        return f"no report: {who} ended with exit code {end.code} before MPI_Finalize{hint}"
    if not_mpi:
        return f"no report: {not_mpi}"
    if found is not None and found.mpi is not None:
        return f"no report: the program ended without MPI_Finalize, or rank 0 could not write to {directory.shown}"
    if script and starter is None:
        return (f"no report: nothing that {found.path} ran called MPI_Init and MPI_Finalize with Lucid's library loaded. A launcher in "
                "a script may not hand it on to its ranks (Open MPI's: not to other nodes): put 'lucid run --' before the launcher there")
    return (f"no report: no MPI_Init and MPI_Finalize were seen (not an MPI program, or another MPI than Lucid's; or rank 0 "
            f"does not share {directory.shown})")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
