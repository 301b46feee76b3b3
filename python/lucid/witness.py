# SPDX-License-Identifier: BSD-3-Clause
"""Tells whether a signal was sent to the whole process group or to this process alone.

The kernel does not say it: `kill PID` and `kill -- -PGID` look alike to who receives them, and `timeout` or a batch system may send
both. So a second process of the group, which does nothing else, tells what it receives: what comes to both within GRACE seconds was
sent to all. It ends with this process, however that ends, and keeps none of its files open.
"""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Iterable

GRACE = 0.1  # seconds between the first and the last process of a group that are told one thing


class Witness:
    """The second process. OSError if there is none to be had."""

    def __init__(self, signals: Iterable[int]):
        """Starts it, and waits until it listens. The signals have to be blocked in this process: they wait in the new one until then."""
        life, self._life = os.pipe()
        self._told, tell = os.pipe()
        os.set_blocking(tell, False)
        try:
            self._process = os.fork()
        except OSError:
            for file in (life, self._life, self._told, tell):
                os.close(file)
            raise
        if self._process == 0:
            _witness(signals, life, tell)
        os.close(life)
        os.close(tell)
        os.read(self._told, 1)

    def end(self) -> None:
        os.close(self._life)
        os.close(self._told)
        os.waitpid(self._process, 0)

    def saw(self, number: int) -> bool:
        """Was this signal, which has just come, sent to all? What more of its kind comes within GRACE seconds counts as the same."""
        until = time.monotonic() + GRACE
        told, heard = True, b""
        while told and number not in heard:
            told = self._hear(until)
            heard += told
        if number not in heard:
            return False
        while self._hear(until):
            pass
        signal.sigtimedwait({number}, 0)
        return True

    def _hear(self, until: float) -> bytes:
        """The numbers of the signals that the witness has received meanwhile; none at the end of the time."""
        ready, _, _ = select.select([self._told], [], [], max(0.0, until - time.monotonic()))
        return os.read(self._told, 1000) if ready else b""


def _witness(signals: Iterable[int], life: int, tell: int) -> None:
    """The witness's own life, until the other end of the pipe `life` is closed."""
    try:
        for file in map(int, os.listdir("/proc/self/fd")):
            if file not in (life, tell):
                _close(file)
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        for number in signals:
            signal.signal(number, lambda *_: None)
        os.write(tell, bytes(1))  # before any signal's number
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        os.read(life, 1)
    finally:
        os._exit(0)


def _close(file: int) -> None:
    try:
        os.close(file)
    except OSError:
        pass  # the one by which the list was read
