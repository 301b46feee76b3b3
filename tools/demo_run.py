# SPDX-License-Identifier: BSD-3-Clause
"""How the demo runs things: one program at a time, with a sign of life every few seconds, and nothing left when it is stopped."""
import os
import signal
import subprocess
import sys
import tempfile
import time

TICK = 10    # seconds between signs of life
GRACE = 10   # seconds that a program has to end when it is told to


class Failed(Exception):
    """A program of the demo failed; the text says which one, and what it said last."""


class Stopped(BaseException):
    """Ctrl-C, or somebody ended us."""


class Demo:
    """The progress of the demo, its log, and the program that runs at the moment."""

    def __init__(self, log: str, began: float, step: int, steps: int):
        self.log, self.began, self.step, self.steps = log, began, step, steps
        self.child, self.signal = None, 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)

    def _stop(self, number, frame) -> None:
        """The first counts. Here signal.signal to ignore the others would let in the one that tools/demo sends after Ctrl-C."""
        if not self.signal:
            self.signal = number
            raise Stopped

    def say(self, text: str) -> None:
        """A line with the time that has passed."""
        print(f"[{time.time() - self.began:3.0f} s] {text}", flush=True)

    def begin(self, text: str) -> None:
        """The next step."""
        self.step += 1
        print(flush=True)
        self.say(f"step {self.step} of {self.steps}: {text}")

    def run(self, words, what: str, env=None) -> str:
        """Runs a program and returns what it printed; its errors go to the log. Failed where it fails."""
        self.say("  " + what)
        with tempfile.TemporaryFile() as out, open(self.log, "ab") as log:
            log.write(("$ " + " ".join(map(str, words)) + "\n").encode())
            log.flush()
            self.child = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                                          env={**os.environ, **(env or {})})
            try:
                self._wait(what)
            except Stopped:
                self._end()
                raise
            code, self.child = self.child.returncode, None
            out.seek(0)
            text = out.read().decode("utf-8", "replace")
            log.write(text.encode())
        if code != 0:
            raise Failed(f"{what}: exit code {code}; all of its output: {self.log}")
        return text

    def _wait(self, what: str) -> None:
        while True:
            try:
                self.child.wait(TICK)
                return
            except subprocess.TimeoutExpired:
                self.say(f"    still at it: {what}")

    def _end(self) -> None:
        """The launchers clear up after themselves when they are told to end, and once: Open MPI's takes a second signal for
        impatience and leaves its files. The terminal's interrupt has reached them by itself."""
        if self.signal == signal.SIGINT and self._ended():
            return
        self.child.terminate()
        if not self._ended():
            self.child.kill()
            self.child.wait()

    def _ended(self) -> bool:
        try:
            self.child.wait(GRACE)
            return True
        except subprocess.TimeoutExpired:
            return False


def main(work, demo: Demo) -> int:
    """Does the work; how it ends is the exit code."""
    try:
        work(demo)
        return 0
    except Failed as error:
        print(f"lucid: demo: step {demo.step} failed: {error}", file=sys.stderr)
        return 1
    except Stopped:
        return 130
