"""Draws each figure in a process with limits, on systems without the lock (macOS, Windows). This is not a protection.

A script that fails, loops or crashes ends only its own process, and its figure is checked. But the script has all the
rights of the user who started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import BinaryIO

from pydantic import JsonValue

from ...errors import Cancelled
from ...import_path import same_path
from .messages import (
    ANSWER,
    ANSWER_MAGIC,
    JOB,
    JOB_MAGIC,
    MOST_ANSWER_JSON,
    READY,
    Job,
    Kind,
    read_exactly,
)
from .outcome import FIX, CancelledBy, Ended, Fence, Limits, ProcessDrawer, killed, limited, refused
from .queue import Turns
from .reply import Forged, ended_of, read

_START_SECONDS = 60.0
_SLICE = 0.05


class Unprotected(ProcessDrawer):
    """A drawer with a fresh process for each figure, which takes about a second to start. Used without a lock."""

    def __init__(self, limits: Limits | None = None, *, workers: int | None = None) -> None:
        self.limits = limits or Limits()
        self.workers = workers or max(2, os.cpu_count() or 2)
        self.turns = Turns(self.workers)

    def fence(self) -> Fence:
        """The answer that there is no lock on this system, and what to do."""
        return Fence(
            False,
            f"On {sys.platform} scripts run in processes of their own, with limits of time and memory. That does not "
            f"protect: they can read files and reach the network. {FIX}",
        )

    def run(
        self,
        script: str,
        packed: bytes | bytearray | memoryview | None,
        params: Mapping[str, JsonValue],
        *,
        kind: Kind = "draw",
        content: str | None = None,
        organization: str | None = None,
        cancelled: CancelledBy | None = None,
        seconds: float | None = None,
        account: bool = False,
    ) -> Ended:
        """As ``ProcessDrawer.run``. The memory of a process is not measured here."""
        job = self.job(kind, script, params, seconds)
        with self.turns.turn(organization, cancelled):
            return _Run(job, packed or b"").ended(cancelled)

    def close(self) -> None:
        """Does nothing: no process is kept between figures."""


class _Run:
    """One process. Threads send its job and read its answer, so that a script cannot make the caller wait for ever."""

    def __init__(self, job: Job, packed: bytes | bytearray | memoryview) -> None:
        self.job = job
        text = job.dump()
        self.parts = (JOB.pack(JOB_MAGIC, len(text), len(packed)), text, packed)
        self.ready = threading.Event()
        self.done = threading.Event()
        self.told: tuple[bytes, bytes] | None = None
        self.why = "it ended itself without an answer"

    def ended(self, cancelled: CancelledBy | None) -> Ended:
        process = _start(self.job.memory_mb, int(self.job.seconds) + 2)
        if process.stdin is None or process.stdout is None:
            raise OSError("the process that draws has no input and output")
        threads = [
            threading.Thread(target=self._feed, args=(process.stdin,), daemon=True),
            threading.Thread(target=self._collect, args=(process.stdout,), daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            self._wait(self.ready, _START_SECONDS, cancelled)
            in_time = self._wait(self.done, self.job.seconds, cancelled)
        finally:
            process.kill()
            process.wait()
            for thread in threads:
                thread.join()
            process.stdout.close()
        if not in_time:
            return limited(self.job, None)
        return self._outcome()

    def _outcome(self) -> Ended:
        if self.told is None:
            return killed(self.job, self.why, "")
        try:
            return ended_of(read(self.job, *self.told))
        except Forged as error:
            return refused(self.job, f"The process sent neither a figure nor an error ({error}).")

    def _wait(self, what: threading.Event, seconds: float, cancelled: CancelledBy | None) -> bool:
        until = time.monotonic() + seconds
        while not what.wait(min(_SLICE, max(0.0, until - time.monotonic()))):
            if cancelled is not None and cancelled():
                raise Cancelled("The request was cancelled while its figure was drawn.")
            if time.monotonic() > until:
                return False
        return True

    def _feed(self, pipe: BinaryIO) -> None:
        try:
            with pipe:
                for part in self.parts:
                    pipe.write(part)
        except (BrokenPipeError, OSError) as error:
            self.why = f"it stopped reading its job: {error.strerror}"

    def _collect(self, pipe: BinaryIO) -> None:
        try:
            if read_exactly(pipe.read, 1) == READY:
                self.ready.set()
                magic, text, figure = ANSWER.unpack(read_exactly(pipe.read, ANSWER.size))
                if magic == ANSWER_MAGIC and text <= MOST_ANSWER_JSON and figure <= self.job.figure_bytes:
                    self.told = read_exactly(pipe.read, text), read_exactly(pipe.read, figure)
        except (EOFError, OSError) as error:
            self.why = f"it ended without an answer: {error}"
        finally:
            self.ready.set()
            self.done.set()


def _start(memory_mb: int, seconds: int) -> subprocess.Popen[bytes]:
    code = f"{same_path()}from workbench.transform.protected.unprotected import main\nmain({memory_mb}, {seconds})"
    kept = ("LANG", "LC_ALL", "TZ", "SYSTEMROOT", "WINDIR")
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-s", "-P", "-c", code],
        env={"PYTHONHASHSEED": "0", **{name: os.environ[name] for name in kept if name in os.environ}},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def main(memory_mb: int, seconds: int) -> None:
    """The process itself: reads one job from the standard input and writes its answer to the standard output."""
    from .answer import answer

    source, out = sys.stdin.buffer, os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _limit(memory_mb, seconds)
    with open(out, "wb", buffering=0) as answers:
        answers.write(READY)
        magic, length, size = JOB.unpack(read_exactly(source.read, JOB.size))
        if magic == JOB_MAGIC:
            job = Job(**json.loads(read_exactly(source.read, length)))
            for part in answer(job, memoryview(read_exactly(source.read, size))):
                view = memoryview(part)
                while view:
                    view = view[answers.write(view) or 0 :]
    os._exit(0)


def _limit(memory_mb: int, seconds: int) -> None:
    """Set bounds of processor time and memory, on systems that have them."""
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Other systems do not report the memory in use, and a bound below it would end the process.
    if sys.platform == "linux":
        with open("/proc/self/statm", "rb") as file:
            pages = int(file.read().split()[5])
        most = pages * resource.getpagesize() + (memory_mb << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
