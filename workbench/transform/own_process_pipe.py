"""This side of a process that draws the user's own scripts: starts it, talks to it, and ends it."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..import_path import same_path
from ..quick_import import later
from .own_process_child import DONE, HEAD, JOB, MAGIC, READY, Answer, Job, read_exactly

if TYPE_CHECKING:
    from . import output
else:  # a process begins to start before all that draws is imported here
    output = later("workbench.transform.output")

START_SECONDS = 120.0
_LINE_SECONDS = 0.3
_SLICE = 0.02
_PIPE_BYTES = 2**20
"""With the usual 64 kB, a figure would need a change of process for each part of it."""


class Ended(Exception):
    """The process ended without an answer; the text says how."""


class Process:
    """One process. Threads read its answers and what it writes when it breaks; one caller at a time asks it."""

    def __init__(self) -> None:
        self._dead = False
        self._ready = False
        self._answers: queue.SimpleQueue[tuple[bytes, bytes, bytes] | None] = queue.SimpleQueue()
        self._told: deque[bytes] = deque(maxlen=64)
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", f"{same_path()}from workbench.transform.own_process_child import main\nmain()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pipesize=_PIPE_BYTES,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            # A kernel that is shut down ends the processes of its group, and waits half a minute for them.
            start_new_session=True,
        )
        for target in (self._collect, self._listen):
            threading.Thread(target=target, name="workbench script", daemon=True).start()

    @property
    def dead(self) -> bool:
        return self._dead or self._process.poll() is not None

    def ask(
        self,
        job: Job,
        packed: bytes | bytearray | memoryview,
        look: Callable[[], None],
        begins: Callable[[], None] = lambda: None,
    ) -> Answer:
        """The answer to a job. ``look`` is called during the wait; ``begins`` when the process gets to the job.

        Raises
        ------
        Ended
            If the process ends.
        """
        if not self._ready:
            self._next(look, time.monotonic() + START_SECONDS)
            self._ready = True
        begins()
        self._send(job, b"" if job.content is not None else packed)
        kind, text, figure = self._next(look)
        if kind != DONE:
            self._send(job, packed)
            begins()
            _, text, figure = self._next(look)
        return Answer.load(text, figure)

    def line(self) -> int | None:
        """The line at which the script is, if the process says it."""
        if sys.platform == "win32" or self.dead:
            return None
        self._told.clear()
        stood = re.compile(rb'File "' + output.FILENAME.encode() + rb'", line (\d{1,6})')
        self._process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + _LINE_SECONDS
        while time.monotonic() < until:
            if found := stood.search(b"".join(self._told)):
                return int(found[1])
            time.sleep(0.005)
        return None

    def end(self) -> None:
        """End the process, whatever it does."""
        self._dead = True
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _send(self, job: Job, packed: bytes | bytearray | memoryview) -> None:
        text = job.dump()
        try:
            for part in (HEAD.pack(MAGIC, JOB, len(text), len(packed)), text, packed):
                view = memoryview(part)
                while view and self._process.stdin is not None:
                    view = view[self._process.stdin.write(view) or 0 :]
        except OSError:
            raise Ended(self._epitaph()) from None

    def _next(self, look: Callable[[], None], until: float = float("inf")) -> tuple[bytes, bytes, bytes]:
        while time.monotonic() < until:
            look()
            try:
                found = self._answers.get(timeout=_SLICE)
            except queue.Empty:
                continue
            if found is None:
                break
            return found
        raise Ended(self._epitaph())

    def _epitaph(self) -> str:
        try:
            status: int | None = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            status = None
        why = "it did not start" if status is None else f"exit status {status}"
        if status is not None and status < 0:
            why = f"{signal.strsignal(-status)}, signal {-status}"
        last = b"".join(self._told).decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
        told = f" It wrote: {last}" if last and not self._ready else ""
        return f"The process that ran the script ended ({why}). A new process replaces it.{told}"

    def _collect(self) -> None:
        out = self._process.stdout
        try:
            if out is None or read_exactly(out.read, 1) != READY:
                raise EOFError
            self._answers.put((READY, b"", b""))
            while True:
                _, kind, length, size = HEAD.unpack(read_exactly(out.read, HEAD.size))
                self._answers.put(
                    (kind, bytes(read_exactly(out.read, length)), bytes(read_exactly(out.read, size)))
                )
        except (EOFError, OSError, ValueError):
            self._answers.put(None)
        finally:
            if out is not None:
                out.close()

    def _listen(self) -> None:
        told = self._process.stderr
        if told is None:
            return
        with told:
            while part := os.read(told.fileno(), 4096):
                self._told.append(part)
