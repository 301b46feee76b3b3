# SPDX-License-Identifier: BSD-3-Clause
"""Tells whether a signal was sent to the whole process group or to this process alone.

The kernel does not say it: `kill PID` and `kill -- -PGID` look alike to who receives them, and `timeout` or a batch system may send
both. So a second process of the group, which does nothing else, tells what it receives: what comes to both within GRACE seconds was
sent to all. It is asked each time, and what it answers is waited for, so that it may be late on a busy machine. It ends with this
process, however that ends, and keeps none of its files open.
"""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Iterable

GRACE = 0.1  # seconds between the first and the last process of a group that are told one thing
PATIENCE = 10.0  # seconds in which the witness answers, if it can
_ANSWER = 0  # among the numbers of signals that it tells


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
        self._heard = b""
        self._asked = 1  # it answers when it listens
        self._wait(time.monotonic() + PATIENCE)

    def end(self) -> None:
        os.close(self._life)
        os.close(self._told)
        os.waitpid(self._process, 0)

    def saw(self, number: int) -> bool:
        """Was this signal, which has just come, sent to all? What more of its kind comes within GRACE seconds counts as the same."""
        until = time.monotonic() + GRACE
        self._ask()
        self._wait(until + PATIENCE, number)
        while number not in self._heard and self._hear(until):
            pass
        if number not in self._heard:
            return False
        while self._hear(until):
            pass
        self._heard = self._heard.replace(bytes([number]), b"")  # others are asked for when they come here
        signal.sigtimedwait({number}, 0)
        return True

    def _ask(self) -> None:
        try:
            self._asked += os.write(self._life, b"?")
        except BrokenPipeError:
            pass  # it is no more

    def _wait(self, until: float, number: int = _ANSWER) -> None:
        """Until the witness has answered all that it was asked, or has told of this signal."""
        while self._asked > 0 and number not in self._heard and self._hear(until):
            pass

    def _hear(self, until: float) -> bool:
        """Has the witness told something in this time? Its answers are counted, the numbers of signals kept."""
        ready, _, _ = select.select([self._told], [], [], max(0.0, until - time.monotonic()))
        told = os.read(self._told, 1000) if ready else b""
        self._asked -= told.count(_ANSWER)
        self._heard += told.replace(bytes([_ANSWER]), b"")
        return bool(told)


def _witness(signals: Iterable[int], life: int, tell: int) -> None:
    """The witness's own life, until the other end of the pipe `life` is closed."""
    try:
        for file in map(int, os.listdir("/proc/self/fd")):
            if file not in (life, tell):
                _close(file)
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        for number in signals:
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        asked = 1
        while asked:
            os.write(tell, bytes([_ANSWER] * asked))
            asked = len(os.read(life, 100))
    finally:
        os._exit(0)


def _close(file: int) -> None:
    try:
        os.close(file)
    except OSError:
        pass  # the one by which the list was read
