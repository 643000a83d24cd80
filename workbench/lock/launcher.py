"""Starts programs under the lock of a parser, for a process that has too much in memory to be forked quickly.

Forking a process that has imported all parsers takes about 10 ms, and this small one 0.5 ms.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from typing import TypedDict

from ..import_path import bare_environment, bare_program
from . import LockFailed
from .kernel import PARENT_DEATH, Kernel
from .reader_lock import Bounds, ReaderLock

_PROGRAM = "from workbench.lock.launcher import main; main()"
_KEPT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")


class Run(TypedDict):
    """A program by its whole path, the words it gets, and the file for what it writes. Texts are paths as the file
    system has them, each byte a character."""

    program: str
    words: list[str]
    output: str


class Programs(TypedDict):
    """What is to run beside each other, the files that all may read and the folder in which they may write; ``written``
    bounds each file, in bytes, and ``seconds`` all of them together."""

    runs: list[Run]
    reading: list[str]
    writing: str
    written: int
    seconds: float


class Launcher:
    """The process, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, programs: Programs) -> list[int]:
        """The exit codes, or minus the signals, of programs that ran.

        Raises
        ------
        LockFailed
            If they could not be started.
        """
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise LockFailed("The process that starts programs has no pipes.")
        try:
            process.stdin.write(json.dumps(programs).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = b""
        if not answer:
            self.close()
            raise LockFailed("The process that starts programs ended.")
        status: list[int] = json.loads(answer)
        return status

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603
                bare_program(_PROGRAM),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=bare_environment(),
            )
        return self._process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def main() -> None:
    """Answer requests until the parent closes the pipe. The kernel ends this process when its parent ends."""
    Kernel(()).control(PARENT_DEATH, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    for line in sys.stdin.buffer:
        answers.write(json.dumps(_status_of(json.loads(line))).encode() + b"\n")
        answers.flush()


def _status_of(asked: Programs) -> list[int]:
    until = time.monotonic() + asked["seconds"]
    place = _Place([as_path(one) for one in asked["reading"]], as_path(asked["writing"]), Bounds(asked["written"]))
    return [_ended(process, until) for process in [_started(one, place) for one in asked["runs"]]]


class _Place:
    def __init__(self, reading: Sequence[str], writing: str, bounds: Bounds) -> None:
        self.reading, self.writing, self.bounds = reading, writing, bounds


def _started(run: Run, place: _Place) -> int:
    lock, parent = _lock_of(run["program"]), os.getpid()
    process = os.fork()
    if process == 0:
        _become(run, parent, place, lock)
    return process


def _become(run: Run, parent: int, place: _Place, lock: ReaderLock) -> None:
    """Lock this process, and become a program that writes to its file."""
    try:
        program, words = run["program"], [as_path(word) for word in run["words"]]
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nothing, standard)
        os.closerange(3, 1 << 16)
        lock.apply(parent, place.reading, place.writing, place.bounds)
        os.dup2(os.open(as_path(run["output"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
        os.execve(program, [program, *words], environment)  # noqa: S606
    finally:
        os._exit(127)


def _ended(process: int, until: float) -> int:
    """The exit code of a process, which is killed if it takes longer."""
    handle = os.pidfd_open(process)
    try:
        if not select.select([handle], [], [], max(until - time.monotonic(), 0.0))[0]:
            os.kill(process, signal.SIGKILL)
    finally:
        os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@cache
def _lock_of(program: str) -> ReaderLock:
    return ReaderLock(program)


def as_path(text: str) -> str:
    """The path of which a text has each byte as a character."""
    return os.fsdecode(text.encode("latin-1"))
