# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program: its input, output and terminal are its own, its end is reported exactly as it was.

Signals: what is sent to the whole process group (a terminal's Ctrl-C, `timeout`, some batch systems) reaches the program by itself;
what is sent to this process alone is passed on. So mpirun, which gives up at the second one, sees one for one.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from typing import Dict, List, NamedTuple

from .errors import LucidError, reason
from .witness import Witness

_PASSED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT}


class End(NamedTuple):
    """How the program ended: its exit code, or the signal that killed it (else 0), and how long it ran."""

    code: int
    signal: int
    seconds: float


def run(command: List[str], environment: Dict[str, str]) -> End:
    """Starts the program and waits for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    watched = _PASSED_ON | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        witness = _witness(command)
        try:
            start = time.monotonic()
            process = _start(command, environment, before)
            status = _wait(process, watched, witness)
            seconds = time.monotonic() - start
        finally:
            witness.end()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return End(0, -status, seconds) if status < 0 else End(status, 0, seconds)


def _witness(command: List[str]) -> Witness:
    try:
        return Witness(_PASSED_ON)
    except OSError as error:
        raise LucidError(f"{command[0]}: cannot be started: {reason(error)}", code=126) from None


def _start(command: List[str], environment: Dict[str, str], mask) -> subprocess.Popen:
    try:
        return subprocess.Popen(command, env=environment, close_fds=False,
                                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask))
    except FileNotFoundError as error:
        named = error.filename if error.filename not in (None, command[0]) else command[0]
        raise LucidError(f"{named}: no such program", code=127) from None
    except OSError as error:
        raise LucidError(f"{command[0]}: cannot be started: {reason(error)}", code=126) from None


def _wait(process: subprocess.Popen, watched, witness: Witness) -> int:
    """The program's return code as subprocess gives it, passing signals on meanwhile."""
    while True:
        if process.poll() is not None:
            return process.returncode
        # Not sigtimedwait: stopped for longer than its time, it gives a signal that was none (seen in Python 3.11).
        info = signal.sigwaitinfo(watched)
        if info.si_signo != signal.SIGCHLD and not witness.saw(info.si_signo) and process.poll() is None:
            process.send_signal(info.si_signo)


def end_as(end: End) -> int:
    """Ends this process as the program ended: the same code, or the same signal (without a second core file)."""
    if end.signal == 0:
        return end.code
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        signal.signal(end.signal, signal.SIG_DFL)
    except (OSError, ValueError):
        pass  # SIGKILL has no handler to reset
    os.kill(os.getpid(), end.signal)
    return 128 + end.signal
