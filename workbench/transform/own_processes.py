"""The processes that draw the user's own scripts: usually one, which is started once and lent to one job at a time.

To import this takes little, so a process can begin to start before all that draws is imported here.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from .own_process_pipe import Process

MOST_PROCESSES = 3
"""Most scripts that run at once. A further process is started only when a script keeps others waiting."""
PATIENCE_SECONDS = 0.5
_SLICE = 0.02
Look = Callable[[], None]
"""Called every few hundredths of a second during a wait; what it raises ends the wait."""


class Stop(BaseException):
    """Ends a wait. ``words`` are for the user, None if nobody waits for the figure; ``line``: where the script was."""

    def __init__(self, words: str | None) -> None:
        super().__init__(words)
        self.words = words
        self.line: int | None = None


class Processes:
    """The processes of this one: usually one, and more while scripts take long."""

    def __init__(self) -> None:
        self._idle: list[Process] = []
        self._busy: list[Process] = []
        self._changed = threading.Condition()

    def start(self) -> None:
        """Begin to start a process, if there is none."""
        with self._changed:
            if not (self._idle or self._busy):
                self._idle.append(Process())

    @contextmanager
    def lent(self, look: Look) -> Iterator[Process]:
        """A process for one job. If the job does not come to its end, the process is ended and replaced."""
        process = self._taken(look)
        whole = False
        try:
            yield process
            whole = True
        except Stop as stop:
            stop.line = process.line() if stop.words is not None else None
            raise
        finally:
            self._back(process, whole and not process.dead)

    def _taken(self, look: Look) -> Process:
        began = time.monotonic()
        with self._changed:
            while True:
                look()
                self._idle = [one for one in self._idle if not one.dead]
                late = time.monotonic() - began > PATIENCE_SECONDS
                if not self._idle and (not self._busy or (late and len(self._busy) < MOST_PROCESSES)):
                    self._idle.append(Process())
                if self._idle:
                    process = self._idle.pop()
                    self._busy.append(process)
                    return process
                self._changed.wait(_SLICE)

    def _back(self, process: Process, usable: bool) -> None:
        with self._changed:
            self._busy.remove(process)
            keeps = usable and not self._idle
            if keeps:
                self._idle.append(process)
            elif not usable and not self._idle:
                self._idle.append(Process())
            self._changed.notify_all()
        if not keeps:
            process.end()

    def close(self) -> None:
        """End all of them."""
        with self._changed:
            gone, self._idle, self._busy = [*self._idle, *self._busy], [], []
        for process in gone:
            process.end()


_made: dict[int, Processes] = {}
_making = threading.Lock()


def shared() -> Processes:
    """The processes of this process, which ends them when it ends."""
    with _making:
        processes = _made.get(os.getpid())
        if processes is None:
            _made.clear()  # a forked process cannot use those of its parent
            processes = _made[os.getpid()] = Processes()
            atexit.register(processes.close)
        return processes


def begin_to_start() -> None:
    """Begin to start a process, if there is none, while what shows figures is still imported.

    The process imports what draws, which takes as long. Where none can be started, the figure that needs it says so.
    """
    with suppress(OSError, RuntimeError):
        shared().start()
